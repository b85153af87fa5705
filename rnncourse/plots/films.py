"""Films of what happens in time: the gradient's way back, gates that open, a beam that is cut, attention, a scan.

Each function takes numbers that a unit has computed and returns a `Film`, whose last moment is the still picture.
`film.show(alt)` puts it below a notebook's cell.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float, Real
from matplotlib.colors import LinearSegmentedColormap, to_hex
from matplotlib.patches import Rectangle

from .charts import STATES, _short
from .drawing import Drawing, Shape
from .player import Film, seen
from .style import COLOURS, INK, MUTED, TINTS, described

ERRORS = LinearSegmentedColormap.from_list("errors", ["#FFFFFF", COLOURS["gradient"]])
WEIGHTS = LinearSegmentedColormap.from_list("weights", ["#FFFFFF", COLOURS["V"]])
GATES = LinearSegmentedColormap.from_list("gates", ["#FFFFFF", "#9A9A9A"])
DECADES = 8  # powers of ten that a bar of the way back can fall before it is gone
QUICK = 0.5  # seconds a moment, where there are many of them and they are alike


def way_back_film(norms: Mapping[str, Float[np.ndarray, "T"]]) -> Film:
    """The error's way back through T steps, a row of bars for each name: `norms` as of `state_gradient_norms`.

    The error is read at the last step, on the right, and walks to the left. A bar is as high as the error is large, on
    a logarithmic scale: the thin line is its size at the start, the ground a hundred-millionth of that, or less.
    """
    steps = len(next(iter(norms.values())))
    across, height, gap = 0.24, 1.05, 0.62
    left, right = 1.35, 1.35 + 0.24 * (steps - 1)
    rise = max(0.0, *(float(np.log10(row / row[-1]).max()) for row in norms.values()))
    unit = height / (DECADES + rise)
    sheet = Drawing(right + 1.45, (height + gap) * len(norms) + 0.75)
    grounds = {name: 0.75 + (height + gap) * k for k, name in enumerate(reversed(list(norms)))}
    for name, ground in grounds.items():
        sheet.text(left - 0.25, ground + DECADES * unit, name, INK, align="right")
        sheet.line((left - 0.15, ground), (right + 0.15, ground), COLOURS["plain"], 1.0)
        sheet.line((left - 0.15, ground + DECADES * unit), (right + 0.15, ground + DECADES * unit), COLOURS["faint"])
    for t in range(0, steps, 5):
        sheet.text(right - across * t, 0.4, f"{t}" if t else "0", MUTED)
    sheet.text((left + right) / 2, 0.12, "steps back from the loss", MUTED)
    captions = []
    for k in range(steps):
        x, t = right - across * k, steps - 1 - k
        with sheet.layer(seen(k)):
            for name, row in norms.items():
                size = min(max(math.log10(max(row[t] / row[-1], 1e-300)) + DECADES, 0.06), DECADES + rise) * unit
                corner = (x - 0.4 * across, grounds[name])
                sheet.axes.add_patch(
                    Rectangle(corner, 0.8 * across, size, facecolor=COLOURS["gradient"], edgecolor="none", zorder=3)
                )
        with sheet.layer(seen(k, k + 1) if k < steps - 1 else seen(k)):
            for name, row in norms.items():
                share = row[t] / row[-1]
                sheet.text(
                    right + 0.25, grounds[name] + 0.3 * height, f"× {_factor(share)}", COLOURS["gradient"], align="left"
                )
            sheet.axes.add_patch(
                Rectangle(
                    (x - across / 2, 0.6), across, sheet.figure.get_figheight() - 0.7, color=TINTS["plain"], zorder=0
                )
            )
        sizes = ", ".join(f"{name}: {_factor(row[t] / row[-1])}" for name, row in norms.items())
        captions.append(
            "The loss is read here; the error has its full size. The bars' scale is logarithmic."
            if k == 0
            else f"{k} back. {sizes}."
        )
    alt = f"Bars for each of {', '.join(norms)}: the size of the error, step by step back, on a logarithmic scale."
    return Film(described(sheet.figure, f"{alt} {captions[-1]}"), captions, seconds=QUICK)


def _factor(share: float) -> str:
    """A factor in few signs, "0.31", "12", "4e-07".

    >>> [_factor(x) for x in (1.0, 0.314, 0.0123, 12.3, 4.2e-7)]
    ['1.00', '0.31', '0.012', '12', '4e-07']
    """
    if 0.1 <= share < 10:
        return f"{share:.2f}"
    return f"{share:.2g}" if 0.001 <= share < 1000 else f"{share:.0e}"


def gates_film(
    reads: Mapping[str, Real[np.ndarray, "T"] | Sequence[float]],
    gates: Mapping[str, Real[np.ndarray, "T"]],
    states: Mapping[str, Real[np.ndarray, "T"]],
) -> Film:
    """One unit of an LSTM while it reads: its three gates as shutters, its memory as a square, and a table that grows.

    reads: what comes in, by name; gates: "f", "i" and "o", from 0 to 1; states: rows of the table, "c" among them.
    """
    rows = [*reads, *gates, *states]
    values = {name: np.asarray(row, float) for name, row in {**reads, **gates, **states}.items()}
    steps = len(values["c"])
    across, down = 0.42, 0.4
    begin, bottom = 4.55, 0.75
    top = bottom + down * (len(rows) - 1)
    height = max(top + 0.75, 3.4)
    sheet = Drawing(begin + across * steps, height)
    middle, place = height / 2 + 0.1, {"f": (1.0, 0.0), "i": (1.95, 0.95), "o": (2.9, 0.0)}
    memory = Shape(1.95, middle, 0.62, 0.62, round=False)
    before, after, candidate = (0.2, middle), (3.75, middle), (1.95, middle + 1.6)
    sheet.arrow(before, memory, colour=COLOURS["W"])
    sheet.arrow(memory, after, colour=COLOURS["W"])
    sheet.arrow(candidate, memory, colour=COLOURS["W"])
    sheet.text(0.32, middle + 0.22, "$c_{t-1}$", size=14)
    sheet.text(3.7, middle + 0.22, "$h_t$", size=14)
    sheet.text(2.2, middle + 1.45, "$g_t$", size=14)
    sheet.text(1.95, middle - 0.55, "$c_t$", size=14)
    for name, (x, up) in place.items():
        label = (x, middle + 0.52) if not up else (x - 0.52, middle + up - 0.1)
        sheet.text(*label, f"${name}$", size=14)
    for name, row in zip(rows, range(len(rows)), strict=True):
        sheet.text(begin - 0.4, top - down * row, name, align="right")
    sheet.text(begin + across * (steps - 1) / 2, 0.2, "time step", MUTED)
    reach = max(1.0, float(np.abs(values["c"]).max()))
    captions = []
    for t in range(steps):
        x = begin + across * t
        sheet.text(x, bottom - 0.32, f"{t + 1}", MUTED)
        last = seen(t, t + 1) if t < steps - 1 else seen(t)
        with sheet.layer(seen(t)):
            for row, name in enumerate(rows):
                value = values[name][t]
                y = top - down * row
                _cell(sheet, x, y, across, down, _colour(name, value, reads, gates, reach))
                sheet.text(x, y, _short(value), size=11)
        with sheet.layer(last):
            frame = Rectangle(
                (x - across / 2, bottom - down / 2), across, down * len(rows), fill=False, ec=INK, lw=1.6, zorder=6
            )
            sheet.axes.add_patch(frame)
            _cell(sheet, memory.x, memory.y, 0.62, 0.62, _colour("c", values["c"][t], reads, gates, reach))
            sheet.text(memory.x, memory.y, _short(values["c"][t]))
            for name, (at, up) in place.items():
                _shutter(sheet, at, middle + up, float(values[name][t]), across_way=bool(up))
        open_gates = [name for name in place if values[name][t] > 0.5]
        said = ", ".join(f"{name} = {_short(values[name][t])}" for name in reads)
        captions.append(
            f"Step {t + 1}: {said}. Open: {', '.join(open_gates) or 'none'}. The memory is {_short(values['c'][t])}."
        )
    return Film(sheet.figure, captions)


def _shutter(sheet: Drawing, x: float, y: float, opened: float, *, across_way: bool) -> None:
    """A gate: two black blades that leave a gap as wide as it is open, on a way to the right, or downwards."""
    blade = 0.3 * (1 - 0.85 * opened)
    for side in (-1, 1):
        low = 0.3 - blade if side == 1 else -0.3
        corner, width, height = ((x - 0.05, y + low), 0.1, blade)
        if across_way:
            corner, width, height = ((x + low, y - 0.05), blade, 0.1)
        sheet.axes.add_patch(Rectangle(corner, width, height, facecolor=INK, edgecolor="none", zorder=5))


def _cell(sheet: Drawing, x: float, y: float, width: float, height: float, colour: str) -> None:
    corner = (x - width / 2, y - height / 2)
    sheet.axes.add_patch(Rectangle(corner, width, height, facecolor=colour, edgecolor="#D0D0D0", lw=0.6, zorder=3))


def _colour(name: str, value: float, reads: Mapping[str, Any], gates: Mapping[str, Any], reach: float) -> str:
    """Inputs are blue, gates grey where open, states vermilion above 0 and blue below; all pale enough for text."""
    if name in reads:
        return TINTS["input"] if value else "#FFFFFF"
    if name in gates:
        return to_hex(GATES(float(np.clip(value, 0, 1)) * 0.6))
    return to_hex(STATES(0.5 + 0.32 * float(np.clip(value / reach, -1, 1))))


def beam_film(following: Callable[[tuple[str, ...]], Mapping[str, float]], width: int) -> Film:
    """A beam grows and is cut, round by round, until all that is in it has ended, by the word eos.

    following: the probability of each next word after those so far, () at first. Impossible words
    are left out. Kept hypotheses have an orange frame, those that are cut off turn pale and get a cross.
    """
    end = "eos"
    rounds: list[tuple[list[tuple[str, ...]], list[tuple[str, ...]]]] = []
    scores: dict[tuple[str, ...], float] = {(): 0.0}
    beam: list[tuple[str, ...]] = [()]
    while any(not path or path[-1] != end for path in beam):
        grown = []
        for path in beam:
            if not path or path[-1] != end:
                grown += [(*path, word) for word, share in following(path).items() if share > 0]
                scores |= {(*path, w): scores[path] + math.log(p) for w, p in following(path).items() if p > 0}
        ended = [path for path in beam if path and path[-1] == end]
        kept = sorted([*ended, *grown], key=lambda path: -scores[path])[:width]
        rounds.append((grown, kept))
        beam = kept
    depth = max(len(path) for path in scores)
    across, down = 1.95, 0.56
    rows = [max(1, len(grown)) for grown, _ in rounds]
    height = down * max(rows)
    sheet = Drawing(0.8 + across * depth + 0.9, height + 1.0)
    nodes: dict[tuple[str, ...], Shape] = {
        (): sheet.box(0.6, height / 2 + 0.35, "bos", "plain", width=0.75, height=0.42, size=12)
    }
    captions = [f"The beam holds one hypothesis, with nothing said yet. Its width is {width}."]
    moment = 1
    for n, (grown, kept) in enumerate(rounds, 1):
        order = sorted(grown, key=lambda path: (-nodes[path[:-1]].y, -scores[path]))
        lost = [path for path in [*grown, *(rounds[n - 2][1] if n > 1 else [])] if path not in kept and path in scores]
        lost = [path for path in lost if path in grown or path[-1] == end]
        with sheet.layer(seen(moment)):
            for k, path in enumerate(order):
                y = height / 2 + 0.35 + down * ((len(order) - 1) / 2 - k)
                x = 0.6 + across * n
                nodes[path] = sheet.box(
                    x, y, path[-1], "output" if path[-1] == end else "input", width=0.8, height=0.42, size=12
                )
        for cut, layer in ((False, seen(moment)), (True, seen(moment, moment + 1)), (True, seen(moment + 1))):
            with sheet.layer(layer):
                for path in order:
                    if (path in lost) is cut:
                        pale = layer == seen(moment + 1)
                        sheet.arrow(nodes[path[:-1]], nodes[path], colour=COLOURS["faint"] if pale else MUTED)
        with sheet.layer(seen(moment, moment + 1)):
            for path in order:
                sheet.text(nodes[path].x + 0.45, nodes[path].y, f"{scores[path]:.2f}", MUTED, 11, align="left")
        best = ", ".join(f"“{' '.join(word for word in path if word != end)}” {scores[path]:.2f}" for path in kept)
        captions.append(f"Round {n}: all that has not ended is continued in every way, {len(grown)} candidates in all.")
        others = "The others are cut off." if lost else "Nothing has to go."
        captions.append(f"Round {n}: the {len(kept)} best stay: {best}. {others}")
        with sheet.layer(seen(moment + 1)):
            for path in lost:
                box = nodes[path]
                for slope in (-1, 1):
                    a, b = (box.x - 0.32, box.y - 0.14 * slope), (box.x + 0.32, box.y + 0.14 * slope)
                    sheet.axes.plot([a[0], b[0]], [a[1], b[1]], color=COLOURS["loss"], lw=1.6, zorder=6)
        until = moment + 3 if n < len(rounds) else 999
        with sheet.layer(seen(moment + 1, until)):
            for path in kept:
                box = nodes[path]
                corner = (box.x - 0.46, box.y - 0.26)
                sheet.axes.add_patch(Rectangle(corner, 0.92, 0.52, fill=False, ec=COLOURS["state"], lw=2.4, zorder=6))
                sheet.text(box.x + 0.52, box.y, f"{scores[path]:.2f}", INK, 11, align="left")
        moment += 2
    sheet.text(0.6 + across * depth / 2, 0.2, "numbers: sums of log-probabilities", MUTED)
    return Film(sheet.figure, captions)


def attention_film(weights: Float[np.ndarray, "T S"], source: str, target: str) -> Film:
    """A decoder writes `target`, one character a moment, and looks at `source` with these weights while it does."""
    across = min(0.42, 8.2 / max(len(source), len(target)))
    left = 0.6
    sheet = Drawing(left + across * (max(len(source), len(target)) - 1) + 0.6, 3.6)
    low, high = 1.0, 2.85
    shift = across * (len(source) - len(target)) / 2
    out = left + max(shift, 0.0)
    begin = left + max(-shift, 0.0)
    for j, sign in enumerate(source):
        sheet.text(begin + across * j, low - 0.45, "␣" if sign == " " else sign, size=13)
    sheet.text(begin, 0.1, "read", MUTED, align="left")
    sheet.text(out, high + 0.55, "written", MUTED, align="left")
    captions = []
    for t, sign in enumerate(target):
        here, last = out + across * t, t == len(target) - 1
        with sheet.layer(seen(t)):
            sheet.text(here, high + 0.22, sign, size=14)
        with sheet.layer(seen(t) if last else seen(t, t + 1)):
            for j, weight in enumerate(weights[t]):
                x = begin + across * j
                _cell(sheet, x, low, across, across, to_hex(WEIGHTS(float(weight))))
                if weight > 0.03:
                    sheet.line((x, low + across / 2), (here, high), COLOURS["V"], 0.5 + 6 * float(weight))
        j = int(np.argmax(weights[t]))
        name = "the space" if source[j] == " " else f"“{source[j]}”"
        captions.append(
            f"It writes “{sign}”, and looks most at {name}, the {_nth(j + 1)} sign, with {weights[t, j]:.2f}."
        )
    alt = (
        f"{source} as it was read, below, and {target} as it is written, above; from the sign just written lines lead "
        "down to those it looks at, the wider the larger the weight."
    )
    return Film(described(sheet.figure, alt), captions, seconds=0.9)


def _nth(number: int) -> str:
    """1st, 2nd, 3rd, 4th … 11th.

    >>> [_nth(n) for n in (1, 2, 3, 4, 11, 12, 21)]
    ['1st', '2nd', '3rd', '4th', '11th', '12th', '21st']
    """
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def scan_film(steps: int = 8) -> Film:
    """All prefixes of `steps` maps, by a loop above and by a scan below, a round at a time; each number says how far.

    What stands in a square is how many maps, up to and with this one, have been put together there.
    """
    across, left = 0.85, 1.5
    top, bottom = 2.75, 0.95
    sheet = Drawing(left + across * (steps - 1) + 0.75, top + 0.85)
    rounds = max(steps - 1, 1).bit_length()
    for t in range(steps):
        sheet.text(left + across * t, 0.25, f"$t = {t + 1}$", MUTED)
    sheet.text(0.75, top, "the loop", align="center")
    sheet.text(0.75, bottom, "the scan", align="center")
    looped, scanned = [1] * steps, [1] * steps
    history = [(list(looped), list(scanned))]
    for k in range(steps - 1):
        looped[k + 1] = looped[k] + 1
        if k < rounds:
            scanned = [min(scanned[t] + scanned[t - 2**k], t + 1) if t >= 2**k else scanned[t] for t in range(steps)]
        history.append((list(looped), list(scanned)))
    captions = ["Before the first round: in every square there is one map, that of its own step."]
    for n, now in enumerate(history):
        for y, counts, earlier in zip((top, bottom), now, history[max(n - 1, 0)], strict=True):
            for t, count in enumerate(counts):
                if n and count == earlier[t]:
                    continue  # the layer of an earlier round is still there
                until = next((m for m in range(n + 1, len(history)) if history[m][y == bottom][t] != count), 999)
                with sheet.layer(seen(n, until)):
                    whole = count == t + 1
                    sheet.box(left + across * t, y, f"{count}", "output" if whole else "plain", 0.5, 0.46, size=13)
        if n:
            with sheet.layer(seen(n, n + 1)):
                _hop(sheet, left + across * (n - 1), left + across * n, top)
                if n <= rounds:
                    for t in range(2 ** (n - 1), steps):
                        _hop(sheet, left + across * (t - 2 ** (n - 1)), left + across * t, bottom)
            done = sum(count == t + 1 for t, count in enumerate(now[1]))
            said = (
                f"the scan adds what stands {2 ** (n - 1)} to the left, everywhere at once: {done} of {steps} are whole"
                if n <= rounds
                else "the scan has been done for a while"
            )
            captions.append(f"Round {n}: the loop has {n + 1} of {steps}; {said}.")
    captions.append(f"The loop took {steps - 1} rounds, the scan {rounds}. Green: all maps up to here.")
    with sheet.layer(seen(len(history))):
        sheet.text(
            left + across * (steps - 1) / 2, (top + bottom) / 2, f"{steps - 1} rounds above, {rounds} below", INK
        )
    alt = (
        f"Two rows of {steps} squares, for the loop and for the scan; all prefixes are there after {steps - 1} rounds "
        f"of the loop, and after {rounds} of the scan."
    )
    return Film(described(sheet.figure, alt), captions)


def _hop(sheet: Drawing, a: float, b: float, y: float) -> None:
    """An arrow above the squares from one to another."""
    lift = 0.42 + 0.07 * (b - a)
    sheet.path([(a, y + 0.25), (a, y + lift), (b, y + lift), (b, y + 0.26)], COLOURS["W"])
