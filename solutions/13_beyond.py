# %% [markdown]
# # 13 · Attention, and breaking the sequential bottleneck
#
# **When you are done you will be able to**
#
# - write attention from nothing, with its scaling and its mask, and say what each of them is for;
# - let a decoder look back at everything that was read, and draw where it looks;
# - say which recurrences can be computed in about $\log_2 T$ rounds instead of $T$ steps, and do it;
# - count how many operations of an algorithm wait for one another, and say why that is not yet the time it takes;
# - build a recurrent network whose training does not walk through time, and say why it can no longer latch or flip.
#
# **Time**: about three hours. **You need** the encoder and the decoder of unit 12, the gates of unit 10, and `softmax`
# from unit 03. There are 6 exercises and one written question, 22 points in all.

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
# Let us see the first bottleneck on the plainest task that there is for an encoder and a decoder: say again what you have
# read.
#
#     reads   7 1 1 4 9 0 2      should say   7 1 1 4 9 0 2 <eos>
#
# Digits are drawn at random, so that nothing can be guessed: each one has to go through the state. **Claim:** after 300
# updates, the pair of unit 12 repeats two digits, and not eight.

# %% locked="setup_torch"
import torch
from torch import nn

from rnncourse.encoder_decoder_torch import Decoder, Encoder, Seq2Seq

torch.set_num_threads(1)  # for products as small as ours a second thread costs more than it brings

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.beyond_torch import AttentionDecoder, AttentionSeq2Seq, MinGRU
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
    """An encoder and a decoder, with or without attention; the one without gets more units, and more parameters."""
    torch.manual_seed(seed)
    if kind == "with attention":
        return AttentionSeq2Seq(Encoder(inputs, 32, 64), AttentionDecoder(outputs, 16, 64), BOS)
    return Seq2Seq(Encoder(inputs, 32, 80), Decoder(outputs, 16, 80), BOS)


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
assert share_right["one state"][1] > 0.85, "Two digits were expected to be repeated after 300 updates."
assert share_right["one state"][7] < 0.3, "Eight digits were not expected to be repeated after 300 updates."


def repeat_chart():
    figure = line_chart(
        lengths, share_right, xlabel="length (digits)", ylabel="share without a mistake", size=(8.0, 3.6)
    )
    figure.axes[0].set_xticks(range(2, 21, 2))
    return figure


show(
    repeat_chart(),
    alt="Share of sequences repeated without a mistake against their length. With one state it is 1 for one digit, falls "
    "steeply from the third digit on and is near zero from about eight digits on.",
)

# %% [markdown]
# It was trained on lengths up to 16. After 300 updates it repeats two digits in
# {{digits/without attention/2 digits|median .0%}} of cases, the median of five seeds, three in
# {{digits/without attention/3 digits|median .0%}}, eight in
# {{digits/without attention/8 digits|median .0%}}. That is not all that one state can hold: after 900
# updates it repeats eight in {{digits/without attention, 900 updates/8 digits|median .0%}}, and ten in
# {{digits/without attention, 900 updates/10 digits|median .0%}}. With more units and more training the cliff moves to the
# right, as in unit 12. But everything about the input has to be squeezed into one vector *before it is known what will be
# asked*, and that is slow to learn.

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
# up to $d$, so the sum is about $\sqrt d$ large. **Claim:** without the root, long vectors make the softmax choose one
# key and ignore the others, before anything is learned.

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
# A softmax that has chosen has hardly any slope: $\alpha(1 - \alpha)$ is nearly zero at both ends. The network would be
# stuck with the choice that its random start has made.
#
# **The mask.** Some keys must not be looked at: the padding of a short sequence, or, in a language model, what has not
# been written yet. A mask says so, `True` = *may look*. It acts on the *scores*, before the softmax: a score of
# $-\infty$ becomes a weight of exactly 0, and the rest of the row still sums to 1. The mask need not have the full shape,
# if it broadcasts to the weights: one of shape $(N, 1, T_k)$ says the same to all queries of a sequence.

# %% [markdown]
# ### Exercise 13.1 · `attention`
# *●●○ · 15 minutes · 4 points*
#
# Write scaled dot-product attention. `query (…, T_q, d)`, `keys (…, T_k, d)` and `values (…, T_k, d_v)` have the same
# leading axes, none, one or more. Return `(context (…, T_q, d_v), weights (…, T_q, T_k))`. `mask` is `None`, or an array
# of bools that broadcasts to the weights, True = may look; no row is all False. Scores may be as large as you like, and
# give no nan. The dtype stays: `math.sqrt(d)` is a plain number, `np.sqrt(d)` is a float64 and would turn float32 into
# float64. You may call `softmax(O)` of unit 03, which is imported. May not call `torch` or `scipy`.
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
# *●●○ · 12 minutes · 3 points*
#
# `query (…, T_q, d_q)`, `keys (…, T_k, d_k)`, `values (…, T_k, d_v)`, `Wq (d_q, A)`, `Wk (d_k, A)`, `v (A,)`, and `mask`
# as before. Return `(context (…, T_q, d_v), weights (…, T_q, T_k))`. May not call `torch` or `scipy`.
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
# Here is all that changes in the decoder of unit 12. The encoder stays as it is; its states come along as `memory`:
#
#     states, state = self.rnn(self.embedding(ids), state)                    # as before: s_t for each step
#     context, weights = attention(self.query(states), memory, memory, mask)  # each s_t looks at all h_j
#     hidden = torch.tanh(self.combine(torch.cat([states, context], dim=-1)))
#     return self.output(hidden), state, weights
#
# `query` is a matrix $(H, H)$: what a decoder's state asks for need not look like an encoder's state. `mask` is True at
# the real steps of each source. That is `AttentionDecoder` in `rnncourse/beyond_torch.py`; you can read it now. Does it
# look where your function looks?

# %% tags=["experiment", "nbval-ignore-output"]
attend = use(attention)
decoder = AttentionDecoder(13, 16, 64).double()
ids, memory = torch.randint(3, 13, (5, 2)), torch.randn(7, 2, 64, dtype=torch.float64)
mask = torch.arange(7) < torch.tensor([[7], [4]])
with torch.no_grad():
    _, _, theirs = decoder(ids, torch.zeros(1, 2, 64, dtype=torch.float64), memory, mask)
    states, _ = decoder.rnn(decoder.embedding(ids), torch.zeros(1, 2, 64, dtype=torch.float64))
    queries, keys = (x.transpose(0, 1).numpy() for x in (decoder.query(states), memory))
_, yours = attend(queries, keys, keys, mask.numpy()[:, None])
difference = np.abs(theirs.numpy() - yours).max()
print(f"the decoder's weights and yours differ by {difference:.0e}")
assert difference < 1e-12, "The decoder was expected to look where your attention looks; " + answer_above
assert (yours[1, :, 4:] == 0).all(), "Nothing was expected to be looked at in the padding; " + answer_above

# %% [markdown]
# ### Experiment · the digits again
#
# The same encoder, the same task, the same 300 updates. To be fair, the pair without attention had 80 units and the one
# with attention has 64, and fewer parameters. A question before you run it: it trains on lengths up to 16. What will it
# do at 20?
#
# **Claim:** after 300 updates the pair with attention repeats most sequences of ten digits, and the pair without next to
# none.

# %% tags=["experiment", "nbval-ignore-output"]
rng = np.random.default_rng(0)
looking = train(build("with attention", 13, 13), lambda: digits_to_repeat(rng), 300, "with attention")
parameters = [sum(p.numel() for p in model.parameters()) for model in (plain, looking)]
print(f"parameters: {parameters[0]:,} without attention, {parameters[1]:,} with it")
assert parameters[0] > parameters[1], "The pair with attention was expected to have fewer parameters."
share_right["attention"] = [repeated(looking, length) for length in lengths]
assert min(share_right["attention"][:10]) > 0.7, "With attention most of up to ten digits were expected to be repeated."
assert share_right["attention"][19] < 0.3, "Twenty digits, never met in training, were not expected to be repeated."
show(
    repeat_chart(),
    alt="Share repeated without a mistake against length. With one state it is near zero from eight digits on. With "
    "attention it stays near 1 up to about fourteen digits, then falls, and is zero at twenty.",
)

# %% [markdown]
# The cliff is gone from where it was: over five seeds, ten digits are right in {{digits/with attention/10 digits|.0%}}
# with attention, in {{digits/without attention/10 digits|.0%}} without, and without, after three times the updates, in
# {{digits/without attention, 900 updates/10 digits|.0%}}. But look to the right of 16, where it is
# {{digits/with attention/20 digits|.0%}} at 20: beyond the lengths that it has met, it fails as well. What fails there
# is not memory: all states are still on the table. It has never learned how to ask for the *nineteenth* digit.
# Attention keeps everything within reach. What to look for, the network has to learn.
#
# ### Experiment · dates
#
# Now the dates of unit 12, in eleven languages. **Claim:** after 280 updates, a network with attention reads most dates
# of days that it has never seen, long ones as well as short ones, and a network without has hardly begun.

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


date_models = {kind: train_reader(kind) for kind in ("without attention", "with attention")}
for kind, model in date_models.items():
    short, long = dates_right(model)
    print(f"{kind + ':':<18} up to 20 characters {short:.0%}, longer ones {long:.0%}")
assert max(dates_right(date_models["without attention"])) < 0.3, (
    "Without attention few dates were expected to be right yet."
)
assert min(dates_right(date_models["with attention"])) > 0.7, "With attention most dates were expected to be right."

# %% [markdown]
# Over five seeds, with attention: {{dates/with attention/up to 20 characters|.0%}} of the dates of up to 20 characters,
# {{dates/with attention/longer|.0%}} of the longer ones. Without: {{dates/without attention/up to 20 characters|.0%}} and
# {{dates/without attention/longer|.0%}}.
#
# Honesty asks for two remarks. First: this does not show what one state *cannot* hold. In unit 12 such a pair learned its
# dates, with more units and 2,000 updates. It shows how hard one state makes the learning: an error at the last output
# has to find its way through the whole decoder and the whole encoder to the letter that decided. With attention there is
# a short cut. Second: that dates are hard *because they are long* does not show here; the short ones are no better. For
# length the digits were the better experiment.
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


reader = date_models["with attention"]
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

# %% [markdown]
# Nobody told it that the year stands at the end in Portuguese, or where the month is. It starts at the *end*, for that
# is what ISO wants first. Then it jumps to the month's name, and for the 3 to the letters that tell `março` from
# `maio`. And look at the day: in our run the darkest cell is the space *behind* the number. Only there has a state read
# that the 1 is all; one step before, it might still have become a 12. A cell of this map is a *state*, not a letter: it
# knows what came before it.
#
# What it costs: the decoder makes $T_q$ comparisons with $T_k$ states each, $T_q \cdot T_k$ in all. For a date that is
# nothing. For a book that looks at itself it is everything, and the states of all steps have to be kept. Remember this
# for the end.

# %% [markdown]
# ## 5 · One step after the other
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
# ### Exercise 13.3 · `linear_recurrence`
# *●○○ · 6 minutes · 2 points*
#
# First the plain loop; everything that follows is measured against it. `a` and `b` have one shape, `(T, …)` with any
# number of further axes or none, and `h0` is `(…)`, a number if there are none. All products are entry by entry. Return
# the states $h_1$ to $h_T$, `(T, …)`; `h0` is not among them. Leave the arguments as they are. May not call `torch` or
# `scipy`.
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
# ## 6 · Do not compute states, compute maps
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
# ### Exercise 13.4 · `combine_affine`
# *●○○ · 6 minutes · 2 points*
#
# `first` and `second` are pairs `(a, b)` of arrays of one shape, or of numbers. Return the pair of the map that applies
# `first` and then `second`, entry by entry. May not call `torch` or `scipy`.
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
# ## 7 · All prefixes at once
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
# ### Exercise 13.5 · `associative_scan`
# *●●● · 25 minutes · 5 points*
#
# Compute what `linear_recurrence` computes, from the same arguments, with few operations that wait for one another: for
# $T$ steps at most $4 \lceil \log_2 T \rceil + 4$. At $T = 1000$ these are 44, where the loop takes 2,000. Hillis and
# Steele's scan will do, and so will any other. It has to be right for every $T \ge 1$, not only for powers of two, and
# for factors of 0: there is no need to divide. Leave the arguments as they are. May not call `torch` or `scipy`; you may
# call your `combine_affine`, which takes whole arrays: a row of the picture is *one* call.
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
# Your loop and your scan, side by side. **Claim:** loop and scan agree to $10^{-10}$ for up to 100,000 steps, and the
# scan's depth grows with the logarithm of the length.

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
# ## 8 · Does it pay?
#
# Few operations in a row is not the same as little time. Hillis and Steele's scan does $T \log_2 T$ combinations in all,
# where the loop does $T$. There is a scan that wastes less: combine neighbours in pairs, scan the pairs, which are half
# as many, and fill in what lies between. It takes about $2 \log_2 T$ rounds and fewer than $2T$ combinations, and it is
# the one in `rnncourse/beyond.py`; it usually bears the name of G. E. Blelloch.
#
# We measure it against the course's loop, in time used by one core, for single numbers and for rows of $32 \times 64$,
# which is what a layer of 64 units has to do for a batch of 32. Guess first: who wins?

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
# So when does a scan pay? Count operations, for $p$ processors. A step of the loop has $n$ products and $n$ sums to do,
# $p$ at a time, and has to wait for the step before: $2T \lceil n/p \rceil$ rounds in all. A combination has a product
# more, three operations, of which two wait for each other. The scan has fewer than $2T$ of them, for each of $n$
# numbers: $6Tn$ operations, $p$ at a time, and $4 \log_2 T$ that wait, about $6Tn/p + 4 \log_2 T$ rounds (R. P. Brent
# showed in 1974 that this can be reached). **Claim**, from this count: with two processors the scan never wins; with
# thousands it wins where sequences are long and rows are narrow.

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
# A laptop has too few cores for that. A graphics card has thousands, and that is where long sequences are trained in this
# way. Where a step is as wide as the machine, the loop was keeping it busy anyway and there is nothing to gain. (A real
# card has more costs: each round has to be started, and memory is slow. A count tells you where to look; only a
# measurement tells you whether.)

# %% [markdown]
# ## 9 · A recurrent network without a walk
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
# ### Exercise 13.6 · `min_gru_forward`
# *●●○ · 10 minutes · 3 points*
#
# `X (T, N, D)`, `h0 (N, H)`, `Wz (D, H)`, `Wh (D, H)`: return the states $h_1$ to $h_T$, `(T, N, H)`. There are no
# biases. Use your `associative_scan`; while this exercise is checked, it is a correct one. Gates wide open or shut give
# no nan. May not call `torch` or `scipy`.
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
# **Claim:** after 200 updates at a lag of 100, a minimal GRU that starts at $\beta = -4$ recalls, and one that starts
# at 0 or $-2$ guesses, as the plain cell, the LSTM and the GRU do from PyTorch's start.

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


long_readers = {name: train_to_recall(name, (100, 100), 200) for name in CORES}
for name, model in long_readers.items():
    share = recalled(model, 100)
    print(f"{name:<20} {share:.0%} right after 100 steps of noise")
    assert share > 0.9 if name.endswith("4") else share < 0.6, f"{name}: {share:.0%} right was not expected."

# %% [markdown]
# So once more a memory from long examples hangs on how it starts. Over five seeds it is
# {{long_examples/minimal GRU, β = −4/lag 100}} with $\beta = -4$. That the others fail is no proof that they must: it
# is what 200 updates make of PyTorch's start, and unit 10 gave the LSTM and the GRU better ones.
#
# And the walk? Here is a training step with the same cell, forwards and back, once through the scan and once through a
# loop over the steps, on one core:

# %% tags=["experiment", "nbval-ignore-output"]
core, x = MinGRU(8, 16), torch.randn(1000, 32, 8)


def step_by_step(core, x):
    z = torch.sigmoid(core.gate(x))
    keep, term = 1 - z, z * core.candidate(x)
    h, states = torch.zeros_like(term[0]), []
    for t in range(len(x)):
        h = keep[t] * h + term[t]
        states.append(h)
    return torch.stack(states)


assert torch.allclose(core(x)[0], step_by_step(core, x), atol=1e-5), (
    "Scan and loop were expected to give the same states."
)
took = {
    "scan": seconds(lambda: core(x)[0].sum().backward()),
    "loop": seconds(lambda: step_by_step(core, x).sum().backward()),
}
print(f"1,000 steps, forwards and back: the loop takes {took['loop'] / took['scan']:.0f} times as long as the scan")

# %% [markdown]
# As before, what is saved on one core is calls, a few thousand of them, forwards and back. On a card, the same code could
# also run each of its rounds in parallel.

# %% [markdown]
# ## 10 · What was given up
#
# We forbade the gates to see the state. What does that cost? Two things, and the first you can see in the picture that
# has come with you since unit 05: train on lags from 1 to 7, ask at lags up to 1,000.
#
# **Claim:** trained on lags from 1 to 7, the minimal GRU guesses at a lag of 1,000. The plain cell, the LSTM and the
# GRU, of the same 16 units and from PyTorch's start, are better than a guess there.

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
# At a lag of 1,000: plain {{short_examples/plain/lag 1000}}, LSTM {{short_examples/LSTM/lag 1000}}, GRU
# {{short_examples/GRU/lag 1000}}; minimal GRU {{short_examples/minimal GRU/lag 1000}}, after 900 updates
# {{short_examples/minimal GRU, 900 updates/lag 1000}}, from $\beta = -4$
# {{short_examples/minimal GRU, β = −4/lag 1000}}. Neither helps. (In unit 10 some plain cells and GRUs, too, lost a symbol
# or two on the way. There the start was another one, and a batch had 16 rows in place of 32; which of the two matters has
# not been measured.)
#
# Why does nothing help the minimal GRU? Take two sequences that begin with different symbols and go on with the *same*
# noise. The gates see the noise and nothing else, so from the second step on they are the same for both: $h_t = a_t h_{t-1} + b_t$ and
# $h'_t = a_t h'_{t-1} + b_t$. Subtract:
#
# $$h_t - h'_t = a_t\,(h_{t-1} - h'_{t-1}), \qquad 0 < a_t < 1$$
#
# Whatever the weights are, the two come closer at every step, in every unit. To hold, a cell has to push two states
# *apart*, and to do that it has to look at where they are. Here are all four symbols with the same noise behind them, and
# how far the two are apart that are nearest: in the LSTM, in the minimal GRU, and in the one of section 9, which was
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
# The second thing is **parity**: after each bit, say whether the number of ones so far is odd. In unit 10 you built it
# by hand, with one unit of an LSTM. **Claim:** trained on 10 bits, with an answer asked after each, the plain cell has
# the parity right after 50 bits. The minimal GRU has it right after one bit, and guesses after ten.

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
# weighted sum of such states can change its sign at most as often as there are units: with 16 units, 17 bits at most, however well
# they are trained. Here are the states, on nothing but ones:


# %% tags=["experiment", "nbval-ignore-output"]
def on_ones(name):
    """How the states of a trained core change from step to step while it reads twelve ones."""
    ones = torch.tensor([0.0, 1.0], dtype=torch.float64).expand(12, 1, 2)
    with torch.no_grad():
        return np.diff(counters[name].core.double()(ones)[0][:, 0].numpy(), axis=0)


goes_one_way = {
    name: ((on_ones(name) >= -1e-12).all(axis=0) | (on_ones(name) <= 1e-12).all(axis=0)) for name in counters
}
for name, one_way in goes_one_way.items():
    print(f"{name:<12} {one_way.sum()} of {len(one_way)} units only rise or only fall")
assert goes_one_way["minimal GRU"].all(), "Every unit of the minimal GRU was expected to go one way."
assert not goes_one_way["plain"].all(), "Units of the plain cell were expected to swing."

# %% [markdown]
# Is it because the recurrence is *linear*? No: it is the gate, which keeps $a$ between 0 and 1. Let $a$ be negative, and
# one unit is enough. Take $a_t = 1 - 2 x_t$ and $b_t = 0$: a 1 turns the sign round, a 0 leaves it. Your scan does it,
# without an error:

# %% tags=["experiment"]
scan = use(associative_scan)
bits = np.random.default_rng(0).integers(0, 2, 100_000)
sign = scan(1.0 - 2.0 * bits, np.zeros(len(bits)), 1.0)
right = (sign < 0) == (bits.cumsum() % 2 == 1)
print(f"parity of {len(bits):,} bits, by a scan: {right.sum():,} right")
assert right.all(), "The scan was expected to have every parity right; " + answer_above

# %% [markdown]
# What a network can do depends on which maps its steps can be. That is a question of algebra, and people are working on
# it right now.

# %% [markdown]
# ## 11 · Bugs to hunt
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
# ## 12 · Where the field went
#
# In 2017 Vaswani and others asked: if attention brings back everything that was read, what is the recurrence still for?
# They left it out. In a **Transformer** every position attends to others, in an encoder to all of them, in a decoder,
# such as a language model, to all earlier ones; and all positions are computed at once in training: both bottlenecks
# gone in one stroke. It took over the field, first in translation, then nearly everywhere. The price is the one that
# you have seen: $T^2$ comparisons in training, and while it writes, a memory that grows with every word. A recurrent
# network writes its millionth word at the price of its first.
#
# So recurrence came back, through the second half of this unit. **State-space models** such as S4 and **Mamba** are
# linear recurrences, Mamba's with gates that look at the input alone, and they are trained by convolutions and scans.
# **RWKV** gives attention a recurrent form. **xLSTM** goes back to the LSTM with stronger gates and a matrix for a
# memory. Feng and others showed in 2024 that GRU and LSTM, made minimal as in section 9, keep up on a number of tasks.
# Others proved what is lost on the way: with factors between 0 and 1, no parity. Many models of today mix layers of both
# kinds. Nobody knows which mixture will last.
#
# ## 13 · What you have
#
# Two bottlenecks, and a way round each:
#
# - One state for everything is a bottleneck; attention lets each output look at all states and choose, softly.
# - Scores over $\sqrt d$, mask before the softmax, softmax over the keys, weights times values.
# - The weights are an alignment that nobody taught. A cell of it is a state, not a letter.
# - A linear recurrence is a row of maps; combining maps is associative; so all prefixes take $O(\log T)$ rounds.
# - Depth is not time. On few cores a scan saves calls; it pays where there are far more processors than numbers in a
#   step.
# - A minimal GRU trains without a walk, and remembers if its gates start nearly shut. But its states for different
#   symbols only come closer: it can fade slowly, and it cannot latch, nor keep a parity.

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
# - E. Martin, C. Cundy, "Parallelizing Linear Recurrent Neural Nets Over Sequence Length", *ICLR* 2018.
# - A. Graves, "Generating Sequences With Recurrent Neural Networks", arXiv:1308.0850, 2013: the soft window.
# - A. Gu, K. Goel, C. Ré, "Efficiently Modeling Long Sequences with Structured State Spaces", *ICLR* 2022: S4. A. Gu,
#   T. Dao, "Mamba: Linear-Time Sequence Modeling with Selective State Spaces", arXiv:2312.00752, 2023; B. Peng and
#   others, "RWKV: Reinventing RNNs for the Transformer Era", arXiv:2305.13048, 2023; M. Beck and others, "xLSTM:
#   Extended Long Short-Term Memory", arXiv:2405.04517, 2024; L. Feng and others, "Were RNNs All We Needed?",
#   arXiv:2410.01201, 2024.
# - W. Merrill, J. Petty, A. Sabharwal, "The Illusion of State in State-Space Models", arXiv:2404.08819, 2024, and R.
#   Grazzi and others, "Unlocking State-Tracking in Linear RNNs Through Negative Eigenvalues", arXiv:2411.12537, 2024:
#   what such networks cannot do, and the minus sign of section 10.

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
