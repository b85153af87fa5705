"""The student's seat: `rnncourse lab 03`, a wrong answer, its diagnosis, a hint, the right answer."""

import json
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.unit03 import MISTAKE, RIGHT, UNNAMED, edit, end_kernels, go_to, run_down_to, shown, write


def opened(page: Page, address: str) -> None:
    """The unit's notebook, with its kernel ready."""
    page.goto(address)
    shown(page)


def answer(page: Page, source: str) -> None:
    """Write into the cell that is active, run it and its check below it."""
    write(page, source)
    page.keyboard.press("Shift+Enter")


def test_at_the_first_exercise_one_is_wrong_then_right_then_stuck(page, lab03, home):
    """One page for all of it: JupyterLab takes longer to open than all that is done there."""
    opened(page, lab03)
    run_down_to(page, "def hidden_layer")
    a_wrong_answer_is_explained_a_hint_helps_and_the_right_one_turns_card_and_bar(page, home)
    a_check_runs_what_one_sees_first_and_is_no_verdict_where_that_does_not_run(page)
    who_is_stuck_is_shown_the_solution_at_a_button(page, home)


def a_wrong_answer_is_explained_a_hint_helps_and_the_right_one_turns_card_and_bar(page: Page, home: Path) -> None:
    progress = page.get_by_role("region", name="Progress: 03 The recurrent cell")
    bar = progress.get_by_role("progressbar", name="points")
    expect(bar).to_have_attribute("value", "0")

    answer(page, MISTAKE.source_for("hidden_layer"))
    not_yet = page.get_by_role("region", name="hidden_layer: not yet")
    expect(not_yet).to_contain_text(MISTAKE.message)
    expect(not_yet.get_by_role("list", name="what was checked")).to_contain_text("shape")

    go_to(page, "def hidden_layer")
    answer(page, UNNAMED)
    place = not_yet.get_by_label("your answer, with the place marked")
    expect(place.get_by_role("mark")).to_contain_text("a = x @ W_xh + 3 * b_h")
    expect(place.get_by_label("Here, in line 2:")).to_be_visible()

    page.keyboard.press("Escape")
    page.keyboard.press("a")  # a cell of one's own above the next
    page.keyboard.press("Enter")
    expect(page.locator(".jp-Notebook.jp-mod-editMode")).to_be_visible()
    page.keyboard.insert_text('hint("hidden_layer")')
    page.keyboard.press("Shift+Enter")
    hint = page.get_by_role("region", name="Hint 1 of")
    expect(hint).to_contain_text("Line 2: look at")

    expect(page.get_by_role("alert")).to_have_count(0)  # JupyterLab asks for nothing, news for example

    go_to(page, "def hidden_layer")
    answer(page, RIGHT)
    passed = page.get_by_role("region", name="hidden_layer: passed")
    expect(passed).to_be_visible()
    expect(not_yet).to_have_count(0)
    expect(bar).to_have_attribute("value", "1")
    expect(progress.get_by_role("listitem").filter(has=page.get_by_label("passed:"))).to_have_text("✓ hidden_layer")
    kept = json.loads((home / "course/notebooks/progress.json").read_text())["exercises"]
    assert kept["hidden_layer"]["passed"]
    page.keyboard.press("ControlOrMeta+S")
    expect(page.locator(".jp-mod-current.jp-mod-dirty")).to_have_count(0)


def a_check_runs_what_one_sees_first_and_is_no_verdict_where_that_does_not_run(page: Page) -> None:
    cards = page.get_by_role("region", name="hidden_layer: ")
    without_colon = RIGHT.replace("):", ")")
    seen = [(RIGHT, "passed"), (without_colon, "no verdict"), (UNNAMED, "not yet"), (RIGHT, "passed")]
    for source, name in seen:
        go_to(page, "def hidden_layer")
        edit(page, source)
        go_to(page, "check(hidden_layer)")
        page.keyboard.press("Control+Enter")
        expect(page.get_by_role("region", name=f"hidden_layer: {name}")).to_be_visible()
        expect(cards).to_have_count(1)
        cell = page.locator(".jp-CodeCell", has_text="def hidden_layer(").first
        number = cell.locator(".jp-InputPrompt").inner_text().strip("[]:")
        expect(cards).to_contain_text(f"In [{number}]")
        assert ("SyntaxError" in cell.inner_text()) == (name == "no verdict")


def who_is_stuck_is_shown_the_solution_at_a_button(page: Page, home: Path) -> None:
    go_to(page, "def hidden_layer")
    write(page, UNNAMED)
    card = page.get_by_role("region", name="hidden_layer: not yet")
    for _ in range(3):
        page.keyboard.press("Control+Enter")
        expect(page.locator(".jp-Notebook-ExecutionIndicator[data-status=idle]")).to_be_visible()
        expect(card).to_be_visible()
    expect(card.get_by_text("from rnncourse import")).to_be_hidden()  # what to type where there are no buttons
    card.get_by_role("button", name="Show the solution").click()
    solution = page.get_by_role("region", name="Solution of hidden_layer")
    expect(solution).to_contain_text("return np.tanh(x @ W_xh + b_h)")
    expect(solution).to_contain_text("One other way, layer with dot:")
    expect(card).to_be_visible()
    kept = json.loads((home / "course/notebooks/progress.json").read_text())["exercises"]["hidden_layer"]
    assert kept["shown"]


@pytest.mark.nightly
def test_on_another_day_the_bar_stands_where_it_stood(page, lab03, home):
    file = home / "course/notebooks/progress.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    known = {name: {"score": 1.0, "passed": True, "when": "2026-01-31"} for name in ("hidden_layer", "rnn_step")}
    file.write_text(json.dumps({"format": 1, "exercises": known}))
    end_kernels(page, lab03)
    opened(page, lab03)
    run_down_to(page, "def hidden_layer")
    progress = page.get_by_role("region", name="Progress: 03 The recurrent cell")
    expect(progress.get_by_role("progressbar", name="points")).to_have_attribute("value", "4")
    done = progress.get_by_role("listitem").filter(has=page.get_by_label("passed:"))
    expect(done).to_have_text(["✓ hidden_layer", "✓ rnn_step"])
