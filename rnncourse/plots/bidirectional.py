"""Pictures of unit 09: the two chains, what a tagger believes word by word, Python source in colour."""

from collections.abc import Mapping, Sequence
from html import escape
from itertools import groupby, pairwise

import numpy as np
from jaxtyping import Float, Int
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from .charts import _chart, _name_rows, line_chart
from .drawing import RADIUS, Drawing
from .style import COLOURS, CYCLE, INK, MUTED, described, style

STEP = 1.75
ASIDE = 0.36  # f stands left of x, and g right of it, so that no arrow runs through a node
BELIEF = LinearSegmentedColormap.from_list("belief", ["#FFFFFF", COLOURS["state"]])


def two_chains(steps: int = 4, *, summary: bool = False) -> Figure:
    """The chains f and g over the inputs x, and what is combined from both: a state h at each step.

    summary: instead of these, one summary of both chains, from where each has read everything.
    """
    left, low, middle, high, top = 2.05, 0.85, 1.95, 2.95, 4.05
    last = left + STEP * (steps - 1)
    sheet = Drawing(last + 1.95, top + 0.45)
    fs, gs = [], []
    for t in range(1, steps + 1):
        x = left + STEP * (t - 1)
        is_last, is_first = summary and t == steps, summary and t == 1
        signal = sheet.node(x, low, f"$x_{t}$", "input")
        f = sheet.node(x - ASIDE, middle, f"$f_{t}$", "output" if is_last else "state")
        g = sheet.node(x + ASIDE, high, f"$g_{t}$", "output" if is_first else "state")
        sheet.arrow(signal, f, colour=COLOURS["U"])
        sheet.arrow(signal, g, colour=COLOURS["U"])
        if not summary:
            joined = sheet.node(x, top, f"$h_{t}$", "output")
            sheet.arrow(f, joined, colour=COLOURS["V"])
            sheet.arrow(g, joined, colour=COLOURS["V"])
        fs.append(f)
        gs.append(g)
    fs.insert(0, sheet.node(left - ASIDE - 0.68 * STEP, middle, "$0$", "plain", radius=0.22))
    gs.append(sheet.node(last + ASIDE + 0.7 * STEP, high, "$0$", "plain", radius=0.22))
    for a, b in pairwise(fs):
        sheet.arrow(a, b, "$W_f$", colour=COLOURS["W"], at=0.62, side=-1)
    for a, b in pairwise(gs):
        sheet.arrow(b, a, "$W_b$", colour=COLOURS["W"], at=0.62, side=-1)
    if summary:
        box = sheet.box(fs[-1].x, top, "summary", "output", width=1.25, height=0.5, size=13)
        sheet.arrow(fs[-1], box, colour=COLOURS["V"])
        corner = (gs[0].x, top)
        sheet.path([(gs[0].x, high + RADIUS + 0.05), corner, (box.x - 0.68, top)], COLOURS["V"])
        sheet.text(0.3, 0.22, "green: the states that have read everything", MUTED, align="left")
        above = (
            f"Two states are green, f_{steps} at the right end of its chain and g_1 at the left end of its own. From "
            "these two, arrows lead to a box named summary."
        )
    else:
        sheet.text(0.3, 0.22, "time runs to the right: $f$ reads along with it, $g$ against it", MUTED, align="left")
        above = "Each x goes into its f and its g, and both go into the state h of that step, on top."
    return described(
        sheet.figure,
        f"{steps} inputs x at the bottom. Above them a chain of states f with arrows to the right, from zero at the "
        f"left; above that a chain of states g with arrows to the left, from zero at the right. {above}",
    )


def belief_grid(beliefs: Mapping[str, Float[np.ndarray, "T"]], tokens: Sequence[str], title: str = "") -> Figure:
    """How probable a tagger finds the label PERSON at each token: a row for each tagger, the number in each cell."""
    figure, axes = _chart((1.6 + 0.86 * len(tokens), 1.1 + 0.5 * len(beliefs)))
    with style():
        axes.imshow(list(beliefs.values()), cmap=BELIEF, vmin=0, vmax=1.15, aspect="auto")
        for y, row in enumerate(beliefs.values()):
            for x, value in enumerate(row):
                axes.text(x, y, f"{value:.2f}", ha="center", va="center", color=INK, fontsize=11)
        axes.set_yticks(range(len(beliefs)), list(beliefs))
        axes.set_xticks(range(len(tokens)), list(tokens))
        axes.set(title=title, xlabel="token, in the order in which it is read")
        axes.grid(False)
        axes.tick_params(length=0)
        axes.spines[:].set(visible=True, edgecolor=COLOURS["faint"])
    rows = "; ".join(
        f"{name}, " + ", ".join(f"{token} {value:.2f}" for token, value in zip(tokens, row, strict=True))
        for name, row in beliefs.items()
    )
    return described(figure, f"How probable a tagger finds PERSON at each token. {rows}.")


def class_bars(shares: Mapping[str, Mapping[str, float]], *, xlabel: str, ticks: Mapping[str, float]) -> Figure:
    """For each class a bar for each model, the share written at its end: {"one way": {"keyword": 0.8, …}, …}.

    `ticks` says how frequent each class is, beside its name. Above stands where the last model gains most on the first.
    """
    first, *_, last = [*shares.values()] * 2
    names, height = sorted(ticks, key=lambda name: first[name] - last[name]), 0.8 / len(shares)
    figure, axes = _chart((8.0, 1.0 + 0.55 * len(names)), xlabel)
    with style():
        for i, (look, (model, values)) in enumerate(zip(CYCLE, shares.items())):
            ys = [y + (i - (len(shares) - 1) / 2) * height for y in range(len(names))]
            widths = [values[name] for name in names]
            hatch = "///" if i else None
            axes.barh(ys, widths, height, color=look["color"], edgecolor="white", hatch=hatch, label=model)
            for y, width in zip(ys, widths, strict=True):
                axes.annotate(f"{width:.0%}", (width, y), (5, 0), textcoords="offset points", va="center", fontsize=11)
        _name_rows(axes, [f"{name} ({ticks[name]:.1%})" for name in names])
        axes.set_xlim(0, 1.08)
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    said = "; ".join(
        f"{name}, " + ", ".join(f"{model} {values[name]:.0%}" for model, values in shares.items()) for name in names
    )
    return described(figure, f"Bars, {xlabel}: {said}.")


def learning_chart(curves: Mapping[str, Sequence[float]], ceiling: float) -> Figure:
    """The share of right tokens against the first updates, for each tagger, and the ceiling as a line of its own."""
    lines = {name: curve[:50] for name, curve in curves.items()} | {"ceiling,\none way": [ceiling] * 50}
    return line_chart(range(50), lines, xlabel="updates", ylabel="share of tokens that are right")


def machine_chart(
    true: Int[np.ndarray, "T"], so_far: Float[np.ndarray, "T 2"], after_all: Float[np.ndarray, "T 2"]
) -> Figure:
    """Beliefs that a machine is worn, and the truth as a shaded ground, over sixty of the steps."""
    start = max(0, min(1000, len(true) - 60))
    piece = slice(start, start + 60)
    xs = range(start + 1, start + 1 + len(true[piece]))
    lines = {"so far": so_far[piece, 1], "after all": after_all[piece, 1]}
    figure = line_chart(
        xs, lines, xlabel="step t", ylabel="belief that it is worn", ylim=(-0.03, 1.03), size=(9.0, 3.6)
    )
    axes = figure.axes[0]
    with style():
        axes.fill_between(xs, 0, true[piece], step="mid", color=COLOURS["faint"], alpha=0.45, lw=0, zorder=0)
        axes.set_title("grey: the machine is worn")
    wrong = ", ".join(
        f"{name} {int(((line > 0.5) != true[piece]).sum())} of {len(line)}" for name, line in lines.items()
    )
    return described(
        figure,
        f"The belief that a machine is worn, over {len(xs)} steps, from what was seen so far and from all that was "
        f"seen; grey where it is worn. On the wrong side of one half: {wrong}.",
    )


def lookahead_chart(ks: Sequence[int], lines: Mapping[str, Sequence[float]]) -> Figure:
    """The share of right labels against the lookahead, one step of the axis for each of the ks."""
    figure = line_chart(
        range(len(ks)),
        lines,
        xlabel="lookahead k (characters after the one to be labelled)",
        ylabel="share right, held out",
    )
    figure.axes[0].set_xticks(range(len(ks)), [str(k) for k in ks])
    said = ". ".join(
        f"{name}: " + ", ".join(f"{share:.2f} at {k}" for k, share in zip(ks, line, strict=True))
        for name, line in lines.items()
    )
    return described(figure, f"Share of right labels against the lookahead. {said}.")


def sign_chart(lines: Mapping[str, Sequence[float]]) -> Figure:
    """Of commented-out code, the share of characters that is taken for a comment, by the distance from the sign."""
    length = len(next(iter(lines.values())))
    return line_chart(
        range(1, length + 1),
        lines,
        xlabel="characters after the sign that opens the comment",
        ylabel="share taken for a comment",
        ylim=(-0.03, 1.03),
    )


# Each differs from its neighbours in form as well as in colour. The contrast with the ground is at least 4.5.
LOOKS = {
    "space": "",
    "comment": "color:#5F5F5F;font-style:italic",
    "string": "color:#00694D",
    "number": "color:#8A3FA0",
    "operator": "color:#222222",
    "keyword": "color:#0062A3;font-weight:bold",
    "function": "color:#9E3E00;border-bottom:1px solid #9E3E00",
    "name": "color:#222222",
}
GROUND = "background:#FFFFFF;color:#222222"
WRONG = "background:#F9D3DF;outline:1px solid #A3397A"
SIGNS = {label: {"space": ".", "number": "d"}.get(label, label[0]) for label in LOOKS}  # d for digit


class ColouredCode:
    """Python source in the colours of its labels, once for each labelling, side by side; the first is the truth.

    Where another one differs from it, the ground is tinted. As plain text, each line of the source is followed by a
    letter for each label; a capital letter, or "!" for a space, is a wrong one.
    """

    def __init__(self, text: str, labellings: Mapping[str, Int[np.ndarray, "L"]], labels: Sequence[str]) -> None:
        self.text = text
        self.labellings = {name: [labels[i] for i in ids] for name, ids in labellings.items()}

    @property
    def truth(self) -> list[str]:
        """The labels of the first labelling."""
        return next(iter(self.labellings.values()))

    def right(self, name: str) -> float:
        """The share of the characters on which a labelling agrees with the truth."""
        return float(np.mean([a == b for a, b in zip(self.labellings[name], self.truth, strict=True)]))

    def __repr__(self) -> str:
        signs = ", ".join(f"{sign} {label}" for label, sign in SIGNS.items())
        panels = [f"{name}\n{self._as_text(name)}" for name in self.labellings]
        return "\n\n".join([*panels, f"({signs}; a capital letter, or ! for a space, is wrong)"])

    def _as_text(self, name: str) -> str:
        signs = [
            SIGNS[label] if label == true else SIGNS[label].upper().replace(".", "!")
            for label, true in zip(self.labellings[name], self.truth, strict=True)
        ]
        rows, start = [], 0
        for line in self.text.split("\n"):
            rows += [line, "".join(signs[start : start + len(line)])]
            start += len(line) + 1
        return "\n".join(rows)

    def _repr_html_(self) -> str:
        panels = []
        for name in self.labellings:
            note = "" if self.labellings[name] is self.truth else f", {self.right(name):.0%} right"
            code = (
                f'<pre style="{GROUND};margin:0;padding:0.6em;font-size:12px;line-height:1.5">{self._spans(name)}</pre>'
            )
            panels.append(
                f'<figure style="margin:0 0.6em 0.6em 0"><figcaption>{name}{note}</figcaption>{code}</figure>'
            )
        legend = " ".join(f'<span style="{look}">{label}</span>' for label, look in LOOKS.items() if label != "space")
        key = f'<p style="{GROUND};display:inline-block;padding:0.3em 0.6em;margin:0.2em 0"><code>{legend} '
        key += f'<span style="{WRONG}">wrong</span></code></p>'
        words = f"<details><summary>the same as text</summary><pre>{escape(repr(self))}</pre></details>"
        return f'<div>{key}<div style="display:flex;flex-wrap:wrap">{"".join(panels)}</div>{words}</div>'

    def _spans(self, name: str) -> str:
        rows = zip(self.text, self.labellings[name], self.truth, strict=True)
        parts = []
        for (label, right), run in groupby(rows, key=lambda row: (row[1], row[1] == row[2])):
            # nothing is printed where the end of a line is taken for something else
            look = ";".join(part for part in (LOOKS[label], "" if right else WRONG) if part)
            parts.append(f'<span style="{look}">{escape("".join(c for c, _, _ in run))}</span>')
        return "".join(parts)
