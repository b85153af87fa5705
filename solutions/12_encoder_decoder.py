# %% [markdown]
# # 12 · From one sequence to another
#
# **When you are done you will be able to**
#
# - build a network that reads a sequence and writes another one, of another length and in other symbols;
# - train it with teacher forcing, and say what it reads while it learns and what it reads in use;
# - search for an answer, greedily or with a beam, and measure how right it is;
# - say what one wrong token does to all that follow, and how much goes through one summary;
# - let a decoder tell what it sees in a picture.
#
# **Time**: four hours, best in two sittings; the second begins with section 6. The optional section 11 takes forty minutes
# more. **You need** padding and packing from unit 07, the GRU from unit 10, and
# the generation of unit 06. There are twelve exercises, one of them optional, and one
# written question: 35 points in all.
#
# Modules and what they are given are tensors. The searches, and the last exercise, are Python and NumPy: they may not
# call `torch`. Before an experiment you are asked to **guess**: write it down. What is trained and measured:
# `rnncourse.experiments.encoder_decoder`.

# %% locked="setup"
from collections import Counter
from datetime import date

import numpy as np
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from rnncourse import check, hint, progress, use
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
from rnncourse.plots import show

torch.set_num_threads(1)  # a second one costs more than it brings on small products

# %% tags=["experiment"]
progress("12_encoder_decoder")

# %% [markdown]
# ## The question that unit 11 left open
#
# The last machine of unit 11 read a sequence, kept one state, and wrote plain numbers from there, as many
# as you told it. Now read these:
#
# > quarta-feira, 4 de março de 2009 → 2009-03-04
# >
# > 4. maaliskuuta 2009 → 2009-03-04
# >
# > Mar 4, 2009 → 2009-03-04
#
# The first digit of the answer stands near the end of the question, so inputs and outputs do not go in step. Translation
# is like this: **another length, another order, other symbols, and an end that nobody announces.** How are two cores joined
# for that? And how does one look for the best answer, when each symbol that is chosen changes the odds of all that follow?

# %% [markdown]
# ## 1 · Two networks and a summary
#
# The first network, the **encoder**, reads the whole input, and all that it hands on is its last state. The
# second, the **decoder**, is a language model as in unit 06, but it starts from the encoder's last state: it writes a text
# *about what was read*. (Kalchbrenner and Blunsom, 2013; Sutskever and others, and Cho and others, both 2014.)

# %% tags=["experiment"]
from rnncourse.plots.encoder_decoder import summary_chain

show(summary_chain(list("4 mai"), list("05-04"), forced=False))

# %% [markdown]
# Two tokens are new. **bos** (beginning of sequence) is what the decoder reads first, when it has written nothing yet.
# **eos** (end of sequence) is what it writes when it is done. With eos the model predicts the length of the answer, too.
#
# Write $x_1, \dots, x_S$ for the source and $y_1, \dots, y_T$ for the answer, where $y_T$ is eos and $y_0$ is bos:
#
# $$
# \begin{aligned}
# h_t &= \mathrm{GRU}_{\text{enc}}(h_{t-1}, x_t) && h_0 = 0, \quad t = 1, \dots, S\\
# s_t &= \mathrm{GRU}_{\text{dec}}(s_{t-1}, y_{t-1}) && s_0 = h_S, \quad t = 1, \dots, T\\
# p(y_t \mid y_1, \dots, y_{t-1}, x) &= \mathrm{softmax}(\mathrm{output}(s_t))
# \end{aligned}
# $$
#
# where $\mathrm{output}$ is a linear layer from the $H$ units of a state to the $V$ symbols that can be written.
#
# In the network that you will train the arrow *summary* carries 128 floats, whether the date has 8 characters or 30.

# %% [markdown]
# ### Exercise 12.1 · `Encoder`
# *●●○ · 15 minutes · 3 points*
#
# Write the module `Encoder(vocabulary_size, embedding_size, hidden_size)` with two layers: `embedding`, an
# `nn.Embedding`, and `rnn`, an `nn.GRU` of one layer. `forward(ids, lengths=None)` takes `ids (T, N)`, time first, and
# returns a pair:
#
# - `outputs (T, N, H)`, the states of all T steps. What stands at padded steps does not matter;
# - `state (1, N, H)`, the state of each sequence's **last real step**.
#
# `lengths` is a tensor of N whole numbers from 1 to T, in any order; `None` means that all have T steps. The ids under
# the padding are valid ids, and every id may be a real symbol somewhere, 0 too.
#
# With `lengths = [7, 3]`, for example, `state[0, 0]` is `outputs[6, 0]`, and `state[0, 1]` is `outputs[2, 1]`.
#
# `pack_padded_sequence` and `pad_packed_sequence` are imported.


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
# If the encoder has read padding, the decoder gets the summary of another text.

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
# Only through the decoder's start state does the encoder learn.

# %% [markdown]
# ## 2 · What the decoder reads while it learns
#
# The probability of a whole answer is a product, by the chain rule of unit 01, and each factor has the *true* tokens
# before it as its condition:
#
# $$ p(y \mid x) = \prod_{t=1}^{T} p(y_t \mid y_1, \dots, y_{t-1}, x) $$
#
# So to train on $-\log p(y \mid x)$, the decoder has to read the true $y_{t-1}$ at step $t$, whatever it would have
# written itself. This is the **teacher forcing** of unit 11 (Williams and Zipser, 1989). All inputs are known
# beforehand, so all steps are computed in one call.

# %% tags=["experiment"]
show(summary_chain(list("4 mai"), list("05-04")))

# %% [markdown]
# Compare the two rows of the decoder. What is read is what is to be written, **shifted to the right** by one step:
# bos fills the gap, and eos is dropped.

# %% [markdown]
# ### Exercise 12.3 · `shift_right`
# *●○○ · 6 minutes · 2 points*
#
# From the targets to the decoder's inputs: `shift_right(targets, bos)`. Time is axis 0, and there may be further axes,
# or none: `targets` is `(T,)` or `(T, N)` or more. The answer has the same shape and dtype, is new, and leaves
# `targets` as they were: **a tensor if you are given a tensor, an array if you are given an array.**
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
# Section 7 shows a decoder without this line.

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
# You own a translator. Give it something to translate.

# %% [markdown]
# ## 3 · Dates from eleven languages
#
# Our texts are dates from 1950 to 2049, as people write them in eleven languages (Unicode's locale data). The answers are
# in ISO 8601. Where day and month are both numbers the day comes first; the English 3/4/2009, March 4, is left out.
#
# One *day* in ten is held out: no text of that day in any language is ever trained on. A network that translates it right
# has not looked it up.

# %% tags=["experiment"]
examples = written_dates(np.random.default_rng(8), 6)
for text, iso, language in examples:
    print(f"{language}   {text:<36} {iso}")
print(len(date_vocabulary()), "symbols to read,", len(ISO_VOCABULARY), "to write")
encoded = encode_dates(examples)
print("source", encoded.source.shape, "   targets", encoded.targets.shape)

# %% tags=["author"]
assert all(not is_held_out(date.fromisoformat(iso)) for _, iso, _ in examples), "Expected no held-out day among them."

# %% [markdown]
# Each update reads 24 new dates. Dates of nearly the same length share a batch, so that there is
# hardly any padding. The loss is the cross-entropy of all tokens of the answer.
#
# One trick is from unit 10, the forget bias. A GRU's gate $z$ says which share of the old state is kept. We add 2 to the
# bias of $z$ at the start, in both networks.
#
# **Guess**: 12,000 dates have gone by once. How many in a hundred dates of unseen days does it get wholly right?

# %% tags=["experiment", "nbval-ignore-output"] dials="updates = 200"
from rnncourse.experiments.encoder_decoder import learn_to_translate, unseen_dates
from rnncourse.plots.encoder_decoder import learning_curve

mine = {"encoder": use(Encoder), "decoder": use(Decoder), "seq2seq": use(Seq2Seq)}
updates = 500  # of 24 dates each
translator, poor, losses, curve = learn_to_translate(updates=updates, **mine)
print("loss:", *np.mean(np.reshape(losses, (5, -1)), axis=1).round(2))
show(learning_curve({"unseen days": curve}, "Dates of days that were never shown"))

# %% [markdown]
# In twenty other runs it ends at {{dates/2 added/date|range .0%}}.
#
# Look at the shape of the curve: next to nothing at first, though the loss fell all the time. If each of ten
# characters is right with probability 0.8, all ten are with $0.8^{10} = 0.11$. A share of whole answers shows progress late.
#
# *Try* `updates = 200`.

# %% [markdown]
# ### Experiment · without the 2
#
# Now the same training with nothing added to the bias of $z$.
#
# **Guess**: which part of the date suffers most, the year, the month or the day?

# %% tags=["experiment", "nbval-ignore-output"] dials="keep = 0, 2"
from rnncourse.experiments.encoder_decoder import parts_right
from rnncourse.plots.encoder_decoder import parts_right_bars

keep = 0  # what is added to the bias of z
without = learn_to_translate(keep=keep, updates=updates, points=1, **mine).model
unseen = unseen_dates()
by_part = {"2 added": parts_right(translator, unseen)}
by_part[f"{keep} added"] = parts_right(without, unseen)
show(parts_right_bars(by_part))

# %% [markdown]
# **Claim:** Without the 2 it is the month that is lost: it is right in fewer than a quarter of the dates, against more than
# half with it. The day is right more than twice as often as the month, and the year in nineteen of twenty.
#
# It held in {{held month_is_lost}} runs; the day suffers, too. Medians for year, month and day are
# {{dates/nothing added/year|median .0%}}, {{dates/nothing added/month|median .0%}} and
# {{dates/nothing added/day|median .0%}}, with the 2 {{dates/2 added/year|median .0%}},
# {{dates/2 added/month|median .0%}} and {{dates/2 added/day|median .0%}}. The year, written first, hardly suffers.
#
# Which of the two forgets, reader or writer?
#
# **Claim:** With the 2 in the decoder alone more than two dates in five are right, in the encoder alone fewer than one in five.
#
# It held in {{held the_decoder_forgets}} runs: {{who_forgets/in the decoder alone/date|median .0%}} and
# {{who_forgets/in the encoder alone/date|median .0%}} (medians).
# *Try* `keep = 0, 2`, in the decoder alone.

# %% [markdown]
# ## 4 · How right is an answer?
#
# The strict measure of an answer is the **exact match**: is it right or not?

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
# The mild one: *how far off* is it? 1998-03-04 for 1989-03-04 is a slip, 2047-12-30 is nonsense. The **edit distance**
# (Wagner and Fischer, 1974) is the least number of edits that turn one into the other: insert an item, delete one, or
# replace one by another.
#
# Begin with beginnings. Let $d_{ij}$ be the distance between the first $i$ items of $a$ and the first $j$ of
# $b$. At their ends one of three things was done, so
#
# $$ d_{ij} = \min \begin{cases} d_{i-1,j} + 1 & \text{delete } a_i\\ d_{i,j-1} + 1 & \text{insert } b_j\\ d_{i-1,j-1}
# + [a_i \neq b_j] & \text{replace } a_i \text{ by } b_j \text{, or keep it} \end{cases} \qquad d_{i0} = i, \quad d_{0j} =
# j $$
#
# where $[a_i \neq b_j]$ is 1 if the two differ and 0 if not. Every entry needs only three neighbours, so the table is
# filled row by row. From 1989 to 1998 it takes 2 edits, as the last corner says: insert a 9 and delete one.

# %% tags=["experiment"]
from rnncourse.encoder_decoder import edit_distance as distance_of
from rnncourse.plots.encoder_decoder import edit_table

a, b = "1989", "1998"
table = np.array([[distance_of(a[:i], b[:j]) for j in range(5)] for i in range(5)])
show(edit_table(a, b, table, [(0, 0), (1, 1), (2, 2), (2, 3), (3, 4), (4, 4)]))

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
# You own the measure behind speech recognition (per word, it is the *word error rate*). This is dynamic programming: a
# search through exponentially many ways in $|a| \cdot |b|$ steps. It can be done *here*. In section 6 it cannot.

# %% [markdown]
# ## 5 · Writing
#
# In use there is no teacher. The decoder reads bos, writes something, reads *that*, and goes on until it writes eos.
# The simplest way to choose is the **greedy search**: the most probable token, each time.
#
# The search sees a model as one function, **`step(token, state)`**. It returns two things: the log-probabilities of the
# next token, an array `(V,)`, and the next state. What a state is depends on the model. A state may be handed to `step`
# more than once.

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
# The course's `decoder_step` makes such a `step` of your decoder. Read what your network makes of 200 unseen dates.
#
# **Guess**: when it is wrong, does its answer still look like a date? How many edits is it from the truth?

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.encoder_decoder_torch import decoder_step
from rnncourse.experiments.encoder_decoder import as_text, summary_of

greedy, distance, match = use(greedy_decode), use(edit_distance), use(exact_match)
step, shown = decoder_step(translator.decoder), unseen[:200]
states = [summary_of(translator, d) for d in shown]
found = [as_text(greedy(step, state, BOS, EOS, 20)) for state in states]
print(f"exactly right: {match(found, [d.iso for d in shown]):.0%}")
edits = [distance(answer, d.iso) for answer, d in zip(found, shown)]
print("dates by their edits:", dict(sorted(Counter(edits).items())))
for i in np.flatnonzero(edits)[:10]:
    print(f"{shown[i].text:<36} {found[i]}   edits: {edits[i]}")

# %% [markdown]
# It has learned what an ISO date looks like so well that its mistakes look like dates: **a fluent answer is no sign of a
# right one.**

# %% [markdown]
# ## 6 · Greedy is not best
#
# What we want is the most probable *answer*. What greedy takes is the most probable *next token*, and it never looks back.
# Here is a model with seven answers in all:

# %% tags=["experiment"]
from rnncourse.plots.encoder_decoder import answer_tree

first = {"the": 0.5, "my": 0.4, "a": 0.1}
then = {
    "the": {"dog": 0.4, "cat": 0.35, "house": 0.25},
    "my": {"dog": 0.9, "cat": 0.1},
    "a": {"dog": 0.6, "cat": 0.4},
}
show(answer_tree(first, then, {"greedy": ("the", "dog"), "best": ("my", "dog")}))

# %% [markdown]
# "the" is the most probable first word, but nothing that follows it is probable. The best answer begins with the second
# best word.
#
# Can one search them all? With $V$ tokens and $T$ steps there are about $V^T$ answers: for the dates $12^{11}$ (digits, dash, eos). And no
# dynamic programming helps. In a bigram model of unit 01 two beginnings with the same
# last word have the same future, so only the better one need be kept. Here the state remembers the whole beginning.
#
# So one compromises. Keep the `width` best beginnings, the **beam**. At each step all of them are continued in all ways,
# and of all these candidates together the `width` best are kept. Their scores are *sums of log-probabilities*.
#
# *By hand*, width 2: after one step the beam holds "the" ($\log 0.5 = -0.69$) and "my" ($\log 0.4 = -0.92$). Their
# five continuations have scores $-1.61, -1.74, -2.08$ and $-1.02, -3.22$. The two best are "my dog" ($-1.02$) and "the
# dog" ($-1.61$): this **beam search** has found what greedy missed. Here it is as a film.

# %% tags=["experiment"]
from rnncourse.plots.encoder_decoder import show_beam


def continuations(said):
    """What may come after these words, and how probable each is."""
    if not said:
        return first
    return then.get(said[0], {"eos": 1.0}) if len(said) == 1 else {"eos": 1.0}


show_beam(continuations, width=2)

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
#    competes with all others for the `width` places. Nothing else happens to it.
# 4. Of all candidates, keep the `width` best by score.
# 5. There are at most `max_length` rounds. What has not ended by then is returned as it is.
#
# Scores are plain sums, not divided by the length. If there are fewer candidates than `width`, keep them all. In the
# cases of the check no two scores tie, and no probability is 0.


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
# You own a search that speech recognizers used long before neural networks translated anything. Try it on the tree.
#
# **Guess**: what does width 3 find that width 2 does not?

# %% tags=["experiment"] dials="width = 1; width = 6"
search = use(beam_search)
words = ["bos", "eos", "the", "my", "a", "dog", "cat", "house"]


def tree_step(token, state):
    """The tree as a model; its state is the words so far."""
    state = state if words[token] == "bos" else (*state, words[token])
    after = continuations(state)
    return np.log([after.get(word, 0.0) + 1e-12 for word in words]), state


width = 3
for tokens, score in search(tree_step, (), 0, 1, 5, width):
    print(f"{score:.2f}", *[words[i] for i in tokens])

# %% [markdown]
# The next best answer, and no better one. *Try* `width = 1`.

# %% [markdown]
# ### Experiment · how wide is wide enough?
#
# Width 1 is greedy, and width $V^T$ a search of everything. In between nothing is promised: a beam may lose the best
# answer at its first step. So measure. We draw 100 models at random, each a table with three states, small enough to list
# all answers.
#
# **Guess**: in how many of ten models does greedy find the best answer, and how wide must the beam be for nine of ten?

# %% tags=["experiment", "nbval-ignore-output"] dials="spread = 0.5; spread = 4.0"
from rnncourse.experiments.encoder_decoder import search_random_models
from rnncourse.plots.encoder_decoder import widths_chart

spread = 1.5  # the greater, the surer a model is of each token
searched = search_random_models(models=100, spread=spread, search=use(beam_search))
print(f"the best answer is empty in {searched.best_is_empty:.0%} of the models")
show(widths_chart({f"spread {spread:g}": searched.found}))

# %% [markdown]
# **Claim:** Greedy finds the best answer in fewer than six models of ten, a beam of six in at least nine of ten. In
# models that are less sure of each token a beam of six finds it in fewer than two of ten.
#
# It held in {{held how_wide}} runs of 100 models. What the beam misses in unsure models is mostly the *empty* answer: each
# token costs some probability, and to stop at once costs only once.
#
# *Try* `spread = 0.5`: models that are less sure of each token. How often is the best answer the empty one?

# %% [markdown]
# ### Experiment · who is to blame?
#
# Take a poor translator: yours as it was after 300 updates. For every wrong answer ask: **who is to blame, the search or
# the model?** The model can say how probable it finds the *true* answer. If that is more probable than what the search
# came back with, the search has missed it. If not, the model believes in its mistake, and no better search would help.
# (Stahlberg and Byrne, 2019.)
#
# **Guess**: of ten mistakes of greedy search, how many would a perfect search have avoided?

# %% tags=["experiment", "nbval-ignore-output"] dials="width = 2"
from rnncourse.experiments.encoder_decoder import whose_mistakes

searches = {"greedy": use(greedy_decode), "search": use(beam_search)}
width = 5
for name, counts in whose_mistakes(poor, unseen[:60], width=width, **searches).items():
    print(f"{name:20}", *[f"{what}: {count}   " for what, count in counts.items()])

# %% [markdown]
# **Claim:** The search is to blame for fewer than a third of greedy's mistakes. With a beam it is to blame for at most half
# as many as with greedy, and still two thirds of the mistakes stay.
#
# It held in {{held search_or_model}} runs. Of 60 dates, greedy was wrong on
# {{dates/2 added/greedy, wrong|median .0f}} (the median), {{dates/2 added/greedy, missed by the search|median .0f}} of
# them by its search; the beam on {{dates/2 added/beam, wrong|median .0f}}.
# Most of the time the model believes in the wrong date, and a better search finds that belief more surely.
#
# Both scores tell you which of the two to work on.

# %% [markdown]
# ## 7 · Does it have to be the teacher?
#
# Why not train the decoder the way it will be used, on its own guesses? And what happens if you forget to shift? Three
# programs, equal in all but what the decoder reads in training, learn to **copy** strings of one to five random digits.
# They are judged greedily, on strings of five.
#
# **Guess**: order the three by their loss at the end, and then by what they copy. Is it the same order?

# %% tags=["experiment", "nbval-ignore-output"] dials="updates = 500"
from rnncourse.experiments.encoder_decoder import learn_to_copy

updates = 250
curves, copiers = {}, {}
for reads in ("the true tokens", "its own guesses", "not shifted"):
    copied = learn_to_copy(reads, updates=updates, **mine)
    copiers[reads], losses, curves[reads] = copied
    print(f"{reads:16} loss, last 100 updates {np.mean(losses[-100:]):.3f}")
show(learning_curve(curves, "Strings of five digits copied, by what the decoder reads"))

# %% [markdown]
# **Claim:** After the same 250 updates the decoder with a teacher copies more than two strings in five, the one that read
# its own guesses fewer than one in five.
#
# It held in {{held teacher_first}} runs. A decoder that is fed its own guesses reads noise at first; with a teacher every
# step is a lesson. (In unit 11 the singer that was trained alone won. There the gradient ran through what it said; through
# the choice of a token none runs.)
#
# The third has the best loss and copies nothing. It has learned to pass on what it reads, and in use there is nothing to
# pass on. A loss that is too good should make you suspicious.
#
# *Try* `updates = 500`.

# %% [markdown]
# ## 8 · The likeliest answer is too short
#
# In the random models the best answer of all was sometimes the empty one. Does this happen to a network? To see it we
# need a measure that notices what is missing.
#
# Translators are judged by **BLEU** (Papineni and others, 2002). It asks which share of the words that were *said*
# stands in the reference, of the pairs of words, and so on. For each order $n$ the precision $q_n$ is the share of the
# prediction's n-grams that match one of the reference, *each at most as often as it stands there*.
#
# *By hand*, for the reference "the cat sat on the mat" and the prediction "the cat the cat on the mat": it says *the* 3
# times, *cat* 2, *on* and *mat* once. The reference has 2, 1, 1 and 1, so 5 of 7 match, $q_1 = 0.714$. Of its 6 pairs,
# *the cat* stands twice, and counts once; with *on the* and *the mat* 3 match, $q_2 = 0.5$.
#
# A precision can be cheated: say one word of which you are sure. So an answer of $c$ tokens that is shorter than the
# reference, of $r$ tokens, is multiplied by a **brevity penalty**. The orders 1 to $m$ together make a geometric mean:
#
# $$ \mathrm{BLEU} = \min\left(1, e^{1 - r/c}\right) \cdot \left(q_1\, q_2 \cdots q_m\right)^{1/m} $$
#
# Here $c = 7$ and $r = 6$, so the penalty is 1, and for $m = 2$ it is $\sqrt{0.714 \cdot 0.5} = 0.598$. For "the cat"
# both precisions are 1, and the penalty is $e^{1 - 6/2} = 0.135$.

# %% [markdown]
# ### Exercise 12.9 · `bleu`
# *●●○ · 20 minutes · 3 points*
#
# `bleu(prediction, reference, max_n=4)` compares two sequences of tokens, each a list or a string, for the orders 1 to
# `max_n`, and returns a number from 0 to 1. Where an order has no match it is 0; so it is for an empty prediction, and
# for one that is shorter than `max_n`. The reference is never empty. (Papers add up the counts of a whole test set; ours
# is for one sentence.)
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
# BLEU does not see meaning: "not" is one word among many.
#
# A division makes up for it, **length normalisation** (Wu and others, 2016, have a similar one). Compare hypotheses by the
# sum *per token*, or,
# with a power $\alpha$ between the two,
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
# ### Experiment · a careless teacher
#
# Two networks learn to copy strings of one to eight digits. One is taught as before; for the other, in three of ten
# pairs, the answer breaks off somewhere, as in a corpus as one finds them. Both write strings of eight digits with the
# plain beam, and the second also with sums divided by the length.
#
# **Guess**: as the beam grows from 1 to 16, which of the three curves fall?

# %% tags=["experiment", "nbval-ignore-output"] dials="alpha = 0.5"
from rnncourse.experiments.encoder_decoder import beams_on_strings
from rnncourse.plots.encoder_decoder import beams_chart

alpha = 1.0
tools = {"search": use(normalised_beam_search), "score": use(bleu)}
whole = learn_to_copy(longest=8, updates=300, points=1, **mine).model
careless = learn_to_copy(longest=8, updates=300, cut=0.3, points=1, **mine).model
by_search = {
    "whole answers": beams_on_strings(whole, **tools),
    "cut short": beams_on_strings(careless, **tools),
    "cut short,\nby the length": beams_on_strings(careless, alpha=alpha, **tools),
}
for name, found in by_search.items():
    print(f"{' '.join(name.split()):24} digits written, by width: {found.lengths}")
show(beams_chart({name: found.bleu for name, found in by_search.items()}))

# %% [markdown]
# **Claim:** Taught with answers of which three in ten break off, a network loses more than a third of its BLEU with a beam of
# 16, and its answers are at least two digits shorter than greedy's. Divided by the length, the same beam is as good
# as greedy, within 0.1. Taught with whole answers, the plain beam loses at most 0.1.
#
# It held in {{held too_short}} runs. A better search, and worse answers: greedy's BLEU is
# {{careless_teacher/three in ten cut short/BLEU, width 1|median .2f}}, that of the beam
# {{careless_teacher/three in ten cut short/BLEU, width 16|median .2f}}.
#
# The search found what the model likes best. And the model *is* right that each ending has a few per cent, and one
# string of eight unsure digits has less. The division is a patch; $\alpha$ is tuned on validation data.
#
# *Try* `alpha = 0.5`.

# %% [markdown]
# ## 9 · What one summary holds, and what one wrong digit does
#
# All of the source has to pass through one vector. A random digit carries $\log_2 10 = 3.3$ bits, five digits 17. There is
# room for them: 24 floats are $24 \cdot 32 = 768$ bits. How much of that room does a network learn to use?
#
# **Guess**: a small network, $H = 24$, learns for 150 updates to copy one to five digits. What helps it more,
# three times the units or three times the updates?

# %% tags=["experiment", "nbval-ignore-output"] dials="longer = 600"
from rnncourse.experiments.encoder_decoder import copies
from rnncourse.plots.encoder_decoder import lengths_copied

longer = 450
by_length = {}
for hidden, count in ((24, 150), (72, 150), (24, longer)):
    model = learn_to_copy(hidden=hidden, updates=count, points=1, **mine).model
    name = f"H = {hidden},\n{count} updates"
    by_length[name] = {length: copies(model, length) for length in range(1, 7)}
show(lengths_copied(by_length))

# %% [markdown]
# **Claim:** Of strings of four digits the small network copies fewer than a quarter. With three times the units it copies more
# than half, and so does the small network with three times the updates.
#
# It held in {{held size_or_training}} runs. Each curve falls from nearly all to nearly none within a few digits
# (none was trained on six). *Try* `longer = 600`.
#
# Such a fall does not tell you that the summary is too small: it may be not yet well used. Cho and others (2014) saw
# translations get worse from some twenty words on; Sutskever and others (2014), with 8,000 numbers and the source in
# reverse, did not.

# %% [markdown]
# ### Experiment · one wrong digit
#
# In use the decoder reads what it wrote itself, right or wrong. Take the copier of section 7 that had a teacher, and give
# it the true tokens, but a wrong *second* digit.
#
# **Guess**: of the three digits that follow, how many are right: nearly all, half, a quarter, or one in ten, as by chance?

# %% tags=["experiment", "nbval-ignore-output"] dials="wrong = 0; wrong = 3"
from rnncourse.experiments.encoder_decoder import after_one_wrong
from rnncourse.plots.encoder_decoder import digits_right

wrong = 1  # which digit, counted from 0
show(digits_right(after_one_wrong(copiers["the true tokens"], wrong), wrong))

# %% [markdown]
# **Claim:** After one wrong digit fewer than a third of the digits that follow are right. After the true tokens, at the same
# places, more than seven in ten are.
#
# It held in {{held one_wrong_digit}} runs. A wrong digit is read like a right one, and the state is now that of another
# string. *Try* `wrong = 3`.
#
# The usual explanation: in training this decoder never met a mistake, so it has never been where it
# now is. This is **exposure bias**. If that is the reason, there is a cure: let it meet mistakes. A second copier has a
# teacher who tells it a random digit in place of one in five. (A simple relative of *scheduled sampling*, S. Bengio and
# others, 2015.)
#
# **Guess**: does this network find its way back after the wrong digit? And in use, on its own, does it copy more strings
# than the first?

# %% tags=["experiment", "nbval-ignore-output"]
copied = learn_to_copy("a fifth wrong", updates=updates, **mine)
copiers["a fifth wrong"], _, curves["a fifth wrong"] = copied
back = {}
for reads in ("the true tokens", "a fifth wrong"):
    found = after_one_wrong(copiers[reads])
    back[f"taught with\n{reads}"] = found["after one wrong digit"]
    print(f"taught with {reads:16} copies in use {max(curves[reads].values()):.0%}")
show(digits_right(back, wrong=1))

# %% [markdown]
# **Claim:** The decoder that met wrong digits in training is right in more than twice as many of the last two digits after
# the mistake. In use it copies fewer than two thirds as many strings.
#
# It held in {{held exposed}} runs: after the mistake {{copying/a fifth wrong/later|median .0%}} against
# {{copying/the true tokens/later|median .0%}}, in use {{copying/a fifth wrong/copied|median .0%}} against
# {{copying/the true tokens/copied|median .0%}}. It finds its way back, and still it copies less. It has learned to
# rely less on what it reads, even where that is true.
#
# So exposure bias is real, and it is not what limits this copier. With this much training, the cure costs more than the
# illness.

# %% [markdown]
# ## 10 · A picture can be the source
#
# The decoder does not ask where its first state comes from. It needs $H$ numbers that mean something. So give it a
# *picture*: one vector of features $f$ of fixed size $F$, here the 64 grey levels of a handwritten digit, and one linear
# layer, $\mathrm{prime}$, that turns them into a first state. This is **image captioning** (Vinyals and others, 2015):
#
# $$ s_0 = \tanh(\mathrm{prime}(f)) $$
#
# The tanh keeps it between $-1$ and $1$, where a GRU's states live.

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
# (While this is checked, a small decoder of the course's own stands in for `Decoder`: something that takes ids and a
# state, and gives logits and a state.)


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
# What shall it say? A caption should be true, so ours are computed: which digit it is, and whether it leans. Ask how far
# the ink moves to the right for each row upwards. Beyond 0.1 either way we call it leaning, else upright.
#
#     an upright seven         a seven leaning to the left         an eight leaning to the right
#
# **Guess**: it makes two kinds of mistakes, untrue sentences and sentences that are none. Which is the more frequent?

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.experiments import encoder_decoder as experiments
from rnncourse.plots.encoder_decoder import captioned_images

tools = {"captioner": use(ImageCaptioner), "shift": use(shift_right)}
greedy = use(greedy_decode)
seen, others = experiments.captioned_digits()
captioner = experiments.learn_to_caption(seen, **tools)
said = experiments.describe(captioner, others.images, greedy)
print(experiments.shares_true(said, others.captions))
order = np.argsort([a == b for a, b in zip(said, others.captions)], kind="stable")
shown = [*order[:3], *order[-5:]]
truths = [others.captions[i] for i in shown]
show(captioned_images(others.images[shown], [said[i] for i in shown], truths))

# %% [markdown]
# Some of the wrong captions name another digit. In most only the lean is wrong, and often by a hair. Does it need the picture for its sentences? Deal the pictures out anew among the captions, and train again.
#
# **Guess**: how many of its captions are sentences now, and how many are true?

# %% tags=["experiment", "nbval-ignore-output"]
captioner = experiments.learn_to_caption(experiments.dealt_anew(seen), **tools)
told = experiments.describe(captioner, others.images, greedy)
print(experiments.shares_true(told, others.captions))
print(Counter(told).most_common(2))

# %% [markdown]
# **Claim:** On 500 unseen digits at least 98% of the captions are sentences that our little grammar allows, and more than
# three quarters are true in every word. Trained on pictures that have nothing to do with their captions, a network
# says sentences in more than 90% of all cases as well, and fewer than 20% are true.
#
# It held in {{held fluent_is_not_right}} runs. The network has the grammar by heart, and needs no picture for it.

# %% [markdown]
# ## 11 · Optional: nobody says when
#
# *Forty minutes; nothing that comes later needs it.* **CTC** (Graves and others, 2006) is for answers that come **in the
# order of the input** and are shorter: speech, handwriting, a tune that somebody whistles. At each
# step the network says one symbol, or *nothing*: the **blank** "-". Then equal neighbours are
# merged, and the blanks dropped:
#
# > -aa-abb- → -a-ab- → aab
#
# Without a blank between them, two a's would be merged into one. For training one has
# recordings and what was whistled, but nobody has written down *when* each note begins. So add up all ways of saying it:
#
# $$ p(y \mid x) = \sum_{\text{paths } \pi \text{ that collapse to } y}\ \prod_{t=1}^{T} p_t(\pi_t) $$
#
# *By hand*: two steps, each with probability 0.5 for a and 0.5 for the blank. The paths "aa", "a-" and "-a" collapse to
# "a", each with 0.25. So $p(\text{a}) = 0.75$.
#
# A table like that of section 4 counts them all: there the *cheapest* way to an entry was kept, here all ways are **added
# up**. Write the $L$ symbols of the target with a blank before, between and behind, $u = (-, y_1, -, y_2, \dots, y_L, -)$. Let
# $A_t(k)$ be the probability of all beginnings of paths that have said their $t$-th symbol, and stand at place $k$ of $u$:
#
# $$ A_t(k) = p_t(u_k) \cdot \big(A_{t-1}(k) + A_{t-1}(k-1) + [u_k \neq u_{k-2}]\ A_{t-1}(k-2)\big) $$
#
# A path stays, or goes on by one, or, where the symbols two apart differ, leaves out the blank between them. It begins at one of the first two places and ends at one of the last two.

# %% tags=["experiment"]
from rnncourse.plots.encoder_decoder import path_lattice

show(path_lattice("aab", 6))

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
    u = [blank]
    for symbol in targets:
        u += [int(symbol), blank]
    A = np.full(len(u), -np.inf)
    A[:2] = log_probabilities[0][u[:2]]
    for row in log_probabilities[1:]:
        before, A = A, np.full(len(u), -np.inf)
        for k in range(len(u)):
            ways = [before[k]]
            if k >= 1:
                ways.append(before[k - 1])
            if k >= 2 and u[k] != u[k - 2]:
                ways.append(before[k - 2])
            A[k] = np.logaddexp.reduce(ways) + row[u[k]]
    return np.logaddexp.reduce(A[-2:])
    ### END SOLUTION


# %% check="ctc_log_likelihood"
check(ctc_log_likelihood)

# %% [markdown]
# You own the loss that PyTorch has as `nn.CTCLoss`. Now let it learn. Somebody whistles three to five of five
# notes, for two to five steps each. We have the sound, twelve numbers a step, and the notes in their order. A control cuts
# the recording into as many equal parts as there are notes, and learns each step's label.
#
# **Guess**: what share of tunes does each read without a mistake?

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.experiments.encoder_decoder import NOTES, heard, learn_to_listen
from rnncourse.plots.encoder_decoder import spikes

listeners = {labels: learn_to_listen(labels) for labels in ("ctc", "equal parts")}
print({labels: experiments.share_read(one) for labels, one in listeners.items()})
ctc, tunes = listeners["ctc"], experiments.unseen_tunes()
tune = next(tune for tune in tunes if experiments.is_read(ctc, tune))
log_p = {labels: heard(one, tune) for labels, one in listeners.items()}
said = {labels: np.exp(values) for labels, values in log_p.items()}
show(spikes(said, NOTES, tune.sounding))
likelihood = use(ctc_log_likelihood)
print(f"log p of what was whistled {likelihood(log_p['ctc'], tune.notes):.2f}")
print(f"without its last note      {likelihood(log_p['ctc'], tune.notes[:-1]):.2f}")

# %% [markdown]
# Nobody told it when, and it knows: it speaks soon after a note has begun, and with certainty. But CTC has no language
# model inside, no other order than that of the input, and no answer longer than the input. The decoder of section 1 has all three.

# %% [markdown]
# ## 12 · Bugs to hunt
#
# **Your turn**: all of these run. What would you see, and what finds them?
#
# 1. The targets are not shifted.
# 2. `outputs[-1]` as the summary of a padded batch.
# 3. The decoder's first state is `encoder_state.detach()`.
# 4. In the beam, all hypotheses hold *one* list of tokens, to which each appends.
# 5. The score of an ended hypothesis leaves out eos.
#
# <details><summary>Answers, when you have thought about them</summary>
#
# 1. A loss near zero and nonsense in use (section 7).
# 2. Translate one source alone and in a batch with a longer one: the answers must agree.
# 3. The encoder's gradients are `None` after the first `backward()`; the loss stops early, as the encoder learns nothing.
# 4. With width 1 all is well, with width 2 all answers have the same tokens. Compare width $V^T$ with a list of all answers.
# 5. The beam prefers short answers, since to stop costs nothing. Score a finished answer with one teacher-forced pass.
# </details>


# %% [markdown]
# ## Summary
#
# - An encoder makes a state of a sequence, a decoder a sequence of a state. bos begins; eos ends, and is predicted.
# - In training the decoder reads the true tokens, shifted right by one. In use it reads its own.
# - A fluent answer need not be right.
# - The most probable tokens do not make the most probable answer. A beam looks further, and promises nothing.
# - Ask of every mistake whether the search made it or the model.
# - Sums of log-probabilities favour the short. Divide by the length.
# - One summary of fixed size serves sources up to a cliff. More units move the cliff, and so does more training.
# - One wrong token leads a decoder that had a perfect teacher astray. Wrong tokens in training mend that, and cost more.

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
# fixed size, and in the copying experiment three times the size moved the cliff to longer strings. But three times the
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
# - Two networks: N. Kalchbrenner, P. Blunsom, *EMNLP* 2013; I. Sutskever et al., *NeurIPS* 2014; K. Cho et al., *EMNLP*
#   2014. The cliff: K. Cho et al., *SSST-8*, 2014.
# - Teacher forcing: R. J. Williams, D. Zipser, *Neural Computation*, 1989. Scheduled sampling: S. Bengio et al., *NeurIPS*
#   2015.
# - Search errors and model errors: F. Stahlberg, B. Byrne, *EMNLP* 2019. Noise and search: M. Ott et al., *ICML* 2018.
# - BLEU: K. Papineni et al., *ACL* 2002. Length normalisation: Y. Wu et al., arXiv:1609.08144. Edit distance: R. A. Wagner,
#   M. J. Fischer, *JACM*, 1974. Captions: O. Vinyals et al., *CVPR* 2015. CTC: A. Graves et al., *ICML* 2006.


# %% [markdown]
# ## Something to show to somebody
#
# Put in a day that means something to you, between 1950 and 2049. (The day that stands there was never shown to it.)

# %% tags=["experiment", "nbval-ignore-output"] dials="day = date(2009, 3, 4)"
day = date(1996, 7, 25)
step, greedy = decoder_step(translator.decoder), use(greedy_decode)
for language in DATE_LANGUAGES:
    written = max(written_as(day, language), key=lambda w: len(w.text))
    answer = as_text(greedy(step, summary_of(translator, written), BOS, EOS, 20))
    print(f"{'✓' if answer == written.iso else '✗'}  {written.text:<38} {answer}")
print("never shown in training:", is_held_out(day))

# %% tags=["experiment"]
progress("12_encoder_decoder")

# %% [markdown]
# ## The question that this unit leaves open
#
# When you translate a date yourself and are about to write the month, you look *back* at the month. Your encoder leaves a state at every one of its steps, `outputs (T, N, H)`, and your decoder has
# seen only the last of them. **What if, at each step, it could look at all of them, and choose?** That is
# unit 13.
