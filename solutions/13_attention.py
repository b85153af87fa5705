# %% [markdown]
# # 13 · Attention
#
# **When you are done you will be able to**
#
# - write attention from nothing, with its scaling and its mask, and say what each of them is for;
# - build a decoder that looks back at everything that was read, and draw where it looks;
# - let a sequence look at itself, and say why it then needs to be told the order.
#
# **Time**: about two hours. More than half of it is your own work. **You need** the encoder and the decoder of unit 12,
# and `softmax` from unit 03. There are four exercises, the second of which is optional, 14 points in all. They are NumPy,
# but for `AttentionDecoder`, an `nn.Module`; none may call `scipy`, and those in NumPy not `torch`. Where it says **guess
# first**, write your guess down, then run the cell.

# %% locked="setup"
import math

import numpy as np

from rnncourse import check, hint, progress, track, use
from rnncourse.cell import softmax

np.set_printoptions(precision=3, suppress=True)

# %% tags=["experiment"]
answer_above = "if an answer above has not passed its check, that may be why."
progress("13_attention")

# %% [markdown]
# ## Two bottlenecks
#
# Two things have been with you since unit 03, and no unit has touched them.
#
# **One state for everything.** The encoder of unit 12 reads a date, and what the decoder gets is its last state: as
# many numbers as it has units, however long the input was. Ask yourself what happens with a sentence, or with a page.
#
# **One step after the other.** $h_t$ needs $h_{t-1}$, which needs $h_{t-2}$. A machine with ten thousand cores can use
# them within a step, if the step is wide enough. But ten thousand steps are ten thousand rounds on any machine. Each
# has to wait for the one before.
#
# This unit breaks the first: it lets the decoder *look back*. Unit 14 breaks the second: it gives up one tanh, and in
# return gets the whole sequence at once.

# %% [markdown]
# ## 1 · What does not fit through
#
# The first bottleneck, on the plainest task that there is for an encoder and a decoder: say again what you have read.
#
#     reads   7 1 1 4 9 0 2      should say   7 1 1 4 9 0 2 <eos>
#
# Digits are drawn at random, so that nothing can be guessed: each one has to go through the state.
#
# **Guess first:** the pair of unit 12, with 80 units, is trained for 300 updates on one to sixteen digits. How many can
# it repeat?

# %% locked="setup_torch"
import torch
from torch import nn

from rnncourse.encoder_decoder_torch import Decoder, Encoder, Seq2Seq

torch.set_num_threads(1)  # for products as small as ours a second thread costs more than it brings

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.attention_torch import AttentionSeq2Seq
from rnncourse.data.dates import BOS, EOS, PAD
from rnncourse.plots import line_chart, show


def digits_to_repeat(rng, rows=64, shortest=1, longest=16):
    """Sequences of digits, as ids from 3 to 12: (source (S, N), lengths (N,), targets (S + 1, N))."""
    lengths = rng.integers(shortest, longest + 1, rows)
    digits = rng.integers(3, 13, (lengths.max(), rows))
    is_real = np.arange(lengths.max())[:, None] < lengths
    source = np.where(is_real, digits, PAD)
    targets = np.concatenate([source, np.full((1, rows), PAD)])
    targets[lengths, np.arange(rows)] = EOS
    return torch.tensor(source), torch.tensor(lengths), torch.tensor(targets)


def build(kind, inputs, outputs, seed=0):
    """An encoder and a decoder. The pair without attention gets more units, and more parameters."""
    torch.manual_seed(seed)
    if kind == "without attention":
        return Seq2Seq(Encoder(inputs, 32, 80), Decoder(outputs, 16, 80), BOS)
    decoder = Looking(outputs, 16, 64)  # yours, from section 4 on
    if kind == "all states alike":  # it asks nothing: all scores are 0, all weights equal
        nn.init.zeros_(decoder.query.weight)
        decoder.query.requires_grad_(False)
    return AttentionSeq2Seq(Encoder(inputs, 32, 64), decoder, BOS)


def train(model, draw, updates, label):
    """Train on fresh batches, `draw()` -> (source, lengths, targets), with teacher forcing."""
    optimizer = torch.optim.Adam(model.parameters(), lr=0.005)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.05, updates)
    for _ in track(range(updates), label):
        source, lengths, targets = draw()
        logits = model(source, lengths, targets)
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=PAD)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
    return model


@torch.no_grad()
def answers(model, source, lengths, steps):
    """What the model says when it is fed its own answers: ids (steps, N)."""
    if isinstance(model, AttentionSeq2Seq):
        return model.answer(source, lengths, steps)[0]
    _, state = model.encoder(source, lengths)
    ids, said = torch.full((1, source.shape[1]), BOS), []
    for _ in range(steps):
        logits, state = model.decoder(ids, state)
        ids = logits.argmax(dim=-1)
        said.append(ids)
    return torch.cat(said)


def repeated(model, length, rows=200):
    """The share of sequences of this length that the model repeats without a mistake."""
    source, lengths, targets = digits_to_repeat(np.random.default_rng(99), rows, length, length)
    return (answers(model, source, lengths, length + 1) == targets).all(dim=0).float().mean().item()


rng = np.random.default_rng(0)
plain = train(build("without attention", 13, 13), lambda: digits_to_repeat(rng), 300, "without attention")
lengths = range(1, 21)
share_right = {"one state": [repeated(plain, length) for length in lengths]}
print(
    "repeated without a mistake: " + ", ".join(f"{n}: {share_right['one state'][n - 1]:.0%}" for n in (1, 2, 3, 5, 8))
)
assert share_right["one state"][1] > 0.85, "Two digits were expected to be repeated after 300 updates."
assert share_right["one state"][7] < 0.3, "Eight digits were not expected to be repeated after 300 updates."

# %% [markdown]
# **Claim:** after 300 updates, the pair of unit 12 repeats two digits, and not eight.
#
# Over five seeds it is right in {{digits/without attention/2 digits|median .0%}} of cases for two digits, in
# {{digits/without attention/3 digits|median .0%}} for three, in {{digits/without attention/8 digits|median .0%}} for
# eight. That is not all that one state can hold: after 900 updates it repeats eight in
# {{digits/without attention, 900 updates/8 digits|median .0%}}. But everything has to be squeezed into one vector *before
# it is known what will be asked*, and that is slow to learn.

# %% [markdown]
# ## 2 · Look back instead
#
# What would you do if you had to read a telephone number to somebody? You would leave the paper on the table, and look.
# When you say the third digit, you look at the third digit.
#
# The encoder has a state for every symbol that it has read, and so far all but the last were thrown away. Keep them.
# At each step the decoder compares what it wants to know with all of them, and takes an average in which those that fit
# count most.

# %% tags=["experiment"]
from rnncourse.plots.attention import alignment_map, attention_arrows

show(
    attention_arrows([0.04, 0.78, 0.11, 0.02, 0.05], ["7", "1", "4", "9", "0"]),
    alt="Five inputs at the bottom, above them the chain of the encoder's states h1 to h5. From each state an arrow leads "
    "up to a context c; that of h2 is by far the widest, with the weight 0.78. A decoder state s asks for the context, and "
    "the output y is made of both.",
)

# %% [markdown]
# Three words for this, as in a library: you come with a **query**, compare it with the **key** on the spine of each book,
# and take home the content, the **value**. Here every book comes home, but most of them with a weight of nearly zero: the
# choice is *soft*, so that it has a gradient. In the picture $s_t$ is the query, and each $h_j$ is key and value at
# once.
#
# $$
# e_{ij} = \frac{q_i \cdot k_j}{\sqrt d} \qquad\qquad
# \alpha_{ij} = \frac{\exp(e_{ij})}{\sum_{m} \exp(e_{im})} \qquad\qquad
# c_i = \sum_j \alpha_{ij}\, v_j
# $$
#
# | | name | shape |
# |---|---|---|
# | $q$ | queries, one a row | $(T_q, d)$ |
# | $k$ | keys | $(T_k, d)$ |
# | $v$ | values, one for each key | $(T_k, d_v)$ |
# | $e$ | scores: how well each key fits each query | $(T_q, T_k)$ |
# | $\alpha$ | weights: each *row* sums to 1 | $(T_q, T_k)$ |
# | $c$ | context: an average of values for each query (not the bias, nor the LSTM's memory) | $(T_q, d_v)$ |
#
# *By hand*: $q = (2, 0, 0, 0)$, two keys $(1, 0, 0, 0)$ and $(0, 1, 0, 0)$, their values 10 and 20. The dot products
# are 2 and 0, and $\sqrt d = 2$: the scores are 1 and 0. The softmax of $(1, 0)$ is $(0.731, 0.269)$, and the context
# $0.731 \cdot 10 + 0.269 \cdot 20 = 12.69$. Note that nothing here knows of an order: shuffle the keys and their values
# together, and the context stays.
#
# **Why the root?** A dot product is a sum of $d$ products. If they are independent with variance 1, the variances add
# up to $d$, so the sum is about $\sqrt d$ large. **Guess first:** ten keys, drawn at random. How much of the weight does
# the best of them get, on average, at $d = 4$ and at $d = 1024$?

# %% tags=["experiment"]
rng = np.random.default_rng(0)
for d in (4, 64, 1024):
    dots = rng.normal(size=(2000, 1, d)) @ rng.normal(size=(2000, d, 10))
    largest = {
        name: softmax(scores)[:, 0].max(axis=-1).mean()
        for name, scores in (("without", dots), ("with", dots / math.sqrt(d)))
    }
    print(
        f"d = {d:<5} size of a dot product {dots.std():5.1f}   largest of 10 weights: without the root {largest['without']:.2f}, with it {largest['with']:.2f}"
    )
    assert abs(dots.std() / math.sqrt(d) - 1) < 0.05, (
        "A dot product was expected to be about as large as the root of d."
    )
    assert 0.2 < largest["with"] < 0.4, "With the root no key was expected to be chosen, at any d."
assert largest["without"] > 0.9, "Without the root one key was expected to be chosen at d = 1024."

# %% [markdown]
# **Claim:** without the root, long vectors make the softmax choose one key and ignore the others, before anything is
# learned.
#
# A softmax that has chosen has hardly any slope: $\alpha(1 - \alpha)$ is nearly zero at both ends. The network would be
# stuck with the choice that its random start has made.
#
# **The mask.** Some keys must not be looked at: the padding of a short sequence, or, in a language model, what has not
# been written yet. A mask says so, `True` = *may look*. It acts on the *scores*, before the softmax: a score of
# $-\infty$ becomes a weight of exactly 0, and the rest of the row still sums to 1. The mask need not have the full shape,
# if it broadcasts to the weights: one of shape $(N, 1, T_k)$ says the same to all queries of a sequence.

# %% [markdown]
# ### Exercise 13.1 · `attention`
# *●●○ · 18 minutes · 4 points*
#
# Write scaled dot-product attention. `query (…, T_q, d)`, `keys (…, T_k, d)` and `values (…, T_k, d_v)` have the same
# leading axes, none, one or more. Return `(context (…, T_q, d_v), weights (…, T_q, T_k))`. `mask` is `None`, or an array
# of bools that broadcasts to the weights, True = may look; no row is all False. Scores may be as large as you like, and
# give no nan. In all exercises the dtype stays: `math.sqrt(d)` is a plain number, `np.sqrt(d)` is a float64 and would turn
# float32 into float64. You may call `softmax(O)` of unit 03, which is imported.
#
#     query [[2, 0, 0, 0]]   keys [[1, 0, 0, 0], [0, 1, 0, 0]]   values [[10], [20]]
#     gives, rounded,  context [[12.69]]   weights [[0.731, 0.269]]
#     and with mask [False, True]:  context [[20]]   weights [[0, 1]]


# %% answer="attention"
def attention(query, keys, values, mask=None):
    """Scaled dot products: query (…, T_q, d), keys (…, T_k, d), values (…, T_k, d_v) -> context, weights."""
    ### BEGIN SOLUTION
    scores = query @ np.swapaxes(keys, -1, -2) / math.sqrt(query.shape[-1])
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = softmax(scores)
    return weights @ values, weights
    ### END SOLUTION


# %% check="attention"
check(attention)

# %% [markdown]
# These few lines are at the heart of nearly all large language models of today. They have no parameters at all: what is
# learned is what makes the queries, the keys and the values.

# %% [markdown]
# ## 3 · The older way to ask
#
# *Optional, with its exercise: nothing below needs it.*
#
# A dot product needs queries and keys of one size, and compares them in a fixed way. When attention came to translation,
# in 2014, the comparison was a small network of its own, with a hidden layer of $A$ units. (It was not the first network
# that looked. A year before, Graves had let one that writes by hand slide a soft window along its text.)
#
# $$e_{ij} = \tanh(q_i W_q + k_j W_k) \cdot v \qquad\qquad W_q\ (d_q, A) \quad W_k\ (d_k, A) \quad v\ (A,)$$
#
# It is called **additive** attention, for the sum in it. From the scores on, all is as before. There is no scaling: $v$
# learns how large a score should be. (This $v$ is a vector of weights; the values keep their index, $v_j$.)
#
# *By hand*, with $A = 1$: the query is 0, the keys are $0.5$ and $-0.5$, $W_q = W_k = 1$, $v = 2$. The scores are $2
# \tanh(0.5) = 0.924$ and $-0.924$, the weights $0.864$ and $0.136$. With the values 10 and 20 the context is $11.36$.
#
# What is the tanh for? Leave it out and write the score as $q_i W_q \cdot v + k_j W_k \cdot v$. The first part is the
# same for all $j$, so the softmax takes it out again. The weights would not depend on the query: a network that answers
# before it has heard the question.

# %% [markdown]
# ### Exercise 13.2 · `additive_attention`
# *●●○ · 12 minutes · 3 points · optional*
#
# `query (…, T_q, d_q)`, `keys (…, T_k, d_k)`, `values (…, T_k, d_v)`, `Wq (d_q, A)`, `Wk (d_k, A)`, `v (A,)`, and `mask`
# as before. Return `(context (…, T_q, d_v), weights (…, T_q, T_k))`.
#
# The one difficulty is that every query meets every key. An axis of length 1 in the right place lets NumPy do it:
# `x[..., :, None, :]` turns `(…, T_q, A)` into `(…, T_q, 1, A)`.
#
#     query [[0]]   keys [[0.5], [-0.5]]   values [[10], [20]]   Wq [[1]]   Wk [[1]]   v [2]
#     gives, rounded,  context [[11.36]]   weights [[0.864, 0.136]]


# %% answer="additive_attention"
def additive_attention(query, keys, values, Wq, Wk, v, mask=None):
    """Scores tanh(q Wq + k Wk) v: query (…, T_q, d_q), keys (…, T_k, d_k), values (…, T_k, d_v) -> context, weights."""
    ### BEGIN SOLUTION
    hidden = np.tanh((query @ Wq)[..., :, None, :] + (keys @ Wk)[..., None, :, :])  # (…, T_q, T_k, A)
    scores = hidden @ v
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = softmax(scores)
    return weights @ values, weights
    ### END SOLUTION


# %% check="additive_attention"
check(additive_attention)

# %% [markdown]
# Both ways work. The dot product has won because it is one product of matrices, which machines are built for. Look at
# the array under your tanh: it is $A$ times as large as the scores. In the rest of this unit we ask with dot products.

# %% [markdown]
# ## 4 · A decoder that looks back
#
# The decoder of unit 12 reads a token, makes its state $s_t$, and predicts from it. Now $s_t$ first asks all states $h_j$
# of the encoder, and what comes back, the context $c_t$, stands beside it when the next token is chosen:
#
# $$
# e_{tj} = \frac{s_t W_a \cdot h_j}{\sqrt H} \qquad \alpha_t = \mathrm{softmax}(e_t) \qquad c_t = \sum_j \alpha_{tj} h_j
# \qquad \text{logits}_t = \tanh([s_t, c_t]\, W_c + b_c)\, V + c
# $$
#
# $W_a$ is there because what a decoder's state asks for need not look like an encoder's state. The encoder stays as it
# is. Here are the parts, under the names that the check looks for:
#
# | layer | what | from, to |
# |---|---|---|
# | `embedding` | `nn.Embedding` | $V$ tokens, $E$ |
# | `rnn` | `nn.GRU` | $E$, $H$ |
# | `query` | `nn.Linear` without a bias, $W_a$ | $H$, $H$ |
# | `combine` | `nn.Linear`, $W_c$ and $b_c$ | $2H$, $H$: first the state, then the context |
# | `output` | `nn.Linear` | $H$, $V$ |
#
# And here is where beginners lose an hour. The GRU has time first, $(T, N, H)$. But a product of matrices, as in
# `attention`, wants what is *not* multiplied first: for each sequence of the batch a matrix of queries $(T, H)$ and one of
# keys $(S, H)$. So turn both with `transpose(0, 1)`, to $(N, T, H)$ and $(N, S, H)$, and turn the context back.

# %% [markdown]
# ### Exercise 13.3 · `AttentionDecoder`
# *●●● · 30 minutes · 4 points*
#
# `AttentionDecoder(vocabulary_size, embedding_size, hidden_size)`, with the five layers above.
# `forward(ids, state, keys, mask=None)` takes the token ids $(T, N)$, the first state $(1, N, H)$, the encoder's states
# `keys` $(S, N, H)$, which are the values too, and a mask $(N, S)$ of bools, True = may look. Return
# `(logits (T, N, V), state (1, N, H), weights (N, T, S))`: the state is the one after the last token, and row $t$ of the
# weights of sequence $n$ says where it looked at step $t$.
#
# What you know has other names here: `torch.softmax(scores, dim=-1)`, `scores.masked_fill(where, -math.inf)`, which fills
# where it is given True, `~mask` for *not*, and `torch.cat([states, context], dim=-1)`. With `keys.transpose(1, 2)`, from
# $(N, S, H)$, you have what the product needs.
#
#     decoder = AttentionDecoder(9, 4, 5)
#     decoder(ids (7, 2), state (1, 2, 5), keys (6, 2, 5))
#     gives  logits (7, 2, 9)   state (1, 2, 5)   weights (2, 7, 6)


# %% answer="AttentionDecoder"
class AttentionDecoder(nn.Module):
    """A decoder that looks back: (ids (T, N), state (1, N, H), keys (S, N, H), mask (N, S)) -> logits, state, weights."""

    ### BEGIN SOLUTION
    def __init__(self, vocabulary_size, embedding_size, hidden_size):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary_size, embedding_size)
        self.rnn = nn.GRU(embedding_size, hidden_size)
        self.query = nn.Linear(hidden_size, hidden_size, bias=False)
        self.combine = nn.Linear(2 * hidden_size, hidden_size)
        self.output = nn.Linear(hidden_size, vocabulary_size)

    def forward(self, ids, state, keys, mask=None):
        states, state = self.rnn(self.embedding(ids), state)
        queries, keys = self.query(states).transpose(0, 1), keys.transpose(0, 1)  # (N, T, H) and (N, S, H)
        scores = queries @ keys.transpose(1, 2) / math.sqrt(keys.shape[2])
        if mask is not None:
            scores = scores.masked_fill(~mask[:, None], -math.inf)
        weights = torch.softmax(scores, dim=-1)
        context = (weights @ keys).transpose(0, 1)
        hidden = torch.tanh(self.combine(torch.cat([states, context], dim=-1)))
        return self.output(hidden), state, weights

    ### END SOLUTION


# %% check="AttentionDecoder"
check(AttentionDecoder)

# %% [markdown]
# That is the network that changed machine translation in 2015, but for its size. (There the state asked *before* it read
# the token, and additively; this order is Luong's.) Does it look where your `attention` looks?

# %% tags=["experiment", "nbval-ignore-output"]
attend, Looking = use(attention), use(AttentionDecoder)
decoder = Looking(13, 16, 64).double()
ids, keys = torch.randint(3, 13, (5, 2)), torch.randn(7, 2, 64, dtype=torch.float64)
start, mask = torch.zeros(1, 2, 64, dtype=torch.float64), torch.arange(7) < torch.tensor([[7], [4]])
with torch.no_grad():
    _, _, weights = decoder(ids, start, keys, mask)
    states, _ = decoder.rnn(decoder.embedding(ids), start)
    q, k = (x.transpose(0, 1).numpy() for x in (decoder.query(states), keys))
_, expected = attend(q, k, k, mask.numpy()[:, None])
difference = np.abs(weights.numpy() - expected).max()
print(f"the decoder's weights and those of attention differ by {difference:.0e}")
assert difference < 1e-12, "The decoder was expected to look where your attention looks; " + answer_above

# %% [markdown]
# ### Experiment · the digits again
#
# The same encoder, the same task, the same 300 updates, with your decoder. The pair with attention has 64 units, the one
# without had 80, and more parameters. And there is a second control: your decoder again, but its `query` is held at 0. So
# it gets the *mean* of all states, by the same short way, and cannot choose.
#
# **Guess first:** ten digits: how often is each of the three right? And your decoder at 20 digits, when it has trained on
# up to 16?

# %% tags=["experiment", "nbval-ignore-output"]
rng = np.random.default_rng(0)
looking = train(build("with attention", 13, 13), lambda: digits_to_repeat(rng), 300, "with attention")
parameters = [sum(p.numel() for p in model.parameters()) for model in (plain, looking)]
print(f"parameters: {parameters[0]:,} without attention, {parameters[1]:,} with it")
assert parameters[0] > parameters[1], "The pair with attention was expected to have fewer parameters."
share_right["attention"] = [repeated(looking, length) for length in lengths]
assert min(share_right["attention"][:10]) > 0.7, "With attention most of up to ten digits were expected to be repeated."
assert share_right["attention"][19] < 0.3, "Twenty digits, never met in training, were not expected to be repeated."
figure = line_chart(lengths, share_right, xlabel="length (digits)", ylabel="share without a mistake", size=(8.0, 3.6))
figure.axes[0].set_xticks(range(2, 21, 2))
show(
    figure,
    alt="Share repeated without a mistake against length. With one state it falls steeply from the third digit on and is near "
    "zero from eight digits on. With attention it stays near 1 up to about fourteen digits, then falls, and is zero at twenty.",
)

# %% [markdown]
# **Claim:** after 300 updates the pair with attention repeats most sequences of ten digits, and neither the pair
# without nor one that looks at all states alike repeats any to speak of.
#
# Over five seeds, ten digits are right in {{digits/with attention/10 digits|.0%}} with attention, in
# {{digits/all states alike/10 digits|.0%}} with all states alike, in {{digits/without attention/10 digits|.0%}} without,
# and without, after three times the updates, in {{digits/without attention, 900 updates/10 digits|.0%}}. The short way
# alone does help, three digits are right in {{digits/all states alike/3 digits|.0%}}; but for ten it takes the *choosing*.
# Now look to the right of 16, where it is
# {{digits/with attention/20 digits|.0%}} at 20. What fails there is not memory: all states are still on the table. It has
# never learned how to ask for the *nineteenth* digit. Attention keeps everything within reach. What to look for, the
# network has to learn.
#
# ### Experiment · dates
#
# Now the dates of unit 12, in eleven languages. **Guess first:** where will the network look for the first digit of the
# year, and is a long date harder than a short one?

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.data.dates import ISO_VOCABULARY, date_vocabulary, encode_dates, written_dates

train_dates = [torch.tensor(x) for x in encode_dates(written_dates(np.random.default_rng(0), 12_000))]
test_dates = [torch.tensor(x) for x in encode_dates(written_dates(np.random.default_rng(1), 1_000, held_out=True))]
is_long = test_dates[1] > 20


def date_batch(generator):
    source, lengths, targets = train_dates
    rows = torch.randint(source.shape[1], (64,), generator=generator)
    return source[: lengths[rows].max(), rows], lengths[rows], targets[:, rows]


def train_reader(kind, seed=0):
    """A network that reads dates."""
    generator = torch.Generator().manual_seed(seed)
    model = build(kind, len(date_vocabulary()), len(ISO_VOCABULARY), seed)
    return train(model, lambda: date_batch(generator), 280, f"dates, {kind}")


def dates_right(model):
    """The shares of dates read right: those of up to 20 characters, and the longer ones."""
    right = (answers(model, *test_dates[:2], 11) == test_dates[2]).all(dim=0).float()
    return [right[rows].mean().item() for rows in (~is_long, is_long)]


reader = train_reader("with attention")
short, long = dates_right(reader)
print(f"with attention: up to 20 characters {short:.0%}, longer ones {long:.0%}")
assert min(short, long) > 0.7, "With attention most dates were expected to be right."

# %% [markdown]
# **Claim:** after 280 updates, a network with attention reads most dates of days that it has never seen, long ones as
# well as short ones, and a network without has hardly begun.
#
# Over five seeds, with attention: {{dates/with attention/up to 20 characters|.0%}} of the dates of up to 20 characters,
# {{dates/with attention/longer|.0%}} of the longer ones. Without: {{dates/without attention/up to 20 characters|.0%}} and
# {{dates/without attention/longer|.0%}}.
#
# This does not show what one state *cannot* hold: in unit 12 such a pair learned its dates, with more units and 2,000
# updates. It shows how hard one state makes the learning. An error at the last output has to find its way through the
# whole decoder and the whole encoder to the letter that decided; with attention there is a short cut. And that dates are
# hard *because they are long* does not show here; the short ones are no better.
#
# ### Where does it look?
#
# And now a picture that you get for nothing. Each row is a character of the answer; the dark cells show which states it
# was read from.

# %% tags=["experiment", "nbval-ignore-output"]
from datetime import date

from rnncourse.data.dates import is_held_out, written_as


def alignment(model, written):
    """What the model makes of one written date, and where it looks for each character."""
    encoded = encode_dates([written])
    ids, weights = model.answer(torch.tensor(encoded.source), torch.tensor(encoded.lengths), 11)
    return "".join(ISO_VOCABULARY[i] for i in ids[:10, 0]), weights[0, :10].numpy()


day = next(d for d in (date(2009, 3, n) for n in range(1, 10)) if is_held_out(d))
written = max(written_as(day, "pt"), key=lambda w: len(w.text))
answer, looks = alignment(reader, written)
year = written.text.index(str(day.year))
on_the_year = looks[:4, year:].sum(axis=1).min()
print(
    f"{written.text}  ->  {answer}   (true: {written.iso}); of each digit of the year, at least {on_the_year:.0%} is read off the year"
)
assert answer == written.iso, f"{written.text} was expected to be read right, and it gave {answer}."
assert on_the_year > 0.5, "The year was expected to be read off the year."
show(
    alignment_map(looks, written.text, answer),
    alt=f"A grid with the input {written.text} below and the output {answer} at the side. The first four rows are dark at the "
    "year at the end of the input; the rows of the month at the name of the month; the rows of the day at the number near the "
    "beginning.",
)

# %% tags=["experiment"]
from rnncourse.plots.films import attention_film

attention_film(looks, written.text, answer).show(
    alt="A date as it was read, below, and as it is written, above; from the sign just written lines lead down to the "
    "signs it looks at, the wider the larger the weight.",
    title="Attention while it writes",
)

# %% [markdown]
# Nobody told it that the year stands at the end in Portuguese, or where the month is. It starts at the *end*, for that
# is what ISO wants first. Then it jumps to the month's name, and for the 3 to the letters that tell `março` from
# `maio`. And look at the day: in our run the darkest cell is the space *behind* the number. Only there has a state read
# that the 1 is all; one step before, it might still have become a 12. A cell of this map is a *state*, not a letter: it
# knows what came before it.
#
# What it costs: $T_q$ steps compare with $T_k$ states each, $T_q \cdot T_k$ comparisons. For a date that is nothing.

# %% [markdown]
# ## 5 · A sequence that looks at itself
#
# So far one sequence asked and another was asked. But a sequence can ask itself. From its row $x_t$ each step makes three
# things: what it looks for, what it has to offer, and what it hands out if it is chosen.
#
# $$q_t = x_t W_q \qquad k_t = x_t W_k \qquad v_t = x_t W_v$$
#
# The rest is your `attention`. This is **self-attention**: each step reads from every other at once, and nobody walks.
#
# A language model predicts step $t + 1$ at step $t$, so it may not look ahead. Then the mask is a **causal** one: row
# $t$ may look at the columns up to $t$, its own included. Drawn as a table, it is a triangle: `np.tri(T)`.
#
# *By hand*: $X = (0, 2, 4)$, one number a step, $W_q = 0$, $W_k = W_v = 1$. All scores are 0, so all weights are alike:
# each step gets the mean, 2. With the causal mask step 1 sees 0, step 2 the mean of 0 and 2, step 3 that of all three:
# $(0, 1, 2)$.

# %% [markdown]
# ### Exercise 13.4 · `self_attention`
# *●○○ · 12 minutes · 3 points*
#
# `X (T, D)` is one sequence, `Wq (D, d)`, `Wk (D, d)`, `Wv (D, d_v)`: return the contexts, `(T, d_v)`. With `causal=True`
# no step looks at a later one. Use your `attention`; while this exercise is checked, it is a correct one.
#
#     X [[0], [2], [4]]   Wq [[0]]   Wk [[1]]   Wv [[1]]     gives [[2], [2], [2]]
#     and with causal=True:  [[0], [1], [2]]


# %% answer="self_attention"
def self_attention(X, Wq, Wk, Wv, causal=False):
    """A sequence attends to itself: X (T, D), Wq (D, d), Wk (D, d), Wv (D, d_v) -> contexts (T, d_v)."""
    ### BEGIN SOLUTION
    mask = np.tri(len(X), dtype=bool) if causal else None
    context, _ = attention(X @ Wq, X @ Wk, X @ Wv, mask)
    return context
    ### END SOLUTION


# %% check="self_attention"
check(self_attention)

# %% [markdown]
# You have one head of one layer of a Transformer. What does it know of the order?
#
# **Guess first:** shuffle the rows of $X$ and compute again. What happens to the rows that come out (1) as it is, (2) with
# a vector $p_t$ added to each row that depends on its *place* $t$ alone, (3) without such vectors, but causal?

# %% tags=["experiment"]
look = use(self_attention)
rng = np.random.default_rng(0)
X, places, order = rng.normal(size=(6, 8)), rng.normal(size=(6, 8)), rng.permutation(6)
Wq, Wk, Wv = (rng.normal(size=(8, 8)) for _ in range(3))
for name, run in {
    "as it is": lambda X: look(X, Wq, Wk, Wv),
    "with places": lambda X: look(X + places, Wq, Wk, Wv),
    "causal": lambda X: look(X, Wq, Wk, Wv, causal=True),
}.items():
    change = np.abs(run(X[order]) - run(X)[order]).max()
    print(f"{name:<12} the shuffled answers and the answers to the shuffled rows differ by {change:.2f}")
    assert (change < 1e-10) == (name == "as it is"), f"{name}: {change:.2f} was not expected; " + answer_above

# %% [markdown]
# As it is, the rows are only moved: self-attention sees a *bag* of steps, as unit 01's first model saw a bag of words.
# Either the **positions** are told, by a vector for each place that is added to what stands there, or the mask tells
# them, since in a causal one step $t$ sees $t$ things.
#
# ### Experiment · which came first?
#
# Twelve symbols, and among them one A and one B: which of the two came first? One layer of self-attention, the mean of
# its contexts, one linear layer. **Guess first:** which of the four settings below can learn it?


# %% tags=["experiment", "nbval-ignore-output"]
class OneLayer(nn.Module):
    """Self-attention over 12 symbols of 10, averaged; with a vector for each place or without, causal or not."""

    def __init__(self, places, causal):
        super().__init__()
        self.embedding, self.causal = nn.Embedding(10, 32), causal
        self.places = nn.Parameter(torch.randn(12, 1, 32), requires_grad=places)
        self.Wq, self.Wk, self.Wv = (nn.Linear(32, 32, bias=False) for _ in range(3))
        self.output = nn.Linear(32, 2)

    def forward(self, ids):
        x = self.embedding(ids) + self.places * self.places.requires_grad
        q, k, v = (layer(x).transpose(0, 1) for layer in (self.Wq, self.Wk, self.Wv))
        context = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        return self.output(context.mean(dim=1))


def which_first(generator, rows=64):
    """Symbols from 2 to 9, and one 0 and one 1 among them: ids (12, rows), and which of the two came first."""
    ids = torch.randint(2, 10, (12, rows), generator=generator)
    two = torch.rand(12, rows, generator=generator).argsort(dim=0)[:2]
    ids.scatter_(0, two, torch.tensor([[0], [1]]).expand(2, rows))
    return ids, (two[0] > two[1]).long()


ORDERED = {
    "neither": (False, False),
    "positions": (True, False),
    "causal": (False, True),
    "both": (True, True),
}


def order_learned(name, updates=400, seed=0):
    """The share of right answers on 1,000 new sequences."""
    torch.manual_seed(seed)
    generator, model = torch.Generator().manual_seed(seed), OneLayer(*ORDERED[name])
    optimizer = torch.optim.Adam(model.parameters(), lr=0.005)
    for _ in track(range(updates), name):
        ids, first = which_first(generator)
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(ids), first).backward()
        optimizer.step()
    ids, first = which_first(torch.Generator().manual_seed(99), 1000)
    with torch.no_grad():
        return (model(ids).argmax(dim=-1) == first).float().mean().item()


for name in ORDERED:
    share = order_learned(name)
    print(f"{name:<10} right in {share:.0%}")
    assert (share < 0.6) if name == "neither" else (share > 0.8), f"{name}: {share:.0%} right was not expected."

# %% [markdown]
# **Claim:** one layer of self-attention without positions guesses which of two symbols came first, after 400 updates as
# before. With positions it knows, and so it does with a causal mask alone.
#
# Over five seeds: with neither {{order/neither/right|.0%}}, with positions {{order/positions/right|.0%}}, causal alone
# {{order/causal/right|.0%}}, with both {{order/both/right|.0%}}. That it can only guess with neither, however long one
# trains, you have just proved: exchange A and B, and the mean stays what it was.
#
# What does it cost that nobody walks? $T^2$ comparisons, and while it writes, the keys and values of all that was written.
# For a book that looks at itself that is everything. Unit 14 comes back to it.

# %% [markdown]
# ## 6 · Bugs to hunt
#
# All of these run and have the right shape. What would you see, and which test of this unit finds it?
#
# - The mask says True where one may *not* look (PyTorch has both conventions: in `nn.MultiheadAttention` True means
#   "leave out", in `scaled_dot_product_attention` it means "take part").
# - `softmax(scores, axis=0)`.
# - The mask is left out in training, since "the padding is zero anyway".
#
# <details><summary>Answers, when you have thought about them</summary>
#
# The first trains on padding and never sees the sentence; mask all but one key, and see whether the context is that
# key's value. The second shows when you sum the rows of the weights. The third gives a sentence another answer when it
# stands in a batch with a longer one: run it alone and in company, as in unit 09.
# </details>

# %% [markdown]
# ## 7 · What you have
#
# - One state for everything is a bottleneck; attention lets each output look at all states and choose, softly.
# - Scores over $\sqrt d$, mask before the softmax, softmax over the keys, weights times values.
# - The weights are an alignment that nobody taught. A cell of it is a state, not a letter.
# - Self-attention lets a sequence ask itself, all at once; it sees a bag, unless positions or a causal mask tell the order.
#
# ## Where to read on
#
# - D. Bahdanau, K. Cho, Y. Bengio, "Neural Machine Translation by Jointly Learning to Align and Translate", *ICLR* 2015:
#   the first half of this unit, with the first alignments ever drawn.
# - M.-T. Luong, H. Pham, C. D. Manning, "Effective Approaches to Attention-based Neural Machine Translation", *EMNLP*
#   2015: the form of decoder that we have used.
# - A. Vaswani and others, "Attention Is All You Need", *NeurIPS* 2017.
# - A. Haviv and others, "Transformer Language Models without Positional Encodings Still Learn Positional Information",
#   *Findings of EMNLP* 2022: what a causal mask tells.
# - A. Graves, "Generating Sequences With Recurrent Neural Networks", arXiv:1308.0850, 2013: the soft window.

# %% [markdown]
# ## Something to show to somebody
#
# Put in a day that matters to you, and a language: `de`, `en`, `es`, `fi`, `fr`, `it`, `nl`, `pl`, `pt`, `sv` or `tr`.
# Then show somebody where your network has looked.

# %% tags=["experiment", "nbval-ignore-output"]
my_day, my_language = date(1997, 11, 15), "fr"

written = max(written_as(my_day, my_language), key=lambda w: len(w.text))
answer, looks = alignment(reader, written)
assert np.allclose(looks.sum(axis=1), 1, atol=1e-4), "The weights of each row were expected to sum to 1."
show(
    alignment_map(looks, written.text, answer, title=f"{written.text} → {answer}"),
    alt=f"Where the network looks in {written.text} for each character of its answer, {answer}.",
)

# %% tags=["experiment"]
progress("13_attention")
