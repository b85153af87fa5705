"""Right answers to unit 15 as students write them, each in another style. All must get full marks."""

import math
import random
from collections import Counter, defaultdict
from statistics import mean, stdev

import numpy as np
import torch
from torch import nn

from rnncourse.project import bits_per_token, ngram_bits
from tests.rnncourse.exercises.alternatives import collector

ALTERNATIVES, answers = collector()


# --- split_groups


@answers("split_groups")
def with_a_generator_of_pythons(groups, seed):
    names = sorted(set(groups))
    random.Random(seed).shuffle(names)
    held = len(names) // 10 or 1
    places = defaultdict(list)
    for i, group in enumerate(groups):
        places[group].append(i)
    cuts = names[2 * held :], names[held : 2 * held], names[:held]
    return tuple([i for name in part for i in places[name]] for part in cuts)


@answers("split_groups")
def with_arrays(groups, seed):
    groups = np.array(groups)
    names = np.unique(groups)
    np.random.default_rng([seed, 7]).shuffle(names)
    held = max(len(names) // 10, 1)
    test, validation = np.isin(groups, names[-held:]), np.isin(groups, names[:held])
    return [list(np.flatnonzero(m)) for m in (~test & ~validation, validation, test)]


@answers("split_groups")
def with_a_number_for_each_group(groups, seed):
    rng = np.random.default_rng(seed)
    drawn = {}
    for group in groups:
        drawn.setdefault(group, rng.random())
    order = sorted(drawn, key=drawn.get)
    held = max(1, int(len(order) / 10))
    part = {name: min(place // held, 2) for place, name in enumerate(order)}
    return [[i for i, group in enumerate(groups) if part[group] == k] for k in (2, 0, 1)]


# --- prepare


@answers("prepare")
def with_loops(parts, least=1):
    counts = {}
    for document in parts["train"]:
        for token in document:
            counts[token] = counts.get(token, 0) + 1
    vocabulary = sorted(token for token, count in counts.items() if not count < least)
    vocabulary.insert(0, "<unk>")
    ids = {}
    for name in parts:
        ids[name] = []
        for document in parts[name]:
            ids[name].append([vocabulary.index(t) if t in vocabulary else 0 for t in document])
    return vocabulary, ids


@answers("prepare")
def with_a_default(parts, least=1):
    seen = Counter()
    for document in parts["train"]:
        seen.update(document)
    vocabulary = ["<unk>", *sorted(t for t, count in seen.items() if count >= least)]
    index = defaultdict(int, {token: i for i, token in enumerate(vocabulary)})
    return [vocabulary, {name: [np.array([index[t] for t in d]) for d in parts[name]] for name in parts}]


@answers("prepare")
def with_try(parts, least=1):
    everything = [token for document in parts["train"] for token in document]
    vocabulary = ["<unk>", *sorted({t for t in everything if everything.count(t) >= least})]

    def number(token):
        try:
            return vocabulary.index(token)
        except ValueError:
            return 0

    return vocabulary, {n: [np.array(list(map(number, d)), dtype=np.int32) for d in ds] for n, ds in parts.items()}


# --- bits_per_token


@answers("bits_per_token")
def step_by_step(predictions, documents):
    total, number = 0.0, 0
    for p, (_, targets) in zip(predictions, documents):
        for t in range(len(targets)):
            chance = p[t][targets[t]]
            total += -math.log2(chance) if chance > 0 else math.inf
            number += 1
    return total / number


@answers("bits_per_token")
def weighted_means(predictions, documents):
    lengths = [len(targets) for _, targets in documents]
    means = [-np.log2(np.take_along_axis(p, y[:, None], 1)).mean() for p, (_, y) in zip(predictions, documents)]
    return np.average(means, weights=lengths)


@answers("bits_per_token")
def all_in_one(predictions, documents):
    p = np.vstack(predictions)
    y = np.hstack([targets for _, targets in documents])
    return float(np.log(p[range(len(y)), y]).sum() / -len(y) / np.log(2))


# --- ngram_bits


@answers("ngram_bits")
def from_the_longest_down(train, scored, n, targets, alpha=1.0):
    table, totals = Counter(), Counter()
    for ids, asked in train:
        for t in range(len(ids)):
            for k in range(n):
                if k <= t + 1:
                    context = tuple(map(int, ids[t + 1 - k : t + 1]))
                    table[context, int(asked[t])] += 1
                    totals[context] += 1

    def chance(context, y):
        below = chance(context[1:], y) if context else 1 / targets
        return (table[context, y] + alpha * below) / (totals[context] + alpha)

    costs = []
    for ids, asked in scored:
        for t in range(len(ids)):
            context = tuple(map(int, ids[max(0, t + 2 - n) : t + 1])) if n > 1 else ()
            costs.append(-math.log2(chance(context, int(asked[t]))))
    return sum(costs) / len(costs)


@answers("ngram_bits")
def with_tables_of_numpy(train, scored, n, targets, alpha=1.0):
    counts = defaultdict(lambda: np.zeros(targets))
    for ids, asked in train:
        for t, y in enumerate(asked):
            for k in range(n):
                if k > t + 1:
                    break
                counts[bytes(np.array(ids[t + 1 - k : t + 1], dtype=np.int64))][y] += 1
    found = []
    for ids, asked in scored:
        for t, y in enumerate(asked):
            p = np.full(targets, 1 / targets)
            for k in range(min(n, t + 2)):
                row = counts[bytes(np.array(ids[t + 1 - k : t + 1], dtype=np.int64))]
                p = (row + alpha * p) / (row.sum() + alpha)
            found.append(p[y])
    return -np.mean(np.log2(found))


@answers("ngram_bits")
def one_table_for_each_length(train, scored, n, targets, alpha=1.0):
    tables = [defaultdict(Counter) for _ in range(n)]
    for ids, asked in train:
        ids = list(map(int, ids))
        for k, table in enumerate(tables):
            for t in range(max(0, k - 1), len(ids)):
                table[str(ids[t + 1 - k : t + 1])].update([int(asked[t])])
    nats, steps = 0.0, 0
    for ids, asked in scored:
        ids = list(map(int, ids))
        for t, y in enumerate(asked):
            p = 1 / targets
            for k, table in enumerate(tables):
                row = table.get(str(ids[t + 1 - k : t + 1]))
                if k <= t + 1 and row:
                    total = sum(row.values())
                    p = total / (total + alpha) * row[int(y)] / total + alpha / (total + alpha) * p
            nats -= math.log(p)
            steps += 1
    return nats / steps / math.log(2)


# --- choose_ngram


@answers("choose_ngram")
def with_min(parts, settings, targets):
    bits = {s: ngram_bits(parts["train"], parts["validation"], s[0], targets, s[1]) for s in settings}
    best = min(bits, key=bits.get)
    return best, bits[best], ngram_bits(parts["train"], parts["test"], *best[:1], targets, best[1])


@answers("choose_ngram")
def with_a_loop(parts, settings, targets):
    best, lowest = None, math.inf
    for n, alpha in settings:
        bits = ngram_bits(parts["train"], parts["validation"], n, targets, alpha)
        if bits < lowest:
            best, lowest = (n, alpha), bits
    return best, lowest, ngram_bits(parts["train"], parts["test"], best[0], targets, best[1])


@answers("choose_ngram")
def sorted_by_bits(parts, settings, targets):
    def bits(part, setting):
        return ngram_bits(parts["train"], parts[part], setting[0], targets, setting[1])

    best = sorted(settings, key=lambda s: bits("validation", s))[0]
    return [best, bits("validation", best), bits("test", best)]


# --- run_experiment


@answers("run_experiment")
def lstm_that_keeps_its_parameters(parts, settings, seed):
    torch.manual_seed(seed)
    K, Q, H = settings["inputs"], settings["targets"], settings["hidden"]
    model = nn.ModuleDict({"e": nn.Embedding(K, 16), "r": nn.LSTM(16, H), "o": nn.Linear(H, Q)})
    optimizer = torch.optim.Adam(model.parameters(), settings["rate"])

    def logits(ids):
        x = model["e"](torch.as_tensor(np.array(ids)))[:, None]
        h = model["r"](x)[0] if settings["memory"] else model["r"](x.transpose(0, 1))[0].transpose(0, 1)
        return model["o"](h)[:, 0]

    def predict(part):
        with torch.no_grad():
            return [torch.softmax(logits(ids).double(), dim=1).numpy() for ids, _ in parts[part]]

    curve, best = [], None
    for _ in range(settings["epochs"]):
        for start in range(0, len(parts["train"]), settings["batch"]):
            batch = parts["train"][start : start + settings["batch"]]
            outputs = torch.cat([logits(ids) for ids, _ in batch])
            loss = nn.functional.cross_entropy(outputs, torch.as_tensor(np.concatenate([y for _, y in batch])))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        curve.append(bits_per_token(predict("validation"), parts["validation"]))
        if best is None or curve[-1] < curve[best]:
            best = len(curve) - 1
            state = {name: value.clone() for name, value in model.state_dict().items()}
    model.load_state_dict(state)
    made = {part: predict(part) for part in ("validation", "test")}
    bits = {f"{part}_bits": float(bits_per_token(made[part], parts[part])) for part in made}
    return {"curve": np.array(curve), "epoch": best, **made, **bits}


@answers("run_experiment")
def plain_network_by_gradient_descent(parts, settings, seed):
    generator = torch.Generator().manual_seed(seed)
    K, Q, H = settings["inputs"], settings["targets"], settings["hidden"]
    U, W, V = (torch.randn(shape, generator=generator).mul(0.5).requires_grad_() for shape in ((K, H), (H, H), (H, Q)))

    def probabilities(ids):
        h, rows = torch.zeros(H), []
        for i in ids:
            h = torch.tanh(U[int(i)] + (h @ W if settings["memory"] else 0))
            rows.append(torch.softmax(h @ V, dim=0))
        return torch.stack(rows)

    def bits(made, documents):
        return sum(-np.log2(p[range(len(y)), y]).sum() for p, (_, y) in zip(made, documents)) / sum(
            len(y) for _, y in documents
        )

    rng, curve = random.Random(seed), []
    for epoch in range(settings["epochs"]):
        for ids, targets in rng.sample(parts["train"], len(parts["train"])):
            loss = -torch.log(probabilities(ids)[range(len(ids)), torch.as_tensor(targets)]).mean()
            for p, g in zip((U, W, V), torch.autograd.grad(loss, (U, W, V), allow_unused=True)):
                if g is not None:
                    p.data -= settings["rate"] * g
        with torch.no_grad():
            made = {part: [probabilities(ids).numpy() for ids, _ in parts[part]] for part in ("validation", "test")}
        curve.append(float(bits(made["validation"], parts["validation"])))
        if curve[-1] == min(curve) and curve.index(curve[-1]) == epoch:
            best = epoch, made
    epoch, made = best
    figures = {f"{part}_bits": float(bits(made[part], parts[part])) for part in made}
    return {"curve": curve, "epoch": epoch, **made, **figures}


@answers("run_experiment")
def a_class_inside(parts, settings, seed):
    class Network(nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding = nn.Embedding(settings["inputs"], 12)
            self.cell = nn.GRUCell(12, settings["hidden"])
            self.head = nn.Linear(settings["hidden"], settings["targets"])

        def forward(self, ids):
            h = torch.zeros(ids.shape[1], settings["hidden"])
            steps = []
            for x in self.embedding(ids):
                h = self.cell(x, h if settings["memory"] else torch.zeros_like(h))
                steps.append(self.head(h))
            return torch.stack(steps)

    torch.manual_seed(seed)
    np_rng = np.random.default_rng(seed)
    network = Network()
    optimizer = torch.optim.RMSprop(network.parameters(), lr=settings["rate"])
    curve, predictions = [], []
    for _ in range(settings["epochs"]):
        network.train()
        for rows in np.array_split(
            np_rng.permutation(len(parts["train"])), -(-len(parts["train"]) // settings["batch"])
        ):
            batch = [parts["train"][i] for i in rows]
            ids = nn.utils.rnn.pad_sequence([torch.tensor(i) for i, _ in batch])
            targets = nn.utils.rnn.pad_sequence([torch.tensor(y) for _, y in batch], padding_value=-100)
            loss = nn.functional.cross_entropy(network(ids).flatten(0, 1), targets.flatten())
            network.zero_grad()
            loss.backward()
            optimizer.step()
        network.eval()
        with torch.inference_mode():
            predictions.append(
                {
                    part: [network(torch.tensor(ids)[:, None])[:, 0].softmax(1).tolist() for ids, _ in parts[part]]
                    for part in ("validation", "test")
                }
            )
        curve.append(bits_per_token([np.array(p) for p in predictions[-1]["validation"]], parts["validation"]))
    epoch = int(np.argmin(curve))
    made = {part: [np.array(p) for p in found] for part, found in predictions[epoch].items()}
    bits = {f"{part}_bits": bits_per_token(found, parts[part]) for part, found in made.items()}
    return {"curve": curve, "epoch": epoch} | made | bits


# --- summarise


@answers("summarise")
def with_the_library(runs, baseline):
    figures = {}
    for name in runs:
        test = [run["test"] for run in runs[name]]
        figures[name] = {
            "mean": mean(test),
            "sd": stdev(test),
            "gain": baseline - mean(test),
            "wins": sum(bits < baseline for bits in test),
        }
    return figures


@answers("summarise")
def by_the_formula(runs, baseline):
    def of(test):
        middle = sum(test) / len(test)
        spread = math.sqrt(sum((bits - middle) ** 2 for bits in test) / (len(test) - 1))
        return {"mean": middle, "sd": spread, "gain": baseline - middle, "wins": len([b for b in test if baseline > b])}

    return {name: of([run["test"] for run in made]) for name, made in runs.items()}


@answers("summarise")
def with_gains(runs, baseline):
    found = {}
    for name, made in runs.items():
        gains = baseline - np.array([run["test"] for run in made])
        better = np.array([run["test"] < baseline for run in made])
        found[name] = {"gain": gains.mean(), "sd": np.std(gains, ddof=1), "wins": np.count_nonzero(better)}
        found[name]["mean"] = baseline - found[name]["gain"]
    return found


# --- write_report

WORDS = "We read what there was, asked one question of it, and wrote down what came. "


@answers("write_report")
def many_small_pieces(figures):
    lines = ["# A report of 2026"]
    for heading in ("Question", "Data", "Baseline", "Method", "Results", "Ablation", "Limits"):
        lines += [f"## {heading}", WORDS * 2]
        if heading == "Baseline":
            lines.append("Baseline: {:.3f} bits".format(figures["baseline"]))
        if heading == "Method":
            lines.append("Seeds: " + str(figures["seeds"]) + ", learning rate 0.01, begun on 23.11.2026.")
        if heading == "Results":
            network = figures["network"]
            lines.append("{:.2f} bits, sd {:.4f}.".format(network["mean"], network["sd"]))
            beats = "beats" if network["gain"] > 0 else "does not beat"
            lines.append(f"**The network {beats} the baseline.**")
        if heading == "Ablation":
            lines.append(f"{round(figures['without memory']['mean'], 2):.2f} bits")
    return "\n\n".join(lines)


@answers("write_report")
def in_words_and_percent(figures):
    network, baseline = figures["network"], figures["baseline"]
    better = 100 * (baseline - network["mean"]) / baseline
    outcome = f"{better:.1f}% better than" if better > 0 else f"{-better:.1f}% worse than"
    verdict = "The network beats the baseline." if better > 0 else "The network does not beat the baseline."
    seeds = ["three", "four", "five", "six", "seven", "eight"][figures["seeds"] - 3]
    return f"""## QUESTION
{WORDS * 3}
## DATA
{WORDS * 3}
## BASELINE
It needs {baseline:.2f} bits.
## METHOD
We took {seeds} seeds, all with one layer and 64 units.
## RESULTS
With {network["mean"]:.2f}±{network["sd"]:.2f} bits it is {outcome} the n-gram.
{verdict}
## ABLATION
Without memory: {figures["without memory"]["mean"]:.2f}±{figures["without memory"]["sd"]:.2f}.
## LIMITS
{WORDS * 3}"""


@answers("write_report")
def with_a_table(figures):
    table = ["| setting | mean | sd | wins |", "|---|---|---|---|"]
    for name in ("network", "without memory"):
        one = figures[name]
        table.append(f"| {name} | {one['mean']:.4f} | {one['sd']:.3f} | {one['wins']} |")
    beats = "beats" if figures["network"]["wins"] > figures["seeds"] / 2 else "does not\nbeat"
    parts = {
        "Question": WORDS * 3,
        "Data": WORDS * 3,
        "Baseline": f"{figures['baseline']:.2f} bits, chosen by validation.",
        "Method": f"{figures['seeds']} seeds.",
        "Results": "\n".join(table) + f"\n\nThe network {beats} the baseline.",
        "Ablation": "\n".join([table[0], table[1], table[3]]),
        "Limits": WORDS * 3,
    }
    return "\n".join(f"## {title}\n\n{text}\n" for title, text in parts.items())
