# %% [markdown]
# # 13 · Attention
#
# **When you are done you will be able to**
#
# - write attention from nothing, with its scaling and its mask, and say what each of them is for;
# - build a decoder that looks back at everything that was read, and draw where it looks;
# - let a sequence look at itself, tell it the order, and say what several heads are for.
#
# **Time**: about two and a half hours. **You need** the encoder and the decoder of unit 12, and `softmax` from unit 03. There
# are four exercises, the second of which is optional, and one written question, 17 points in all. They are NumPy, but for
# `AttentionDecoder`, an `nn.Module`; none may call `scipy`, and those in NumPy not `torch`.

# %% locked="setup"
import math

import numpy as np

from rnncourse import check, hint, progress, track, use
from rnncourse.cell import softmax

np.set_printoptions(precision=3, suppress=True)

# %% tags=["experiment"]
progress("13_attention")

# %% [markdown]
# ## Two bottlenecks
#
# Two things have been with you since unit 03, and no unit has touched them.
#
# **One state for everything.** The encoder of unit 12 reads a date, and what the decoder gets is its last state: as
# many numbers as it has units, however long the input was.
#
# **One step after the other.** $h_t$ needs $h_{t-1}$, which needs $h_{t-2}$. Step by step, ten thousand steps are ten thousand rounds, on
# any machine.
#
# This unit breaks the first: it lets the decoder *look back*. Unit 14 breaks the second.

# %% [markdown]
# ## 1 · Look back
#
# What would you do if you had to read a telephone number to somebody? You would leave the paper on the table, and look.
# When you say the third digit, you look at the third digit.
#
# The encoder has a state for every symbol that it has read, and so far all but the last were thrown away. Keep them.
# At each step the decoder compares what it wants to know with all of them, and takes an average in which those that fit
# count most.

# %% tags=["experiment"]
from rnncourse.plots import show
from rnncourse.plots.attention import attention_arrows

show(attention_arrows([0.04, 0.78, 0.11, 0.02, 0.05], ["7", "1", "4", "9", "0"]))

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
# | $c$ | context: an average of values for each query (not the LSTM's memory) | $(T_q, d_v)$ |
#
# *By hand*: $q = (2, 0, 0, 0)$, two keys $(1, 0, 0, 0)$ and $(0, 1, 0, 0)$, their values 10 and 20. The dot products
# are 2 and 0, and $\sqrt d = 2$: the scores are 1 and 0. The softmax of $(1, 0)$ is $(0.731, 0.269)$, and the context
# $0.731 \cdot 10 + 0.269 \cdot 20 = 12.69$. Nothing here knows of an order: shuffle the keys and their values together, and the
# context stays.
#
# **Why the root?** A dot product is a sum of $d$ products. If they are independent with variance 1, the variances add
# up to $d$, so the sum is about $\sqrt d$ large.
#
# **Guess**: ten keys, drawn at random. How much of the weight does the best of them get, on average, at $d = 1024$, without
# the root and with it?

# %% tags=["experiment"] dials="sizes = (16, 256)"
from rnncourse.experiments.attention import largest_weight

mine = {"without": 0.3, "with": 0.3}  # your guess, for d = 1024
sizes = (4, 64, 1024)
for d in sizes:
    without, scaled = largest_weight(d, root=False), largest_weight(d, root=True)
    print(f"d = {d:<5} without the root {without:.2f}, with it {scaled:.2f}")
print("your guess:", mine)

# %% tags=["author"]
assert largest_weight(1024, root=False) > 0.9, "Without the root one key was expected to be chosen at d = 1024."
assert 0.2 < largest_weight(1024, root=True) < 0.4, "With the root no key was expected to be chosen."

# %% [markdown]
# Without the root, long vectors make the softmax choose one key before anything is learned, and a softmax that has chosen has
# hardly any slope: $\alpha(1 - \alpha)$ is nearly zero at both ends. With it the start is the same at every $d$. Whether a network
# *needs* that, you will see in section 3.
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
# give no nan. In all exercises arrays of numbers hold floats, and the dtype stays: `math.sqrt(d)` is a plain number,
# `np.sqrt(d)` is a float64 and would turn float32 into float64. You may call `softmax(O)` of unit 03, which is imported.
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
# ## 2 · The older way to ask
#
# *Optional, with its exercise: nothing below needs it.*
#
# When attention came to translation, in 2014, the comparison was a small network of its own, with a hidden layer of $A$
# units. (A year before, Graves had let a network that writes by hand slide a soft window along its text.)
#
# $$e_{ij} = \tanh(q_i W_q + k_j W_k) \cdot v \qquad\qquad W_q\ (d_q, A) \quad W_k\ (d_k, A) \quad v\ (A,)$$
#
# It is called **additive** attention. From the scores on, all is as before. There is no scaling: $v$, here a vector of
# weights, learns how large a score should be.
#
# *By hand*, with $A = 1$: the query is 0, the keys are $0.5$ and $-0.5$, $W_q = W_k = 1$, $v = 2$. The scores are $2
# \tanh(0.5) = 0.924$ and $-0.924$, the weights $0.864$ and $0.136$. With the values 10 and 20 the context is $11.36$.
#
# What is the tanh for? Without it the score is $q_i W_q \cdot v + k_j W_k \cdot v$. The first part is the same for all $j$, so
# the softmax takes it out again, and the weights do not depend on the query.

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
# Both ways work. The dot product has won because it is one product of matrices, which machines are built for: the array
# under your tanh is $A$ times as large as the scores.

# %% [markdown]
# ## 3 · A decoder that looks back
#
# The decoder of unit 12 reads a token, makes its state $s_t$, and predicts from it. Now $s_t$ first asks all states $h_j$
# of the encoder, and what comes back, the context $c_t$, stands beside it when the next token is chosen:
#
# $$
# e_{tj} = \frac{s_t W_a \cdot h_j}{\sqrt H} \qquad \alpha_t = \mathrm{softmax}(e_t) \qquad c_t = \sum_j \alpha_{tj} h_j
# \qquad \text{logits}_t = \tanh([s_t, c_t]\, W_c + b_c)\, W_o + b_o
# $$
#
# $W_a$ is there because what a decoder's state asks for need not look like an encoder's state. The encoder stays as it
# is. Here are the parts, under the names that the check looks for, with $Q$ tokens in the vocabulary:
#
# | layer | what | from, to |
# |---|---|---|
# | `embedding` | `nn.Embedding` | $Q$ tokens, $E$ |
# | `rnn` | `nn.GRU` | $E$, $H$ |
# | `query` | `nn.Linear` without a bias, $W_a$ | $H$, $H$ |
# | `combine` | `nn.Linear`, $W_c$ and $b_c$ | $2H$, $H$: first the state, then the context |
# | `output` | `nn.Linear`, $W_o$ and $b_o$ | $H$, $Q$ |
#
# And here is where beginners lose an hour. The GRU has time first, $(T, N, H)$. But a product of matrices, as in
# `attention`, wants what is *not* multiplied first: for each sequence of the batch a matrix of queries $(T, H)$ and one of
# keys $(S, H)$. So turn both with `transpose(0, 1)`, to $(N, T, H)$ and $(N, S, H)$, and turn the context back.

# %% locked="setup_torch"
import torch
from torch import nn

from rnncourse.encoder_decoder_torch import Decoder, Encoder, Seq2Seq

torch.set_num_threads(1)  # a second one costs more than it brings on small products

# %% [markdown]
# ### Exercise 13.3 · `AttentionDecoder`
# *●●● · 30 minutes · 4 points*
#
# `AttentionDecoder(vocabulary_size, embedding_size, hidden_size)`, with the five layers above.
# `forward(ids, state, keys, mask=None)` takes the token ids $(T, N)$, the first state $(1, N, H)$, the encoder's states
# `keys` $(S, N, H)$ ($S$ symbols read, $T$ written, $H$ units), which are the values too, and a mask $(N, S)$ of bools, True = may look. Return
# `(logits (T, N, Q), state (1, N, H), weights (N, T, S))`: the state is the one after the last token, and row $t$ of the
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
decoder, state = Looking(13, 16, 64), torch.zeros(1, 2, 64)
ids, keys = torch.randint(3, 13, (5, 2)), torch.randn(7, 2, 64)
with torch.no_grad():
    _, _, weights = decoder(ids, state, keys)
    asking = decoder.query(decoder.rnn(decoder.embedding(ids), state)[0])
    expected = attend(*(x.transpose(0, 1).numpy() for x in (asking, keys, keys)))[1]
print(f"their weights differ by {np.abs(weights.numpy() - expected).max():.0e} at most")

# %% tags=["author"]
assert np.abs(weights.numpy() - expected).max() < 1e-5, "The decoder was expected to look where attention looks."

# %% [markdown]
# ### Experiment · say it again
#
# The plainest task that there is for an encoder and a decoder: say again what you have read.
#
#     reads   7 1 1 4 9 0 2      should say   7 1 1 4 9 0 2 <eos>
#
# Digits are drawn at random, so that each has to go through. Three pairs get the same 250 updates on 1 to 12 digits: the pair
# of unit 12, with 80 units; a pair of 64 units with your decoder, whose `query` is held at 0, so that it gets the *mean* of
# all states and cannot choose; and one with your decoder as it is. (What is trained:
# `rnncourse.experiments.attention_torch`.)
#
# **Guess**: which of the three repeats eight digits? And sixteen, more than it ever met?

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.experiments.attention_torch import KINDS, repeated, train_to_repeat
from rnncourse.plots.attention import repeated_chart

mine = {8: set(KINDS), 16: set(KINDS)}  # your guess
lengths = (1, 2, 3, 4, 6, 8, 10, 12, 14, 16)
pairs = {kind: train_to_repeat(kind, Looking) for kind in KINDS}
shares = {kind: [repeated(pair, n) for n in lengths] for kind, pair in pairs.items()}
eight = [f"{kind} {row[lengths.index(8)]:.2f}" for kind, row in shares.items()]
print(f"you: {', '.join(sorted(mine[8]))}\neight digits: {', '.join(eight)}")
show(repeated_chart(lengths, shares, longest=12))

# %% tags=["author"]
assert shares["with attention"][5] > 0.7 > 0.5 > max(shares["without attention"][5], shares["all states alike"][5])

# %% [markdown]
# **Claim:** after 250 updates the pair with attention repeats most sequences of eight digits, and neither the pair without nor
# the one that looks at all states alike repeats half of them.
#
# It held in {{held digits_repeated}} seeds: {{digits/with attention/8 digits|median .0%}} against
# {{digits/without attention/8 digits|median .0%}}, and {{digits/all states alike/8 digits|median .0%}} for the mean. So it is the
# *choosing* that does it. It does not show what one state cannot hold: everything has to be squeezed into one vector *before it
# is known what will be asked*, and that is slow to learn.
#
# Now look to the right of the dashed line. What fails there is not memory: all states are still on the table. It has never
# learned how to ask for the *fifteenth* digit. Attention keeps everything within reach. What to look for, the network has to
# learn.
#
# ### Experiment · without the root
#
# Section 1 drew keys of variance 1. The states of a fresh GRU are much smaller, so that here the softmax begins nearly even
# without the root, too. Does the root matter then? The same pair of 64 units, with the root taken out.
#
# **Guess**: what share of eight digits does it repeat?

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.experiments import beside

my_guess = 0.1
share = repeated(train_to_repeat("without the root", Looking), 8)
place = "13_attention:digits/without the root/8 digits"
print(f"your guess {my_guess};", beside(place, share))

# %% [markdown]
# **Claim:** without the root the pair learns eight digits, too.
#
# It held in {{held root_not_needed}} seeds. With the root it is {{digits/with attention/8 digits}}, without
# {{digits/without the root/8 digits}}. That does not contradict section 1: with states this small the
# softmax never began with a choice. The root gives every size the same start.

# %% [markdown]
# ### Experiment · where does it look?
#
# Now the dates of unit 12, in eleven languages, and a picture that you get for nothing. Each row is a character of the answer;
# the dark cells show to which states it gave most weight.
#
# **Guess**: for `domingo, 1 de março de 2009`, where does it look for the first digit of the year? And for the day?

# %% tags=["experiment", "nbval-ignore-output"]
from datetime import date

from rnncourse.data.dates import is_held_out, written_as
from rnncourse.experiments.attention_torch import alignment, dates_right, train_to_read
from rnncourse.plots.attention import alignment_map

reader = train_to_read(Looking)
print("held-out days, short and long: {:.0%}, {:.0%}".format(*dates_right(reader)))
day = next(d for d in (date(2009, 3, n) for n in range(1, 10)) if is_held_out(d))
written = max(written_as(day, "pt"), key=lambda w: len(w.text))
answer, looks = alignment(reader, written)
show(alignment_map(looks, written.text, answer))

# %% tags=["author"]
assert answer == written.iso, f"{written.text} was expected to be read right, and it gave {answer}."
assert looks[:4, written.text.index(str(day.year)) :].sum(axis=1).min() > 0.5, (
    "The year was expected to be read off it."
)

# %% tags=["experiment"]
from rnncourse.plots.films import attention_film

attention_film(looks, written.text, answer).show(title="Attention while it writes")

# %% [markdown]
# Nobody told it that the year stands at the end in Portuguese, or where the month is. It starts at the *end*, for that
# is what ISO wants first. Then it jumps to the month's name. And look at the day: the darkest cell need not be the number
# itself. A cell of this map is a *state*, not a letter: it knows what came before it. (Only behind the 1 has a state read that
# the 1 is all. In the French date below, the day's 1 is read off the state at the 5. But a weight proves no cause.)
#
# What it costs: $T_q$ steps compare with $T_k$ states each, $T_q \cdot T_k$ comparisons. *Try* a day of your own:

# %% tags=["experiment", "nbval-ignore-output"] dials='my_language = "fi"'
my_day = date(1997, 11, 15)
my_language = "fr"  # de, en, es, fi, fr, it, nl, pl, pt, sv or tr
written = max(written_as(my_day, my_language), key=lambda w: len(w.text))
answer, looks = alignment(reader, written)
show(alignment_map(looks, written.text, answer, title=f"{written.text} → {answer}"))

# %% [markdown]
# ## 4 · A sequence that looks at itself
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
# **Guess**: shuffle the rows of $X$ and compute again. In which of three cases are the rows that come out only moved: as it is;
# with a vector added to each row that depends on its *place* alone; without such vectors, but causal?

# %% tags=["experiment"]
mine = {"causal"}  # your guess
look, rng = use(self_attention), np.random.default_rng(0)
X, places, Wq, Wk, Wv = rng.normal(size=(5, 8, 8))
order, X, places = rng.permutation(6), X[:6], places[:6]
for name, run in {
    "as it is": lambda X: look(X, Wq, Wk, Wv),
    "places": lambda X: look(X + places, Wq, Wk, Wv),
    "causal": lambda X: look(X, Wq, Wk, Wv, causal=True),
}.items():
    change = np.abs(run(X[order]) - run(X)[order]).max()
    print(f"{name:<9} the largest difference: {change:.2f}")

# %% [markdown]
# As it is, the rows are only moved: self-attention sees a *bag* of steps, as unit 01's first model saw a bag of words.
# Either the **positions** are told, by a vector for each place that is added to what stands there, or a causal mask tells
# them, since under it step $t$ sees $t$ things.
#
# ### Experiment · which came first?
#
# Twelve symbols, and among them one A and one B: which of the two came first? One layer of self-attention, the mean of
# its contexts, one linear layer.
#
# **Guess**: which of the three settings below can learn it?

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.experiments.attention_torch import ORDERED, order_learned

mine = {"positions"}  # your guess
for name in ORDERED:
    share = order_learned(name)
    said = beside(f"13_attention:order/{name}/right", share)
    print(f"{name:<10}", said, "(your guess)" * (name in mine))

# %% [markdown]
# **Claim:** one layer of self-attention without positions guesses which of two symbols came first. With positions it knows, and
# so it does with a causal mask alone.
#
# It held in {{held order_told}} seeds. That it can only guess without either you have just seen: exchange A and B, and the mean
# stays what it was.
#
# ## 5 · Positions
#
# Where do the vectors for the places come from? They can be learned, one for each place; then there is none for a place that
# was never met. Vaswani and others took waves, sines and cosines of the place's number, fast ones and slow ones, as the hands
# of a clock tell the time:
#
# $$p_t = (\sin \omega_1 t,\ \cos \omega_1 t,\ \sin \omega_2 t,\ \cos \omega_2 t,\ \dots)$$
#
# **Guess**: what does the dot product $p_s \cdot p_t$ depend on?

# %% tags=["experiment"] dials="size = 8; size = 128"
from rnncourse.experiments.attention import waves
from rnncourse.plots.attention import places_map

size = 64
p = waves(40, size)
show(places_map(p @ p.T))

# %% [markdown]
# On the distance alone: each diagonal has one shade, since $\sin \omega s \sin \omega t + \cos \omega s \cos \omega t = \cos
# \omega (s - t)$. So a score can ask "how far away", and need not know where it is. Many models of today build this in: they turn
# queries and keys by an angle that grows with their place (RoPE, Su and others 2021), so that only distances are left. *Try* a
# size of 8: with four waves the product no longer falls with the distance, and a place six away looks like the next one.
#
# ## 6 · Several heads
#
# A softmax makes one average. What if a step needs two things at once? Then take two queries. Cut $q$, $k$ and $v$ into $n$
# parts of $d/n$ numbers each, let each part attend for itself, and put the contexts side by side. A part is called a **head**;
# it costs the same products as one large one, but for the softmax. In NumPy it is one axis more, and your `attention` takes it
# as a batch: `(n, T, d / n)`.
#
# ### Experiment · two at a time
#
# Ten digits in a row, each with its place; one query, made of *two* places; the answer is both digits, in order. The layer has 32
# units, as one head or as two of 16.
#
# **Guess**: in what share of rows does one head get both right?

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.experiments.attention_torch import two_places

my_guess = 0.5
for heads, name in ((1, "one head"), (2, "two heads")):
    place = f"13_attention:two_asked/{name}/right"
    print(f"{name:<10}", beside(place, two_places(heads)))
print("your guess for one head:", my_guess)

# %% [markdown]
# **Claim:** with two heads of 16 the layer tells both digits right nearly always, and with one head of 32 in fewer than one row
# of three.
#
# It held in {{held second_head}} seeds: {{two_asked/one head/right|median .0%}} against
# {{two_asked/two heads/right|median .0%}}. One head has one set of weights for both places, and hands back one mixture of the two
# values. With equal weights their order is lost. Unequal ones could tell it, but this layer does not learn that.
#
# What does self-attention cost, with any number of heads? $T^2$ comparisons, and while it writes, the keys and values of all that
# was written. Unit 14 asks whether that must be.

# %% [markdown]
# ## 7 · Bugs to hunt
#
# All of these run. **Guess** for each what you would see, and which test of this unit finds it.
#
# - The mask says True where one may *not* look (PyTorch has both conventions: in `nn.MultiheadAttention` True means
#   "leave out", in `scaled_dot_product_attention` it means "take part").
# - `softmax(scores, axis=0)`.
# - The mask is left out in training, since "the padding is zero anyway".
#
# <details><summary>Answers, when you have thought about them</summary>
#
# The first looks at padding alone. The longest sequence of a batch has none, so all its scores are −∞, its weights nan, and
# after one update so is the network: mask all but one key, and see whether the context is that key's value. The second shows when you sum the rows of the weights. The third gives a sentence another answer when it
# stands in a batch with a longer one: run it alone and in company, as in unit 09.
# </details>
#
# ## 8 · What you have
#
# - One state for everything is a bottleneck; attention lets each output look at all states and choose, softly.
# - Scores over $\sqrt d$, mask before the softmax, softmax over the keys, weights times values.
# - The weights are an alignment that nobody taught. A cell of it is a state, not a letter.
# - Self-attention sees a bag, unless positions or a causal mask tell the order.
# - A head makes one average; who needs two things at once needs two.

# %% [markdown] written="attention_written" points=3
# ### Written question · 3 points
#
# Somebody shows you an alignment as in section 3 and says: "You see, the network decided on the day *because of* the space behind
# the 1." In about six sentences: what does the picture show, what does it not show, and which experiment would test the sentence?
#
# ### BEGIN SOLUTION
# *Model answer.* The picture shows how much of each encoder state went into the context with which a character was chosen. It does
# not show letters: the state behind the 1 has read all that stands before it, so the 1 may well have come through it. Nor does
# it show what the context did afterwards: the decoder's own state stands beside it, and a large weight on a state that brings
# nothing new changes nothing. And weights are not causes: another set of weights may give the same answer. To test the sentence,
# change something and see what happens: mask that state, so that its weight goes to the others, and see whether the day is still
# right, over many dates; as a control mask another state that has little weight, and one that has as much in another row. Or
# change the 1 in the input and leave the space: if the answer follows the 1, the space was the place where it was read, and not
# the reason.
#
# *Rubric.* **1 point**: a cell is a state that has read what came before, not a letter. **1 point**: a weight is not a cause; the
# decoder's state, or other weights, may lead to the same answer. **1 point**: an intervention (mask, change the input) with a
# control.
# ### END SOLUTION

# %% [markdown]
# ## Where to read on
#
# - D. Bahdanau, K. Cho, Y. Bengio, "Neural Machine Translation by Jointly Learning to Align and Translate", *ICLR* 2015: the
#   first alignments drawn. M.-T. Luong, H. Pham, C. D. Manning, "Effective Approaches to Attention-based Neural Machine
#   Translation", *EMNLP* 2015: the form of decoder that we have used.
# - A. Vaswani and others, "Attention Is All You Need", *NeurIPS* 2017; J. Su and others, "RoFormer: Enhanced Transformer with
#   Rotary Position Embedding", arXiv:2104.09864, 2021.
# - A. Haviv and others, "Transformer Language Models without Positional Encodings Still Learn Positional Information",
#   *Findings of EMNLP* 2022: what a causal mask tells.
# - A. Graves, "Generating Sequences With Recurrent Neural Networks", arXiv:1308.0850, 2013: the soft window.

# %% tags=["experiment"]
progress("13_attention")
