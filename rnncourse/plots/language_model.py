"""Charts of unit 06: how networks learn, forget what is of use, and stand beside tables that count."""

from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Float
from matplotlib.figure import Figure

from .charts import line_chart
from .style import described


def plateau(perplexities: Float[np.ndarray, "updates"], guessed: float, lowest: float) -> Figure:
    """The perplexity of the three students' network at each update, beside that of who guesses, and the lowest."""
    first, count = 40, len(perplexities)
    near = np.flatnonzero(perplexities < (guessed + lowest) / 2)
    alt = f"Perplexity against updates, from the {first + 1}st on. It falls at once to about {guessed:.2f}, where a "
    alt += "model stands that guesses the profession, and stays there, restlessly, for hundreds of updates. "
    alt += (
        f"It is first below half of the way to {lowest:.2f}, the lowest possible, "
        if len(near)
        else "It never leaves. "
    )
    alt += f"at update {near[0]}, and ends at {perplexities[-1]:.2f}." if len(near) else ""
    lines: dict[str, Sequence[float] | np.ndarray] = {
        "network": perplexities[first:],
        "profession\nguessed": [guessed] * (count - first),
        "lowest\npossible": [lowest] * (count - first),
    }
    updates = range(first + 1, count + 1)
    return line_chart(updates, lines, xlabel="update", ylabel="perplexity", title="Three students", alt=alt)


def learned_by_heart(validation: Sequence[float], training: Float[np.ndarray, "updates"], characters: int) -> Figure:
    """Bits per character on the validation text, looked at each 200 updates, and the mean training loss up to there."""
    falling = np.asarray(training).reshape(len(validation), -1).mean(axis=1)
    at = 200 * (np.arange(len(validation)) + 1)
    best = int(np.argmin(validation))
    alt = f"Bits per character against updates, on {characters:,} characters. The training line goes from "
    alt += f"{falling[0]:.1f} to {falling[-1]:.1f}. The validation line is lowest, {validation[best]:.1f}, after "
    alt += f"{at[best]} updates, and is {validation[-1]:.1f} at the end."
    lines = {"validation": validation, "training": falling}
    title = f"{characters:,} characters of source code"
    return line_chart(at, lines, xlabel="update", ylabel="bits per character", title=title, alt=alt)


def rates_and_seeds(ends: Mapping[float, Sequence[float]]) -> Figure:
    """Bits on the validation names by learning rate, a line for each seed."""
    lines = {f"seed {seed}": list(of_seed) for seed, of_seed in enumerate(zip(*ends.values(), strict=True))}
    told = "; ".join(f"{min(bits):.1f} to {max(bits):.1f} at {rate:g}" for rate, bits in ends.items())
    return line_chart(
        list(ends),
        lines,
        xlabel="learning rate (log scale)",
        ylabel="bits per character,\nvalidation names",
        logx=True,
        title=f"{len(ends)} rates, {len(lines)} seeds, 300 updates",
        alt=f"Bits per character on the validation names against the learning rate, for {len(lines)} seeds: {told}.",
    )


def opinions(lines: Mapping[str, Sequence[float]], title: str, ylim: tuple[float, float] | None = None) -> Figure:
    """The probabilities of a few characters, by rank, a line for each temperature."""
    count = len(next(iter(lines.values())))
    figure = line_chart(
        range(1, count + 1), lines, xlabel="character, by its rank", ylabel="probability", title=title, ylim=ylim
    )
    figure.axes[0].set_xticks(range(1, count + 1))
    told = "; ".join(f"{name}: {', '.join(f'{p:.2f}' for p in y)}" for name, y in lines.items())
    return described(figure, f"Probabilities of {count} characters. {told}.")


def training_curves(losses: Mapping[str, Float[np.ndarray, "updates"]]) -> Figure:
    """Training losses in bits per character; each point is a mean over a hundred updates."""
    curves = {name: np.asarray(of).reshape(-1, 100).mean(axis=1) for name, of in losses.items()}
    at = 100 * np.arange(1, len(next(iter(curves.values()))) + 1)
    told = "; ".join(f"{name} from {curve[0]:.1f} to {curve[-1]:.1f}" for name, curve in curves.items())
    alt = f"The training loss in bits per character against updates, steep at first and then slow: {told}."
    xlabel, ylabel = "updates (each point is a mean over 100)", "bits per character, training text"
    return line_chart(at, curves, xlabel=xlabel, ylabel=ylabel, alt=alt)


def against_counting(name: str, additive: Sequence[float], kneser_ney: Sequence[float], network: float) -> Figure:
    """Bits per character on held-out text of n-grams by n, and of a network, which has no n: a level line."""
    ns = range(1, len(additive) + 1)
    lines = {"counts + α": additive, "Kneser–Ney": kneser_ney, "the network": [network] * len(additive)}
    alt = (
        f"{name}: bits per character on held-out text against n. Counts with alpha are lowest, {min(additive):.2f}, at "
    )
    alt += (
        f"n = {1 + int(np.argmin(additive))}, and at {additive[-1]:.2f} for n = {len(additive)}; Kneser-Ney goes from "
    )
    alt += f"{kneser_ney[0]:.2f} to {kneser_ney[-1]:.2f}. The network is a level line at {network:.2f}."
    xlabel, ylabel = "n (characters the n-gram sees at once)", "bits per character,\nheld-out text"
    return line_chart(ns, lines, xlabel=xlabel, ylabel=ylabel, title=name, alt=alt)
