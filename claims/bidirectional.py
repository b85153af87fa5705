"""What unit 09 claims about taggers that read one way and both ways."""

import numpy as np
import torch
from torch import nn

from claims.experiment import Numbers, Unit
from rnncourse.data.python_tokens import LabelledText
from rnngrade.author.cells import of

torch.set_num_threads(1)
unit = Unit("09_bidirectional", seeds=5)
cells = of("09_bidirectional")


@unit.experiment(
    "share of tokens that are right, as a difference from the ceiling; the probability of PERSON at Teddy",
    settings={
        "one way": {"ways": 1},
        "both ways": {"ways": 2},
        "one way, four times the units and updates": {"ways": 1, "times": 4},
    },
)
def teddy(seed: int, ways: int, times: int = 1) -> Numbers:
    """All sentences, 80 updates."""
    tagger, hidden = (cells.OneWayTagger, 24) if ways == 1 else (cells.BiTagger, 16)
    model = cells.build(tagger, len(cells.vocabulary), 8, hidden * times, 2, seed=seed)
    right = cells.train_on_sentences(model, 80 * times)
    found = {"share right": right[-1], "above the ceiling": right[-1] - cells.ceiling}
    for words in ("Teddy Roosevelt was a great president", "Teddy bears are on sale"):
        tokens = f"He said , {words}".split()
        column = torch.tensor([[cells.vocabulary.index(token)] for token in tokens])
        with torch.no_grad():
            found[f"belief before {tokens[4]}"] = torch.softmax(model(column)[3, 0], dim=-1)[1].item()
    return found


unit.claim(
    "teddy_ceiling",
    teddy,
    "After 80 updates the one-way tagger stands exactly on its ceiling, wrong at half of the ambiguous names, and "
    "four times the units and updates do not lift it. The tagger that reads both ways is right on more than 99% "
    "of all tokens.",
    figure=("one way", "above the ceiling"),
    controls=[("both ways", "above the ceiling"), ("one way, four times the units and updates", "above the ceiling")],
    holds=lambda n: (
        abs(n["one way"]["above the ceiling"]) < 1e-5
        and abs(n["one way, four times the units and updates"]["above the ceiling"]) < 1e-5
        and n["both ways"]["share right"] > 0.99
    ),
)
unit.claim(
    "teddy_beliefs",
    teddy,
    'At "Teddy" the one-way tagger gives a person a probability near one half, between 0.3 and 0.7, in both '
    'sentences. The tagger that reads both ways gives it more than 0.9 before "Roosevelt", and less than 0.1 '
    'before "bears".',
    figure=("one way", "belief before bears"),
    controls=[("both ways", "belief before Roosevelt"), ("both ways", "belief before bears")],
    holds=lambda n: (
        all(0.3 < n["one way"][f"belief before {second}"] < 0.7 for second in ("Roosevelt", "bears"))
        and n["both ways"]["belief before Roosevelt"] > 0.9
        and n["both ways"]["belief before bears"] < 0.1
    ),
)


def some_code_commented_out(seed: int) -> LabelledText:
    """The training text, with a fifth of its lines of code made comments."""
    rng, start, text, labels = np.random.default_rng(seed), 0, [], []
    comment, space = (cells.TOKEN_LABELS.index(label) for label in ("comment", "space"))
    for row in cells.python_text.text.split("\n"):
        row_labels = cells.python_text.labels[start : start + len(row)].tolist()
        start += len(row) + 1
        if len(row.strip()) > 10 and cells.not_code.isdisjoint(row_labels) and rng.random() < 0.2:
            row = f"# {row.strip()}"
            row_labels = [comment] * len(row)
        text.append(row)
        labels += [*row_labels, space]
    joined = "\n".join(text) + "\n"
    ids = [cells.place.get(character, len(cells.characters) - 1) for character in joined]
    return LabelledText(joined, np.array(ids), np.array(labels))


@unit.experiment(
    "shares of held-out characters",
    settings={
        "one way": {"ways": 1},
        "both ways": {"ways": 2},
        "one way, trained with code commented out": {"ways": 1, "commented": True},
    },
)
def highlighter(seed: int, ways: int, commented: bool = False) -> Numbers:
    """A label for each character of Python source, 13,000 parameters."""
    tagger, hidden = (cells.OneWayTagger, 96) if ways == 1 else (cells.BiTagger, 64)
    model: nn.Module = cells.build(tagger, len(cells.characters), 16, hidden, len(cells.TOKEN_LABELS), seed=seed)
    cells.train_highlighter(model, some_code_commented_out(seed) if commented else cells.python_text)
    found = cells.shares_right(model)
    marked, plain = cells.taken_for_comment(model, "# "), cells.taken_for_comment(model, "")
    found |= {"of the first four": marked[:4].mean(), "of the last eight": marked[-8:].mean(), "unmarked": plain.mean()}
    found |= {f"marked, character {k}": marked[k - 1] for k in range(1, 41)}
    found |= {
        f"lookahead {k}": cells.accuracy_with_lookahead(model, k) for k in ((0, 4, 8, 16, 32) if ways == 2 else (0,))
    }
    return found


unit.claim(
    "two_chains_label_better",
    highlighter,
    "With no more parameters, the tagger that reads both ways labels at least 3 in 100 more of all held-out "
    "characters right, and at least 25 in 100 more of those in the names of functions. For both, comments are "
    "harder than operators, and hardest where the opening sign stands before the window: less than half of such "
    "characters are right.",
    figure=("both ways", "all"),
    controls=[("one way", "all"), ("both ways", "function"), ("one way", "function")],
    holds=lambda n: (
        n["both ways"]["all"] > n["one way"]["all"] + 0.03
        and n["both ways"]["function"] > n["one way"]["function"] + 0.25
        and all(
            n[name]["comment"] < n[name]["operator"]
            and n[name]["comment, sign out of view"] < min(0.5, n[name]["comment, sign in view"])
            for name in ("one way", "both ways")
        )
    ),
)
unit.claim(
    "the_sign_fades",
    highlighter,
    "Without the sign, less than a twentieth of the characters of a line of code are taken for a comment. With it more "
    "are; but of the last eight of forty characters fewer than of the first four, by both taggers. The one-way tagger "
    "that was trained with code commented out takes more than nine in ten of the last eight for a comment.",
    figure=("one way", "of the last eight"),
    controls=[("one way", "of the first four"), ("one way, trained with code commented out", "of the last eight")],
    holds=lambda n: (
        all(
            n[name]["unmarked"] < 0.05 and n[name]["of the last eight"] < n[name]["of the first four"] - 0.05
            for name in ("one way", "both ways")
        )
        and n["one way, trained with code commented out"]["of the last eight"] > 0.9
    ),
)
unit.claim(
    "lookahead_pays",
    highlighter,
    "With no lookahead the tagger that reads both ways is worse than the one-way tagger; with 32 characters it is "
    "better, by at least 2 labels in 100; and eight characters buy more than half of what 32 do.",
    figure=("both ways", "lookahead 8"),
    controls=[("one way", "lookahead 0"), ("both ways", "lookahead 0"), ("both ways", "lookahead 32")],
    holds=lambda n: (
        n["both ways"]["lookahead 0"] < n["one way"]["lookahead 0"] < n["both ways"]["lookahead 32"] - 0.02
        and n["both ways"]["lookahead 8"] > (n["both ways"]["lookahead 0"] + n["both ways"]["lookahead 32"]) / 2
    ),
)


@unit.experiment(
    "loss on fresh random letters, of which log 8 = 2.079 is the least that is honest",
    settings={"one way": {"ways": 1}, "both ways": {"ways": 2}},
)
def random_letters(seed: int, ways: int) -> Numbers:
    """Predict the next of eight letters drawn at random."""
    tagger = cells.OneWayTagger if ways == 1 else cells.BiTagger
    return {"loss": cells.loss_on_random_letters(cells.build(tagger, 8, 8, 32, 8, seed=seed))}


unit.claim(
    "two_chains_copy",
    random_letters,
    "On random letters the loss of the one-way network stays at $\\log 8$; that of the network that reads both "
    "ways falls below 0.1.",
    figure=("both ways", "loss"),
    controls=[("one way", "loss")],
    holds=lambda n: abs(n["one way"]["loss"] - np.log(8)) < 0.05 and n["both ways"]["loss"] < 0.1,
)


@unit.experiment(
    "the probability of the right second word, a mean over all 256 words",
    settings={
        f"{name}, {size}": {"markov": name == "HMM", "size": size}
        for name in ("cell", "HMM")
        for size in (4, 8, 16, 32, 64)
    },
)
def word_said_twice(seed: int, markov: bool, size: int) -> Numbers:
    """A word of four letters out of four, and the same word again; 500 updates."""
    kind = cells.HiddenMarkov if markov else cells.NextLetter
    return {"right": cells.said_again(kind, size, seed=seed)}


unit.claim(
    "a_state_is_not_one_of_k",
    word_said_twice,
    "A trained HMM with 32 states gives the right second word less than its ceiling, an eighth. A cell with 32 units, "
    "trained as long, gives it more than 0.95, and one with 8 units more than an HMM of 64 states could.",
    figure=("cell, 32", "right"),
    controls=[("HMM, 32", "right"), ("HMM, 64", "right"), ("cell, 8", "right"), ("cell, 4", "right")],
    holds=lambda n: (
        n["HMM, 32"]["right"] < 32 / 256 and n["cell, 32"]["right"] > 0.95 and n["cell, 8"]["right"] > 64 / 256
    ),
)
