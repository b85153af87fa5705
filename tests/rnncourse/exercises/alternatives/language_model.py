"""Right answers to unit 06 as students write them, each in another style. All must get full marks."""

import bisect
import copy
import itertools
import math
from functools import reduce

import numpy as np

from rnncourse.bptt import nll_backward, output_backward, rnn_backward, rnn_step_backward, sequence_nll
from rnncourse.cell import output_layer, rnn_forward, rnn_predict, rnn_step, softmax
from rnncourse.gradient_flow import clip_by_global_norm, orthogonal
from rnncourse.ngram import sample_index
from tests.rnncourse.exercises.alternatives import collector

ALTERNATIVES, answers = collector()


# --- build_vocabulary


@answers("build_vocabulary")
def sorted_set_and_zip(text):
    chars = sorted(set(text))
    return chars, dict(zip(chars, range(len(chars))))


@answers("build_vocabulary")
def inserted_one_by_one(text):
    chars = []
    for character in text:
        place = bisect.bisect_left(chars, character)
        if place == len(chars) or chars[place] != character:
            chars.insert(place, character)
    index = {}
    for character in chars:
        index[character] = len(index)
    return chars, index


@answers("build_vocabulary")
def with_numpy_unique(text):
    chars = list(np.unique(list(text))) if text else []
    return [chars, {str(character): np.int64(i) for i, character in enumerate(chars)}]


# --- encode


@answers("encode")
def list_of_ids(text, index):
    return [index[character] for character in text]


@answers("encode")
def filled_in_a_loop(text, index):
    ids = np.empty(len(text), dtype=np.int32)
    for i, character in enumerate(text):
        if character not in index:
            raise KeyError(f"no id for {character!r}")
        ids[i] = index[character]
    return ids


@answers("encode")
def with_fromiter(text, index):
    return np.fromiter(map(index.__getitem__, text), dtype=np.uint16)


# --- decode


@answers("decode")
def added_up(ids, chars):
    text = ""
    for i in ids:
        text += chars[int(i)]
    return text


@answers("decode")
def by_numpy_index(ids, chars):
    return "".join(np.array(chars)[np.asarray(ids, dtype=int)])


@answers("decode")
def reduced(ids, chars):
    return reduce(lambda text, i: text + chars[i], ids, "")


# --- contiguous_batches


@answers("contiguous_batches")
def reshaped_views(ids, batch_size, steps):
    length = (len(ids) - 1) // batch_size
    X = ids[: length * batch_size].reshape(batch_size, length).T
    Y = ids[1 : length * batch_size + 1].reshape(batch_size, length).T
    for k in range(length // steps):
        yield X[k * steps : (k + 1) * steps], Y[k * steps : (k + 1) * steps]


@answers("contiguous_batches")
def lists_of_lists(ids, batch_size, steps):
    ids = [int(i) for i in ids]
    length = (len(ids) - 1) // batch_size
    first = 0
    while first + steps <= length:
        inputs = [[ids[n * length + first + t] for n in range(batch_size)] for t in range(steps)]
        targets = [[ids[n * length + first + t + 1] for n in range(batch_size)] for t in range(steps)]
        yield inputs, targets
        first += steps


@answers("contiguous_batches")
def list_for_a_generator(ids, batch_size, steps):
    length = (len(ids) - 1) // batch_size
    rows = [ids[n * length : (n + 1) * length + 1] for n in range(batch_size)]
    made = []
    for start in range(0, length, steps):
        if start + steps > length:
            break
        block = np.stack([row[start : start + steps + 1] for row in rows], axis=1)
        made.append((block[:-1], block[1:]))
    return made


# --- temperature_softmax


@answers("temperature_softmax")
def by_hand(logits, temperature):
    scaled = logits / temperature
    E = np.exp(scaled - np.max(scaled, axis=-1)[..., None])
    return E / np.sum(E, axis=-1)[..., None]


@answers("temperature_softmax")
def through_the_logarithm(logits, temperature):
    scaled = (logits - logits.max(axis=-1, keepdims=True)) / temperature
    return np.exp(scaled - np.logaddexp.reduce(scaled, axis=-1, keepdims=True))


@answers("temperature_softmax")
def along_each_row(logits, temperature):
    def row(o):
        e = np.exp((o - o.max()) / temperature)
        return e / e.sum()

    return np.apply_along_axis(row, -1, logits)


# --- top_k_filter


@answers("top_k_filter")
def put_along(probabilities, k):
    best = np.argsort(-probabilities, axis=-1, kind="stable")[..., :k]
    kept = np.zeros_like(probabilities)
    np.put_along_axis(kept, best, np.take_along_axis(probabilities, best, axis=-1), axis=-1)
    return kept / kept.sum(axis=-1, keepdims=True)


@answers("top_k_filter")
def row_by_row(probabilities, k):
    kept = np.zeros_like(probabilities)
    for place in np.ndindex(probabilities.shape[:-1]):
        row = probabilities[place]
        best = sorted(range(len(row)), key=lambda i: (-row[i], i))[:k]
        for i in best:
            kept[place][i] = row[i] / sum(row[j] for j in best)
    return kept


@answers("top_k_filter")
def by_rank(probabilities, k):
    ahead = (probabilities[..., None, :] > probabilities[..., :, None]).sum(axis=-1)
    lower = np.tril(np.ones((probabilities.shape[-1],) * 2, dtype=bool), -1)
    ahead = ahead + ((probabilities[..., None, :] == probabilities[..., :, None]) & lower).sum(axis=-1)
    kept = probabilities * (ahead < k)
    return kept / kept.sum(axis=-1, keepdims=True)


# --- nucleus_filter


@answers("nucleus_filter")
def mass_before(probabilities, p):
    order = np.argsort(-probabilities, axis=-1, kind="stable")
    ranked = np.take_along_axis(probabilities, order, axis=-1)
    before = np.cumsum(ranked, axis=-1) - ranked
    stays = (before < p) | (p >= 1) | (np.arange(before.shape[-1]) == 0)
    kept = np.zeros_like(probabilities)
    np.put_along_axis(kept, order, np.where(stays, ranked, 0), axis=-1)
    return kept / kept.sum(axis=-1, keepdims=True)


@answers("nucleus_filter")
def add_until_it_is_enough(probabilities, p):
    kept = np.zeros_like(probabilities)
    for place in np.ndindex(probabilities.shape[:-1]):
        row, mass = probabilities[place], 0.0
        for i in sorted(range(len(row)), key=lambda i: (-row[i], i)):
            kept[place][i] = row[i]
            mass += float(row[i])
            if mass >= p and p < 1:
                break
        kept[place] /= kept[place].sum()
    return kept


@answers("nucleus_filter")
def count_then_top_k(probabilities, p):
    def row(q):
        order = np.lexsort((np.arange(len(q)), -q))
        ends = list(itertools.accumulate(q[order].tolist()))
        k = bisect.bisect_left(ends, p) + 1 if p < 1 else len(q)
        kept = np.where(np.isin(np.arange(len(q)), order[:k]), q, 0)
        return kept / kept.sum()

    return np.apply_along_axis(row, -1, probabilities).astype(probabilities.dtype)


# --- generate


@answers("generate")
def one_loop_over_prompt_and_new(parameters, prompt, length, uniforms, temperature=1.0):
    text, onehot = [int(i) for i in prompt], np.eye(len(parameters["U"]))
    h = np.zeros((1, len(parameters["W"])))
    for t in range(len(prompt) + length - 1):
        h = rnn_step(onehot[[text[t]]], h, parameters["U"], parameters["W"], parameters["b"])
        if t >= len(prompt) - 1:
            logits = (h @ parameters["V"] + parameters["c"])[0] / temperature
            text.append(sample_index(softmax(logits), uniforms[t - len(prompt) + 1]))
    return text[len(prompt) :]


@answers("generate")
def reads_everything_again_for_each_id(parameters, prompt, length, uniforms, temperature=1.0):
    U, W, b, V, c = (parameters[name] for name in "UWbVc")
    text = list(prompt)
    for k in range(length):
        X = np.eye(len(U))[text][:, None]
        Y, _ = rnn_predict(X, np.zeros((1, len(W))), U, W, b, V / temperature, c / temperature)
        text.append(sample_index(Y[-1, 0], uniforms[k]))
    return text[len(prompt) :]


@answers("generate")
def recursive_and_with_searchsorted(parameters, prompt, length, uniforms, temperature=1.0):
    U, W, b, V, c = (np.asarray(parameters[name], dtype=float) for name in "UWbVc")

    def write(h, k):
        if k == length:
            return []
        weights = np.exp((h @ V + c - (h @ V + c).max()) / temperature)
        i = np.searchsorted(np.cumsum(weights), uniforms[k] * weights.sum(), side="right")
        return [i, *write(np.tanh(U[i] + h @ W + b), k + 1)]

    return write(reduce(lambda h, i: np.tanh(U[i] + h @ W + b), prompt, np.zeros(len(b))), 0)


# --- bits_per_character


@answers("bits_per_character")
def with_sequence_nll(parameters, ids):
    U, W, b, V, c = (parameters[name] for name in "UWbVc")
    X = np.eye(len(U))[ids[:-1]][:, None]
    H = rnn_forward(X, np.zeros((1, len(W))), U, W, b)
    return sequence_nll(output_layer(H, V, c), ids[1:, None]) / (len(ids) - 1) / np.log(2)


@answers("bits_per_character")
def character_by_character(parameters, ids):
    U, W, b, V, c = (parameters[name] for name in "UWbVc")
    h, bits = np.zeros(len(b)), 0.0
    for now, following in itertools.pairwise(ids):
        h = np.tanh(U[now] + h @ W + b)
        logits = h @ V + c
        bits -= (logits[following] - np.logaddexp.reduce(logits)) / math.log(2)
    return bits / (len(ids) - 1)


@answers("bits_per_character")
def with_log2_and_a_mean(parameters, ids):
    p = parameters
    H = rnn_forward(np.eye(len(p["U"]), dtype=int)[ids][:-1, None], np.zeros((1, len(p["b"]))), p["U"], p["W"], p["b"])
    O = output_layer(H, p["V"], p["c"])[:, 0]
    log2_sum = np.logaddexp2.reduce(O / np.log(2), axis=-1)
    return np.mean(log2_sum - np.take_along_axis(O, ids[1:, None], -1)[:, 0] / np.log(2))


# --- train_step


@answers("train_step")
def from_the_earlier_units(parameters, memory, h, inputs, targets, learning_rate, max_norm):
    U, W, b, V, c = (parameters[name] for name in "UWbVc")
    X = np.eye(len(U), dtype=U.dtype)[inputs]
    H = rnn_forward(X, h, U, W, b)
    logits = output_layer(H, V, c)
    dH, dV, dc = output_backward(nll_backward(logits, targets), H, V)
    _, _, dU, dW, db = rnn_backward(dH, X, h, H, U, W)
    loss = sequence_nll(logits, targets)
    clipped, _ = clip_by_global_norm([dU, dW, db, dV, dc], max_norm)
    for name, g in zip("UWbVc", clipped):
        memory[name] += g * g
        parameters[name] -= learning_rate * g / np.sqrt(memory[name] + 1e-8)
    return loss, H[-1]


@answers("train_step")
def step_by_step_without_one_hot(parameters, memory, h, inputs, targets, learning_rate, max_norm):
    U, W, b, V, c = (parameters[name] for name in ("U", "W", "b", "V", "c"))
    T, N = inputs.shape
    states, Y, loss = [h], [], 0.0
    for t in range(T):
        states.append(np.tanh(U[inputs[t]] + states[-1] @ W + b))
        Y.append(softmax(states[-1] @ V + c))
        loss -= np.log(Y[-1][np.arange(N), targets[t]]).sum() / N
    g = {name: np.zeros_like(array) for name, array in parameters.items()}
    later = np.zeros_like(h)
    for t in reversed(range(T)):
        do = Y[t]
        do[np.arange(N), targets[t]] -= 1
        do /= N
        g["V"] += states[t + 1].T @ do
        g["c"] += do.sum(axis=0)
        da = (do @ V.T + later) * (1 - states[t + 1] ** 2)
        np.add.at(g["U"], inputs[t], da)
        g["W"] += states[t].T @ da
        g["b"] += da.sum(axis=0)
        later = da @ W.T
    norm = math.sqrt(sum(float((array**2).sum()) for array in g.values()))
    factor = min(1.0, max_norm / norm)
    for name in g:
        g[name] *= factor
        np.add(memory[name], g[name] ** 2, out=memory[name])
        parameters[name][...] = parameters[name] - learning_rate * g[name] / np.sqrt(memory[name] + 1e-8)
    return loss, states[-1].copy()


@answers("train_step")
def with_step_backward_and_einsum(parameters, memory, h, inputs, targets, learning_rate, max_norm):
    U, W, b, V, c = [parameters[k] for k in "UWbVc"]
    X = np.eye(U.shape[0], dtype=U.dtype)[inputs]
    states = [h]
    for x in X:
        states.append(rnn_step(x, states[-1], U, W, b))
    H = np.stack(states[1:])
    logits = np.einsum("tnh,hq->tnq", H, V) + c
    dO = nll_backward(logits, targets)
    grads = [np.zeros_like(U), np.zeros_like(W), np.zeros_like(b), np.einsum("tnh,tnq->hq", H, dO), dO.sum((0, 1))]
    back = np.zeros_like(h)
    for t in range(len(X) - 1, -1, -1):
        _, back, *parts = rnn_step_backward(dO[t] @ V.T + back, X[t], states[t], states[t + 1], U, W)
        for total, part in zip(grads, parts):
            total += part
    grads, _ = clip_by_global_norm(grads, max_norm)
    for k, g in zip("UWbVc", grads):
        memory[k] += np.square(g)
        parameters[k] -= g / np.sqrt(memory[k] + 1e-8) * learning_rate
    return sequence_nll(logits, targets), states[-1]


# --- fit


@answers("fit")
def with_a_count(train_epoch, validate, max_epochs, patience):
    losses, best, bad, epoch = [], None, 0, 0
    while epoch < max_epochs and bad < patience:
        train_epoch(epoch)
        loss = validate(epoch)
        losses.append(loss)
        bad = 0 if loss < (np.inf if best is None else losses[best]) else bad + 1
        best = epoch if bad == 0 else best
        epoch += 1
    return losses, best or 0


@answers("fit")
def looking_back_over_the_list(train_epoch, validate, max_epochs, patience):
    losses = []
    for epoch in range(max_epochs):
        train_epoch(epoch)
        losses += [float(validate(epoch))]
        known = [loss for loss in losses if loss == loss]
        best = losses.index(min(known)) if known else -1
        if len(losses) - 1 - best >= patience:
            break
    return losses, max(best, 0)


@answers("fit")
def as_an_array_and_a_number_of_numpys(train_epoch, validate, max_epochs, patience):
    losses, lowest, best = np.full(max_epochs, np.nan), np.inf, np.int64(-1)
    for epoch in range(max_epochs):
        train_epoch(epoch)
        losses[epoch] = validate(epoch)
        if losses[epoch] < lowest:
            lowest, best = losses[epoch], np.int64(epoch)
        if epoch - best == patience:
            break
    return losses[: epoch + 1], max(best, np.int64(0))


# --- train_model


def contiguous(ids, rows, steps):
    length = (len(ids) - 1) // rows
    for start in range(0, length - steps + 1, steps):
        places = start + length * np.arange(rows) + np.arange(steps)[:, None]
        yield ids[places], ids[places + 1]


@answers("train_model")
def with_a_wide_network_and_no_functions_inside(train_ids, valid_ids, Q, max_epochs, patience, rng):
    H, lowest, losses, waited = 48, float("inf"), [], 0
    parameters = {"U": 0.1 * rng.normal(size=(Q, H)), "W": orthogonal(rng, H), "b": np.zeros(H)}
    parameters |= {"V": 0.1 * rng.normal(size=(H, Q)), "c": np.zeros(Q)}
    memory = {name: 0.1 * np.ones_like(p) for name, p in parameters.items()}
    while len(losses) < max_epochs and waited < patience:
        h = np.zeros((4, H))
        for inputs, targets in contiguous(train_ids, 4, 20):
            _, h = train_step(parameters, memory, h, inputs, targets, 0.07, 1.0)
        losses.append(bits_per_character(parameters, valid_ids))
        waited += 1
        if losses[-1] < lowest:
            lowest, waited, best = losses[-1], 0, copy.deepcopy(parameters)
    return best, losses


@answers("train_model")
def one_row_at_a_time(train_ids, valid_ids, Q, max_epochs, patience, rng):
    H, saved = 16, {}
    shapes = [("U", (Q, H)), ("W", (H, H)), ("b", (H,)), ("V", (H, Q)), ("c", (Q,))]
    parameters = {name: rng.normal(0, 0.2, shape) for name, shape in shapes}
    memory = {name: np.full(shape, 0.1) for name, shape in shapes}

    def train_epoch(epoch):
        h = np.zeros((2, H))
        for batch in contiguous(train_ids, 2, 25):
            h = train_step(parameters, memory, h, *batch, 0.1, 5)[1]

    def validate(epoch):
        bits = bits_per_character(parameters, valid_ids)
        if not saved or bits < saved["bits"]:
            saved.update(bits=bits, parameters={name: np.array(p) for name, p in parameters.items()})
        return bits

    losses, _ = fit(train_epoch, validate, max_epochs, patience)
    return saved["parameters"], losses


@answers("train_model")
def with_a_history_and_losses_in_an_array(train_ids, valid_ids, Q, max_epochs, patience, rng):
    sizes = {"U": (Q, 32), "W": (32, 32), "b": (32,), "V": (32, Q), "c": (Q,)}
    parameters = {name: rng.uniform(-0.25, 0.25, size) for name, size in sizes.items()}
    memory = {name: np.full(size, 0.05) for name, size in sizes.items()}
    history, losses = [], []
    for epoch in range(max_epochs):
        h = np.zeros((8, 32))
        for inputs, targets in contiguous(np.asarray(train_ids), 8, 12):
            _, h = train_step(parameters, memory, h, inputs, targets, 0.1, 3.0)
        history.append({name: p + 0 for name, p in parameters.items()})
        losses.append(bits_per_character(parameters, valid_ids))
        if epoch - int(np.argmin(losses)) >= patience:
            break
    return history[int(np.argmin(losses))], np.array(losses)
