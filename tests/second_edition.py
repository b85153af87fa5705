"""The units that are still in their first edition, of which the second edition's tests ask nothing yet."""

FIRST_EDITION = {
    "07_torch_rnn",
    "08_stacked",
    "09_bidirectional",
    "11_heads",
}
