"""Right answers to unit 12 as students write them, each in another style. All must get full marks."""

import functools
import heapq
import math
from collections import Counter, namedtuple

import numpy as np
import torch
from torch import nn
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence

from rnncourse.encoder_decoder import shift_right
from rnncourse.encoder_decoder_torch import Decoder
from tests.rnncourse.exercises.alternatives import collector

ALTERNATIVES, answers = collector()


# --- Encoder


@answers("Encoder")
class RunsOnAndLooksUp(nn.Module):
    """Reads the padding too, and takes the state from before it: no state depends on what comes after it."""

    def __init__(self, vocabulary_size, embedding_size, hidden_size):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary_size, embedding_size)
        self.rnn = nn.GRU(embedding_size, hidden_size)

    def forward(self, ids, lengths=None):
        outputs, state = self.rnn(self.embedding(ids))
        if lengths is not None:
            state = outputs[lengths - 1, torch.arange(ids.shape[1])].unsqueeze(0)
        return outputs, state


@answers("Encoder")
class OneSequenceAtATime(nn.Module):
    def __init__(self, vocabulary_size, embedding_size, hidden_size):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary_size, embedding_size)
        self.rnn = nn.GRU(embedding_size, hidden_size)

    def forward(self, ids, lengths=None):
        outputs, states = [], []
        for n in range(ids.shape[1]):
            length = len(ids) if lengths is None else int(lengths[n])
            out, state = self.rnn(self.embedding(ids[:length, n : n + 1]))
            outputs.append(torch.cat([out, out.new_full((len(ids) - length, *out.shape[1:]), 7.0)]))
            states.append(state)
        return [torch.cat(outputs, dim=1), torch.cat(states, dim=1)]


@answers("Encoder")
class PackedIds(nn.Module):
    """Packs the ids and looks the vectors up afterwards."""

    def __init__(self, vocabulary_size, embedding_size, hidden_size):
        super(PackedIds, self).__init__()  # noqa: UP008  (as many still write it)
        self.rnn = nn.GRU(input_size=embedding_size, hidden_size=hidden_size, num_layers=1)
        self.embedding = nn.Embedding(vocabulary_size, embedding_size)

    def forward(self, ids, lengths=None):
        if lengths is None:
            lengths = torch.tensor([ids.shape[0]] * ids.shape[1])
        p = pack_padded_sequence(ids, lengths, enforce_sorted=False)
        p = PackedSequence(self.embedding(p.data), p.batch_sizes, p.sorted_indices, p.unsorted_indices)
        outputs, state = self.rnn(p)
        return pad_packed_sequence(outputs, total_length=ids.shape[0])[0], state


# --- Decoder


@answers("Decoder")
class InTwoLines(nn.Module):
    def __init__(self, vocabulary_size, embedding_size, hidden_size):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary_size, embedding_size)
        self.rnn = nn.GRU(embedding_size, hidden_size)
        self.output = nn.Linear(hidden_size, vocabulary_size)

    def forward(self, ids, state):
        states, last = self.rnn(self.embedding(ids), state)
        return self.output(states), last


@answers("Decoder")
class TokenByToken(nn.Module):
    def __init__(self, vocabulary_size, embedding_size, hidden_size):
        super().__init__()
        self.output = nn.Linear(hidden_size, vocabulary_size)
        self.rnn = nn.GRU(embedding_size, hidden_size)
        self.embedding = nn.Embedding(vocabulary_size, embedding_size)

    def forward(self, ids, state):
        logits = []
        for t in range(ids.shape[0]):
            h, state = self.rnn(self.embedding(ids[t]).unsqueeze(0), state)
            logits.append(self.output(h.squeeze(0)))
        return torch.stack(logits), state


@answers("Decoder")
class OneHotProducts(nn.Module):
    def __init__(self, vocabulary_size, embedding_size, hidden_size):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary_size, embedding_size)
        self.rnn = nn.GRU(embedding_size, hidden_size)
        self.output = nn.Linear(hidden_size, vocabulary_size)

    def forward(self, ids, state):
        table = self.embedding.weight
        one_hot = nn.functional.one_hot(ids, len(table)).to(table.dtype)
        out = self.rnn(one_hot @ table, state.contiguous())
        return [out[0] @ self.output.weight.T + self.output.bias, out[0][-1:].clone()]


# --- shift_right


@answers("shift_right")
def two_branches(targets, bos):
    if isinstance(targets, torch.Tensor):
        return torch.cat([torch.full_like(targets[:1], bos), targets[:-1]], dim=0)
    return np.concatenate([np.full_like(targets[:1], bos), targets[:-1]], axis=0)


@answers("shift_right")
def rolled_and_mended(targets, bos):
    shifted = torch.roll(targets, 1, 0) if torch.is_tensor(targets) else np.roll(targets, 1, 0)
    shifted[0] = bos
    return shifted


@answers("shift_right")
def through_numpy(targets, bos):
    array = np.array(targets)
    rows = [np.full_like(array[0], bos), *array[:-1]]
    shifted = np.stack(rows).astype(array.dtype)
    return torch.from_numpy(shifted) if isinstance(targets, torch.Tensor) else shifted


# --- Seq2Seq


@answers("Seq2Seq")
class EncodeThenDecode(nn.Module):
    def __init__(self, encoder, decoder, bos):
        super().__init__()
        self.encoder = encoder
        self.decoder = decoder
        self.bos = bos

    def forward(self, source, source_lengths, targets):
        _, state = self.encoder(source, source_lengths)
        logits, _ = self.decoder(shift_right(targets, self.bos), state)
        return logits


@answers("Seq2Seq")
class ForcedStepByStep(nn.Module):
    def __init__(self, encoder, decoder, bos):
        super().__init__()
        self.encoder, self.decoder, self.bos = encoder, decoder, bos

    def forward(self, source, source_lengths, targets):
        _, h = self.encoder(source, lengths=source_lengths)
        token = torch.full((1, targets.shape[1]), self.bos)
        out = []
        for t in range(targets.shape[0]):
            logits, h = self.decoder(token, h)
            out.append(logits[0])
            token = targets[t : t + 1]
        return torch.stack(out, dim=0)


@answers("Seq2Seq")
class ConcatenatedInputs(nn.Module):
    def __init__(self, encoder, decoder, bos):
        super().__init__()
        self.encoder = encoder
        self.decoder = decoder
        self.register_buffer("bos", torch.tensor(bos))

    def forward(self, source, source_lengths, targets):
        start = self.bos.expand(1, targets.size(1))
        return self.decoder(torch.cat((start, targets[:-1])), self.encoder(source, source_lengths)[1])[0]


# --- exact_match


@answers("exact_match")
def mean_of_a_list(predictions, targets):
    return float(np.mean([p == t for p, t in zip(predictions, targets, strict=True)]))


@answers("exact_match")
def counted(predictions, targets):
    right = 0
    for i in range(len(targets)):
        if len(predictions[i]) == len(targets[i]) and all(a == b for a, b in zip(predictions[i], targets[i])):
            right += 1
    return right / len(targets)


@answers("exact_match")
def by_map(predictions, targets):
    return np.float64(sum(map(lambda p, t: list(p) == list(t), predictions, targets)) / len(predictions))


# --- edit_distance


@answers("edit_distance")
def recursive_with_a_memory(a, b):
    @functools.cache
    def d(i, j):
        if i == 0 or j == 0:
            return i + j
        if a[i - 1] == b[j - 1]:
            return d(i - 1, j - 1)
        return 1 + min(d(i - 1, j), d(i, j - 1), d(i - 1, j - 1))

    return d(len(a), len(b))


@answers("edit_distance")
def two_rows(a, b):
    above = list(range(len(b) + 1))
    for i, x in enumerate(a):
        row = [i + 1]
        for j, y in enumerate(b):
            row.append(min(above[j + 1] + 1, row[j] + 1, above[j] + (0 if x == y else 1)))
        above = row
    return above[-1]


@answers("edit_distance")
def shortest_path(a, b):
    heap, seen = [(0, 0, 0)], set()
    while heap:
        cost, i, j = heapq.heappop(heap)
        if (i, j) == (len(a), len(b)):
            return np.int64(cost)
        if (i, j) in seen:
            continue
        seen.add((i, j))
        if i < len(a):
            heapq.heappush(heap, (cost + 1, i + 1, j))
        if j < len(b):
            heapq.heappush(heap, (cost + 1, i, j + 1))
        if i < len(a) and j < len(b):
            heapq.heappush(heap, (cost + int(a[i] != b[j]), i + 1, j + 1))
    return None


# --- bleu


@answers("bleu")
def with_counters(prediction, reference, max_n=4):
    def ngrams(tokens, n):
        return Counter(zip(*(tokens[k:] for k in range(n))))

    precisions = []
    for n in range(1, max_n + 1):
        said = ngrams(prediction, n)
        if not said:
            return 0
        precisions.append((said & ngrams(reference, n)).total() / said.total())
    brevity = 1 if len(prediction) > len(reference) else math.exp(1 - len(reference) / len(prediction))
    return brevity * math.prod(precisions) ** (1 / max_n)


@answers("bleu")
def with_a_list_of_what_is_left(prediction, reference, max_n=4):
    product = 1.0
    for n in range(1, max_n + 1):
        left = [list(reference[k : k + n]) for k in range(len(reference) - n + 1)]
        said = [list(prediction[k : k + n]) for k in range(len(prediction) - n + 1)]
        matches = 0
        for ngram in said:
            if ngram in left:
                left.remove(ngram)
                matches += 1
        if not matches:
            return 0.0
        product *= matches / len(said)
    score = product ** (1 / max_n)
    if len(prediction) < len(reference):
        score *= np.exp(1 - len(reference) / len(prediction))
    return score


@answers("bleu")
def with_numpy_and_keys(prediction, reference, max_n=4):
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = []
        for n in range(1, max_n + 1):
            said = ["|".join(map(str, prediction[k : k + n])) for k in range(max(0, len(prediction) - n + 1))]
            true = ["|".join(map(str, reference[k : k + n])) for k in range(max(0, len(reference) - n + 1))]
            matches = sum(min(said.count(g), true.count(g)) for g in set(said))
            logs.append(np.log(np.float64(matches) / len(said)) if said else -np.inf)
        penalty = min(0.0, 1 - len(reference) / len(prediction)) if len(prediction) else 0.0
        return np.exp(penalty + np.mean(logs))


# --- greedy_decode


@answers("greedy_decode")
def with_for(step, state, bos, eos, max_length):
    token, tokens = bos, []
    for _ in range(max_length):
        log_probabilities, state = step(token, state)
        token = int(np.argmax(log_probabilities))
        if token == eos:
            return tokens
        tokens.append(token)
    return tokens


@answers("greedy_decode")
def bos_cut_off_at_the_end(step, state, bos, eos, max_length):
    tokens = [bos]
    for _ in range(max_length):
        scores, state = step(tokens[-1], state)
        best = max(range(len(scores)), key=lambda v: scores[v])
        if best == eos:
            break
        tokens.append(best)
    return np.array(tokens[1:], dtype=int)


@answers("greedy_decode")
def recursive(step, state, bos, eos, max_length):
    if max_length == 0:
        return []
    scores, state = step(bos, state)
    token = int(np.argsort(scores)[-1])
    return [] if token == eos else [token, *recursive(step, state, token, eos, max_length - 1)]


# --- beam_search


@answers("beam_search")
def with_tuples(step, state, bos, eos, max_length, width):
    beam = [([], 0.0, bos, state, False)]
    for _ in range(max_length):
        candidates = []
        for tokens, score, last, s, ended in beam:
            if ended:
                candidates.append((tokens, score, last, s, True))
                continue
            log_p, new = step(last, s)
            for v, p in enumerate(log_p):
                written = tokens if v == eos else [*tokens, v]
                candidates.append((written, score + p, v, new, v == eos))
        beam = sorted(candidates, key=lambda c: -c[1])[:width]
    return [(tokens, score) for tokens, score, *_ in beam]


@answers("beam_search")
def with_a_heap(step, state, bos, eos, max_length, width):
    Hypothesis = namedtuple("Hypothesis", "score tokens state ended")
    beam = [Hypothesis(0.0, (bos,), state, False)]
    for _ in range(max_length):
        grown = [h for h in beam if h.ended]
        for h in (h for h in beam if not h.ended):
            scores, after = step(h.tokens[-1], h.state)
            best = np.argsort(scores)[::-1][:width]
            grown += [Hypothesis(h.score + scores[v], (*h.tokens, int(v)), after, v == eos) for v in best]
        beam = heapq.nlargest(width, grown, key=lambda h: h.score)
        if all(h.ended for h in beam):
            break
    return [[list(h.tokens[1 : -1 if h.ended else None]), h.score] for h in beam]


@answers("beam_search")
def finished_ones_cannot_be_pushed_out(step, state, bos, eos, max_length, width):
    live, done = [([bos], 0.0, state)], []
    for _ in range(max_length):
        grown = []
        for tokens, score, s in live:
            log_p, after = step(tokens[-1], s)
            grown += [([*tokens, v], score + float(p), after) for v, p in enumerate(log_p)]
        grown = sorted(grown, key=lambda h: h[1], reverse=True)[: width - len(done)]
        done += [h for h in grown if h[0][-1] == eos]
        live = [h for h in grown if h[0][-1] != eos]
    answers = [(tokens[1:-1], score) for tokens, score, _ in done] + [(tokens[1:], score) for tokens, score, _ in live]
    return sorted(answers, key=lambda h: h[1], reverse=True)


# --- normalised_beam_search


@answers("normalised_beam_search")
def with_dicts(step, state, bos, eos, max_length, width, alpha):
    beam = [{"tokens": [], "sum": 0.0, "last": bos, "state": state, "length": 0, "ended": False}]
    for _ in range(max_length):
        candidates = [h for h in beam if h["ended"]]
        for h in beam:
            if h["ended"]:
                continue
            row, after = step(h["last"], h["state"])
            for v, log_p in enumerate(row):
                tokens = h["tokens"] + ([v] if v != eos else [])
                candidates.append(
                    {
                        "tokens": tokens,
                        "sum": h["sum"] + log_p,
                        "last": v,
                        "state": after,
                        "length": h["length"] + 1,
                        "ended": v == eos,
                    }
                )
        for h in candidates:
            h["score"] = h["sum"] / h["length"] ** alpha
        beam = sorted(candidates, key=lambda h: h["score"], reverse=True)[:width]
    return [(h["tokens"], h["score"]) for h in beam]


@answers("normalised_beam_search")
def eos_written_until_the_end(step, state, bos, eos, max_length, width, alpha):
    def score_of(h):
        return h[1] / len(h[0]) ** alpha

    beam = [((), 0.0, state)]
    for _ in range(max_length):
        grown = []
        for path, total, s in beam:
            if path and path[-1] == eos:
                grown.append((path, total, s))
            else:
                log_p, after = step(path[-1] if path else bos, s)
                grown += [((*path, v), total + float(p), after) for v, p in enumerate(log_p)]
        beam = heapq.nlargest(width, grown, key=score_of)
    return [[[v for v in h[0] if v != eos], score_of(h)] for h in beam]


@answers("normalised_beam_search")
def with_sums_in_an_array(step, state, bos, eos, max_length, width, alpha):
    hypotheses = [([bos], 0.0, state)]
    for _ in range(max_length):
        following = []
        for tokens, total, s in hypotheses:
            if len(tokens) > 1 and tokens[-1] == eos:
                following.append((tokens, total, s))
                continue
            log_p, new = step(tokens[-1], s)
            following.extend(([*tokens, v], total + log_p[v], new) for v in range(len(log_p)))
        means = np.array([total / float(len(tokens) - 1) ** alpha for tokens, total, _ in following])
        hypotheses = [following[i] for i in np.argsort(-means)[:width]]
    return [
        (tokens[1:-1] if tokens[-1] == eos else tokens[1:], total / (len(tokens) - 1) ** alpha)
        for tokens, total, _ in hypotheses
    ]


# --- ImageCaptioner


@answers("ImageCaptioner")
class PrimedByATanh(nn.Module):
    def __init__(self, feature_size, vocabulary_size, embedding_size, hidden_size):
        super().__init__()
        self.prime = nn.Linear(feature_size, hidden_size)
        self.decoder = Decoder(vocabulary_size, embedding_size, hidden_size)

    def forward(self, features, ids):
        state = torch.tanh(self.prime(features)).unsqueeze(0)
        logits, _ = self.decoder(ids, state)
        return logits


@answers("ImageCaptioner")
class WordByWord(nn.Module):
    def __init__(self, feature_size, vocabulary_size, embedding_size, hidden_size):
        super().__init__()
        self.decoder = Decoder(vocabulary_size, embedding_size, hidden_size)
        self.prime = nn.Linear(feature_size, hidden_size)

    def forward(self, features, ids):
        state = self.prime(features).tanh().reshape(1, len(features), -1)
        logits = []
        for words in ids:
            scores, state = self.decoder(words.unsqueeze(0), state)
            logits.append(scores)
        return torch.cat(logits, dim=0)


@answers("ImageCaptioner")
class WithAnEinsum(nn.Module):
    def __init__(self, feature_size, vocabulary_size, embedding_size, hidden_size):
        super().__init__()
        self.prime = nn.Linear(feature_size, hidden_size)
        self.decoder = Decoder(vocabulary_size, embedding_size, hidden_size)

    def forward(self, features, ids):
        made = torch.einsum("nf,hf->nh", features, self.prime.weight) + self.prime.bias
        return self.decoder(ids, state=torch.stack([made.tanh()]))[0]


# --- ctc_log_likelihood


@answers("ctc_log_likelihood")
def with_rows_of_the_table(log_probabilities, targets, blank=0):
    T, L = len(log_probabilities), len(targets)
    z = np.full(2 * L + 1, blank)
    z[1::2] = targets
    table = np.full((T, 2 * L + 1), -np.inf)
    table[0, 0] = log_probabilities[0, blank]
    if L:
        table[0, 1] = log_probabilities[0, z[1]]
    for t in range(1, T):
        for s in range(2 * L + 1):
            total = table[t - 1, s]
            if s > 0:
                total = np.logaddexp(total, table[t - 1, s - 1])
            if s > 1 and z[s] != blank and z[s] != z[s - 2]:
                total = np.logaddexp(total, table[t - 1, s - 2])
            table[t, s] = total + log_probabilities[t, z[s]]
    return float(np.logaddexp(table[-1, -1], table[-1, -2])) if L else float(table[-1, -1])


@answers("ctc_log_likelihood")
def scaled_probabilities(log_probabilities, targets, blank=0):
    """Probabilities after all, divided by their sum at each step, whose logarithms are kept."""
    z = np.array([x for y in targets for x in (blank, y)] + [blank], dtype=int)
    skip = np.zeros(len(z))
    skip[2:] = z[2:] != z[:-2]
    alpha, log_p = np.eye(1, len(z) + 2, 1)[0], 0.0
    for t, row in enumerate(np.exp(log_probabilities)):
        allowed = np.where(np.arange(len(z)) == 1, 1.0, skip) if t == 0 else skip
        alpha[2:], alpha[:2] = (alpha[2:] + alpha[1:-1] + allowed * alpha[:-2]) * row[z], 0.0
        total = alpha.sum()
        if total == 0:
            return -np.inf
        alpha, log_p = alpha / total, log_p + np.log(total)
    end = alpha[-2:].sum() if len(z) > 1 else alpha[-1]
    return log_p + np.log(end) if end > 0 else -np.inf


@answers("ctc_log_likelihood")
def backwards_in_time(log_probabilities, targets, blank=0):
    """The same sum from the other end: all ways that lead from place s to the end of the target."""
    z = [blank]
    for y in targets:
        z += [y, blank]
    beta = np.full(len(z), -np.inf)
    beta[-2:] = 0.0
    for row in log_probabilities[:0:-1]:
        said = beta + row[z]
        beta = np.array(
            [
                np.logaddexp.reduce([said[r] for r in range(s, min(s + 3, len(z))) if r < s + 2 or z[r] != z[s]])
                for s in range(len(z))
            ]
        )
    return np.logaddexp.reduce((beta + log_probabilities[0][z])[:2])
