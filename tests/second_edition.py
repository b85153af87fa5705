"""The units that are still in their first edition, of which the second edition's tests ask nothing yet."""

FIRST_EDITION = {
    "03_cell",
    "04_bptt",
    "07_torch_rnn",
    "08_stacked",
    "09_bidirectional",
}
