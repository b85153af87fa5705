"""What unit 10 claims about training: what gates, and how they start, add to a plain cell."""

from claims.experiment import Unit
from rnncourse.experiments.bidirectional_torch import comments_known, taken_for_comment
from rnncourse.experiments.gates import (
    GRU,
    GRU_5,
    HELD_OUT,
    LSTM,
    LSTM_1,
    LSTM_5,
    NETWORKS,
    PLAIN,
    QUIET,
    WIDER,
    after_push,
    apart,
    apart_without_W,
    for_each_symbol,
    gates_open,
    growth,
    recall_with_biases,
    share_after_wiping,
    share_right,
    share_right_beside,
    shares_with_wrong_steps,
    slope_before,
    trained_at_one_lag,
    trained_on,
)
from rnncourse.experiments.gates_torch import CORES, train_tagger

unit = Unit("10_gates")


@unit.experiment(
    "after 200 updates at a lag of 100 alone: the share of right answers there, at the worst of four lags beside it, …",
    settings={network: {"network": network} for network in (LSTM_5, LSTM_1, LSTM, PLAIN, QUIET, GRU, GRU_5)},
)
def hundred_steps(seed, network):
    p, run = trained_at_one_lag(network, 100, seed=seed), NETWORKS[network][1]
    found = {"recalled": share_right(p, run, 100), "beside": share_right_beside(p, run, 100)}
    if network in (LSTM_5, GRU_5):
        unseen = [share > 0.95 for share in shares_with_wrong_steps(p).values()]
        found |= {"wrong steps unseen": sum(unseen), "wrong steps": len(unseen)}
    if network == LSTM_5:
        C, (c, h) = for_each_symbol(p)[2], after_push(p)
        found |= {"apart at first": apart(C[0]), "apart at the end": apart(C[-1])}
        found |= {"apart without W": apart_without_W(p), "growth": growth(p)}
        found |= {"push left in c, 100": c[100], "push left in c, 300": c[300]}
        found |= {"push in h, 1": h[1], "push in h, 100": h[100]}
        found |= {"h wiped": share_after_wiping(p, "h"), "c wiped": share_after_wiping(p, "c")}
        found |= {"lag 300": share_right(p, run, 300)} | gates_open(p)
    return found


@unit.experiment(
    "share of right answers after 200 updates at one lag, with these biases of the forget and the input gate",
    settings={
        f"lag {lag}, bias {b}": {"lag": lag, "forget": float(b), "closed": -float(b)}
        for lag, biases in {10: (0, 1, 2), 30: (0, 1, 2, 3), 100: (2, 4)}.items()
        for b in biases
    }
    | {"lag 100, forget 4, input 0": {"lag": 100, "forget": 4.0, "closed": 0.0}},
)
def bias_by_lag(seed, lag, forget, closed):
    return {
        "recalled": recall_with_biases(lag, forget, closed, seed=seed),
        "slope": slope_before(forget, closed, seed=seed),
    }


@unit.experiment(
    "share of right answers at each lag after 300 updates on lags from 1 to 7, or on one of 30",
    settings={network: {"network": network, "lags": (1, 7)} for network in (LSTM, PLAIN, WIDER, GRU)}
    | {f"{LSTM}, lag 30 alone": {"network": LSTM, "lags": (30, 30)}},
)
def short_examples(seed, network, lags):
    p, run = trained_on(network, lags, updates=300, seed=seed), NETWORKS[network][1]
    found = {f"lag {lag}": share_right(p, run, lag) for lag in (HELD_OUT if lags == (1, 7) else lags[:1])}
    if network == LSTM and lags == (1, 7):
        c, h = after_push(p)
        found |= {"push left in c, 100": c[100], "push left in c, 300": c[300], "push in h, 100": h[100]}
        found |= {"apart without W": apart_without_W(p), "growth": growth(p, 1000, 2000)}
        found |= {"h wiped": share_after_wiping(p, "h"), "c wiped": share_after_wiping(p, "c")} | gates_open(p)
    return found


@unit.experiment(
    "unit 09's tagger with other cores, as many parameters: the share of held-out comment characters that it knows if "
    "the sign is in view; of lines of code with a sign before them, that of the last eight of forty characters that it "
    "takes for a comment",
    settings={f"{core}, {epochs} epochs": {"core": core, "epochs": epochs} for core in CORES for epochs in (15, 5)},
)
def tagger(seed, core, epochs):
    model = train_tagger(core, epochs, seed)
    return {"known": comments_known(model), "of the last eight": taken_for_comment(model)[-8:].mean()}


hundred_steps.claim(
    "gates_from_long",
    "At a lag of 100 the LSTM is right more than 99 times in 100 with biases of 5 and $-5$, and guesses with biases of "
    "0, as the plain cell does.",
    figure=(LSTM_5, "recalled"),
    controls=[(LSTM, "recalled"), (PLAIN, "recalled"), (QUIET, "recalled")],
    holds=lambda n: n[LSTM_5]["recalled"] > 0.99 > 0.5 > max(n[LSTM]["recalled"], n[PLAIN]["recalled"]),
)
hundred_steps.claim(
    "counts_on",
    "The largest entry of $c$ grows by more than a half at each step, up to a thousand steps. Of a push that halves "
    "it, nothing is undone in 300 steps, and after 100 it changes $h$ by less than a tenth.",
    figure=(LSTM_5, "growth"),
    controls=[(LSTM_5, "push left in c, 300"), (LSTM_5, "push in h, 100"), (LSTM_5, "apart without W")],
    holds=lambda n: (
        n[LSTM_5]["growth"] > 0.5 and n[LSTM_5]["push left in c, 300"] > 0.95 and n[LSTM_5]["push in h, 100"] < 0.1
    ),
)
bias_by_lag.claim(
    "forget_bias",
    "A forget bias of the logarithm of the lag, rounded down to a whole number, is enough at lags of 10, 30 and 100. "
    "At 100 a bias of 2 is not enough.",
    figure=("lag 100, bias 4", "recalled"),
    controls=[("lag 100, bias 2", "recalled"), ("lag 30, bias 0", "recalled")],
    holds=lambda n: (
        min(n[f"lag {lag}, bias {b}"]["recalled"] for lag, b in ((10, 2), (30, 3), (100, 4))) > 0.95
        and n["lag 100, bias 2"]["recalled"] < 0.6
    ),
)
bias_by_lag.claim(
    "keep_and_keep_out",
    "With a forget bias of 4 the LSTM learns to recall over 100 steps if the input bias is $-4$. If it is 0, it is "
    "right less often.",
    figure=("lag 100, bias 4", "recalled"),
    controls=[("lag 100, forget 4, input 0", "recalled")],
    holds=lambda n: n["lag 100, bias 4"]["recalled"] > 0.99 > 0.95 > n["lag 100, forget 4, input 0"]["recalled"],
)
hundred_steps.claim(
    "gru_from_long",
    "Trained on a lag of 100 alone, the GRU is right more than 99 times in 100 with a bias of 5 on $z$, and guesses "
    "with biases of 0.",
    figure=(GRU_5, "recalled"),
    controls=[(GRU, "recalled")],
    holds=lambda n: n[GRU_5]["recalled"] > 0.99 > 0.5 > n[GRU]["recalled"],
)
short_examples.claim(
    "lstm_from_short",
    "Trained on lags from 1 to 7 alone, an LSTM whose biases start at 0 holds the symbol for 1,000 steps. Trained on a "
    "lag of 30 alone, the same LSTM guesses there.",
    figure=(LSTM, "lag 1000"),
    controls=[(f"{LSTM}, lag 30 alone", "lag 30")],
    holds=lambda n: n[LSTM]["lag 1000"] > 0.99 > 0.5 > n[f"{LSTM}, lag 30 alone"]["lag 30"],
)
tagger.claim(
    "tagger_learns",
    "After fifteen epochs each of the three taggers knows more than eight in ten of these characters, the plain cell, "
    "too.",
    figure=("LSTM, 43 units, 15 epochs", "known"),
    controls=[(f"{core}, {epochs} epochs", "known") for core in CORES for epochs in (15, 5)][1:],
    holds=lambda n: min(n[f"{core}, 15 epochs"]["known"] for core in CORES) > 0.8,
)

unit.expectation(
    "In an LSTM, errors do not vanish.",
    "with a forget bias of 0, the LSTM loses its errors as fast as a plain cell.",
    "in part",
)
unit.expectation(
    "What learns to remember over long distances is the LSTM, whatever its start.",
    "So it was not the LSTM that did it. It was the LSTM and its start.",
)
unit.expectation(
    "What is remembered is written once, and stands still.",
    "nothing pulls $c$ back. It is a counter that counts on in the direction of its symbol",
)
unit.expectation(
    "Nobody remembers for longer than it was trained to.",
    "An LSTM whose gates start half open learns from seven steps what to do for a thousand.",
)
unit.expectation(
    "If a cell is computed wrongly, the answers of its network show it.",
    "Many of the wrong steps answer nearly every question",
)
unit.expectation(
    "On real text, an LSTM holds on to what a plain cell cannot.",
    "Gates got there sooner in some seeds; they are no other kind of memory.",
)
