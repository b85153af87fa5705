"""The table of what the course claims says what it is given."""

from rnncourse.plots.looking_back import ClaimsTable

MEASURED = {
    "03_cell": {
        "title": "The recurrent <cell>",
        "experiments": {
            "short": {
                "measure": "share of <right> answers",
                "seeds": [1000, 1001, 1002],
                "values": {"cause": {"lag 9": [1.0, 0.5, 0.9]}, "no cause": {"lag 9": [0.25, 0.25, 0.25]}},
            }
        },
        "claims": [
            {
                "words": "it learns `f`.",
                "experiment": "short",
                "figure": ["cause", "lag 9"],
                "controls": [["no cause", "lag 9"]],
                "held": 2,
                "of": 3,
                "interval": [0.21, 0.94],
            }
        ],
        "expectations": [{"expected": "It never learns.", "borne_out": "in part", "found": "it is *not*"}],
    }
}


def test_a_claim_shows_its_seeds_its_figure_and_its_control_escaped_and_with_a_link():
    shown = ClaimsTable(MEASURED)
    assert shown.seeds() == (2, 3)
    html = shown._repr_html_()
    assert "The recurrent &lt;cell&gt;" in html
    assert 'href="../03_cell/03_cell.ipynb"' in html
    row = html[html.index("It learns <code>f</code>.") :]
    figures = "2 of 3", "21% to 94%", "0.90 (0.50 to 1.00)", "0.25"
    for words in ("share of &lt;right&gt;", "cause, lag 9", "no cause, lag 9", *figures):
        assert words in row
    assert "2 of 3   It learns `f`. (21% to 94%)" in repr(shown)


def test_what_was_counted_on_the_seeds_that_it_was_chosen_on_says_so_and_is_not_added_up():
    (claim,) = MEASURED["03_cell"]["claims"]
    short = {k: v for k, v in MEASURED["03_cell"]["experiments"]["short"].items() if k != "seeds"}
    claim = {k: v for k, v in claim.items() if k != "interval"}
    shown = ClaimsTable({"03_cell": MEASURED["03_cell"] | {"experiments": {"short": short}, "claims": [claim]}})
    assert shown.seeds() == (0, 0)
    assert "on the seeds that it was chosen on" in shown._repr_html_()


def test_what_did_not_come_stands_before_what_held_and_is_not_folded_away():
    html = ClaimsTable(MEASURED)._repr_html_()
    assert (
        html.index("It never learns.")
        < html.index("… it is *not* …")
        < html.index("<details")
        < html.index("It learns")
    )
