"""What unit 10 claims about training: what gates, and how they start, add to a plain cell."""

from __future__ import annotations

import torch

from claims.experiment import Unit
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
    trained,
    trained_at_one_lag,
)
from rnncourse.experiments.gates_torch import comments_known, taken_for_comment, train_tagger

torch.set_num_threads(1)
unit = Unit("10_gates")


@unit.experiment(
    "after 200 updates at a lag of 100 alone: the share of right answers there, and at the worst of four lags beside it",
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
        for lag, biases in {10: (0, 1, 2, 3), 30: (0, 1, 2, 3, 4), 100: (2, 3, 4)}.items()
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
    p, run = trained(network, lags, updates=300, seed=seed), NETWORKS[network][1]
    found = {f"lag {lag}": share_right(p, run, lag) for lag in (HELD_OUT if lags == (1, 7) else lags[:1])}
    if network == LSTM and lags == (1, 7):
        c, h = after_push(p)
        found |= {"push left in c, 100": c[100], "push left in c, 300": c[300], "push in h, 100": h[100]}
        found |= {"apart without W": apart_without_W(p), "growth": growth(p)}
        found |= {"h wiped": share_after_wiping(p, "h"), "c wiped": share_after_wiping(p, "c")} | gates_open(p)
    return found


@unit.experiment(
    "unit 09's tagger with other cores, as many parameters: the share of held-out comment characters that it knows if "
    "the sign is in view; of lines of code with a sign before them, that of each character that it takes for a comment",
    settings={
        f"{core}, {epochs} epochs": {"core": core, "epochs": epochs}
        for core in ("LSTM, 43 units", "plain, 96 units", "LSTM, forget bias 5")
        for epochs in (5, 15)
    },
    seeds=5,
)
def tagger(seed, core, epochs):
    model = train_tagger(core, epochs, seed)
    marked = taken_for_comment(model)
    found = {"known": comments_known(model), "unmarked": taken_for_comment(model, "").mean()}
    return found | {"of the last eight": marked[-8:].mean()}
