# %% [markdown]
# # 13 · Attention, and breaking the sequential bottleneck
#
# **When you are done you will be able to**
#
# - write attention from nothing, with its scaling and its mask, and say what each of them is for;
# - build a decoder that looks back at everything that was read, and draw where it looks;
# - let a sequence look at itself, and say why it then needs to be told the order;
# - say which recurrences can be computed in about $\log_2 T$ rounds instead of $T$ steps, and do it;
# - build a recurrent network whose training does not walk through time, and say what it can no longer do;
# - see the same recurrence in linear attention and in a state space, and place S4, Mamba, RWKV and xLSTM.
#
# **Time**: about four hours, in two sittings; the second begins with section 6. More than half of it is your own work.
# What is marked *optional* comes on top. **You need** the encoder and the decoder of unit 12, the gates of unit 10, and
# `softmax` from unit 03. There are ten exercises, the second of which is optional, and one written question, 35 points
# in all. They are NumPy, but for `AttentionDecoder`, an `nn.Module`; none may call `scipy`, and those in NumPy not
# `torch`. Where it says **guess first**, write your guess down, then run the cell.

# %% locked="setup"
import math

import numpy as np

from rnncourse import check, hint, progress, track, use
from rnncourse.cell import softmax

np.set_printoptions(precision=3, suppress=True)

# %% tags=["experiment"]
answer_above = "if an answer above has not passed its check, that may be why."
progress("13_beyond")

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
# This unit breaks both. The first half lets the decoder *look back*. The second half gives up one tanh, and in return
# gets the whole sequence at once.

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
from rnncourse.beyond_torch import AttentionSeq2Seq, MinGRU
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
from rnncourse.plots.beyond import alignment_map, attention_arrows

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
# For a book that looks at itself that is everything. Remember this for section 12.

# %% [markdown]
# ## 6 · One step after the other
#
# The second bottleneck. Why does $h_t$ have to wait for $h_{t-1}$? Because of the tanh around it:
#
# $$h_3 = \tanh(x_3 U + \tanh(x_2 U + \tanh(x_1 U + h_0 W) W) W)$$
#
# (The bias is left out.) There is no simple short cut through nested tanhs. But take them away, and give each unit a
# factor of its own in place of the matrix:
#
# $$h_t = a_t\, h_{t-1} + b_t$$
#
# $a_t$ and $b_t$ may come from the input, by any network you like. They may *not* come from $h_{t-1}$. (And $b_t$ is
# different at each step, so it is not the bias $b$.) This is a **linear recurrence**: every unit keeps a share $a_t$ of
# what it had and adds $b_t$. You have met it. The leaky average of unit 00 is one, and so is the LSTM's memory,
# $c_t = f_t\, c_{t-1} + i_t\, g_t$, but for one thing: there the gates look at $h_{t-1}$. (A whole matrix in place of
# $a_t$ would do as well, but in a moment we have to multiply two of them, and that is $H^3$ products, not $H$.)
#
# *By hand*: $a = (0.5,\ 0.5,\ 2)$, $b = (0,\ 1,\ 0)$, $h_0 = 4$. Then $h_1 = 2$, $h_2 = 0.5 \cdot 2 + 1 = 2$, $h_3 = 4$.

# %% [markdown]
# ### Exercise 13.5 · `linear_recurrence`
# *●○○ · 6 minutes · 2 points*
#
# First the plain loop; everything that follows is measured against it. `a` and `b` have one shape, `(T, …)` with any
# number of further axes or none, and `h0` is `(…)`, a number if there are none. All products are entry by entry. Return
# the states $h_1$ to $h_T$, `(T, …)`; `h0` is not among them. Leave the arguments as they are.
#
#     a [0.5, 0.5, 2]   b [0, 1, 0]   h0 4     gives [2, 2, 4]


# %% answer="linear_recurrence"
def linear_recurrence(a, b, h0):
    """The states of h_t = a_t h_{t-1} + b_t, step by step: a and b (T, …), h0 (…) -> (T, …)."""
    ### BEGIN SOLUTION
    H = np.empty_like(b)
    h = h0
    for t in range(len(a)):
        h = a[t] * h + b[t]
        H[t] = h
    return H
    ### END SOLUTION


# %% check="linear_recurrence"
check(linear_recurrence)

# %% [markdown]
# That still takes one step after the other. Now comes the trick.

# %% [markdown]
# ## 7 · Do not compute states, compute maps
#
# Look at a step differently. Do not ask for the state that it gives, which you cannot know yet. Ask what it *does*: it
# is the map $h \mapsto a_t h + b_t$, and a map is written down with two numbers, $(a_t, b_t)$. Those you know from the
# start, for all steps.
#
# Now take two maps in a row, first $(a, b)$, then $(a', b')$:
#
# $$h \;\mapsto\; a h + b \;\mapsto\; a'(a h + b) + b' \;=\; \underbrace{a' a}_{}\, h + \underbrace{a' b + b'}_{}$$
#
# Two steps in a row are again such a map, $(a' a,\ a' b + b')$. So are a thousand.
#
# *By hand*: $(2, 1)$, then $(3, 5)$. Together $(3 \cdot 2,\ 3 \cdot 1 + 5) = (6, 8)$. Test it on $h = 1$: $1 \to 3 \to
# 14$, and $6 \cdot 1 + 8 = 14$.

# %% [markdown]
# ### Exercise 13.6 · `combine_affine`
# *●○○ · 6 minutes · 2 points*
#
# `first` and `second` are pairs `(a, b)` of arrays of one shape, or of numbers. Return the pair of the map that applies
# `first` and then `second`, entry by entry.
#
#     first (2, 1)   second (3, 5)     gives (6, 8)


# %% answer="combine_affine"
def combine_affine(first, second):
    """The map of two maps h -> a h + b, each a pair (a, b), of which `first` is applied first -> (a, b)."""
    ### BEGIN SOLUTION
    a_1, b_1 = first
    a_2, b_2 = second
    return a_2 * a_1, a_2 * b_1 + b_2
    ### END SOLUTION


# %% check="combine_affine"
check(combine_affine)

# %% [markdown]
# You can now make one step of two, without knowing a single state.

# %% [markdown]
# ## 8 · All prefixes at once
#
# The combination of maps is **associative**: for three in a row it does not matter which two you combine first. (The
# order of the maps does matter, the brackets do not.) That is all that is needed. Add up eight numbers one after the
# other, and there are seven additions in a row; add pairs, then pairs of pairs, and there are three. And we need not only
# the whole but every **prefix**, the map of all steps up to $t$, since that one gives $h_t$. Here it is for eight steps.
# Below the top row, each dot combines what comes along its arrow with what stands above it; dots of one row do not wait
# for each other.

# %% tags=["experiment"]
from rnncourse.plots.beyond import scan_beside_loop

show(
    scan_beside_loop(8),
    alt="Two diagrams over eight columns. Left, the loop: a staircase of seven dots, each waiting for the one before, in seven "
    "rows. Right, the scan: in the first row every column takes in its left neighbour, in the second the column two to the "
    "left, in the third the column four to the left; three rows in all.",
)

# %% tags=["experiment"]
from rnncourse.plots.films import scan_film

scan_film(8).show(
    alt="Two rows of eight squares, for the loop and for the scan; both have all prefixes at the end, the loop after seven "
    "rounds, the scan after three.",
    title="A round at a time",
)

# %% [markdown]
# Follow column 8 on the right. After the first row it stands for the steps 7 and 8, after the second for 5 to 8, after
# the third for 1 to 8. At each row the reach doubles, so $\lceil \log_2 T \rceil$ rows are enough: 10 for a thousand
# steps, 20 for a million. Such a thing is called a **scan**, and this one is that of Hillis and Steele.
#
# *By hand*, four maps and $h_0 = 1$:
#
# | | step 1 | step 2 | step 3 | step 4 |
# |---|---|---|---|---|
# | maps | $(2, 1)$ | $(3, 0)$ | $(1, 4)$ | $(2, 0)$ |
# | after row 1 | $(2, 1)$ | $(6, 3)$ | $(3, 4)$ | $(2, 8)$ |
# | after row 2 | $(2, 1)$ | $(6, 3)$ | $(6, 7)$ | $(12, 14)$ |
# | applied to $h_0 = 1$ | 3 | 9 | 13 | 26 |
#
# And the loop: $2 \cdot 1 + 1 = 3$, then $9$, then $13$, then $26$.
#
# How do you find out whether a function *is* a scan, and not a loop in disguise? Hand it numbers that count. Each knows
# its value and its **depth**: how many operations, one waiting for the other, it took to make it.


# %% tags=["experiment"]
class Counting:
    """A number that knows how many operations had to wait for one another until it was there."""

    def __init__(self, value, depth=0):
        self.value, self.depth = value, depth

    def _made(self, value, other):
        return Counting(value, 1 + max(self.depth, other.depth))

    def __add__(self, other):
        return self._made(self.value + other.value, other)

    def __mul__(self, other):
        return self._made(self.value * other.value, other)


p, q, r, s = (Counting(v) for v in (1.0, 2.0, 3.0, 4.0))
print("((p + q) + r) + s:  ", (((p + q) + r) + s).value, "at depth", (((p + q) + r) + s).depth)
print(" (p + q) + (r + s): ", ((p + q) + (r + s)).value, "at depth", ((p + q) + (r + s)).depth)
assert (((p + q) + r) + s).depth == 3, "Three additions in a row were expected."
assert ((p + q) + (r + s)).depth == 2, "Two additions in a row were expected."

# %% [markdown]
# ### Exercise 13.7 · `associative_scan`
# *●●● · 25 minutes · 5 points*
#
# Compute what `linear_recurrence` computes, from the same arguments, with few operations that wait for one another: for
# $T$ steps at most $4 \lceil \log_2 T \rceil + 4$. At $T = 1000$ these are 44, where the loop takes 2,000. Hillis and
# Steele's scan will do, and so will any other. It has to be right for every $T \ge 1$, not only for powers of two, and
# for factors of 0: there is no need to divide. Leave the arguments as they are. You may call your `combine_affine`, which
# takes whole arrays: a row of the picture is *one* call.
#
# The check counts as we did above. Once it hands you arrays whose entries are counting numbers: they can be added,
# subtracted, multiplied and divided, and live in arrays of dtype `object`. So make new arrays with `np.empty_like(a)` or
# with `dtype=a.dtype`: an array of plain floats cannot hold them.
#
#     a [2, 3, 1, 2]   b [1, 0, 4, 0]   h0 1     gives [3, 9, 13, 26]


# %% answer="associative_scan"
def associative_scan(a, b, h0):
    """What `linear_recurrence` computes, in O(log T) dependent steps: a and b (T, …), h0 (…) -> (T, …)."""
    ### BEGIN SOLUTION
    A, B = a, b
    step = 1
    while step < len(a):
        new_A, new_B = combine_affine((A[:-step], B[:-step]), (A[step:], B[step:]))
        A, B = np.concatenate([A[:step], new_A]), np.concatenate([B[:step], new_B])
        step *= 2
    return A * h0 + B
    ### END SOLUTION


# %% check="associative_scan"
check(associative_scan)

# %% [markdown]
# **Guess first:** at 2,048 steps the loop has 4,096 operations in a row. How many has your scan?

# %% tags=["experiment", "nbval-ignore-output"]
loop, scan = use(linear_recurrence), use(associative_scan)
rng = np.random.default_rng(0)


def counting(array):
    made = np.empty(array.shape, dtype=object)
    made[:] = [Counting(value) for value in array]
    return made


lengths, depths = [2**k for k in range(1, 12)], {"loop": [], "scan": []}
for T in lengths:
    a, b = rng.uniform(-1, 1, T), rng.normal(size=T)
    for name, run in (("loop", loop), ("scan", scan)):
        states = run(counting(a), counting(b), Counting(1.0))
        depths[name].append(max(state.depth for state in states))
assert depths["loop"] == [2 * T for T in lengths], "A product and a sum a step were expected; " + answer_above
assert all(depth <= 4 * math.log2(T) + 4 for T, depth in zip(lengths, depths["scan"])), (
    "The scan's depth was expected to stay below 4 log T + 4; " + answer_above
)

difference = 0.0
for T in (1, 2, 3, 100, 1000, 4097, 100_000):
    a, b, h0 = rng.uniform(-1, 1, (T, 3)), rng.normal(size=(T, 3)), rng.normal(size=3)
    difference = max(difference, np.abs(loop(a, b, h0) - scan(a, b, h0)).max())
print(f"loop and scan, for up to 100,000 steps: the largest difference is {difference:.0e}")
assert difference < 1e-10, "Loop and scan were expected to agree; " + answer_above
show(
    line_chart(
        lengths, depths, xlabel="T (time steps)", ylabel="operations in a row", logx=True, logy=True, size=(8.0, 3.6)
    ),
    alt="Operations that wait for one another against T, on two log scales. The loop's line is straight and reaches 4,096 at "
    "2,048 steps; the scan's line bends and stays near 24.",
)

# %% [markdown]
# **Claim:** loop and scan agree to $10^{-10}$ for up to 100,000 steps, and the scan's depth grows with the logarithm of
# the length.

# %% [markdown]
# ## 9 · Does it pay?
#
# Few operations in a row is not the same as little time. Hillis and Steele's scan does $T \log_2 T$ combinations in all,
# where the loop does $T$. There is a scan that wastes less: combine neighbours in pairs, scan the pairs, which are half
# as many, and fill in what lies between. It takes about $2 \log_2 T$ rounds and fewer than $2T$ combinations, and it is
# the one in `rnncourse/beyond.py`; it usually bears the name of G. E. Blelloch.
#
# We measure it against the course's loop, in time used by one core, for single numbers and for rows of $32 \times 64$,
# which is what a layer of 64 units has to do for a batch of 32. **Guess first:** who wins, and where?

# %% tags=["experiment", "nbval-ignore-output"]
import time

from rnncourse import beyond


def seconds(run, *args, times=3):
    """The least time of one core that a run takes."""
    took = []
    for _ in range(times):
        start = time.process_time()
        runs = 0
        while time.process_time() - start < 0.02:
            run(*args)
            runs += 1
        took.append((time.process_time() - start) / runs)
    return min(took)


steps, ratio = [10, 30, 100, 300, 1000, 3000, 10_000, 100_000], {"single numbers": [], "rows of\n32 × 64": []}
for ratios, shape in zip(ratio.values(), ((), (32, 64))):
    for T in steps if not shape else steps[:5]:
        a, b, h0 = rng.uniform(0.5, 1, (T, *shape)), rng.normal(size=(T, *shape)), np.zeros(shape)
        ratios.append(seconds(beyond.linear_recurrence, a, b, h0) / seconds(beyond.associative_scan, a, b, h0))
    ratios += [np.nan] * (len(steps) - len(ratios))
print(f"100,000 single numbers: the loop takes {ratio['single numbers'][-1]:.0f} times as long as the scan")
show(
    line_chart(
        steps,
        ratio | {"equal": np.ones(len(steps))},
        xlabel="T (time steps)",
        ylabel="time of the loop / time of the scan",
        logx=True,
        logy=True,
    ),
    alt="How many times faster the scan is than the loop, against T, on two log scales. For single numbers it rises from below 1 "
    "at 10 steps to far above 10 at 100,000 steps. For rows of 32 by 64 it stays below 1: the loop is faster.",
)

# %% [markdown]
# For many single numbers the scan wins by far, for rows it loses. Be careful with the reason! NumPy uses one core here,
# so *nothing ran in parallel*. What wins in the first case is something else: a call of NumPy takes about a millionth
# of a second before any number is touched. The loop pays that $2T$ times, the scan a few dozen times. When a step has
# two thousand numbers to do, the calls hardly matter, and what counts is how often each number goes through the memory:
# there the scan has more to do.
#
# So when does a scan pay? Where there are far more processors than numbers in a step. A laptop has too few for that. A
# graphics card has thousands, and that is where long sequences are trained in this way.
#
# ### Optional · a count for $p$ processors
#
# A step of the loop has $n$ products and $n$ sums to do, $p$ at a time, and has to wait for the step before:
# $2T \lceil n/p \rceil$ rounds in all. A combination has a product more, three operations, of which two wait for each
# other. The scan has fewer than $2T$ of them, for each of $n$ numbers: $6Tn$ operations, $p$ at a time, and
# $4 \log_2 T$ that wait, about $6Tn/p + 4 \log_2 T$ rounds (R. P. Brent showed in 1974 that this can be reached).
# **Claim**, from this count: with two processors the scan never wins; with thousands it wins where sequences are long and
# rows are narrow.

# %% tags=["experiment"]
processors = [2**k for k in range(17)]


def speedup(n, p, T=10_000):
    """By how much the scan is faster than the loop, if nothing but the count of operations mattered."""
    return 2 * T * math.ceil(n / p) / (6 * T * n / p + 4 * math.log2(T))


predicted = {
    "n = 1 number\na step" if n == 1 else f"n = {n:,}": [speedup(n, p) for p in processors] for n in (1, 64, 2048)
}
for p in (2, 1024, 2**14):
    print(f"{p:6,} processors: " + ", ".join(f"n = {n:,}: {speedup(n, p):.2f}" for n in (1, 64, 2048)))
assert all(speedup(n, 2) < 1 for n in (1, 64, 2048)), "With two processors the scan was expected to lose."
assert speedup(1, 2**14) > 100, "For single numbers thousands of processors were expected to pay."
assert speedup(2048, 1024) < 1 < speedup(2048, 2**14), (
    "More processors than numbers in a step were expected to be needed."
)
show(
    line_chart(
        processors,
        predicted | {"equal": np.ones(len(processors))},
        xlabel="processors p",
        ylabel="steps of the loop / steps of the scan",
        logx=True,
        logy=True,
        title="T = 10,000, counted, not measured",
    ),
    alt="By how much a scan should be faster than a loop, against the number of processors, on two log scales, for 1, 64 and "
    "2,048 numbers a step. All lines start at one third, rise once there are more processors than numbers in a step, and end "
    "far above 1 for single numbers.",
)

# %% [markdown]
# Where a step is as wide as the machine, the loop was keeping it busy anyway and there is nothing to gain. (A real card
# has more costs: each round has to be started, and memory is slow. A count tells you where to look; only a measurement
# tells you whether.)

# %% [markdown]
# ## 10 · A recurrent network without a walk
#
# Now we build a cell that fits. Take the GRU of unit 10 and forbid its gate and its candidate to look at the state. What
# is left has a name, the **minimal GRU**:
#
# $$
# z_t = \sigma(x_t W_z) \qquad\quad \tilde h_t = x_t W_h \qquad\quad h_t = (1 - z_t)\, h_{t-1} + z_t\, \tilde h_t
# $$
#
# (Here $z = 1$ renews: it is the other convention of unit 10's table.) All gates and all candidates of a sequence come
# from two products. What remains is $h_t = a_t h_{t-1} + b_t$ with $a_t = 1 - z_t$ and $b_t = z_t \tilde h_t$, and for
# that you have a scan. No tanh is left on the state's way, and none is needed: a state is an average of $h_0$ and the
# candidates, so it cannot grow beyond them. It is the leaky average of unit 00, with a share that the input decides.
#
# *By hand*: inputs 1, 0; $W_z = 0$, so $z = 0.5$ always; $W_h = 4$, $h_0 = 8$. Then $h_1 = 0.5 \cdot 8 + 0.5 \cdot 4 = 6$
# and $h_2 = 0.5 \cdot 6 + 0 = 3$.

# %% [markdown]
# ### Exercise 13.8 · `min_gru_forward`
# *●●○ · 10 minutes · 3 points*
#
# `X (T, N, D)`, `h0 (N, H)`, `Wz (D, H)`, `Wh (D, H)`: return the states $h_1$ to $h_T$, `(T, N, H)`. There are no
# biases. Use your `associative_scan`; while this exercise is checked, it is a correct one. Gates wide open or shut give
# no nan.
#
#     X [[[1]], [[0]]]   h0 [[8]]   Wz [[0]]   Wh [[4]]     gives [[[6]], [[3]]]


# %% answer="min_gru_forward"
def min_gru_forward(X, h0, Wz, Wh):
    """A minimal GRU through the scan: X (T, N, D), h0 (N, H), Wz (D, H), Wh (D, H) -> states (T, N, H)."""
    ### BEGIN SOLUTION
    z = 1 / (1 + np.exp(-(X @ Wz)))
    return associative_scan(1 - z, z * (X @ Wh), h0)
    ### END SOLUTION


# %% check="min_gru_forward"
check(min_gru_forward)

# %% [markdown]
# To train it we need gradients through the scan. PyTorch finds them: the scan is made of products and sums. `MinGRU` in
# `rnncourse/beyond_torch.py` is yours with biases, and is called like an `nn.GRU`. It gives your states:

# %% tags=["experiment", "nbval-ignore-output"]
minimal = use(min_gru_forward)
layer = MinGRU(3, 5).double()
x, h0 = torch.randn(11, 2, 3, dtype=torch.float64), torch.randn(1, 2, 5, dtype=torch.float64)
with torch.no_grad():
    theirs = layer(x, h0)[0].numpy()
    # a bias is the weight of an input that is always 1
    Wz, Wh = (torch.cat([part.weight.T, part.bias[None]]).numpy() for part in (layer.gate, layer.candidate))
yours = minimal(np.concatenate([x.numpy(), np.ones((11, 2, 1))], axis=-1), h0[0].numpy(), Wz, Wh)
difference = np.abs(theirs - yours).max()
print(f"the states of MinGRU and yours differ by {difference:.0e}")
assert difference < 1e-12, "MinGRU was expected to give your states; " + answer_above

# %% [markdown]
# ### Experiment · the memory task of unit 10, without a walk
#
# One symbol of four is shown, then come 100 steps of noise, and then the question: which one was it? A guess is right
# once in four times. You know from unit 10 what long examples ask of gates: they have to *start* nearly shut. With a
# bias of 0 each step keeps half of the state, and of an error that walks back 100 steps nothing is left,
# $0.5^{100} \approx 10^{-30}$. With a gate bias $\beta$ each step keeps $1 - \sigma(\beta)$:
#
# | $\beta$ | kept a step | kept over 100 steps |
# |---|---|---|
# | 0 | 0.5 | $8 \cdot 10^{-31}$ |
# | $-2$ | 0.881 | $3 \cdot 10^{-6}$ |
# | $-4$ | 0.982 | 0.16 |
#
# **Guess first:** which of the three will recall after 200 updates? And an LSTM, from PyTorch's start?

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.data.recall import recall_batch


class Reader(nn.Module):
    """A core and an output layer at every step."""

    def __init__(self, core, hidden, outputs):
        super().__init__()
        self.core, self.output = core, nn.Linear(hidden, outputs)

    def forward(self, x):
        return self.output(self.core(x)[0])


def learn(model, draw, updates, label):
    """Train on fresh batches: `draw()` -> (x, the steps that count, their targets)."""
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in track(range(updates), label):
        x, counts, targets = draw()
        loss = nn.functional.cross_entropy(model(x)[counts].flatten(0, -2), targets.flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    return model


def recall(rng, lags=(100, 100), rows=32):
    """A batch of the task, at a lag drawn from lags[0] to lags[1]."""
    X, y = recall_batch(rng, rng.integers(lags[0], lags[1] + 1), rows)
    return torch.tensor(X, dtype=torch.float32), slice(-1, None), torch.tensor(y)


CORES = {
    "plain": lambda: nn.RNN(8, 16),
    "LSTM": lambda: nn.LSTM(8, 16),
    "GRU": lambda: nn.GRU(8, 16),
    "minimal GRU": lambda: MinGRU(8, 16),
    "minimal GRU, β = −2": lambda: MinGRU(8, 16, gate_bias=-2.0),
    "minimal GRU, β = −4": lambda: MinGRU(8, 16, gate_bias=-4.0),
}


def train_to_recall(name, lags, updates, seed=0):
    """A reader with the core of that name, trained at lags from lags[0] to lags[1]."""
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    return learn(Reader(CORES[name](), 16, 4), lambda: recall(rng, lags), updates, name)


@torch.no_grad()
def recalled(model, lag):
    """The share of right answers on 200 new sequences."""
    x, last, y = recall(np.random.default_rng(99), (lag, lag), 200)
    return (model(x)[last].argmax(dim=-1) == y).float().mean().item()


long_readers = {name: train_to_recall(name, (100, 100), 200) for name in ("LSTM", "minimal GRU", "minimal GRU, β = −4")}
for name, model in long_readers.items():
    share = recalled(model, 100)
    print(f"{name:<20} {share:.0%} right after 100 steps of noise")
    assert share > 0.9 if name.endswith("4") else share < 0.6, f"{name}: {share:.0%} right was not expected."

# %% [markdown]
# **Claim:** after 200 updates at a lag of 100, a minimal GRU that starts at $\beta = -4$ recalls, and one that starts
# at 0 or $-2$ guesses, as the plain cell, the LSTM and the GRU do from PyTorch's start.
#
# So once more a memory from long examples hangs on how it starts. Over five seeds it is
# {{long_examples/minimal GRU, β = −4/lag 100}} with $\beta = -4$, and with $-2$
# {{long_examples/minimal GRU, β = −2/lag 100}}. That the others fail is no proof that they must: it is what 200 updates
# make of PyTorch's start, and unit 10 gave the LSTM and the GRU better ones.

# %% [markdown]
# ## 11 · What was given up
#
# We forbade the gates to see the state. What does that cost? Two things, and the first you can see in the picture that
# has come with you since unit 05: train on lags from 1 to 7, ask at lags up to 1,000. **Guess first:** which of the plain
# cell, the LSTM, the GRU and the minimal GRU still knows the symbol after 1,000 steps of noise?

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.data.claims import claimed
from rnncourse.plots.gates import held_by_lag

asked, four = (1, 3, 7, 10, 30, 100, 300, 1000), ("plain", "LSTM", "GRU", "minimal GRU")
latches = {name: train_to_recall(name, (1, 7), 300) for name in four}
for name, model in latches.items():
    shares = [recalled(model, lag) for lag in asked]
    print(f"{name:<12} asked after {asked}: {' '.join(f'{share:.2f}' for share in shares)}")
    assert min(shares[:3]) > 0.95, f"{name} was expected to be right at the lags of its training."
    assert shares[-1] < 0.4 if name == "minimal GRU" else shares[-1] > 0.4, (
        f"{name}: {shares[-1]:.2f} was not expected."
    )

measured = claimed("13_beyond")["short_examples"].values
show(
    held_by_lag(
        asked,
        {name: [measured[name][f"lag {lag}"] for lag in asked] for name in four},
        trained=(1, 7),
        guess=0.25,
    ),
    alt="Four panels, plain, LSTM, GRU and minimal GRU: share of right answers against the lag, from 1 to 1,000, on a "
    "logarithmic axis; thin lines for five seeds, a thick one for their median; the lags of training, 1 to 7, are shaded. The "
    "plain cell and the LSTM stay at 1 in all seeds, the GRU in four of five. The minimal GRU is at 1 up to a lag of 10 and at a "
    "guess from 100 on, in all seeds.",
)

# %% [markdown]
# **Claim:** trained on lags from 1 to 7, the minimal GRU guesses at a lag of 1,000. The plain cell, the LSTM and the
# GRU, of the same 16 units and from PyTorch's start, are better than a guess there.
#
# At a lag of 1,000: plain {{short_examples/plain/lag 1000}}, LSTM {{short_examples/LSTM/lag 1000}}, GRU
# {{short_examples/GRU/lag 1000}}; minimal GRU {{short_examples/minimal GRU/lag 1000}}, after 900 updates
# {{short_examples/minimal GRU, 900 updates/lag 1000}}, from $\beta = -4$
# {{short_examples/minimal GRU, β = −4/lag 1000}}. Neither helps.
#
# Why does nothing help the minimal GRU? Take two sequences that begin with different symbols and go on with the *same*
# noise. The gates see the noise and nothing else, so from the second step on they are the same for both: $h_t = a_t
# h_{t-1} + b_t$ and $h'_t = a_t h'_{t-1} + b_t$. Subtract:
#
# $$h_t - h'_t = a_t\,(h_{t-1} - h'_{t-1}), \qquad 0 < a_t < 1$$
#
# Whatever the weights are, the two come closer at every step, in every unit. To hold, a cell has to push two states
# *apart*, and to do that it has to look at where they are. Here are all four symbols with the same noise behind them, and
# how far the two are apart that are nearest: in the LSTM, in the minimal GRU, and in the one of section 10, which was
# trained at a lag of 100 from $\beta = -4$. (The plain cell and the GRU lie on the LSTM's line.)

# %% tags=["experiment", "nbval-ignore-output"]
noise, _ = recall_batch(np.random.default_rng(5), 200, rows=1)
x = np.repeat(noise, 4, axis=1)
x[0] = np.eye(8)[:4]  # row k begins with symbol k; the noise behind it is the same
apart = {}
with torch.no_grad():
    for name, model in (latches | {"trained at 100": long_readers["minimal GRU, β = −4"]}).items():
        states = model.core.double()(torch.tensor(x))[0]
        pairs = [(states[:, j] - states[:, k]).abs().amax(dim=1) for j in range(4) for k in range(j)]
        apart[name] = torch.stack(pairs).amin(dim=0).numpy()
show(
    line_chart(
        range(201),
        {name: apart[name] for name in ("LSTM", "minimal GRU", "trained at 100")},
        xlabel="time step (0: the symbol)",
        ylabel="distance of the two nearest states",
        logy=True,
        size=(8.0, 3.6),
    ),
    alt="How far the states for the two nearest symbols are apart, over 200 steps of the same noise, on a logarithmic axis. For "
    "the LSTM it rises at once and stays at 2. For the minimal GRU it falls along a straight line, to less than a millionth. For "
    "the one that was trained at a lag of 100 it falls, too, but slowly.",
)
for name, distance in apart.items():
    print(
        f"{name:<14} {distance[0]:.2g} apart at first, {distance[100]:.1g} after 100 steps, {distance[200]:.1g} after 200"
    )
for name in ("minimal GRU", "trained at 100"):
    assert (np.diff(apart[name]) < 1e-12).all(), f"{name}: the states were expected to come closer at each step."
assert apart["minimal GRU"][100] < 0.01 < apart["LSTM"][100], "The LSTM was expected to keep its states apart."

# %% [markdown]
# With gates that start nearly shut the line falls more slowly: trained at a lag of 100 from $\beta = -4$, it is right
# in {{long_examples/minimal GRU, β = −4/lag 300}} at 300 and in {{long_examples/minimal GRU, β = −4/lag 1000}} at
# 1,000. It has a memory that fades, and can make it fade as slowly as its examples ask. What it cannot have is an
# attractor for each symbol: a latch.
#
# ### Optional · Parity
#
# The second thing is **parity**: after each bit, say whether the number of ones so far is odd. In unit 10 you built it
# by hand, with one unit of an LSTM. **Guess first:** after how many bits does each begin to guess?

# %% tags=["experiment", "nbval-ignore-output"]
COUNTING = {
    "plain": lambda: nn.RNN(2, 16),
    "LSTM": lambda: nn.LSTM(2, 16),
    "GRU": lambda: nn.GRU(2, 16),
    "minimal GRU": lambda: MinGRU(2, 16),
}


def parity(generator, steps=10, rows=64):
    bits = torch.randint(0, 2, (steps, rows), generator=generator)
    return nn.functional.one_hot(bits, 2).float(), slice(None), bits.cumsum(dim=0) % 2


def train_on_parity(name, updates=300, seed=0):
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)
    return learn(Reader(COUNTING[name](), 16, 2), lambda: parity(generator), updates, f"parity, {name}")


@torch.no_grad()
def parity_right(model):
    """The share of right answers after each of 50 bits."""
    x, _, targets = parity(torch.Generator().manual_seed(99), 50, 500)
    return (model(x).argmax(dim=-1) == targets).float().mean(dim=1).numpy()


counters = {name: train_on_parity(name) for name in ("plain", "minimal GRU")}
odd = {name: parity_right(model) for name, model in counters.items()}
for name, shares in odd.items():
    print(f"{name:<12} right after 1, 2, 3, 4 bits: {shares[:4].round(2)}; after 41 to 50: {shares[40:].mean():.2f}")
assert odd["plain"][40:].mean() > 0.9, "The plain cell was expected to have the parity right after 50 bits."
assert odd["minimal GRU"][10:].mean() < 0.6, "The minimal GRU was expected to guess from the eleventh bit on."

# %% [markdown]
# **Claim:** trained on 10 bits, with an answer asked after each, the plain cell has the parity right after 50 bits. The
# minimal GRU has it right after one bit, and guesses after ten.
#
# The minimal GRU is right in {{bits/minimal GRU/bit 1|.2f}} after one bit, then in {{bits/minimal GRU/bit 2|.2f}},
# {{bits/minimal GRU/bit 3|.2f}} and {{bits/minimal GRU/bit 4|.2f}}. With ten times the updates it is right in
# {{bits/minimal GRU, 3000 updates/bit 2|.2f}} after two, in {{bits/minimal GRU, 3000 updates/bit 3|.2f}} after three
# bits, and in {{bits/minimal GRU, 3000 updates/bit 10|.2f}} after ten. The plain cell has
# {{bits/plain/bits 41 to 50|.2f}} from bit 41 to 50, the LSTM {{bits/LSTM/bits 41 to 50|.2f}}, the GRU
# {{bits/GRU/bits 41 to 50|.2f}}.
#
# So a few bits can be learned, and each one more is harder. For ever it cannot be done. Feed nothing but ones: each
# step is then the *same* map $h \mapsto a h + b$ with $0 < a < 1$, and such a map brings $h$ closer to a fixed point
# from one side. It goes up, or it goes down, and never back. But the answer has to go odd, even, odd, even, and a
# weighted sum of such states can change its sign at most as often as there are units: with 16 units, 17 bits at most,
# however well they are trained.

# %% [markdown]
# Is it because the recurrence is *linear*? No: it is the gate, which keeps $a$ between 0 and 1. Let $a$ be negative, and
# one unit is enough. Which $a_t$ and $b_t$ would you take, for a bit $x_t$? One answer stands in the cell, and your scan
# does it without an error:

# %% tags=["experiment"]
bits = np.random.default_rng(0).integers(0, 2, 100_000)
sign = scan(1.0 - 2.0 * bits, np.zeros(len(bits)), 1.0)  # a 1 turns the sign round, a 0 leaves it
right = (sign < 0) == (bits.cumsum() % 2 == 1)
print(f"parity of {len(bits):,} bits, by a scan: {right.sum():,} right")
assert right.all(), "The scan was expected to have every parity right; " + answer_above

# %% [markdown]
# What a network can do depends on which maps its steps can be. That is a question of algebra, and people are working on
# it right now.

# %% [markdown]
# ## 12 · Attention without its softmax
#
# Back to the price of section 5. Why does attention have to keep all keys and values? Because of the softmax: it needs all
# scores of a row before it knows one weight. Leave it out, and the scaling with it, and look at a causal step:
#
# $$
# \text{out}_t = \sum_{s \le t} (q_t \cdot k_s)\, v_s = q_t \underbrace{\sum_{s \le t} k_s^\top v_s}_{S_t} \qquad\qquad
# S_t = S_{t-1} + k_t^\top v_t
# $$
#
# The query does not depend on $s$, so it can wait outside of the sum. What is left inside is a matrix $S_t\ (d, d_v)$: a
# state, which a step adds to. That is your linear recurrence, with $a_t = 1$. It is called **linear attention**, and it
# can be written either way: as attention, $T^2$ comparisons and no walk; or as a recurrent network whose state does not
# grow.
#
# *By hand*, $d = 2$, $d_v = 1$: the keys are $(0, 1)$ and $(0, 1)$, the values 3 and 4. $S_1$ is the column $(0, 3)$,
# $S_2$ the column $(0, 7)$. The queries $(1, 0)$ and $(0, 2)$ give $1 \cdot 0 + 0 \cdot 3 = 0$ and
# $0 \cdot 0 + 2 \cdot 7 = 14$.

# %% [markdown]
# ### Exercise 13.9 · `linear_attention`
# *●●○ · 14 minutes · 3 points*
#
# `Q (T, d)`, `K (T, d)`, `V (T, d_v)`: return $\text{out}_1$ to $\text{out}_T$, `(T, d_v)`. It is causal, and nothing is
# scaled or divided. Use your `associative_scan`, or your loop; while this exercise is checked, they are correct ones.
# Axes of length 1 make all $k_t^\top v_t$ at once: `K[:, :, None]` is `(T, d, 1)`.
#
#     Q [[1, 0], [0, 2]]   K [[0, 1], [0, 1]]   V [[3], [4]]     gives [[0], [14]]


# %% answer="linear_attention"
def linear_attention(Q, K, V):
    """Causal attention without a softmax, as a recurrence: Q (T, d), K (T, d), V (T, d_v) -> contexts (T, d_v)."""
    ### BEGIN SOLUTION
    pairs = K[:, :, None] * V[:, None, :]  # (T, d, d_v)
    S = associative_scan(np.ones_like(pairs), pairs, np.zeros_like(pairs[0]))
    return np.einsum("td,tdv->tv", Q, S)
    ### END SOLUTION


# %% check="linear_attention"
check(linear_attention)

# %% [markdown]
# Your Transformer layer is a recurrent network now, and writes its millionth word at the price of its first. Too good?
#
# **Guess first:** some pairs are stored, each a random key of $d = 16$ numbers and one of 16 values. Then each key is
# asked for once more. Up to how many pairs does linear attention find the right value nearly always? And with a softmax?

# %% tags=["experiment"]
linear = use(linear_attention)
d, trials = 16, 50
rng = np.random.default_rng(0)
stored, found = [1, 2, 4, 8, 16, 32, 64], {"linear": [], "softmax": []}
for pairs in stored:
    right = {"linear": 0, "softmax": 0}
    for _ in range(trials):
        keys, wanted = rng.normal(size=(pairs, d)), rng.integers(0, 16, pairs)
        keys /= np.linalg.norm(keys, axis=1, keepdims=True)
        nothing = np.zeros((pairs, d))
        # first the pairs come in and nobody asks, then each key asks and nothing comes in
        answers_linear = linear(
            np.vstack([nothing, keys]), np.vstack([keys, nothing]), np.vstack([np.eye(16)[wanted], nothing])
        )
        answers_softmax, _ = attend(100 * keys, keys, np.eye(16)[wanted])
        right["linear"] += (answers_linear[pairs:].argmax(axis=1) == wanted).mean()
        right["softmax"] += (answers_softmax.argmax(axis=1) == wanted).mean()
    for name in found:
        found[name].append(right[name] / trials)
print("linear: " + ", ".join(f"{n} pairs: {share:.0%}" for n, share in zip(stored, found["linear"])))
assert found["linear"][2] > 0.95, "Four pairs were expected to be found; " + answer_above
assert found["linear"][-1] < 0.67, "64 pairs were not expected to fit into 16 x 16 numbers; " + answer_above
assert min(found["softmax"]) > 0.95, "With the softmax every pair was expected to be found; " + answer_above
show(
    line_chart(
        stored, found, xlabel="pairs that are stored", ylabel="share of right values", logx=True, size=(8.0, 3.4)
    ),
    alt="Share of values that are found again, against the number of pairs stored, from 1 to 64 on a logarithmic axis. With the "
    "softmax it stays at 1. With linear attention it is near 1 up to 4 pairs and then falls, below two thirds at 64.",
)

# %% [markdown]
# **Claim:** a state of $16 \times 16$ numbers returns the right one of 16 values for 4 pairs nearly always, and for 64
# pairs in fewer than two of three. Attention with its softmax returns it for 64, too.
#
# So the first bottleneck is back: one state for everything. It is a larger one, $d \times d_v$ numbers in place of $d$,
# but it is full when the keys are more than can keep out of each other's way, and then answers run into one another. What
# can be done? Forget: put a factor $a_t$ before $S_{t-1}$, from the input. Your scan takes it as it is. That is where
# Transformers and recurrent networks have met.

# %% [markdown]
# ## 13 · A state space
#
# The other road to the same place began with filters, as engineers have built them for long. A signal $x_t$, one number a
# step, goes into $N$ units, each with a factor of its own that never changes, and a weighted sum of them comes out:
#
# $$s_t = a \odot s_{t-1} + b\, x_t \qquad\qquad y_t = \sum_{n=1}^N c_n\, s_{tn}$$
#
# This is a **diagonal state space**, and once more your recurrence: $a_t$ is the same at each step, and $b_t = b\, x_t$.
# (These $a$, $b$ and $c$ are vectors of weights. A layer has such a filter for each of its inputs, mixes what comes out,
# bends it, and goes on to the next layer.)
#
# *By hand*: $a = (0.5, 0)$, $b = (1, 1)$, $c = (4, 1)$, and a single knock at the door, $x = (1, 0, 0)$. The states are
# $(1, 1)$, $(0.5, 0)$, $(0.25, 0)$, and $y = (5, 2, 1)$.

# %% [markdown]
# ### Exercise 13.10 · `diagonal_ssm`
# *●●○ · 12 minutes · 3 points*
#
# `x (T,)`, `a (N,)`, `b (N,)`, `c (N,)`: return `y (T,)`. The state starts at 0. Through your scan, please: once the check
# hands you counting numbers, and at most $4 \lceil \log_2 T \rceil + N + 8$ operations may wait for one another. While this
# exercise is checked, `associative_scan` is a correct one; it wants `a` and `b` of one shape.
#
#     x [1, 0, 0]   a [0.5, 0]   b [1, 1]   c [4, 1]     gives [5, 2, 1]


# %% answer="diagonal_ssm"
def diagonal_ssm(x, a, b, c):
    """s_t = a s_{t-1} + b x_t from 0, y_t = sum of c s_t, by a scan: x (T,), a, b, c (N,) -> y (T,)."""
    ### BEGIN SOLUTION
    terms = x[:, None] * b  # (T, N)
    factors = np.broadcast_to(a, terms.shape)
    states = associative_scan(factors, terms, np.zeros_like(a))
    return states @ c
    ### END SOLUTION


# %% check="diagonal_ssm"
check(diagonal_ssm)

# %% [markdown]
# What comes out after a single knock is $K_j = \sum_n c_n\, a_n^j\, b_n$, the **kernel**. Every input is a row of knocks of
# different strengths, and the filter adds up what each leaves. So there is a third way to compute it, a convolution:
# $y_t = \sum_{j} K_j\, x_{t-j}$. That needs factors which never change; gates that look at the input leave only the scan.
#
# **Guess first:** what do the two units in the cell below answer to a knock, a slow one with $c = 1$ and a fast one with
# $c = -1$? Run it, and then make filters of your own: one that rings up and down, one that forgets at once. Which of the
# three vectors do you have to change? **Claim:** the scan and the convolution with the kernel give the same.

# %% tags=["experiment", "nbval-ignore-output"]
my_a, my_b, my_c = np.array([0.9, 0.5]), np.array([1.0, 1.0]), np.array([1.0, -1.0])

filtered = use(diagonal_ssm)
knock = np.eye(1, 40)[0]
kernel = filtered(knock, my_a, my_b, my_c)
signal = np.random.default_rng(0).normal(size=5000)
difference = np.abs(
    filtered(signal, my_a, my_b, my_c) - np.convolve(signal, filtered(np.eye(1, 5000)[0], my_a, my_b, my_c))[:5000]
)
print(f"scan and convolution, over 5,000 steps: they differ by {difference.max():.0e} at most")
assert difference.max() < 1e-9, "Scan and convolution were expected to agree; " + answer_above
show(
    line_chart(range(40), {"kernel": kernel}, xlabel="steps after the knock", ylabel="answer", size=(8.0, 3.0)),
    alt="The answer of a filter of two units to a single knock, over 40 steps: it starts at 0, rises for a few steps, and falls "
    "slowly back to 0.",
)

# %% [markdown]
# ## 14 · Bugs to hunt
#
# All of these run and have the right shape. What would you see, and which test of this unit finds it?
#
# - The mask says True where one may *not* look (PyTorch has both conventions: in `nn.MultiheadAttention` True means
#   "leave out", in `scaled_dot_product_attention` it means "take part").
# - `softmax(scores, axis=0)`.
# - The mask is left out in training, since "the padding is zero anyway".
# - In a scan, `combine_affine(later, earlier)`.
# - A scan by division: $h_t = P_t\,(h_0 + \sum_{s \le t} b_s / P_s)$ with $P_t = a_1 \cdots a_t$. The formula is right,
#   and it takes two lines of NumPy.
#
# <details><summary>Answers, when you have thought about them</summary>
#
# The first trains on padding and never sees the sentence; mask all but one key, and see whether the context is that
# key's value. The second shows when you sum the rows of the weights. The third gives a sentence another answer when it
# stands in a batch with a longer one: run it alone and in company, as in unit 09. The fourth agrees with the loop where
# all maps are alike; draw them. The last is below.
# </details>

# %% tags=["experiment", "nbval-ignore-output"]
T = 2000
a, b = np.full(T, 0.6), np.random.default_rng(0).normal(size=T)
with np.errstate(all="ignore"):
    product = np.cumprod(a)
    divided = product * (1.0 + np.cumsum(b / product))
wrong_from = int(np.argmax(~np.isclose(divided, loop(a, b, 1.0))))
print(
    f"by division: wrong from step {wrong_from} on, where the product of the factors has left the range of floats: {product[wrong_from]:.0e}"
)
difference = np.abs(scan(a, b, 1.0) - loop(a, b, 1.0)).max()
print(f"by the scan: off by {difference:.0e} at most")
assert np.isfinite(divided[:1000]).all(), "Division was expected to work for a while."
assert not np.isfinite(divided[-1]), "Division was expected to fail in the end."
assert difference < 1e-10, "The scan was expected to be right everywhere; " + answer_above

# %% [markdown]
# ## 15 · Where the field went
#
# In 2017 Vaswani and others asked: if attention brings back everything that was read, what is the recurrence still for?
# They left it out. In a **Transformer** every position attends to others, and all positions are computed at once in
# training: both bottlenecks gone in one stroke. It took over the field, first in translation, then nearly everywhere. The
# price is the one that you have seen. So recurrence came back, and you have built what it came back with. Cover the two
# columns in the middle, and try to fill them in from the name and the state.
#
# | who | the state, and what a step does to it | may a gate see $h_{t-1}$? | how it is trained | source |
# |---|---|---|---|---|
# | LSTM, GRU | a vector; factors and terms from gates (unit 10) | yes | a walk | Hochreiter, Schmidhuber 1997; Cho and others 2014 |
# | linear attention | a matrix; $S_t = S_{t-1} + k_t^\top v_t$ | there is none | all at once, in the form of attention | Katharopoulos and others 2020 |
# | **S4** | many small filters; factors that are learned and never change | there is none | a convolution | Gu, Goel, Ré 2022 |
# | **RWKV** | a running average of values, weighted by their keys; each channel fades at its own fixed rate | no | all products at once, then a serial scan that does little a step | Peng and others 2023 |
# | **Mamba** | filters as in S4, but $a_t$, $b_t$ and the readout come from $x_t$ | no | a scan | Gu, Dao 2023 |
# | **xLSTM**: mLSTM | a matrix; $C_t = f_t\, C_{t-1} + i_t\, v_t k_t^\top$ (in their columns) | no | all at once, in the form of attention | Beck and others 2024 |
# | **xLSTM**: sLSTM | the LSTM's vector, normalised; an exp in place of the input gate's σ | yes | a walk | Beck and others 2024 |
# | minimal GRU | a vector; section 10 | no | a scan | Feng and others 2024 |
#
# Read the third column against the fourth: **who lets a gate see the state has to walk, who does not gives up what section
# 11 showed.** The table has the first version of each, as published; there have been several since. S4 has a matrix that is
# nearly diagonal, over complex numbers; Gu, Goel, Gupta and Ré found the same year that diagonal is enough. Merrill and
# others proved what S4's and Mamba's steps cannot follow, Grazzi and others what factors between 0 and 1 cannot, parity
# among it, and what a minus sign mends. Many models of today mix layers of both kinds. Nobody knows which mixture will last.
#
# ## 16 · What you have
#
# Two bottlenecks, and a way round each:
#
# - One state for everything is a bottleneck; attention lets each output look at all states and choose, softly.
# - Scores over $\sqrt d$, mask before the softmax, softmax over the keys, weights times values.
# - The weights are an alignment that nobody taught. A cell of it is a state, not a letter.
# - A linear recurrence is a row of maps; combining maps is associative; so all prefixes take $O(\log T)$ rounds.
# - Depth is not time. On few cores a scan saves calls; it pays where there are far more processors than numbers in a
#   step.
# - Self-attention lets a sequence ask itself, all at once; it sees a bag, unless positions or a causal mask tell the order.
# - A minimal GRU trains without a walk, and remembers if its gates start nearly shut. But its states for different
#   symbols only come closer: it can fade slowly, and it cannot latch, nor keep a parity.
# - Attention without its softmax, and a state space, are the same recurrence: the state is small again, and can be full.

# %% [markdown] written="beyond_written" points=3
# ### Written question · 3 points
#
# A colleague has a network that reads heartbeats: sequences of 50,000 samples, one number each, on a watch with one small
# processor, trained on a card with thousands. The answer is needed at every sample, at once. She hesitates between a GRU,
# a minimal GRU and a Transformer. In about eight sentences: what speaks for and against each in training and on the
# watch, what would you try first, and which experiment would tell you that you were wrong?
#
# ### BEGIN SOLUTION
# *Model answer.* In training the GRU has to walk through 50,000 steps, forwards and back, each of which waits for the
# one before: the card is idle most of the time, or the sequence is cut into chunks, and what reaches further than a
# chunk has to be learned from shorter examples. The minimal GRU is trained through a scan, in a few dozen rounds, which
# is where thousands of processors and narrow rows pay most. The Transformer has no walk either, but 50,000 squared
# comparisons a layer, unless it looks at a window only. On the watch it is different: both recurrent networks do one
# small step a sample with one state, at a constant price, and the scan brings nothing there, since samples come one by
# one; a Transformer has to keep all past samples and gets slower with each. So I would try the minimal GRU first, with
# gates that start nearly shut for the long distances, and several layers. What it gives up is that its gates cannot see
# the state: it cannot latch, so that whatever it has noticed fades, it cannot flip a state, count beats modulo
# something, or react to what it has concluded itself. I would train a GRU on short chunks beside it: if that one is
# clearly better on the same held-out recordings, what was given up matters here, and I was wrong.
#
# *Rubric.* **1 point**: training: the walk of the GRU against the scan (and $T^2$ for the Transformer). **1 point**: the
# watch: constant cost of a recurrent step against a growing memory, and that the scan brings nothing there. **1 point**:
# a choice with what is lost by it (gates that do not see the state) *and* an experiment whose outcome could speak against
# it. "Transformers are the state of the art" is worth nothing.
# ### END SOLUTION

# %% [markdown]
# ## Where to read on
#
# - D. Bahdanau, K. Cho, Y. Bengio, "Neural Machine Translation by Jointly Learning to Align and Translate", *ICLR* 2015:
#   the first half of this unit, with the first alignments ever drawn.
# - M.-T. Luong, H. Pham, C. D. Manning, "Effective Approaches to Attention-based Neural Machine Translation", *EMNLP*
#   2015: the form of decoder that we have used.
# - A. Vaswani and others, "Attention Is All You Need", *NeurIPS* 2017.
# - R. P. Brent, "The Parallel Evaluation of General Arithmetic Expressions", *Journal of the ACM* 21, 1974.
# - W. D. Hillis, G. L. Steele, "Data Parallel Algorithms", *Communications of the ACM* 29, 1986, and G. E. Blelloch,
#   "Prefix Sums and Their Applications", CMU-CS-90-190, 1990: scans, and what can be done with them.
# - A. Haviv and others, "Transformer Language Models without Positional Encodings Still Learn Positional Information",
#   *Findings of EMNLP* 2022: what a causal mask tells.
# - A. Katharopoulos, A. Vyas, N. Pappas, F. Fleuret, "Transformers are RNNs: Fast Autoregressive Transformers with Linear
#   Attention", *ICML* 2020, and I. Schlag, K. Irie, J. Schmidhuber, "Linear Transformers Are Secretly Fast Weight
#   Programmers", *ICML* 2021: section 12, and how full its state is.
# - E. Martin, C. Cundy, "Parallelizing Linear Recurrent Neural Nets Over Sequence Length", *ICLR* 2018.
# - A. Graves, "Generating Sequences With Recurrent Neural Networks", arXiv:1308.0850, 2013: the soft window.
# - A. Gu, K. Goel, C. Ré, "Efficiently Modeling Long Sequences with Structured State Spaces", *ICLR* 2022: S4. A. Gu, K. Goel,
#   A. Gupta, C. Ré, "On the Parameterization and Initialization of Diagonal State Space Models", *NeurIPS* 2022. A. Gu,
#   T. Dao, "Mamba: Linear-Time Sequence Modeling with Selective State Spaces", arXiv:2312.00752, 2023; B. Peng and
#   others, "RWKV: Reinventing RNNs for the Transformer Era", arXiv:2305.13048, 2023; M. Beck and others, "xLSTM:
#   Extended Long Short-Term Memory", arXiv:2405.04517, 2024; L. Feng and others, "Were RNNs All We Needed?",
#   arXiv:2410.01201, 2024.
# - W. Merrill, J. Petty, A. Sabharwal, "The Illusion of State in State-Space Models", arXiv:2404.08819, 2024, and R.
#   Grazzi and others, "Unlocking State-Tracking in Linear RNNs Through Negative Eigenvalues", arXiv:2411.12537, 2024:
#   what such networks cannot do, and the minus sign of section 11.

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
progress("13_beyond")

# %% [markdown]
# ## Looking back
#
# This was the last unit. In unit 00 you wrote a leaky average: keep a share of the old, take the rest from the new.
# Much of what followed turned on that share: who decides it, how it is learned, what it costs. And every part is yours:
# the cell and its way back, a language model, a stack, a tagger, the gates, the five heads, a translator and its
# searches, attention, the scan. Close the circle. Here is the average of unit 00, step by step as on the first day, and
# all at once through your scan:

# %% tags=["experiment", "nbval-ignore-output"]
readings, keep = np.random.default_rng(0).normal(20.0, 5.0, 1000), 0.9
state, averages = 0.0, []
for reading in readings:  # unit 00
    state = keep * state + (1 - keep) * reading
    averages.append(state)
at_once = scan(np.full(1000, keep), (1 - keep) * readings, 0.0)  # unit 13
difference = np.abs(at_once - averages).max()
print(f"the leaky average of 1,000 readings, all at once: off by {difference:.0e} at most")
assert difference < 1e-10, "Both were expected to give the same averages; " + answer_above

# %% [markdown]
# The notebooks have claimed a good many things. First comes what one might have expected and what did *not* come, or
# not quite, with the notebook's own words on it; the links open the units. Below it is a fold for each unit. Before you
# open one: what do you remember of it?
#
# What rests on training was run over five seeds or more, each claim beside the settings that could have refuted it. The
# table says in how many seeds it held, its figure, and what the controls gave. Read it with suspicion: look for the
# control that *you* would have asked for. What does not hang on luck is not in it: that is asserted each time a notebook
# runs.

# %% tags=["experiment"]
from rnncourse.plots.beyond import ClaimsTable

looking_back = ClaimsTable()
held, runs = looking_back.seeds()
print(f"claims about training, counted by seeds: held in {held} of {runs}")
assert all(row["controls"] for unit in looking_back.units for row in unit["measured"]), (
    "Every claim was expected to have a control."
)
looking_back

# %% [markdown]
# ## The question that this course leaves open
#
# In unit 01 a model saw a few words and no more. In unit 03 a state carried everything, in principle; from unit 05 on
# you found out, again and again, that "in principle" is not "can be learned", and that what is learned can reach much
# further than its examples. Then the state learned to hold from long examples, too (10), to hand over (12), to be
# looked back at, and not to wait (13). Each step gave something up for what it brought, and you have seen what. So when
# the next architecture comes, and it will, you need not ask whether it is *better*. Ask what its steps can do, what has
# to wait for what, and what an experiment of yours would show that its authors did not.
