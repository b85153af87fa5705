# %% [markdown]
# # 12 · From one sequence to another
#
# **When you are done you will be able to**
#
# - build a network that reads a sequence and writes another one, of another length and in other symbols;
# - train it with teacher forcing, and say what it reads while it learns and what it reads in use;
# - get an answer out of a model, greedily or with a beam, and say what neither can promise;
# - measure answers that are sequences, and say why the likeliest answer may be too short, and what mends it;
# - say what one wrong token does to all that follow, and how much goes through one summary;
# - let a decoder tell what it sees in a picture;
# - if you like: train on recordings of which nobody has said what is heard *when*.
#
# **Time**: about four hours, best in two sittings (the second begins with section 6), and two and a half of them are your
# own work. The optional section 11 takes forty minutes more. **You need** padding and packing (unit 07), the GRU (unit
# 10), and the generation of unit 06. There are twelve exercises, the last of which is optional, and one written
# question: 35 points in all.
#
# Modules and what they are given are tensors. The searches, and the last exercise, are Python and NumPy: they may not
# call `torch`. Before you run an experiment, you are asked to **guess**. Write your guess down; it costs a minute, and it is
# what makes the result stay with you.

# %% locked="setup"
import copy
import re
from collections import Counter
from datetime import date

import numpy as np
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from rnncourse import check, hint, progress, track, use
from rnncourse.data import (
    BOS,
    DATE_LANGUAGES,
    EOS,
    ISO_VOCABULARY,
    date_vocabulary,
    encode_dates,
    is_held_out,
    written_as,
    written_dates,
)
from rnncourse.plots import line_chart, show

torch.set_num_threads(1)  # for products as small as ours a second thread costs more than it brings

# %% tags=["experiment"]
progress("12_encoder_decoder")

# %% [markdown]
# ## The question that unit 11 left open
#
# The last machine of unit 11 read a sequence, kept one state, and wrote from there. What it wrote were plain numbers, and
# you told it how many. Now read these:
#
# > quarta-feira, 4 de março de 2009 &nbsp;&nbsp;→&nbsp;&nbsp; 2009-03-04
# >
# > 4. maaliskuuta 2009 &nbsp;&nbsp;→&nbsp;&nbsp; 2009-03-04
# >
# > Mar 4, 2009 &nbsp;&nbsp;→&nbsp;&nbsp; 2009-03-04
#
# 32 characters become ten, or 19 do, or eleven. The first digit of the answer stands near the end of the question, so
# that inputs and outputs do not go in step. This is what translation is like, and summaries, and answers to questions:
# **another length, another order, other symbols, and an end that nobody announces.** How are two cores joined
# for that, how are they trained on symbols, and how does one look for the best answer when each symbol that is chosen
# changes the odds of all that follow?

# %% [markdown]
# ## 1 · Two networks and a summary
#
# The idea of 2013 and 2014 is disarmingly plain. Take two networks. The first, the **encoder**, reads the whole input, and
# all that it says is its last state. The second, the **decoder**, is a language model as in unit 06. But where that
# one started from zeros, this one starts from the encoder's last state, and so it writes not just any text, but a text
# *about what was read*.

# %% tags=["experiment"]
from rnncourse.plots.encoder_decoder import summary_chain

show(
    summary_chain(list("4 mai"), list("05-04"), forced=False),
    alt="A chain of five encoder states reads the characters 4, space, m, a, i. An arrow called summary leads from the last of "
    "them to a chain of six decoder states. The first reads bos, and they write 0, 5, dash, 0, 4, eos; dashed arrows lead from "
    "each token that was written to the next state.",
)

# %% [markdown]
# Two tokens are new. **bos** (beginning of sequence) is what the decoder reads first, when it has written nothing yet.
# **eos** (end of sequence) is what it writes when it is done. With eos the length of the answer is no longer given from
# outside: the model predicts it, like everything else.
#
# With $x_1, \dots, x_S$ for the source and $y_1, \dots, y_T$ for the answer ($y_T$ is eos, and $y_0$ is bos):
#
# $$
# \begin{aligned}
# h_t &= \mathrm{GRU}_{\text{enc}}(h_{t-1}, x_t) && h_0 = 0, \quad t = 1, \dots, S\\
# s_t &= \mathrm{GRU}_{\text{dec}}(s_{t-1}, y_{t-1}) && s_0 = h_S, \quad t = 1, \dots, T\\
# p(y_t \mid y_1, \dots, y_{t-1}, x) &= \mathrm{softmax}(s_t V + c)
# \end{aligned}
# $$
#
# (In a formula, $V$ is the output layer's matrix, as ever. In a shape, and in $V^T$, it is the
# number of symbols, as in unit 01.)
#
# *In numbers*: a date of 30 characters goes in, and what the arrow *summary* carries is $H$ floats, 128 in the network
# that you will train. A date of 8 characters becomes 128 floats, too. Keep that in mind.

# %% [markdown]
# ### Exercise 12.1 · `Encoder`
# *●●○ · 15 minutes · 3 points*
#
# Write the module `Encoder(vocabulary_size, embedding_size, hidden_size)` with two layers: `embedding`, an
# `nn.Embedding`, and `rnn`, an `nn.GRU` of one layer. `forward(ids, lengths=None)` takes `ids (T, N)`, time first, and
# returns a pair:
#
# - `outputs (T, N, H)`, the states of all steps. What stands at padded steps is nobody's business, but there are `T`;
# - `state (1, N, H)`, the state of each sequence's **last real step**.
#
# `lengths` is a tensor of N whole numbers from 1 to T, in any order; `None` means that all have T steps. The ids under
# the padding are valid ids, and every id may be a real symbol somewhere, 0 too.
#
# In words: with `lengths = [7, 3]`, `state[0, 0]` is `outputs[6, 0]`, and `state[0, 1]` is `outputs[2, 1]`.
#
# `pack_padded_sequence` and `pad_packed_sequence` are imported. Where the check speaks of `answers[0][1]`, it means the
# second thing that the first call returned.


# %% answer="Encoder"
class Encoder(nn.Module):
    """Reads a sequence of ids: embedding, then rnn, an nn.GRU."""

    def __init__(self, vocabulary_size, embedding_size, hidden_size):
        super().__init__()
        ### BEGIN SOLUTION
        self.embedding = nn.Embedding(vocabulary_size, embedding_size)
        self.rnn = nn.GRU(embedding_size, hidden_size)
        ### END SOLUTION

    def forward(self, ids, lengths=None):
        """ids (T, N), lengths (N,) or None -> outputs (T, N, H), state (1, N, H)."""
        ### BEGIN SOLUTION
        embedded = self.embedding(ids)
        if lengths is None:
            return self.rnn(embedded)
        states, state = self.rnn(pack_padded_sequence(embedded, lengths, enforce_sorted=False))
        outputs, _ = pad_packed_sequence(states, total_length=len(ids))
        return outputs, state
        ### END SOLUTION


# %% check="Encoder"
check(Encoder)

# %% [markdown]
# Everything that the decoder will ever know about the source is in `state`. If it has read padding, the decoder gets
# the summary of another text.

# %% [markdown]
# ### Exercise 12.2 · `Decoder`
# *●○○ · 10 minutes · 2 points*
#
# Write the module `Decoder(vocabulary_size, embedding_size, hidden_size)` with `embedding`, `rnn` (an `nn.GRU`) and
# `output`, an `nn.Linear` from the states to the vocabulary. `forward(ids, state)` starts from `state (1, N, H)`, reads
# `ids (T, N)` and returns `(logits (T, N, V), state (1, N, H))`: the logits after each step, and the state after the
# last. So one call with five ids gives the same as five calls with one id each that hand on the state.


# %% answer="Decoder"
class Decoder(nn.Module):
    """A language model that starts from a given state: embedding, rnn (an nn.GRU), output."""

    def __init__(self, vocabulary_size, embedding_size, hidden_size):
        super().__init__()
        ### BEGIN SOLUTION
        self.embedding = nn.Embedding(vocabulary_size, embedding_size)
        self.rnn = nn.GRU(embedding_size, hidden_size)
        self.output = nn.Linear(hidden_size, vocabulary_size)
        ### END SOLUTION

    def forward(self, ids, state):
        """ids (T, N), state (1, N, H) -> logits (T, N, V), state (1, N, H)."""
        ### BEGIN SOLUTION
        states, state = self.rnn(self.embedding(ids), state)
        return self.output(states), state
        ### END SOLUTION


# %% check="Decoder"
check(Decoder)

# %% [markdown]
# The check looked at one thing more than the logits: whether the gradient reaches the start state. Through that state,
# and only through it, the encoder learns.

# %% [markdown]
# ## 2 · What the decoder reads while it learns
#
# The probability of a whole answer is a product, by the chain rule of unit 01, and each factor has the *true* tokens
# before it as its condition:
#
# $$ p(y \mid x) = \prod_{t=1}^{T} p(y_t \mid y_1, \dots, y_{t-1}, x) $$
#
# So to train on $-\log p(y \mid x)$, the decoder has to read the true $y_{t-1}$ at step $t$, whatever it would have
# written itself. This is the **teacher forcing** of unit 11: the teacher does not let the pupil go on from a mistake, but
# puts the right token before each next question. So all steps can be computed in one call.

# %% tags=["experiment"]
show(
    summary_chain(list("4 mai"), list("05-04")),
    alt="The same two chains. Now each decoder state reads a true token from below: bos, 0, 5, dash, 0, 4, while above it the "
    "tokens to be predicted are 0, 5, dash, 0, 4, eos. The lower row is the upper one, shifted by one step to the right.",
)

# %% [markdown]
# Compare the two rows of the decoder: what is read is what is to be written, **shifted to the right** by one step,
# with bos in the gap and eos dropped:
#
# | $t$ | 1 | 2 | 3 | 4 | 5 | 6 |
# |---|---|---|---|---|---|---|
# | target $y_t$ | 0 | 5 | - | 0 | 4 | eos |
# | input $y_{t-1}$ | bos | 0 | 5 | - | 0 | 4 |

# %% [markdown]
# ### Exercise 12.3 · `shift_right`
# *●○○ · 6 minutes · 2 points*
#
# From the targets to the decoder's inputs: `shift_right(targets, bos)`. Time is axis 0, and there may be further axes,
# or none: `targets` is `(T,)` or `(T, N)` or more. The answer has the same shape and dtype, is new, and leaves
# `targets` as they were. It is the one function here that takes either kind: **a tensor if you are given a tensor, an
# array if you are given an array.**
#
#     targets [[7, 8], [9, 2], [2, 0]]     bos 1     gives [[1, 1], [7, 8], [9, 2]]


# %% answer="shift_right"
def shift_right(targets, bos):
    """The decoder's inputs: targets (T, ...), an array or a tensor, and bos, a number -> the same kind and shape."""
    ### BEGIN SOLUTION
    shifted = targets.clone() if isinstance(targets, torch.Tensor) else targets.copy()
    shifted[0] = bos
    shifted[1:] = targets[:-1]
    return shifted
    ### END SOLUTION


# %% check="shift_right"
check(shift_right)

# %% [markdown]
# One line, and the one on which most encoder-decoders break. In section 7 you will see what happens without it: the
# best loss that you have ever had.

# %% [markdown]
# ### Exercise 12.4 · `Seq2Seq`
# *●●○ · 8 minutes · 3 points*
#
# Put it together: `Seq2Seq(encoder, decoder, bos)` keeps the three under the names `encoder`, `decoder`, `bos`.
# `forward(source, source_lengths, targets)` takes `source (S, N)`, its lengths `(N,)` or None, and `targets (T, N)`, and
# returns the `logits (T, N, V)` of all targets, with teacher forcing. You may call `shift_right`.


# %% answer="Seq2Seq"
class Seq2Seq(nn.Module):
    """An encoder and a decoder, trained together with teacher forcing."""

    def __init__(self, encoder, decoder, bos):
        super().__init__()
        ### BEGIN SOLUTION
        self.encoder = encoder
        self.decoder = decoder
        self.bos = bos
        ### END SOLUTION

    def forward(self, source, source_lengths, targets):
        """source (S, N), source_lengths (N,) or None, targets (T, N) -> logits (T, N, V)."""
        ### BEGIN SOLUTION
        _, state = self.encoder(source, source_lengths)
        logits, _ = self.decoder(shift_right(targets, self.bos), state)
        return logits
        ### END SOLUTION


# %% check="Seq2Seq"
check(Seq2Seq)

# %% [markdown]
# A translator, in twelve lines. Give it something to translate.

# %% [markdown]
# ## 3 · Dates from eleven languages
#
# Our texts are dates from 1950 to 2049, as people write them in eleven languages; the names and the order of day, month
# and year come from Unicode's locale data. The answers are in ISO 8601. We left out only what no reader could be sure
# of: years of two digits, and the American 3/4/2009, which is another day in most of the world.
#
# One *day* in ten is held out, by its date alone: if 4 March 2009 is held out, no text of that day in any language is
# ever trained on. A network that translates it right has not looked it up.

# %% tags=["experiment"]
examples = written_dates(np.random.default_rng(8), 6)
for text, iso, language in examples:
    print(f"{language}   {text:<36} {iso}")
print(
    f"{len(date_vocabulary())} symbols to read, {len(ISO_VOCABULARY)} to write, with the marks for padding, bos and eos"
)
encoded = encode_dates(examples)
print("source", encoded.source.shape, "lengths", encoded.lengths, "targets", encoded.targets.shape)
assert all(not is_held_out(date.fromisoformat(iso)) for _, iso, _ in examples), "Expected no held-out day among them."

# %% [markdown]
# Batches are made **by length**: sort, then cut. So a batch has hardly any padding, and most have none; the batches
# themselves come in random order.
#
# One trick is from unit 10. There, a forget bias let an LSTM learn from long examples. In PyTorch's GRU, $h_t = (1 - z)
# \odot n + z \odot h_{t-1}$: where $z$ is near 1, the state is kept. We start with 2 added to the bias of $z$ in
# both networks, so that the day, which mostly is read early and always is written last, is not lost on the way.
#
# **Guess first:** 32,000 dates have gone by once. How many in a hundred dates of days that were never shown does it get
# wholly right? And if the 2 is left out?
#
# **Claim:** after one pass over 32,000 dates, at least seven in ten of the dates of *held-out days* are translated
# without a single wrong digit. Without the 2 in the bias it is fewer than three in ten.
#
# (1,000 updates. The learning rate rises and then falls to zero, a schedule known as one-cycle.)

# %% tags=["experiment", "nbval-ignore-output"]
Enc, Dec, Translator = use(Encoder), use(Decoder), use(Seq2Seq)


def batches_by_length(dates, size):
    """(source, lengths or None, targets) as tensors, for dates of nearly the same length."""
    dates = sorted(dates, key=lambda written: len(written.text))
    for k in range(0, len(dates), size):
        source, lengths, targets = (torch.from_numpy(a) for a in encode_dates(dates[k : k + size]))
        yield source, lengths if lengths.min() < len(source) else None, targets


def write_greedily(model, source, lengths, steps):
    """The most probable token at each step, for all sequences of a batch at once -> (steps, N)."""
    with torch.no_grad():
        _, state = model.encoder(source, lengths)
        token, written = torch.full((1, source.shape[1]), BOS), []
        for _ in range(steps):
            logits, state = model.decoder(token, state)
            token = logits.argmax(dim=-1)
            written.append(token)
    return torch.cat(written)


def share_right(model, batches):
    """The share of sequences that are written without a mistake, eos included."""
    right = [(write_greedily(model, s, n, len(t)) == t).all(dim=0) for s, n, t in batches]
    return torch.cat(right).double().mean().item()


def learn_to_translate(seed, updates=1000, keep=2.0, aside=400):
    """Train on dates, once each; gives the model, a copy after `aside` updates, losses, and shares right by update."""
    H = 128
    training = list(batches_by_length(written_dates(np.random.default_rng(seed), 32 * updates), 32))
    torch.manual_seed(seed)
    model = Translator(Enc(len(date_vocabulary()), 32, H), Dec(len(ISO_VOCABULARY), 16, H), BOS)
    with torch.no_grad():
        for rnn in (model.encoder.rnn, model.decoder.rnn):
            rnn.bias_hh_l0[H : 2 * H] += keep  # the gates are in the order r, z, n
    optimizer = torch.optim.Adam(model.parameters())
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.004, total_steps=updates, pct_start=0.15)
    curve, losses, copied = {}, [], None
    order = np.random.default_rng(seed + 2).permutation(updates).tolist()
    for done, k in enumerate(track(order, "training"), start=1):
        source, lengths, targets = training[k]
        logits = model(source, lengths, targets)
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
        if done % 200 == 0:
            curve[done] = share_right(model, unseen)
        if done == aside:
            copied = copy.deepcopy(model)
    return model, copied, losses, curve


unseen_dates = written_dates(np.random.default_rng(1), 500, held_out=True)
unseen = list(batches_by_length(unseen_dates, 100))
translator, halfway, losses, curve = learn_to_translate(seed=0)  # the copy is for section 6

print("loss, averaged over 200 updates each:", np.mean(np.reshape(losses, (5, 200)), axis=1).round(3))
print(f"dates of unseen days translated without a mistake: {curve[1000]:.1%}")
show(
    line_chart(
        list(curve),
        {"unseen days": list(curve.values())},
        xlabel="updates (32 dates each)",
        ylabel="share of dates without a mistake",
        title="Dates in eleven languages into ISO 8601",
    ),
    alt="Share of held-out dates translated without a mistake, against the number of updates. It is near zero after two "
    "hundred updates, then rises steeply, and ends near nine tenths.",
)
assert curve[1000] > 0.8, "Expected most dates right; if an answer above has not passed its check, that may be why."

# %% [markdown]
# Look at the shape of the curve. At first, next to nothing. A date is right if its ten characters are right, and if each
# is right with probability 0.8, all ten of them are with $0.8^{10} = 0.11$. A share of whole answers hides progress at
# first, and shows it late. The loss was falling from the start.
#
# Over five draws of the start weights and of the dates, it ends at
# {{dates/2 added to the bias of z/right after 1000|median .0%}}
# ({{dates/2 added to the bias of z/right after 1000|range .0%}}). Without the 2 in the bias of $z$, all else equal, it
# is {{dates/nothing added/right after 1000|median .0%}} ({{dates/nothing added/right after 1000|range .0%}}). One
# number at the start decides whether this network learns the task in the time that we give it.

# %% [markdown]
# ## 4 · How right is an answer?
#
# There are two honest measures for answers that are sequences. The strict one: is it the right answer or not?

# %% [markdown]
# ### Exercise 12.5 · `exact_match`
# *●○○ · 3 minutes · 1 point*
#
# The share, from 0 to 1, of predictions that are **exactly** their target, from beginning to end. Both arguments are
# lists of the same length, at least 1; what they hold are strings, or lists of ids.
#
#     ["1999-12-31", "2000-01-01"]  against  ["1999-12-31", "2000-01-10"]   gives 0.5


# %% answer="exact_match"
def exact_match(predictions, targets):
    """The share of predictions that equal their target: two lists of strings or of lists of ids -> a float."""
    ### BEGIN SOLUTION
    return sum(p == t for p, t in zip(predictions, targets)) / len(targets)
    ### END SOLUTION


# %% check="exact_match"
check(exact_match)

# %% [markdown]
# The mild one: *how far off* is it? 1998-03-04 for 1989-03-04 is a slip, 2047-12-30 is nonsense. Comparing place by place
# will not do: a single token too many at the front, and everything after it is "wrong". What we want is the least number
# of **edits** that turn one into the other, where an edit inserts one item, deletes one, or replaces one by another.
#
# To find it, begin with beginnings. Let $d_{ij}$ be the distance between the first $i$ items of $a$ and the first $j$ of
# $b$. At their ends one of three things was done, so
#
# $$ d_{ij} = \min \begin{cases} d_{i-1,j} + 1 & \text{delete } a_i\\ d_{i,j-1} + 1 & \text{insert } b_j\\ d_{i-1,j-1}
# + [a_i \neq b_j] & \text{replace } a_i \text{ by } b_j \text{, or keep it} \end{cases} \qquad d_{i0} = i, \quad d_{0j} =
# j $$
#
# where $[a_i \neq b_j]$ is 1 if the two differ and 0 if not. Every entry needs only three neighbours, so the table can be
# filled row by row. Here it is for 1989 and 1998, with one of the cheapest ways through it. The answer is in the last
# corner: 2, insert a 9 and delete one.

# %% tags=["experiment"]
from rnncourse.encoder_decoder import edit_distance as distance_of
from rnncourse.plots.encoder_decoder import edit_table

table = np.array([[distance_of("1989"[:i], "1998"[:j]) for j in range(5)] for i in range(5)])
assert table[-1, -1] == 2, "Expected two edits from 1989 to 1998."
show(
    edit_table("1989", "1998", table, [(0, 0), (1, 1), (2, 2), (2, 3), (3, 4), (4, 4)]),
    alt="A table of five rows and five columns for the beginnings of 1989 and 1998. The first row and the first column are 0, 1, "
    "2, 3, 4; the last corner is 2. A tinted path leads from the first corner to the last with one step to the right, one "
    "step down and three along the diagonal.",
)

# %% [markdown]
# ### Exercise 12.6 · `edit_distance`
# *●●○ · 15 minutes · 3 points*
#
# The least number of insertions, deletions and replacements, each at cost 1, that turn `a` into `b`. Both are strings
# or lists, and either may be empty.
#
#     "kitten", "sitting"  gives 3       [3, 1, 2], [1, 2]  gives 1       "", "abc"  gives 3


# %% answer="edit_distance"
def edit_distance(a, b):
    """The least number of edits from a to b, two strings or lists -> an int."""
    ### BEGIN SOLUTION
    above = list(range(len(b) + 1))
    for i, x in enumerate(a, start=1):
        row = [i]
        for j, y in enumerate(b, start=1):
            row.append(min(above[j] + 1, row[-1] + 1, above[j - 1] + (x != y)))
        above = row
    return above[-1]
    ### END SOLUTION


# %% check="edit_distance"
check(edit_distance)

# %% [markdown]
# You own the measure behind spelling correction, speech recognition (where, per word, it is the *word error rate*) and
# the comparison of genes. And you have met dynamic programming: a search through exponentially many ways, in $|a|
# \cdot |b|$ steps. Remember that it can be done *here*. In section 6 it cannot.

# %% [markdown]
# ## 5 · Writing
#
# In use there is no teacher. The decoder reads bos, writes something, reads *that*, and goes on until it writes eos.
# The simplest way to choose is greedily: the most probable token, each time.
#
# To keep this apart from networks, the search sees a model as one function, **`step(token, state)`**. It returns two
# things: the log-probabilities of the next token, an array `(V,)`, and the next state. What a state is, is the model's
# business. A state may be handed to `step` more than once.

# %% [markdown]
# ### Exercise 12.7 · `greedy_decode`
# *●●○ · 10 minutes · 3 points*
#
# `greedy_decode(step, state, bos, eos, max_length)` returns the list of new token ids, **without bos and without
# eos**. The first call reads `bos` in the given `state`. It ends when eos is the most probable token, or when `step` has
# been called `max_length` times.
#
# By hand: let token 0 be bos and 3 eos. If `step` gives the greatest log-probability to 2 after bos, to 1 after 2, to 3
# after 1, the answer is `[2, 1]`, after three calls. With `max_length=2` it is `[2, 1]` too, after two; with
# `max_length=1` it is `[2]`.


# %% answer="greedy_decode"
def greedy_decode(step, state, bos, eos, max_length):
    """The most probable token each time: step(token, state) -> (log_probabilities (V,), state); gives a list of ids."""
    ### BEGIN SOLUTION
    token, tokens = bos, []
    for _ in range(max_length):
        log_probabilities, state = step(token, state)
        token = int(np.argmax(log_probabilities))
        if token == eos:
            break
        tokens.append(token)
    return tokens
    ### END SOLUTION


# %% check="greedy_decode"
check(greedy_decode)

# %% [markdown]
# A few lines make such a `step` of your decoder; the course has them as `decoder_step`. Now read what your network makes
# of unseen days, and where it fails. **Guess first:** when it is wrong, does it look wrong? How many edits from the truth?

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.encoder_decoder_torch import decoder_step

decode_greedily, distance, match = use(greedy_decode), use(edit_distance), use(exact_match)


def summary_of(model, written):
    """The state in which the encoder leaves one date."""
    with torch.no_grad():
        return model.encoder(torch.from_numpy(encode_dates([written]).source))[1]


def as_text(ids):
    return "".join(ISO_VOCABULARY[i] for i in ids)


step = decoder_step(translator.decoder)
translations = [as_text(decode_greedily(step, summary_of(translator, d), BOS, EOS, 20)) for d in unseen_dates[:300]]
truths = [d.iso for d in unseen_dates[:300]]
for written, translation in list(zip(unseen_dates, translations))[:6]:
    print(f"{written.language}   {written.text:<36} {translation}")
share, edits = (
    match(translations, truths),
    np.mean([distance(p, t) for p, t in zip(translations, truths, strict=True)]),
)
print(f"exactly right: {share:.1%}; edits per date, on average: {edits:.3f}")
mistakes = [(d, t) for d, t in zip(unseen_dates, translations) if t != d.iso]
for written, translation in mistakes[:10]:
    print(f"  {written.text!r} became {translation}, {distance(translation, written.iso)} edit(s) from the truth")
dates_in_form = np.mean([bool(re.fullmatch(r"\d{4}-\d\d-\d\d", t)) for t in translations])
print(f"answers in the form of a date: {dates_in_form:.1%}")
assert share > 0.8, "Expected most dates right; if greedy_decode or exact_match has not passed, that may be why."

# %% [markdown]
# Where it errs, it is mostly off by a digit or two. It has learned what an ISO date looks like so well that even its
# mistakes look like dates. That is a trap, and all models of this kind set it: **a fluent answer is no sign of a right
# one.**

# %% [markdown]
# ## 6 · Greedy is not best
#
# What we want is the most probable *answer*. What greedy takes is the most probable *next token*, and never looks back.
# Here is a model with seven answers in all, so that you can see every one of them:

# %% tags=["experiment"]
from rnncourse.plots.encoder_decoder import answer_tree

first = {"the": 0.5, "my": 0.4, "a": 0.1}
then = {
    "the": {"dog": 0.4, "cat": 0.35, "house": 0.25},
    "my": {"dog": 0.9, "cat": 0.1},
    "a": {"dog": 0.6, "cat": 0.4},
}
joint = {(a, b): first[a] * p for a in first for b, p in then[a].items()}
best = max(joint, key=joint.get)
greedy_first = max(first, key=first.get)
greedy = (greedy_first, max(then[greedy_first], key=then[greedy_first].get))
print(f"greedy: {' '.join(greedy)}, {joint[greedy]:.2f}       best: {' '.join(best)}, {joint[best]:.2f}")
assert joint[greedy] < joint[best], "Expected greedy to miss the best answer of this tree."
assert abs(sum(joint.values()) - 1) < 1e-12, "Expected the probabilities of all answers to sum to 1."
show(
    answer_tree(first, then, {"greedy": greedy, "best": best}),
    alt="A tree of all answers of two words. Greedy goes from bos to the, with 0.50, and on to dog, with 0.40: 0.200 in all. The "
    "best answer goes to my, with 0.40, and on to dog, with 0.90: 0.360.",
)

# %% [markdown]
# "the" is the most probable first word, but nothing that follows it is probable. Greedy takes the 0.5 at once, and then
# must take what is left. The answer that wins begins with the second best word.
#
# Can one search them all? With $V$ tokens and $T$ steps there are about $V^T$ answers: for the dates, with ten digits,
# the dash and eos, $12^{11}$. And no dynamic programming helps. In a bigram model of unit 01 two beginnings with the same
# last word have the same future, so only the better one need be kept. Here the state remembers the whole beginning.
#
# So one compromises. Keep not one beginning but the `width` best, and call them the **beam**. At each step all of
# them are continued in all ways, and of all these candidates together the `width` best are kept. Their scores are
# compared as *sums of log-probabilities*. A product of probabilities would do on paper, but after a few hundred tokens
# it is smaller than any float, and zero.
#
# *By hand*, width 2: after one step the beam holds "the" ($\log 0.5 = -0.69$) and "my" ($\log 0.4 = -0.92$). Their
# five continuations have scores $-1.61, -1.74, -2.08$ and $-1.02, -3.22$. The two best are "my dog" ($-1.02$) and "the
# dog" ($-1.61$): the beam has found what greedy missed. Here it is as a film: it grows, and it is cut, round by round.
# What has ended stays where it is.

# %% tags=["experiment"]
from rnncourse.plots.films import beam_film


def continuations(said):
    """What may come after these words, and how probable each is."""
    return first if not said else then[said[0]] if len(said) == 1 else {"eos": 1.0}


beam_film(continuations, width=2).show(
    alt="A tree that grows from bos to the right. Of the first words the, my and a, a is crossed out; of their five "
    "continuations cat, house and cat are crossed out. Left are the dog and my dog, both ended by eos and framed, with the "
    "sums -1.61 and -1.02.",
    title="A beam of two, round by round",
)

# %% [markdown]
# ### Exercise 12.8 · `beam_search`
# *●●● · 30 minutes · 5 points*
#
# `beam_search(step, state, bos, eos, max_length, width)` returns a list of `(tokens, score)`, at most `width` of them,
# **best first**. `step` is as in `greedy_decode`. To the letter:
#
# 1. A *hypothesis* has tokens, a score, a state, a last token, and may have *ended*. The beam begins with one: no
#    tokens, score 0, the given state, last token bos.
# 2. In each round, a hypothesis that has **not ended** is replaced by its V continuations, one for each next token. Each
#    has that token's log-probability added to its score, and its own state: the one that *this* call of `step` returned.
#    The token is appended, except eos, which ends the hypothesis and is not written. Its log-probability **counts like
#    any other**.
# 3. A hypothesis that **has ended** is a candidate as it is, with the score that it has; `step` is not called for it. It
#    competes with all others for the `width` places, and takes up one of them as long as fewer than `width` candidates
#    are better. Nothing else happens to it.
# 4. Of all candidates, keep the `width` best by score.
# 5. There are at most `max_length` rounds. What has not ended by then is returned as it is.
#
# Scores are plain sums, not divided by the length. If there are fewer candidates than `width`, keep them all. In the
# cases of the check no two scores tie.
#
# For the tree above, with width 2, it returns "my dog" with $-1.02$ and "the dog" with $-1.61$.


# %% answer="beam_search"
def beam_search(step, state, bos, eos, max_length, width):
    """The width best hypotheses: step(token, state) -> (log_probabilities (V,), state); gives [(tokens, score), ...]."""
    ### BEGIN SOLUTION
    beam = [([], 0.0, bos, state, False)]  # tokens, score, last token, state, ended
    for _ in range(max_length):
        candidates = []
        for tokens, score, last, before, ended in beam:
            if ended:
                candidates.append((tokens, score, last, before, True))
                continue
            log_probabilities, after = step(last, before)
            for token, log_probability in enumerate(log_probabilities):
                longer = tokens if token == eos else [*tokens, token]
                candidates.append((longer, score + float(log_probability), token, after, token == eos))
        beam = sorted(candidates, key=lambda candidate: -candidate[1])[:width]
        if all(ended for *_, ended in beam):
            break
    return [(tokens, score) for tokens, score, *_ in beam]
    ### END SOLUTION


# %% check="beam_search"
check(beam_search)

# %% [markdown]
# You own a search that speech recognizers used long before neural networks translated anything, and that is in use to
# this day. Try it on the tree, as a model with a `step`. **Guess first:** what does width 3 find that width 2 does not?

# %% tags=["experiment"]
search, decode_greedily = use(beam_search), use(greedy_decode)
words = ["bos", "eos", "the", "my", "a", "dog", "cat", "house"]


def tree_step(token, state):
    """The tree as a model; its state is the words so far."""
    state = state if words[token] == "bos" else (*state, words[token])
    after = first if not state else then[state[0]] if len(state) == 1 else {"eos": 1.0}
    return np.log([after.get(word, 0.0) + 1e-12 for word in words]), state


print("greedy  :", " ".join(words[i] for i in decode_greedily(tree_step, (), 0, 1, 5)))
for width in (1, 2, 3):
    found = search(tree_step, (), 0, 1, 5, width)
    print(
        f"width {width} :", ", ".join(f"{' '.join(words[i] for i in tokens)} ({score:.2f})" for tokens, score in found)
    )
assert [words[i] for i in search(tree_step, (), 0, 1, 5, 2)[0][0]] == ["my", "dog"], (
    "Expected a beam of two to find what greedy missed; if beam_search has not passed its check, that may be why."
)

# %% [markdown]
# ### Experiment · how wide is wide enough?
#
# Width 1 is greedy. Width $V^T$ is a search of everything. In between, nothing is promised: a beam may lose the best
# answer at its first step, and a wider one may even end with a worse answer than a narrower one. So measure. We draw 150
# models at random, each a table with three states, small enough to list all of its answers.
#
# **Guess first:** in how many of ten models does greedy find the best answer of all, and how wide must the beam be for
# nine of ten?
#
# **Claim:** greedy finds the best answer in fewer than six models of ten, a beam of six in more than nine of ten. In models
# that are less sure of each token, both find it less often.

# %% tags=["experiment"]
V, T, widths = 5, 5, [1, 2, 3, 4, 6, 8]  # token 0 is bos and eos: it ends an answer, and may end it at once


def random_model(rng, spread=1.5):
    """A model as a `step`: a table of three states. The greater the spread, the surer it is."""
    scores, following = spread * rng.normal(size=(3, V, V)), rng.integers(0, 3, size=(3, V))
    scores[..., 0] -= 2.0  # so that few answers are short
    table = scores - np.log(np.exp(scores).sum(axis=-1, keepdims=True))
    return lambda token, state: (table[state, token], following[state, token])


def search_models(models, seed, spread=1.5):
    """How far below the best of all answers a beam of each width ends (models, widths); whether the best is empty."""
    rng = np.random.default_rng(seed)
    behind, empty = [], []
    for _ in track(range(models), "searching"):
        model = random_model(rng, spread)
        best, score = search(model, 0, 0, 0, T, V**T)[0]
        behind.append([score - search(model, 0, 0, 0, T, width)[0][1] for width in widths])
        empty.append(best == [])
    return np.array(behind), np.array(empty)


behind, empty = search_models(150, seed=3)
shares = (behind < 1e-9).mean(axis=0)
worse = (np.diff(behind, axis=1) > 1e-9).any(axis=1).sum()
print("share of models in which the best answer was found:", dict(zip(widths, shares.round(2).tolist())))
print(f"the best answer is empty in {empty.sum()} models; a wider beam ended worse than a narrower one in {worse}")
show(
    line_chart(
        widths,
        {"150 random models": shares},
        xlabel="width of the beam",
        ylabel="share with the best answer found",
        title="What a beam finds, against a search of everything",
    ),
    alt="Share of random models in which the best answer of all was found, against the width of the beam: about a half at width 1, "
    "rising fast to above 0.9 at width 6 and close to 1 at width 8.",
)
assert shares[0] < 0.6 < 0.9 < shares[widths.index(6)], (
    "Expected a beam of six to find far more than greedy; if beam_search has not passed its check, that may be why."
)

# %% [markdown]
# Over five times 150 models, greedy finds the best in {{random_models/spread 1.5/width 1|median .0%}} of them and a
# beam of six in {{random_models/spread 1.5/width 6|median .0%}}. Make the models less sure (a spread of 0.5 in place of
# 1.5) and it is {{random_models/flatter, 0.5/width 1|median .0%}} and
# {{random_models/flatter, 0.5/width 6|median .0%}}; make them surer (4), and it is
# {{random_models/surer, 4/width 1|median .0%}} and {{random_models/surer, 4/width 6|median .0%}}. How wide is wide
# enough depends on the model.
#
# Look at what it is that the narrow beams miss in unsure models: in
# {{random_models/flatter, 0.5/best is empty|median .0%}} of them the best answer is the *empty* one. Each token costs
# some probability, and who stops at once pays once. Translators that were trained on millions of sentences have been
# caught at the same (see "Where to read on").
#
# ### Experiment · and on the dates?
#
# Let both searches loose on your translator, and on the copy that we put aside after 400 updates, when it was still
# poor. For every wrong answer one question is worth asking: **who is to blame, the search or the model?** The model can
# say how probable it finds the *true* answer. If that is more probable than what the search came back with, the search
# has failed. If not, the model really believes in its mistake, and no better search would help.
#
# **Guess first:** of ten mistakes of the poor copy, how many would a better search have avoided?
#
# **Claim:** on the poor copy the beam finds a more probable answer for at least one date in twenty, and hardly ever a
# less probable one; greedy's search is to blame for some mistakes, that of the beam for at most half as many. And still,
# more than half of the mistakes stay.

# %% tags=["experiment", "nbval-ignore-output"]
search, decode_greedily, match = use(beam_search), use(greedy_decode), use(exact_match)


def score_of(step, state, tokens):
    """The log-probability of an answer, its eos included."""
    total, last = 0.0, BOS
    for token in [*tokens, EOS]:
        log_probabilities, state = step(last, state)
        total, last = total + log_probabilities[token], token
    return total


def judge(model, dates):
    """What greedy search and a beam of 5 make of these dates, and who is to blame for what is wrong."""
    answers = [[ISO_VOCABULARY.index(c) for c in d.iso] for d in dates]
    step, states = decoder_step(model.decoder), [summary_of(model, d) for d in dates]
    true_scores = [score_of(step, s, a) for s, a in zip(states, answers, strict=True)]
    by_greedy = [decode_greedily(step, s, BOS, EOS, 20) for s in states]
    by_beam = [search(step, s, BOS, EOS, 20, 5)[0] for s in track(states, "beam of 5")]
    greedy_scores = [score_of(step, s, g) for s, g in zip(states, by_greedy, strict=True)]
    return {
        "greedy right": match(by_greedy, answers),
        "beam right": match([tokens for tokens, _ in by_beam], answers),
        "beam found better": np.mean([b > g + 1e-4 for (_, b), g in zip(by_beam, greedy_scores, strict=True)]),
        "beam found worse": np.mean([b < g - 1e-4 for (_, b), g in zip(by_beam, greedy_scores, strict=True)]),
        "greedy wrong": sum(g != a for g, a in zip(by_greedy, answers)),
        "greedy wrong by search": sum(
            g != a and t > s for g, a, t, s in zip(by_greedy, answers, true_scores, greedy_scores)
        ),
        "beam wrong": sum(b != a for (b, _), a in zip(by_beam, answers)),
        "beam wrong by search": sum(b != a and t > s + 1e-4 for (b, s), a, t in zip(by_beam, answers, true_scores)),
    }


for name, model in {"after 400 updates": halfway, "fully trained": translator}.items():
    r = judge(model, unseen_dates[:100])
    print(f"{name}: exact {r['greedy right']:.0%} greedy, {r['beam right']:.0%} with a beam of 5")
    print(
        f"   the beam's answer is more probable for {r['beam found better']:.0%} of the dates, "
        f"less probable for {r['beam found worse']:.0%}"
    )
    print(
        f"   greedy was wrong {r['greedy wrong']} times, {r['greedy wrong by search']} of them by the search; "
        f"the beam {r['beam wrong']} times, {r['beam wrong by search']} of them by the search"
    )
    assert r["beam wrong by search"] <= r["greedy wrong by search"], (
        "Expected a beam to be to blame no more often than greedy; if beam_search has not passed, that may be why."
    )

# %% [markdown]
# The beam does what it is for: for the poor model it finds answers that the model likes better, and the mistakes that
# were the search's own become few. But they were the smaller part. Most of the time the model believes in the wrong
# date, and a better search finds that belief more surely. With five translators, of 60 dates each, greedy was wrong on
# {{dates/2 added to the bias of z/poor, greedy wrong|median .0f}}
# ({{dates/2 added to the bias of z/poor, greedy wrong by search|median .0f}} by its search), the beam on
# {{dates/2 added to the bias of z/poor, beam wrong|median .0f}}
# ({{dates/2 added to the bias of z/poor, beam wrong by search|median .0f}} by its search). Fully trained, it was
# {{dates/2 added to the bias of z/trained, greedy wrong|median .0f}} and
# {{dates/2 added to the bias of z/trained, beam wrong|median .0f}}: there is little left to find. Such a model is so
# sure of each token that the greedy path is almost always the best one.
#
# So two measurements belong to every search: the score of what it found, and the score of the truth. They tell you
# whether to work on the search or on the model.

# %% [markdown]
# ## 7 · Does it have to be the teacher?
#
# Why not train the decoder the way it will be used, on its own guesses? And what happens if you forget to shift? Three
# programs, equal in all but what the decoder reads in training. The task could not be plainer: **copy** a string of one
# to six random digits. It is judged as it is used, greedily, on strings of six.
#
# **Guess first:** order the three by their loss at the end, and then by what they copy. Is it the same order?
#
# **Claim:** after 600 updates the decoder with a teacher copies at least a third of the strings. The one that read its own
# guesses copies fewer than one in ten; it needs twice the updates for a third. The decoder whose targets are not shifted
# has a loss below 0.05, and copies nothing.

# %% tags=["experiment", "nbval-ignore-output"]
Enc, Dec, Translator = use(Encoder), use(Decoder), use(Seq2Seq)
DIGITS = 10  # ids 3 to 12, behind padding, bos and eos


def strings(length, count, generator):
    """Random digits (length, count), and the same with eos behind them."""
    drawn = torch.randint(3, 3 + DIGITS, (length, count), generator=generator)
    return drawn, torch.cat([drawn, torch.full((1, count), EOS)])


class OwnGuesses(Translator):
    """Reads in training what it has just written."""

    def forward(self, source, source_lengths, targets):
        _, state = self.encoder(source, source_lengths)
        token, logits = torch.full_like(targets[:1], self.bos), []
        for _ in targets:
            scores, state = self.decoder(token, state)
            token = scores.argmax(dim=-1)
            logits.append(scores)
        return torch.cat(logits)


class NotShifted(Translator):
    """Reads in training the very token that it is to write."""

    def forward(self, source, source_lengths, targets):
        _, state = self.encoder(source, source_lengths)
        return self.decoder(targets, state)[0]


def cut_short(targets, share, generator):
    """Targets (T, N) of which this share ends too early: eos at a random place, and padding behind it."""
    steps, count = targets.shape
    is_cut = torch.rand(count, generator=generator) < share
    ends = torch.where(is_cut, torch.randint(0, steps - 1, (count,), generator=generator), steps)
    place = torch.arange(steps)[:, None]
    return torch.where(place < ends, targets, torch.where(place == ends, EOS, 0))


def learn_to_copy(kind, hidden, longest, updates, every, seed=0, cut=0.0):
    """Train on strings of 1 to `longest` digits; gives the model, its losses and its share right on the longest."""
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)
    lengths = np.random.default_rng(seed).integers(1, longest + 1, updates)
    model = kind(Enc(3 + DIGITS, 16, hidden), Dec(3 + DIGITS, 16, hidden), BOS)
    optimizer = torch.optim.Adam(model.parameters())
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.004, total_steps=updates, pct_start=0.1)
    losses, rights = [], []
    for done, length in enumerate(track(lengths.tolist(), "training"), start=1):
        source, targets = strings(length, 64, generator)
        targets = cut_short(targets, cut, generator) if cut else targets  # for section 8
        logits = model(source, None, targets)
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=0)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
        if done % every == 0:
            rights.append(copies(model, longest))
    return model, losses, rights


def copies(model, length):
    """The share of 400 unseen strings of this length that are copied without a mistake."""
    source, targets = strings(length, 400, torch.Generator().manual_seed(1))
    return share_right(model, [(source, None, targets)])


curves = {}
kinds = {
    "the true tokens,\nshifted": Translator,
    "its own\nguesses": OwnGuesses,
    "the true tokens,\nnot shifted": NotShifted,
}
for name, kind in kinds.items():
    _, losses, curves[name] = learn_to_copy(kind, 64, 6, 600, 100)
    print(
        f"{' '.join(name.split()):30} loss over the last 100 updates {np.mean(losses[-100:]):.3f}, copied {curves[name][-1]:.0%}"
    )
    if kind is NotShifted:
        assert np.mean(losses[-100:]) < 0.05, "Expected a loss near zero where the targets are not shifted."
show(
    line_chart(
        range(100, 601, 100),
        curves,
        xlabel="updates",
        ylabel="strings of 6 digits copied (share)",
        title="What the decoder reads in training",
    ),
    alt="Share of strings copied without a mistake against the number of updates, for three ways of training. With the true tokens "
    "shifted it rises to about a half; with its own guesses it stays below a tenth; with the true tokens not shifted it is zero throughout.",
)
taught, guessed, unshifted = (curve[-1] for curve in curves.values())
assert taught > guessed > unshifted, (
    "Expected most with a teacher and nothing unshifted; if Seq2Seq or shift_right has not passed, that may be why."
)

# %% [markdown]
# A decoder that is fed its own guesses reads noise at first, and has to learn two things at once. With a teacher every
# step is a lesson from the start, however bad the pupil. It is *sooner* done: over five seeds, the taught one copies
# {{what_the_decoder_reads/teacher/copied|median .0%}}, the other {{what_the_decoder_reads/own guesses/copied|median .0%}},
# and after twice the updates {{what_the_decoder_reads/own guesses, twice the updates/copied|median .0%}}. (Was it not the
# other way round in unit 11, where the singer that was trained alone won? What that one said went back as plain numbers,
# and the gradient ran through them. A token is *chosen*, and through a choice no gradient runs.)
#
# And the third: a loss that is too good should make you suspicious. It has learned to pass on what it reads, and in use
# there is nothing to pass on.
#
# Teacher forcing has a price, and section 9 will measure it: the decoder has never seen the consequences of its own
# mistakes. This is known as *exposure bias*.

# %% [markdown]
# ## 8 · The likeliest answer is too short
#
# A sum of log-probabilities only ever falls: each token adds a negative number. So a model that is unsure of its tokens
# pays for each of them, and who stops early pays less often. In the random models the best answer of all was often the
# empty one. Is that a toy's disease? Let us see it on a network, with a measure that notices what is missing.
#
# Translators are judged by **BLEU**. It asks of what was *said*: which share of its words stands in the reference, which
# share of its pairs of words, of its triples, of its fours? For each order $n$ the precision $p_n$ counts the n-grams of
# the prediction (unit 01), and as matches those that the reference has too, *each at most as often as it stands there*.
#
# *By hand*, for the reference "the cat sat on the mat" and the prediction "the cat the cat on the mat":
#
# | $n$ | said | in the reference | matches | $p_n$ |
# |---|---|---|---|---|
# | 1 | the 3, cat 2, on 1, mat 1 | the 2, cat 1, on 1, mat 1 | 2 + 1 + 1 + 1 = 5 of 7 | 0.714 |
# | 2 | the cat 2, cat the 1, cat on 1, on the 1, the mat 1 | the cat 1, on the 1, the mat 1 | 1 + 1 + 1 = 3 of 6 | 0.500 |
#
# A precision can be cheated: say one word of which you are sure. So an answer of $c$ tokens that is shorter than the
# reference, of $r$ tokens, is multiplied by a **brevity penalty**. All orders together make a geometric mean:
#
# $$ \mathrm{BLEU} = \min\left(1, e^{1 - r/c}\right) \cdot \left(p_1\, p_2 \cdots p_N\right)^{1/N} $$
#
# Here $c = 7$ and $r = 6$, so the penalty is 1, and for $N = 2$ it is $\sqrt{0.714 \cdot 0.5} = 0.598$. For the
# prediction "the cat" both precisions are 1, and the penalty is $e^{1 - 6/2} = 0.135$. If one order has no match at all,
# BLEU is 0.

# %% [markdown]
# ### Exercise 12.9 · `bleu`
# *●●○ · 20 minutes · 3 points*
#
# `bleu(prediction, reference, max_n=4)` compares two sequences of tokens, each a list or a string, for the orders 1 to
# `max_n`, and returns a number from 0 to 1. Where an order has no match it is 0; so it is for an empty prediction, and
# for one that is shorter than `max_n`. (Papers add the counts of a whole test set up before they divide, and print per
# cent. Ours is for one sentence and one reference.)
#
# `Counter` is imported.
#
#     "the cat the cat on the mat".split()  against  "the cat sat on the mat".split()   max_n=2   gives 0.598
#     "the cat".split()                     against  "the cat sat on the mat".split()   max_n=2   gives 0.135


# %% answer="bleu"
def bleu(prediction, reference, max_n=4):
    """How much two sequences of tokens have in common, by n-grams of the orders 1 to max_n -> a float from 0 to 1."""
    ### BEGIN SOLUTION
    total = 0.0
    for n in range(1, max_n + 1):
        said = Counter(tuple(prediction[k : k + n]) for k in range(len(prediction) - n + 1))
        true = Counter(tuple(reference[k : k + n]) for k in range(len(reference) - n + 1))
        matches = sum(min(count, true[ngram]) for ngram, count in said.items())
        if matches == 0:
            return 0.0
        total += np.log(matches / sum(said.values()))
    penalty = min(1.0, np.exp(1 - len(reference) / len(prediction)))
    return penalty * np.exp(total / max_n)
    ### END SOLUTION


# %% check="bleu"
check(bleu)

# %% [markdown]
# You own the number that two decades of translation were steered by. What it does not see is meaning: a synonym counts
# as a mistake, and "not" is one word among many.
#
# What mends the search is a division. Compare hypotheses not by their sums, but by the sum *per token*, or, with a knob
# $\alpha$ between the two,
#
# $$ \frac{\log p(y_1, \dots, y_\ell \mid x)}{\ell^{\,\alpha}} \qquad \alpha = 0\text{: the sum, as before;} \qquad
# \alpha = 1\text{: the mean} $$
#
# where $\ell$ counts every token that was scored, eos too. *By hand*: "stop" at once has $\log 0.2 = -1.61$. Three tokens
# of $0.55$ each, the last of them eos, have $-1.79$, and lose. But their mean is $-0.60$, and that of the first is $-1.61$.

# %% [markdown]
# ### Exercise 12.10 · `normalised_beam_search`
# *●●○ · 10 minutes · 2 points*
#
# `normalised_beam_search(step, state, bos, eos, max_length, width, alpha)` is `beam_search`, rules 1 to 5, but what is
# compared in each round, and what is returned as the score, is the sum **divided by length to the power of alpha**. The
# length of a hypothesis is the number of its tokens, plus 1 if it has ended, for eos. Copy your `beam_search`, and change
# what has to be changed. (It is to stand by itself: it may not call `beam_search`.)
#
# With `alpha=0` it gives what `beam_search` gives.


# %% answer="normalised_beam_search"
def normalised_beam_search(step, state, bos, eos, max_length, width, alpha):
    """A beam search that compares sums over length ** alpha -> [(tokens, normalised score), ...], best first."""
    ### BEGIN SOLUTION

    def normalised(tokens, score, last, state, ended):
        return score / (len(tokens) + ended) ** alpha

    beam = [([], 0.0, bos, state, False)]  # tokens, score, last token, state, ended
    for _ in range(max_length):
        candidates = []
        for tokens, score, last, before, ended in beam:
            if ended:
                candidates.append((tokens, score, last, before, True))
                continue
            log_probabilities, after = step(last, before)
            for token, log_probability in enumerate(log_probabilities):
                longer = tokens if token == eos else [*tokens, token]
                candidates.append((longer, score + float(log_probability), token, after, token == eos))
        beam = sorted(candidates, key=lambda candidate: -normalised(*candidate))[:width]
        if all(ended for *_, ended in beam):
            break
    return [(candidate[0], normalised(*candidate)) for candidate in beam]
    ### END SOLUTION


# %% check="normalised_beam_search"
check(normalised_beam_search)

# %% [markdown]
# Two lines of code. Are they needed? Two networks learn to copy strings of one to eight digits. The first is taught as
# before. The second is taught from a corpus as one finds them: in three of ten pairs the answer breaks off somewhere.
# It learns that an answer *may* end at any time, and that is all that the search needs.
#
# **Guess first:** both write strings of eight digits. As the beam grows from 1 to 16, which of the two gets better, and
# which gets worse?
#
# **Claim:** taught with answers of which three in ten break off, a network with a beam of 16 loses at least a fifth of the
# BLEU that greedy search has, and writes answers that are at least a digit shorter. Divided by the length, the same
# beam is as good as greedy, within 0.05. Taught with whole answers, the plain beam loses at most 0.05.

# %% tags=["experiment", "nbval-ignore-output"]
search_by_length, score_bleu = use(normalised_beam_search), use(bleu)


def search_strings(model, widths, alpha, count=40, length=8):
    """What beams of these widths write for strings of 8 digits: mean lengths, and mean BLEU of the orders 1 and 2."""
    source, _ = strings(length, count, torch.Generator().manual_seed(5))
    with torch.no_grad():
        _, states = model.encoder(source)
    step, truths = decoder_step(model.decoder), source.T.tolist()
    sizes, scores = [], []
    for width in track(widths, "searching"):
        starts = states.split(1, dim=1)
        found = [search_by_length(step, s.contiguous(), BOS, EOS, 20, width, alpha)[0][0] for s in starts]
        sizes.append(np.mean([len(tokens) for tokens in found]))
        scores.append(np.mean([score_bleu(tokens, truth, 2) for tokens, truth in zip(found, truths, strict=True)]))
    return np.array(sizes), np.array(scores)


copier = learn_to_copy(Translator, 64, 8, 800, 800)[0]
careless = learn_to_copy(Translator, 64, 8, 800, 800, cut=0.3)[0]
beam_widths, by_search = [1, 4, 16], {}
for name, model, alpha in (
    ("whole answers", copier, 0.0),
    ("cut short, sums", careless, 0.0),
    ("cut short,\nby the token", careless, 1.0),
):
    mean_lengths, by_search[name] = search_strings(model, beam_widths, alpha, count=20)
    print(f"{' '.join(name.split()):26} length {mean_lengths.round(1)}   BLEU {by_search[name].round(2)}")
figure = line_chart(
    beam_widths,
    by_search,
    xlabel="width of the beam",
    ylabel="BLEU on strings of 8 digits",
    title="What a wider beam makes of it",
    ylim=(0, 1),
)
figure.axes[0].set_xticks(beam_widths)
show(
    figure,
    alt="BLEU against the width of the beam, 1, 4 and 16. For the network that was taught with whole answers it hardly "
    "changes. For the one whose answers were cut short it falls steeply, from above 0.7 to below 0.5, if sums are compared, and stays "
    "where it was if they are divided by the length.",
)
assert by_search["cut short, sums"][-1] < 0.8 * by_search["cut short, sums"][0], (
    "Expected a wide beam to lose BLEU; if normalised_beam_search or bleu has not passed, that may be why."
)
assert by_search["cut short,\nby the token"][-1] > by_search["cut short, sums"][-1], (
    "Expected the division to help; if normalised_beam_search has not passed its check, that may be why."
)

# %% [markdown]
# A better search, and worse answers. Over five seeds greedy search has a BLEU of
# {{copiers/three in ten cut short/BLEU, width 1|median .2f}}, the beam of 16 one of
# {{copiers/three in ten cut short/BLEU, width 16|median .2f}} with answers of
# {{copiers/three in ten cut short/length, width 16|median .1f}} digits, and divided by the length it has
# {{copiers/three in ten cut short/BLEU, width 16, by the token|median .2f}} with
# {{copiers/three in ten cut short/length, width 16, by the token|median .1f}} digits. The network that was taught with whole
# answers has {{copiers/whole answers/BLEU, width 1|median .2f}} and {{copiers/whole answers/BLEU, width 16|median .2f}}.
#
# Ask who is to blame, as in section 6. Not the search: it found what the model likes best. The model *is* right that each
# ending has a few per cent, and eight digits of which it is half sure have less. It is the question that is wrong, "which
# single answer is the most probable?", where one short answer competes with thousands of long ones that share the rest.
# The division is a patch, but one that most translators with a beam have had since; $\alpha$ is tuned on validation data.

# %% [markdown]
# ## 9 · What one summary holds, and what one wrong digit does
#
# All of the source has to pass through one vector. A string of $L$ random digits carries $L \log_2 10 = 3.3\,L$ bits,
# with no regularity to save any of them: eight digits carry 27. There is room for them: 32 floats are $32 \cdot 32 = 1024$
# bits. The question is how much of that room a network learns to use.
#
# **Guess first:** the small network, $H = 32$, copies some strings of six digits after 800 updates. What helps it more,
# three times the units or four times the updates?
#
# **Claim:** after 800 updates, a summary of three times the size carries longer strings: of six digits the small network
# copies fewer than four in ten, the large one more than eight in ten. But with four times the updates, the small network
# copies more than eight in ten as well.
#
# (Measured, not run here: the medians of five runs of each, trained as in section 8 on strings of one to eight digits.)
#
# | copied without a mistake | 2 digits | 4 digits | 6 digits | 8 digits |
# |---|---|---|---|---|
# | $H = 32$ | {{size_of_the_summary/H = 32/2 digits|median .0%}} | {{size_of_the_summary/H = 32/4 digits|median .0%}} | {{size_of_the_summary/H = 32/6 digits|median .0%}} | {{size_of_the_summary/H = 32/8 digits|median .0%}} |
# | $H = 96$ | {{size_of_the_summary/H = 96/2 digits|median .0%}} | {{size_of_the_summary/H = 96/4 digits|median .0%}} | {{size_of_the_summary/H = 96/6 digits|median .0%}} | {{size_of_the_summary/H = 96/8 digits|median .0%}} |
# | $H = 32$, four times the updates | {{size_of_the_summary/H = 32, four times the updates/2 digits|median .0%}} | {{size_of_the_summary/H = 32, four times the updates/4 digits|median .0%}} | {{size_of_the_summary/H = 32, four times the updates/6 digits|median .0%}} | {{size_of_the_summary/H = 32, four times the updates/8 digits|median .0%}} |
#
# A cliff. More units move it, and so does more training. So a cliff by itself does not tell you that the summary is too
# small. It may be too small, or not yet well used, and only to vary both tells them apart. Certain is the arithmetic: the
# size is fixed before anybody knows how long the source will be, and what does not fit cannot pass. Where the limit
# stands in practice depends on the network. K. Cho and others saw translations get worse from some twenty words on. I.
# Sutskever and others, in the same year, had no difficulty with long sentences: their summary had 8,000 numbers, and
# they fed the source in reverse. (Unit 13 begins at this cliff.)
#
# *Where* in the string do the mistakes stand? And what do they do to the digits that follow? Take the copier of section
# 8 that was taught with whole answers, on strings of eight digits, position by position: once with the true tokens before
# each step, as in training, and once with what it has written itself. And once with the true tokens, except that the
# third one that it reads back is *wrong*.
#
# **Guess first:** after that one wrong digit, how many of the following ones are right: nearly all, half, or no more than by
# chance?
#
# **Claim:** right after one wrong digit fewer than half of the digits are right, and over the rest of the string fewer than a
# third. After the true tokens more than six in ten are, at the same places.


# %% tags=["experiment", "nbval-ignore-output"]
def right_by_position(model, length=8):
    """The share of right digits at each position, after three kinds of tokens that the decoder reads."""
    source, targets = strings(length, 1000, torch.Generator().manual_seed(2))
    read = use(shift_right)(targets, BOS)
    one_wrong = read.clone()
    one_wrong[3] = 3 + (read[3] - 3 + 1) % DIGITS  # the next digit in place of the third
    with torch.no_grad():
        _, state = model.encoder(source)
        written = {
            "after the\ntrue tokens": model.decoder(read, state)[0].argmax(dim=-1),
            "the third one\nis wrong": model.decoder(one_wrong, state)[0].argmax(dim=-1),
            "after its own": write_greedily(model, source, None, length + 1),
        }
    return {name: (tokens == targets).double().mean(dim=1)[:-1].tolist() for name, tokens in written.items()}


at = right_by_position(copier)
for name, values in at.items():
    print(f"{' '.join(name.split()):22}", "  ".join(f"{value:4.0%}" for value in values))
figure = line_chart(
    range(1, 9),
    at,
    xlabel="position in the string",
    ylabel="digits right (share)",
    title="The same model, reading three things (strings of 8)",
)
figure.axes[0].set_xticks(range(1, 9))
show(
    figure,
    alt="Share of right digits at each of eight positions. After the true tokens it falls slowly from 1 and rises at the "
    "end. After its own tokens it falls further. After a wrong third digit it falls at once to less than a half, and stays "
    "near the bottom.",
)
assert abs(at["after its own"][0] - at["after the\ntrue tokens"][0]) < 0.01, (
    "Expected no difference at the first digit."
)
assert at["the third one\nis wrong"][3] < at["after the\ntrue tokens"][3], (
    "Expected a wrong digit to do harm; if Seq2Seq or shift_right has not passed its check, that may be why."
)

# %% [markdown]
# At the first position all are the same: nothing has been written yet. Then the lines part. What a single wrong digit does
# you see in the third line. Over five seeds, of the digits right after it
# {{copiers/whole answers/right after it|median .0%}} are right, where after the true tokens it is
# {{copiers/whole answers/right after it, true tokens|median .0%}}; of those that follow,
# {{copiers/whole answers/later|median .0%}} against {{copiers/whole answers/later, true tokens|median .0%}}. By chance it
# would be one in ten. A wrong digit is read like a right one, and the state is now that of another string.
# The network was never in such a place while it was trained, and has not learned to find back. That is exposure bias at
# work. (It is not all of the gap between the other two lines: the true tokens also give away where in the string one is.)

# %% [markdown]
# ## 10 · A picture can be the source
#
# The decoder does not ask where its first state comes from. It needs $H$ numbers that mean something. So give it a
# *picture*: no time, no encoder that reads step by step, just one vector of features $f$ of fixed size $F$, here the 64
# grey levels of a handwritten digit, and one layer that turns them into a first state:
#
# $$ s_0 = \tanh(f P + p) $$
#
# Why tanh? A GRU's states live between $-1$ and $1$, and that is what the decoder is used to.

# %% [markdown]
# ### Exercise 12.11 · `ImageCaptioner`
# *●●○ · 8 minutes · 2 points*
#
# Write `ImageCaptioner(feature_size, vocabulary_size, embedding_size, hidden_size)` with two parts: `prime`, an
# `nn.Linear` from the features to the hidden size, whose **tanh** is the decoder's first state, and `decoder`, a
# `Decoder(vocabulary_size, embedding_size, hidden_size)`. `forward(features, ids)` takes `features (N, F)` and `ids
# (T, N)`, the decoder's inputs with bos in front already, and returns the `logits (T, N, V)`. The picture comes in
# **once**, as the first state.
#
# (While this is checked, a small decoder of the course's own stands in for `Decoder`, so that a mistake in yours costs
# you nothing here. Treat it as what it is: something that takes ids and a state, and gives logits and a state.)


# %% answer="ImageCaptioner"
class ImageCaptioner(nn.Module):
    """A decoder whose first state is made from features of a picture: prime, then tanh; decoder."""

    def __init__(self, feature_size, vocabulary_size, embedding_size, hidden_size):
        super().__init__()
        ### BEGIN SOLUTION
        self.prime = nn.Linear(feature_size, hidden_size)
        self.decoder = Decoder(vocabulary_size, embedding_size, hidden_size)
        ### END SOLUTION

    def forward(self, features, ids):
        """features (N, F), ids (T, N) -> logits (T, N, V)."""
        ### BEGIN SOLUTION
        state = torch.tanh(self.prime(features)).unsqueeze(0)
        logits, _ = self.decoder(ids, state)
        return logits
        ### END SOLUTION


# %% check="ImageCaptioner"
check(ImageCaptioner)

# %% [markdown]
# A network that has something to say about what it sees. What shall it say?
#
# A caption should be true, so ours are computed. Which digit it is, a person has written down. Whether it leans can be
# computed from the picture: think of the ink as a mass, and ask how far it moves to the right for each row upwards (the
# slope of a regression of column on height). Beyond 0.1 either way we call it leaning, else upright.
#
#     an upright seven         a seven leaning to the left         an eight leaning to the right
#
# Note that "a" or "an" has to be decided *first*, by what comes after it: the digit, or "upright".

# %% tags=["experiment"]
from rnncourse.data import digits

NAMES = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
WORDS = ["<pad>", "<bos>", "<eos>", "a", "an", "upright", "leaning", "to", "the", "left", "right", *NAMES]


def lean(images):
    """How many columns the ink moves to the right for each row upwards, for images (N, 8, 8) -> (N,)."""
    rows, columns = np.mgrid[:8, :8]
    ink = images.sum(axis=(1, 2))
    up = rows - ((images * rows).sum(axis=(1, 2)) / ink)[:, None, None]  # counted downwards, hence the minus below
    right = columns - ((images * columns).sum(axis=(1, 2)) / ink)[:, None, None]
    return -(images * up * right).sum(axis=(1, 2)) / (images * up**2).sum(axis=(1, 2))


def caption(label, slope):
    if abs(slope) <= 0.1:
        return f"an upright {NAMES[label]}"
    return f"{'an' if label == 8 else 'a'} {NAMES[label]} leaning to the {'right' if slope > 0 else 'left'}"


def encode_captions(captions):
    """Ids (T, N), each with eos behind it, padded with zeros."""
    ids = torch.zeros(8, len(captions), dtype=torch.int64)
    for n, words_ in enumerate(captions):
        spelled = [WORDS.index(word) for word in words_.split()] + [EOS]
        ids[: len(spelled), n] = torch.tensor(spelled)
    return ids


seen, unseen_digits = digits()
captions, true_captions = (
    [caption(*pair) for pair in zip(d.labels, lean(d.images), strict=True)] for d in (seen, unseen_digits)
)
for words_ in captions[:4]:
    print(words_)
shares = [np.mean([word in words_.split() for words_ in captions]) for word in ("upright", "left", "right")]
print("upright {:.0%}, leaning to the left {:.0%}, to the right {:.0%}".format(*shares))
assert lean(np.eye(8)[None])[0] < 0 < lean(np.eye(8)[None, ::-1])[0], "Expected the two diagonals to lean apart."

# %% [markdown]
# **Guess first:** it makes two kinds of mistakes, untrue sentences and sentences that are none. Which is the more frequent?
#
# **Claim:** on 500 unseen digits at least 80% of the captions are true in every word, and at least 98% are sentences
# that our little grammar allows. Trained on pictures that have nothing to do with their captions, a network says
# sentences as well, and fewer than 20% of them are true.

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.plots.encoder_decoder import captioned_images

Captioner, shift, match = use(ImageCaptioner), use(shift_right), use(exact_match)
decode_greedily = use(greedy_decode)
features, targets = torch.from_numpy(seen.images).flatten(1), encode_captions(captions)


def learn_to_caption(features, targets, seed=0, epochs=30, size=64):
    """Train a captioner on features (N, 64) and the ids of their captions (T, N)."""
    torch.manual_seed(seed)
    model = Captioner(64, len(WORDS), 16, 96)
    optimizer = torch.optim.AdamW(model.parameters(), weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.005, total_steps=epochs * -(-len(features) // size))
    for _ in track(range(epochs), "training"):
        for rows in torch.randperm(len(features)).split(size):
            logits = model(features[rows], shift(targets[:, rows], BOS))
            loss = nn.functional.cross_entropy(logits.flatten(0, 1), targets[:, rows].flatten(), ignore_index=0)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
    return model


def describe(model, image):
    """What a captioner says of one image (8, 8)."""
    with torch.no_grad():
        state = torch.tanh(model.prime(torch.as_tensor(image, dtype=torch.float32).reshape(1, 64)))[None]
    ids = decode_greedily(decoder_step(model.decoder), state, BOS, EOS, 8)
    return " ".join(WORDS[i] for i in ids)


captioner = learn_to_caption(features, targets)
said = [describe(captioner, image) for image in unseen_digits.images]
grammar = {caption(label, slope) for label in range(10) for slope in (-1, 0, 1)}
true_share, grammatical = match(said, true_captions), np.mean([words_ in grammar for words_ in said])
digit_share = np.mean([NAMES[label] in words_.split() for words_, label in zip(said, unseen_digits.labels)])
near = np.abs(np.abs(lean(unseen_digits.images)) - 0.1) < 0.02
print(f"captions true in every word: {true_share:.0%}; sentences of the grammar: {grammatical:.1%}")
print(
    f"the right digit: {digit_share:.0%}; true where the slope is not within 0.02 of the border: "
    f"{np.mean([a == b for a, b, n in zip(said, true_captions, near) if not n]):.0%}"
)
order = np.argsort([a == b for a, b in zip(said, true_captions)], kind="stable")
shown = [*order[:3], *order[-5:]]
show(
    captioned_images(unseen_digits.images[shown], [said[i] for i in shown], [true_captions[i] for i in shown]),
    alt="Eight handwritten digits of 8 by 8 pixels with the captions that the network gave them. Three captions are marked as wrong, "
    "with the true one in brackets; five are true.",
)
assert true_share > 0.8, "Expected four captions in five to be true; see whether ImageCaptioner has passed its check."
assert grammatical > 0.98, (
    "Expected nearly all captions to be sentences; see whether ImageCaptioner has passed its check."
)

# %% [markdown]
# Some of the wrong captions name another digit. Others are border cases: a slope of 0.101 is leaning and one of 0.099
# is upright, whatever the eye says. The grammar the network has by heart, and it needs no picture for it: trained on
# pictures that were dealt out anew among the captions, it says sentences in
# {{captions/another picture/sentences|median .0%}} of all cases, and {{captions/another picture/true|median .0%}} are
# true (with its own pictures {{captions/its own picture/true|median .0%}}). A wrong caption sounds as sure as a true
# one: fluent is not right, in pictures as in dates.

# %% [markdown]
# ## 11 · Optional: nobody says when
#
# *Forty minutes; nothing that comes later needs it.* A decoder that writes until it is done is one way to another length.
# There is an older one, for when the answer comes **in the order of the input** and is shorter: speech, handwriting, a
# tune that somebody whistles. At each step the network says one symbol, or says *nothing*: a symbol of its own, the
# **blank** "-". Then equal neighbours are merged, and the blanks dropped:
#
# > - a a - a b b - &nbsp;&nbsp;→&nbsp;&nbsp; - a - a b - &nbsp;&nbsp;→&nbsp;&nbsp; a a b
#
# The blank has a second office: without one between them, two a's would be merged into one. To train it, one has
# recordings and what was whistled, but nobody has written down *when* each note begins. So count all ways of saying it:
#
# $$ p(y \mid x) = \sum_{\text{paths } \pi \text{ that collapse to } y}\ \prod_{t=1}^{T} p_t(\pi_t) $$
#
# *By hand*: two steps, each with probability 0.5 for a and 0.5 for the blank. The paths "aa", "a-" and "-a" collapse to
# "a", each with 0.25. So $p(\text{a}) = 0.75$, and the rest is "--", nothing.
#
# There are more paths than anyone can list. But you own the trick from section 4: a table in which every entry
# needs only a few neighbours. There the *cheapest* way to an entry was kept, here all ways are **added up**. Write the
# target with a blank before, between and behind, $z = (-, y_1, -, y_2, \dots, y_L, -)$, and let $\alpha_t(s)$ be the
# probability of all beginnings of paths that have said their $t$-th symbol, and stand at place $s$ of $z$:
#
# $$ \alpha_t(s) = p_t(z_s) \cdot \big(\alpha_{t-1}(s) + \alpha_{t-1}(s-1) + [z_s \neq z_{s-2}]\ \alpha_{t-1}(s-2)\big) $$
#
# It stays, or goes on by one, or, where the symbols two apart differ, leaves out the blank between them. (Two blanks
# are never different, so that no symbol is left out.) A path begins at one of the first two places and ends at one of
# the last two.

# %% tags=["experiment"]
from rnncourse.plots.encoder_decoder import path_lattice

show(
    path_lattice("aab", 6),
    alt="A table with a row for each place of blank, a, blank, a, blank, b, blank and a column for each of six steps. From each "
    "entry arrows lead to the same place one step later, to the next place, and from the second a past the blank to b; "
    "from the first a none leads past the blank to the second a. Paths begin in the first two rows and end in the last two.",
)

# %% [markdown]
# ### Exercise 12.12 · `ctc_log_likelihood` (optional)
# *●●● · 25 minutes · 3 points*
#
# `ctc_log_likelihood(log_probabilities, targets, blank=0)`: the natural logarithm of $p(y \mid x)$, from an array
# `log_probabilities (T, Q)`, one row for each step, and an array `targets (L,)` of ids, among which `blank` is not. L may
# be 0, and T is at least 1. What no path of T symbols can say has $-\infty$. Recordings are long: a product of some
# hundred probabilities is zero, so add logarithms. `np.logaddexp(a, b)` is $\log(e^a + e^b)$, and
# `np.logaddexp.reduce([a, b, c])` is that of several.
#
#     log of [[0.5, 0.5], [0.5, 0.5]]     targets [1]  gives log 0.75 = -0.288      [1, 1]  gives -inf


# %% answer="ctc_log_likelihood"
def ctc_log_likelihood(log_probabilities, targets, blank=0):
    """log p of all paths that collapse to targets (L,), from log_probabilities (T, Q) -> a float."""
    ### BEGIN SOLUTION
    z = [blank]
    for symbol in targets:
        z += [int(symbol), blank]
    alpha = np.full(len(z), -np.inf)
    alpha[:2] = log_probabilities[0][z[:2]]
    for row in log_probabilities[1:]:
        before, alpha = alpha, np.full(len(z), -np.inf)
        for s in range(len(z)):
            ways = [before[s]]
            if s >= 1:
                ways.append(before[s - 1])
            if s >= 2 and z[s] != z[s - 2]:
                ways.append(before[s - 2])
            alpha[s] = np.logaddexp.reduce(ways) + row[z[s]]
    return np.logaddexp.reduce(alpha[-2:])
    ### END SOLUTION


# %% check="ctc_log_likelihood"
check(ctc_log_likelihood)

# %% [markdown]
# You own the loss that taught telephones to take dictation. PyTorch has it as `nn.CTCLoss`: the same table, and its
# gradient.
#
# Now let it learn. Somebody whistles three to six of five notes. Each lasts two to seven steps, some follow at once, and
# a note that comes twice is parted by a breath. What we have is the sound, twelve numbers a step, noise and all, and the
# notes in their order; not when they begin. A control does what one would do without CTC: it cuts the recording into as
# many equal parts as there are notes, and learns each step's label from that. Both are the same network, one GRU,
# and both are read in the same way, by merging and dropping blanks.
#
# **Guess first:** what share of tunes does each read without a mistake?
#
# **Claim:** after 300 updates, the network trained with CTC reads at least eight in ten unseen tunes without a mistake, the
# one trained on equal parts fewer than four in ten.

# %% tags=["experiment", "nbval-ignore-output"]
log_likelihood, share_equal = use(ctc_log_likelihood), use(exact_match)
NOTES = ["–", "do", "re", "mi", "fa", "so"]  # 0 is the blank


def whistle(rng):
    """One tune: its sound (T, 12), its notes (L,), and for each step the note that sounds, 0 for none."""
    notes = rng.integers(1, 6, size=rng.integers(3, 7))
    sounding = [0] * rng.integers(0, 3)
    for k, note in enumerate(notes):
        must_breathe = k > 0 and notes[k - 1] == note
        sounding += [0] * rng.integers(1 if must_breathe else 0, 3) + [note] * rng.integers(2, 8)
    sounding = np.array(sounding + [0] * rng.integers(0, 3))
    pitch = 2.0 * sounding + 0.3 * rng.normal(size=len(sounding))
    peak = np.exp(-((np.arange(12) - pitch[:, None]) ** 2) / 2) * (sounding > 0)[:, None]
    return peak + 0.25 * rng.normal(size=peak.shape), notes, sounding


def equal_parts(T, notes):
    """The notes, each for an equal part of T steps, the last step of which is the blank that ends it."""
    ends = np.linspace(0, T, len(notes) + 1).astype(int)
    labels = np.zeros(T, dtype=int)
    for note, start, end in zip(notes, ends, ends[1:]):
        labels[start : max(start + 1, end - 1)] = note
    return labels


class Listener(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(12, 48)
        self.output = nn.Linear(48, len(NOTES))

    def forward(self, x):
        return torch.log_softmax(self.output(self.rnn(x)[0]), dim=-1)


def learn_to_listen(loss_name, seed=0, updates=300, size=32):
    """Train a listener on fresh tunes, with "ctc", or on a label for each step: "equal parts" or "true times"."""
    torch.manual_seed(seed)
    rng, model = np.random.default_rng(seed), Listener()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.1, updates)
    for _ in track(range(updates), f"training, {loss_name}"):
        tunes = [whistle(rng) for _ in range(size)]
        T = torch.tensor([len(sound) for sound, _, _ in tunes])
        sounds = nn.utils.rnn.pad_sequence([torch.tensor(sound, dtype=torch.float32) for sound, _, _ in tunes])
        log_p = model(sounds)
        if loss_name == "ctc":
            L = torch.tensor([len(notes) for _, notes, _ in tunes])
            written = torch.cat([torch.from_numpy(notes) for _, notes, _ in tunes])
            loss = nn.functional.ctc_loss(log_p, written, T, L, zero_infinity=True)
        else:
            guessed = loss_name == "equal parts"
            labels = [equal_parts(len(sound), notes) if guessed else sounding for sound, notes, sounding in tunes]
            padded = nn.utils.rnn.pad_sequence([torch.from_numpy(one) for one in labels], padding_value=-1)
            loss = nn.functional.cross_entropy(log_p.flatten(0, 1), padded.flatten(), ignore_index=-1)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
    return model


def collapse(path):
    """Merge equal neighbours, then drop the blanks."""
    return [int(now) for before, now in zip([0, *path], path) if now != before and now != 0]


def read_tunes(model, count=200):
    """The share of unseen tunes that are read without a mistake: the best symbol of each step, collapsed."""
    tunes = [whistle(np.random.default_rng([7, n])) for n in range(count)]
    with torch.no_grad():
        paths = [model(torch.tensor(sound, dtype=torch.float32)[:, None])[:, 0].argmax(dim=-1) for sound, _, _ in tunes]
    return share_equal([collapse(path.tolist()) for path in paths], [notes.tolist() for _, notes, _ in tunes])


def is_read(model, tune):
    """Whether a model reads this tune without a mistake."""
    with torch.no_grad():
        path = model(torch.tensor(tune[0], dtype=torch.float32)[:, None])[:, 0].argmax(dim=-1)
    return collapse(path.tolist()) == tune[1].tolist()


# %% tags=["experiment", "nbval-ignore-output"]
listeners = {"ctc": learn_to_listen("ctc")}
print(f"with CTC: {read_tunes(listeners['ctc']):.0%} of unseen tunes read without a mistake")

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.plots.encoder_decoder import spikes

listeners["equal parts"] = learn_to_listen("equal parts")
tunes_right = {name: read_tunes(model) for name, model in listeners.items()}
print(f"with equal parts: {tunes_right['equal parts']:.0%}")
tunes = (whistle(np.random.default_rng([7, n])) for n in range(200))
sound, notes, sounding = next(
    tune for tune in tunes if (np.diff(tune[1]) == 0).any() and is_read(listeners["ctc"], tune)
)
with torch.no_grad():
    heard = {
        name: model(torch.tensor(sound, dtype=torch.float32)[:, None])[:, 0].numpy()
        for name, model in listeners.items()
    }
show(
    spikes({name: np.exp(log_p) for name, log_p in heard.items()}, NOTES, sounding),
    alt="Two charts of the probabilities of the notes against time, above a bar that shows which note sounds when. Trained with "
    "CTC, the note that sounds is at nearly 1 soon after it has begun, and the blank is between the notes. Trained on equal "
    "parts, the probabilities are lower, several notes have some at once, and the blank never wins.",
)
print("what was whistled:", *[NOTES[n] for n in notes], f"  log p = {log_likelihood(heard['ctc'], notes):.2f}")
without_last = notes[:-1]
print(
    "without the last :",
    *[NOTES[n] for n in without_last],
    f"  log p = {log_likelihood(heard['ctc'], without_last):.2f}",
)
by_torch = -nn.functional.ctc_loss(
    torch.from_numpy(heard["ctc"])[:, None],
    torch.from_numpy(notes)[None],
    torch.tensor([len(sound)]),
    torch.tensor([len(notes)]),
    reduction="sum",
).item()
assert log_likelihood(heard["ctc"], notes) > log_likelihood(heard["ctc"], without_last), (
    "Expected the tune to be more probable than without its end; if ctc_log_likelihood has not passed, that may be why."
)
assert abs(by_torch - log_likelihood(heard["ctc"], notes)) < 1e-3, (
    "Expected your table and PyTorch's to agree; if ctc_log_likelihood has not passed its check, that may be why."
)
assert tunes_right["ctc"] > 0.8 > 0.4 > tunes_right["equal parts"], (
    "Expected CTC to read most tunes and equal parts few; if exact_match has not passed its check, that may be why."
)

# %% [markdown]
# Nobody told it when, and it knows. Over five seeds it reads {{listening/ctc/right|median .0%}} of unseen tunes
# ({{listening/ctc/right|range .0%}}), against {{listening/equal parts/right|median .0%}} with equal parts, and
# {{listening/true times/right|median .0%}} with the true times, which nobody has outside of a toy, and which it does
# not miss. Look at when it speaks: soon after a note has begun, and with certainty; between two equal notes it is silent for a moment. How long a
# note lasts the loss does not ask, only that the path collapses to the right notes: to say it once and be silent is
# enough. Where the parts were equal, the network has learned to expect a border where none is.
#
# What CTC cannot do is in its formula: each step is independent of what was said before, given the sound. It has no
# language model inside, no other order than that of the input, and no answer that is longer than the input. The
# decoder of section 1 has all three.

# %% [markdown]
# ## 12 · Bugs to hunt
#
# All of these run. What would you see, and what finds them?
#
# - The targets are not shifted, or they are rolled round, so that the decoder begins with eos in training.
# - `outputs[-1]` as the summary of a padded batch.
# - The decoder's first state is `encoder_state.detach()`, or a new tensor made from its numbers.
# - Padding after eos counts in the loss, and most of the batch is padding.
# - While decoding, `step` is called with the encoder's state each time.
# - In the beam, all hypotheses hold *one* list of tokens, to which each appends; or one state, that each overwrites.
# - The score of an ended hypothesis leaves out eos.
# - Sums are divided by the length, but only when the last beam is sorted.
# - BLEU counts a word as often as it is said.
#
# <details><summary>Answers, when you have thought about them</summary>
#
# The first gives a loss near zero and nonsense in use (section 7); rolled round, it trains well and begins badly in use,
# with a token that it never read. The second: translate one source alone and in a batch with a longer one; the
# answers must agree. The third: the encoder's gradients are `None`, so look at them once, after the first `backward()`;
# the loss falls a little, to that of a language model of answers. The fourth: the loss looks small from the start, and
# falls when you pad more. The fifth: answers repeat themselves, since what comes next depends on the last token alone.
# The sixth: with width
# 1 all is well, with width 2 all answers have the same tokens; compare width $V^T$ with a list of all answers on a model
# of three words. The seventh: the beam prefers short answers, since to stop costs nothing; score a finished answer with
# one teacher-forced pass and compare. The eighth: with wide beams answers are still too short, since the long ones were
# lost on the way; look at the mean length against the width. The last: "the the the the" has a perfect precision.
# </details>

# %% [markdown]
# ## Summary
#
# - An encoder makes a state of a sequence, a decoder makes a sequence of a state. bos begins, eos ends, and the length of
#   the answer is part of the answer.
# - In training the decoder reads the true tokens, shifted right by one. In use it reads its own.
# - Exact match is the strict measure, edit distance the mild one. Fluent is not the same as right.
# - The most probable token, taken each time, does not give the most probable answer. A beam looks further, and promises
#   nothing.
# - Ask of every mistake whether the search made it or the model.
# - Sums of log-probabilities favour the short. Divide by the length; measure with BLEU, which misses what is missing.
# - One summary of fixed size has to serve sources of every length. It does, up to a cliff. More units move the cliff, and
#   so does more training.
# - One wrong token, read back, leads the decoder to where it has never been.
# - The first state may come from anything: a text, a picture.
# - (CTC: an answer in the order of the input needs no decoder, and no times: add up all paths that collapse to it.)

# %% [markdown] written="encoder_decoder_written" points=3
# ### Written question · 3 points
#
# A group translates instructions for machines. Up to fifteen words their encoder-decoder is good; with thirty words
# numbers and names go wrong, though every sentence reads well. In the meeting there are two proposals. *A*: a beam of 50
# instead of 5. *B*: a hidden size four times as large. In six to eight sentences: which measurement on sentences they
# already have would tell whether *A* can help at all, and what would you see in each case? What do you expect of *B*,
# with reasons from this unit? And why did nobody notice from reading the translations?
#
# ### BEGIN SOLUTION
# *Model answer.* For every wrong translation, let the model score two answers: what the search found, and the human
# reference. If the reference has the greater log-probability, the search has missed an answer that the model likes
# better, and a wider beam can help. If the model prefers its own wrong answer, it is the model's error, and a
# wider beam can only find answers that it believes in even more. Since long inputs are where it fails, and details are
# what is lost, I expect the second. *B* attacks a likely cause: all of the source has to pass through one state of
# fixed size, and in the copying experiment three times the size moved the cliff to longer strings. But four times the
# training moved it for the small network as well. So the cliff does not prove that the size is what is missing, and I
# would first train the present network longer, with more long sentences, and measure errors against length for both.
# Whichever helps moves the cliff and does not remove it: at four times the width the recurrent weights are up to
# sixteen times as many, and sixty words may fail again. Better still is a decoder that may look at the source again.
# Nobody noticed because the decoder is a language model: whatever the summary has lost, it fills with something fluent.
#
# *Rubric.* **1 point**: compares the score of the reference with that of the answer found, and says what each outcome
# means for the beam (½ for "look whether a wider beam changes anything", without the comparison). **1 point**: says
# that *B* may move the limit and does not remove it, and that more training moved it in the copying experiment as well,
# so that the size need not be the cause (½ for the fixed size as the reason, without the other). **1 point**: fluency
# comes from the decoder as a language model and does not show what was lost in the summary.
# ### END SOLUTION

# %% [markdown]
# ## Where to read on
#
# - N. Kalchbrenner, P. Blunsom, "Recurrent Continuous Translation Models", *EMNLP* 2013: the first network of this kind that
#   translated, with convolutions for an encoder.
# - I. Sutskever, O. Vinyals, Q. V. Le, "Sequence to Sequence Learning with Neural Networks", *NeurIPS* 2014, and K. Cho et
#   al., "Learning Phrase Representations using RNN Encoder-Decoder for Statistical Machine Translation", *EMNLP* 2014:
#   the two papers that this unit begins with. The second one brought the GRU along.
# - K. Cho, B. van Merriënboer, D. Bahdanau, Y. Bengio, "On the Properties of Neural Machine Translation:
#   Encoder-Decoder Approaches", *SSST-8*, 2014: quality against length, the cliff in real sentences.
# - R. J. Williams, D. Zipser, "A Learning Algorithm for Continually Running Fully Recurrent Neural Networks", *Neural
#   Computation* 1, 1989: teacher forcing. S. Bengio et al., "Scheduled Sampling for Sequence Prediction with Recurrent
#   Neural Networks", *NeurIPS* 2015: a way between teacher and own guesses.
# - F. Stahlberg, B. Byrne, "On NMT Search Errors and Model Errors: Cat Got Your Tongue?", *EMNLP* 2019: what an exact
#   search finds. For more than half of the sentences it is the empty translation.
# - O. Vinyals, A. Toshev, S. Bengio, D. Erhan, "Show and Tell: A Neural Image Caption Generator", *CVPR* 2015.
# - K. Papineni, S. Roukos, T. Ward, W.-J. Zhu, "BLEU: a Method for Automatic Evaluation of Machine Translation", *ACL* 2002.
#   Y. Wu et al., "Google's Neural Machine Translation System", arXiv:1609.08144, 2016: length normalisation, tuned. P. Koehn,
#   R. Knowles, "Six Challenges for Neural Machine Translation", *WNMT* 2017: wider beams, worse translations. M. Ott et al.,
#   "Analyzing Uncertainty in Neural Machine Translation", *ICML* 2018: what noise in the training data does to the search.
# - A. Graves, S. Fernández, F. Gomez, J. Schmidhuber, "Connectionist Temporal Classification", *ICML* 2006.
# - R. A. Wagner, M. J. Fischer, "The String-to-String Correction Problem", *Journal of the ACM* 21, 1974: edit distance.

# %% [markdown]
# ## Something to show to somebody
#
# Put in a day that means something to you, between 1950 and 2049. It is written out in eleven languages, each time in the
# longest form that there is, and your network reads them all. (The day that stands there was never shown to it.)

# %% tags=["experiment", "nbval-ignore-output"]
day = date(1996, 7, 25)

in_all_languages = [max(written_as(day, language), key=lambda w: len(w.text)) for language in DATE_LANGUAGES]
step = decoder_step(translator.decoder)
for written in in_all_languages:
    answer = as_text(decode_greedily(step, summary_of(translator, written), BOS, EOS, 20))
    print(f"{'✓' if answer == written.iso else '✗'}  {written.text:<38} {answer}")
print("never shown in training:", is_held_out(day))

# %% tags=["experiment"]
progress("12_encoder_decoder")

# %% [markdown]
# ## The question that this unit leaves open
#
# Watch yourself translate a date. You read it, yes. But when you are about to write the month, you look *back* at the
# month. You do not keep thirty characters in your head; you keep your place, and look. Your encoder leaves a state at
# every one of its steps, `outputs (T, N, H)`, and your decoder has never seen any of them but the last. **What if,
# at each step, it could look at all of them, and choose?** And if it can look anywhere at any time, does it still need
# the chain? That is unit 13.
