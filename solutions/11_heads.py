# %% [markdown]
# # 11 · One core, five architectures
#
# **When you are done you will be able to**
#
# - say which of five architectures a task asks for, and write the head for each, on one and the same core;
# - take the summary of a padded sequence from its real steps, and read from both ends where that is needed;
# - say exactly what order is worth;
# - train a generator on its own outputs, and say why one that was always corrected cannot walk alone;
# - ask a model which inputs an output can learn from.
#
# **Time**: about three and a half hours, without what is marked *optional*. **You need** padding and packing (unit 07),
# and the ceiling and the two chains of unit 09. There are 7 exercises and one written question, 26 points in all. All
# is PyTorch here. What experiments train and measure stands in `rnncourse.experiments.heads`.

# %% locked="setup"
import numpy as np
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from rnncourse import check, hint, progress, use

torch.set_num_threads(1)  # a second one costs more than it brings on small products

# %% tags=["experiment"]
progress("11_heads")

# %% [markdown]
# ## The question that was left open
#
# You have made the core deeper, let it read in both directions, and given it gates that hold. But it was always asked
# for one output for each input: a character in, a guess at the next one out.
#
# Most questions are not like that. Is this review friendly? *One* answer, after thirty words. Here is a first note, how
# does the tune go on? *One* input, and then nothing but outputs. **Do these need other networks? Or is it the same network, asked in another way?**

# %% [markdown]
# ## 1 · Count what goes in and what comes out
#
# There are $T_x$ inputs and $T_y$ outputs. That gives five cases:

# %% tags=["experiment"]
from rnncourse.plots import show
from rnncourse.plots.heads import five_architectures

show(five_architectures())

# %% [markdown]
# | $T_x$ | $T_y$ | name | where it reads the answer |
# |---|---|---|---|
# | 1 | 1 | one-to-one | from the only state |
# | 1 | many | one-to-many | from every state; each output is the next input |
# | many | 1 | many-to-one | from the last state, or from the mean of all |
# | many | as many | many-to-many (equal) | from every state |
# | many | another number | many-to-many (different) | from the state that has read the last input, and those after it |
#
# The vermilion row is always the same **core**, $h_t = \tanh(x_t U + h_{t-1} W + b)$. A **head** is what stands on the core
# and turns states into outputs: every green arrow is the same linear layer, $y_t = h_t V + c$. A dashed arrow means that
# an output is read again, as the next input.
#
# So there are two questions to each task. How many go in, how many come out? And *which inputs has a state read when it
# is asked?*

# %% [markdown]
# ### Exercise 11.1 · `architecture`
# *●○○ · 4 minutes · 1 point*
#
# Name the architecture for `T_x` inputs and `T_y` outputs, two whole numbers of at least 1. The answer is one of
#
#     "one-to-one"   "one-to-many"   "many-to-one"   "many-to-many (equal)"   "many-to-many (different)"
#
# "Many" is two or more. For instance, 9 words with 9 tags are `"many-to-many (equal)"`, and 9 words with a translation of
# 8 are `"many-to-many (different)"`.


# %% answer="architecture"
def architecture(T_x, T_y):
    """The name of the architecture for T_x inputs and T_y outputs."""
    ### BEGIN SOLUTION
    if T_x == 1:
        return "one-to-one" if T_y == 1 else "one-to-many"
    if T_y == 1:
        return "many-to-one"
    return "many-to-many (equal)" if T_x == T_y else "many-to-many (different)"
    ### END SOLUTION


# %% check="architecture"
check(architecture)

# %% [markdown]
# Ask this first of any task.

# %% [markdown]
# ## 2 · One in, one out: what is left without time
#
# Take the cell and let there be one step only. There is no $h_{t-1}$, so the term with $W$ is gone:
#
# $$h = \tanh(x U + b) \qquad y = h V + c$$
#
# That is the network of one hidden layer.
#
# *By hand*, one number of each: $x = 0.5$, $u = 1$, $b = 0$ give $h = \tanh(0.5) = 0.462$. With $v = 2$ and $c = -1$,
# $y = 2 \cdot 0.462 - 1 = -0.076$. The heads of this unit give plain numbers; they are **logits** where a softmax follows.

# %% [markdown]
# ### Exercise 11.2 · `OneToOne`
# *●○○ · 6 minutes · 2 points*
#
# An `nn.Module` with two layers of exactly these names: `hidden`, an `nn.Linear` from `input_size` to `hidden_size`, and
# `head`, an `nn.Linear` from `hidden_size` to `output_size`, with a tanh between them. `forward(x)` takes `(N, D)` and
# gives logits `(N, Q)`.
#
#     with all weights 1 and biases 0, D = H = Q = 1:    x [[0.5]]  gives [[0.462]]


# %% answer="OneToOne"
class OneToOne(nn.Module):
    """One input, one output: x (N, D) -> logits (N, Q)."""

    def __init__(self, input_size, hidden_size, output_size):
        super().__init__()
        ### BEGIN SOLUTION
        self.hidden = nn.Linear(input_size, hidden_size)
        self.head = nn.Linear(hidden_size, output_size)
        ### END SOLUTION

    def forward(self, x):
        ### BEGIN SOLUTION
        return self.head(torch.tanh(self.hidden(x)))
        ### END SOLUTION


# %% check="OneToOne"
check(OneToOne)

# %% [markdown]
# ### Experiment · digits at a glance
#
# Of 1,797 digits, written by hand, 8 by 8 pixels each, 500 are held out. All 64 pixels go in at once, and `fit_digits`
# makes 500 updates by Adam. **Guess**: how many of 100 unseen digits will a network without any recurrence read right?

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.experiments import beside
from rnncourse.experiments.heads import (
    at_a_glance,
    build,
    fit_digits,
    one_of_each,
    pictures,
    share_of_digits,
)
from rnncourse.plots.heads import digit_strip

show(digit_strip(pictures()[2][one_of_each()].numpy(), list("0123456789")))
glance = build(use(OneToOne), 64, 64, 10)
fit_digits(glance, at_a_glance)
right = share_of_digits(glance, at_a_glance)
print(beside("11_heads:digits/all pixels at once/right", right, ".1%"))

# %% tags=["author"]
assert right > 0.94, "The network without a recurrence was expected to read more than 94% right."

# %% [markdown]
# That is the bar for what follows. (One linear layer alone comes to {{digits/one linear layer/right|median .1%}}.)

# %% [markdown]
# ## 3 · An output at every step
#
# Many-to-many, equal: `nn.RNN` hands out all states $(T, N, H)$, and the head reads each of them. `nn.Linear` works on the
# last axis and leaves the axes before it alone, so one call does all steps.
#
# *By hand*, one number of each: $x = (0, 0.5, 1)$, $u = 1$, $w = 2$, $b = 0$, $h_0 = 0$, and the head of before, $v = 2$
# and $c = -1$:
#
# | | $t = 1$ | $t = 2$ | $t = 3$ |
# |---|---|---|---|
# | $h_t$ | $\tanh(0) = 0$ | $\tanh(0.5 + 2 \cdot 0) = 0.462$ | $\tanh(1 + 2 \cdot 0.462) = 0.958$ |
# | $y_t = 2 h_t - 1$ | $-1$ | $-0.076$ | $0.917$ |

# %% [markdown]
# ### Exercise 11.3 · `SequenceTagger`
# *●○○ · 8 minutes · 3 points*
#
# An `nn.Module` over the core. `__init__(self, input_size, hidden_size, output_size)` makes two layers of exactly these
# names: `rnn`, an `nn.RNN` (time first), and `head`, an `nn.Linear`. `forward(x, h0=None)` takes x `(T, N, D)` and a start
# state `(1, N, H)`, or None for zeros, and gives logits `(T, N, Q)`. The table above is an example with numbers.


# %% answer="SequenceTagger"
class SequenceTagger(nn.Module):
    """One output a step: x (T, N, D), h0 (1, N, H) or None -> logits (T, N, Q)."""

    def __init__(self, input_size, hidden_size, output_size):
        super().__init__()
        ### BEGIN SOLUTION
        self.rnn = nn.RNN(input_size, hidden_size)
        self.head = nn.Linear(hidden_size, output_size)
        ### END SOLUTION

    def forward(self, x, h0=None):
        ### BEGIN SOLUTION
        states, _ = self.rnn(x, h0)
        return self.head(states)
        ### END SOLUTION


# %% check="SequenceTagger"
check(SequenceTagger)

# %% [markdown]
# ### Experiment · names, and the price of one step
#
# [Unit 09](../09_bidirectional/09_bidirectional.ipynb) had sentences like "He said , Teddy Roosevelt was …" and "He said ,
# Teddy bears are …". The task is to mark the **named entities**: which words are part of a person's name? At "Teddy" a
# tagger that reads from left to right cannot know. Its ceiling is $1 - 0.3 / 9.275 = 0.96765$ of all words; a second
# chain broke it.
#
# There is a cheaper way. Ask *later*: with a delay of 1, the tagger has to say the label of word $t$ at step $t + 1$, when
# it has read the next word. (An empty step is added at the end.)
#
# **Guess** the share of all words that each will have right in the end, to five digits.

# %% tags=["experiment"] dials="delay = 2; delay = 0"
from rnncourse.experiments.heads import fit_tagger, names_ceiling
from rnncourse.plots.heads import names_chart

delay = 1
at_once, later = (fit_tagger(d, use(SequenceTagger)) for d in (0, delay))
print(f"asked at once {at_once[-1]:.5f}, asked {delay} later {later[-1]:.5f}")
curves = {"asked at once": at_once, f"asked\n{delay} later": later}
show(names_chart(curves, names_ceiling()))

# %% tags=["author"]
assert abs(at_once[-1] - names_ceiling()) < 1e-5, "The ceiling was expected, to five digits."
assert delay != 1 or later[-1] > 0.9999, "Every word was expected to be right, one step later."

# %% [markdown]
# **Claim:** asked at once, the tagger ends on its ceiling, to five digits. Asked one step later, it is right on every
# word.
#
# Core and head are the same; only the question came later. Twice as many units, asked at once, stay on the ceiling, at
# {{tagger/at once, twice as large/right|median .3f}}. *Try* a delay of 2, and of 0.

# %% [markdown]
# ## 4 · One output for all
#
# Ask after the last step, and the state has read everything: many-to-one. The head reads one vector, made of $T$ states
# in one of two ways:
#
# $$\text{last: } h_T \qquad\qquad \text{mean: } \frac{1}{T} \sum_t h_t$$
#
# In a batch, $T$ is the *row's own* length, `lengths[n]`. The states go on changing in the padding. So the last one must be
# taken where the row ends, and the mean over real steps, divided by their number.
#
# *By hand*: the states of section 3, $(0, 0.462, 0.958)$, but the row is only 2 steps long. The last real state is
# $0.462$, which gives $y = -0.076$. The mean over the real steps is $(0 + 0.462)/2 = 0.231$, which gives $y = 2 \cdot
# 0.231 - 1 = -0.538$. Divided by 3 it would be $-0.692$; with the padding in it, $-0.053$. All three look
# reasonable.
#
# Two tools, both from [unit 07](../07_torch_rnn/07_torch_rnn.ipynb). Index with two tensors: `states[lengths - 1,
# torch.arange(N)]`. Or pack: after
# `packed, h_n = rnn(pack_padded_sequence(x, lengths, enforce_sorted=False))` the state `h_n` is the last real one of each
# row, and `pad_packed_sequence(packed, total_length=T)` gives `(states, lengths)` back, with zeros in the padding.

# %% [markdown]
# ### Exercise 11.4 · `SequenceClassifier`
# *●●○ · 20 minutes · 5 points*
#
# `__init__(self, input_size, hidden_size, output_size, pool="last")` makes `rnn` and `head` as before. `forward(x,
# lengths=None)` takes x `(T, N, D)` and gives logits `(N, Q)`:
#
# - `pool="last"`: from the last real state of each row;
# - `pool="mean"`: from the mean of the real states of each row.
#
# `lengths` is a tensor of N whole numbers from 1 to T, in no particular order, possibly all below T. Without it all T
# steps are real. What stands in the padding is not zero, and must change nothing.


# %% answer="SequenceClassifier"
class SequenceClassifier(nn.Module):
    """One output for a sequence: x (T, N, D), lengths (N,) or None -> logits (N, Q)."""

    def __init__(self, input_size, hidden_size, output_size, pool="last"):
        super().__init__()
        ### BEGIN SOLUTION
        self.rnn = nn.RNN(input_size, hidden_size)
        self.head = nn.Linear(hidden_size, output_size)
        self.pool = pool
        ### END SOLUTION

    def forward(self, x, lengths=None):
        ### BEGIN SOLUTION
        if lengths is None:
            lengths = torch.full((x.shape[1],), len(x))
        packed, h_n = self.rnn(pack_padded_sequence(x, lengths, enforce_sorted=False))
        states, _ = pad_packed_sequence(packed, total_length=len(x))
        summary = h_n[0] if self.pool == "last" else states.sum(dim=0) / lengths[:, None]
        return self.head(summary)
        ### END SOLUTION


# %% check="SequenceClassifier"
check(SequenceClassifier)

# %% [markdown]
# This is the workhorse of the five. First it reads digits.

# %% [markdown]
# ### Experiment · digits, row by row
#
# Now each image is a sequence of $T = 8$ rows of $D = 8$ pixels, read from the top. The classifier has about as many
# parameters as the network that saw all at once. **Guess**: how many of 100 digits will it read right with the last
# state, and how many with the mean?

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.experiments.heads import (
    LAST,
    MEAN,
    digit_reader,
    misread,
    ours,
    row_by_row,
)
from rnncourse.plots.gates import shares

Classifier = use(SequenceClassifier)
readers = {name: digit_reader(name, Classifier) for name in (LAST, MEAN)}
right = {name: share_of_digits(one, row_by_row) for name, one in readers.items()}
show(shares(right, ours=ours("digits", {name: (name, "right") for name in right})))
show(digit_strip(*misread(readers[LAST])))

# %% tags=["author"]
assert right[LAST] > 0.94 > right[MEAN], "The last state was expected to read better than the mean."

# %% [markdown]
# **Claim:** row by row, the last state reads more than 95% of the held-out digits right. The mean of all states reads
# at least 3 in 100 fewer.
#
# It held in {{held row_by_row}} seeds. Row by row is as good as at a glance: the core carries the first row through seven more.
#
# Why is the mean behind? The head is linear, so the logits of the mean are the mean of the logits: each state casts a
# **vote** at its own time. After three rows of a 9 nobody can know that it is not a 4. But a vote can **abstain**: a state
# may give the same logits to every digit, and keep what it has read where the head does not look. **Guess**: do the early
# rows abstain? Here is how much the votes of each row differ from digit to digit.

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.experiments.heads import spread_of_votes
from rnncourse.plots.heads import votes_chart

spread = spread_of_votes(readers[MEAN])
show(votes_chart(spread))

# %% tags=["author"]
assert spread[2] > spread[-1] / 2, "The third row was not expected to abstain."

# %% [markdown]
# **Claim:** in the reader of the mean, the votes of the third row differ more than half as much from digit to digit as
# those of the last.
#
# It held in {{held early_rows_do_not_abstain}} seeds. So the early rows do not abstain: they speak long before they can
# be sure, and the later ones have to outvote them. Nothing forbids the mean the right answer; 500 updates did not find
# it.

# %% [markdown]
# ### Experiment · a head of two layers
#
# Need a head be linear? It may be any network. Here it gets a hidden layer of 48 units, and the core shrinks to 44, so that
# all four readers have about 5,000 parameters:
#
#     model.head = nn.Sequential(nn.Linear(44, 48), nn.Tanh(), nn.Linear(48, 10))
#
# Each has the best of three learning rates, on digits kept back from training. **Guess**: which of the two summaries will
# gain from it, the last state or the mean?

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.experiments.heads import LAST_DEEP, MEAN_DEEP

for name in (LAST_DEEP, MEAN_DEEP):
    right[name] = share_of_digits(digit_reader(name, Classifier), row_by_row)
show(shares(right, ours=ours("digits", {name: (name, "right") for name in right})))

# %% [markdown]
# **Claim:** on the mean, the head with a hidden layer reads more digits right than the linear one.
#
# It held in {{held head_of_two_layers}} seeds: {{digits/mean, hidden layer/right|median .1%}} against
# {{digits/mean, linear/right|median .1%}}. With the last state the two heads are alike,
# {{digits/last, hidden layer/right|median .1%}} and {{digits/last, linear/right|median .1%}}. The core is a hidden layer
# itself, and can shape its last state for a linear head. We go on with linear heads.

# %% [markdown]
# ### Experiment · how soon does it know?
#
# `lengths` lets you ask a classifier after any number of rows. Yours was always asked after the eighth. Train another one
# as a *tagger*, with the digit as the label of every row, and load its weights into your `SequenceClassifier`. **Guess**:
# how right is each of the two after five rows, and which one is better after eight?

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.experiments.heads import asked_at_every_row, right_after
from rnncourse.plots.heads import rows_read

often = asked_at_every_row(use(SequenceTagger), Classifier)
both = {"asked at\nthe end": readers[LAST], "asked at\nevery row": often}
soon = {name: [right_after(one, k) for k in range(1, 9)] for name, one in both.items()}
show(rows_read(soon))

# %% tags=["author"]
end, every = soon.values()
assert every[4] > end[4] + 0.4, "Asked at every row it was expected to know sooner."
assert every[7] < end[7], "Asked at every row it was expected to know less in the end."

# %% [markdown]
# **Claim:** after five of the eight rows, the reader that was asked at every row has at least 50 in 100 digits more right
# than the one that was asked at the end. After all eight it has at least 5 in 100 fewer.
#
# It held in {{held asked_at_any_time}} seeds. A state is good at what it was asked for: if you need an answer at the end,
# ask there.

# %% [markdown]
# ### Experiment · what the mean is good for
#
# With the mean, every state has a way of its own to the loss. Take two untrained classifiers with the same weights, and
# sequences of 40 steps. How large is the gradient at $x_k$? **Guess** the powers of ten between $x_1$ and $x_{40}$ with the
# last state; unit 05 helps.

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.experiments.heads import gradient_at_inputs
from rnncourse.plots.heads import arriving

norms = {pool: gradient_at_inputs(pool, Classifier) for pool in ("last", "mean")}
show(arriving(norms))

# %% tags=["author"]
ratios = {pool: norm[0] / norm[-1] for pool, norm in norms.items()}
assert ratios["last"] < 1e-6, "With the last state, the first input was not expected to be reached."
assert ratios["mean"] > 0.1, "With the mean, the first input was expected to be reached."

# %% [markdown]
# **Claim:** with the last state, $x_1$ gets less than a millionth of the gradient that $x_{40}$ gets. With the mean, it
# gets more than a tenth.
#
# (From an orthogonal $W$, with the last state, $x_1$ gets {{arriving_at_first/orthogonal/last|median .3f}} of it.) That
# was before training. And after it? Hide the one step that matters in 40 steps of noise, and train three classifiers.
# For two of them that step is always the first; for the third it may stand anywhere. Then ask all three where it is the
# first. **Guess**: who is right?

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.experiments.heads import right_on_first

trained = {
    "mean, always first": ("mean", True),
    "last, anywhere": ("last", False),
    "last, always first": ("last", True),
}
right = {name: right_on_first(*how, Classifier) for name, how in trained.items()}
for seed in (1, 2):
    name = f"last, always first, seed {seed}"
    right[name] = right_on_first("last", True, Classifier, seed=seed)
ranges = ours("far_away", {n: (n, "right") for n in trained})
show(shares(right, ours=ranges, chance=0.5))

# %% [markdown]
# **Claim:** where the step that matters is always the first, the mean is right more than 99 times in 100. The last state
# is, if the step may stand anywhere.
#
# It held in {{held far_from_the_end}} seeds. Where the step may stand anywhere, the last state learns it, too: the
# short examples among them teach it to hold, as in [unit 05](../05_gradient_flow/05_gradient_flow.ipynb). Where it is
# always the first, the last state needs luck: in the middle of our seeds it comes to
# {{far_away/last, always first/right}}. So the mean helps where all that matters is far from the end.

# %% [markdown]
# ### Experiment · not funny but clever
#
# Is a review friendly or not? A bag of words loses the order; but *how much is the order worth*? In a small world of 1,936
# sentences it can be said exactly. Half of them have one part: a negation turns it round, and two cancel. The others are
# contrasts, "… but …", of which the second part decides.
#
# | positive | negative |
# |---|---|
# | the book was not bad at all | the film was hardly funny |
# | i do not think that the film was not funny | nobody can deny that the book was never moving |
# | the film was not funny but clever | the film was clever but not funny |
#
# What is the best that *any* function of the bag can do? For each bag we know how likely each label is, and the best
# answer is the likelier one:
#
# $$\text{ceiling} = \sum_{\text{bags}} \max_{\text{label}} P(\text{bag}, \text{label})$$
#
# *By hand.* Every contrast has a twin with its parts swapped, as in the last row: the same words, opposite labels. So on
# contrasts any bag is right half of the time. **Guess** its share on the sentences of one part, and so the ceiling.

# %% tags=["experiment"]
from rnncourse.data import bag_ceiling, sentiment_sentences

world = sentiment_sentences()
one_part = [r for r in world if "but" not in r.tokens]
contrasts = [r for r in world if "but" in r.tokens]
print(f"one part {bag_ceiling(one_part):.4f}, contrasts {bag_ceiling(contrasts):.4f}")
print(f"ceiling of bags {bag_ceiling(world):.4f}")

# %% tags=["author"]
assert abs(bag_ceiling(world) - 0.75) < 1e-9, "A ceiling of 0.75 was expected."

# %% [markdown]
# Negation as such is not what a bag is blind to: {…, not, funny} is one bag and {…, not, dull} another, each with one
# label. It is blind to the **scope** of a negation: which word the "not" is about.
#
# Now train three models: one that adds up a weight for each word; your `OneToOne` on the bag; and your
# `SequenceClassifier`, word by word. **Guess** what each will reach.

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.experiments.heads import (
    fit_in_order,
    fit_on_bags,
    reviews,
    share_of_reviews,
)

V = reviews()[1].shape[-1]  # words
added, bag = build(nn.Linear, V, 2), build(use(OneToOne), V, 64, 2)
reader = build(Classifier, V, 32, 2)
ok = {"a weight for each word": fit_on_bags(added), "bag": fit_on_bags(bag)}
ok["word by word"] = fit_in_order(reader)
right = {name: share_of_reviews(one) for name, one in ok.items()}
show(shares(right, ours=ours("sentiment", {name: (name, "right") for name in right})))
for name, one in ok.items():
    print(f"of contrasts: {name} {share_of_reviews(one, 'contrasts'):.2f}")

# %% tags=["author"]
assert right["a weight for each word"] < 0.6, "Adding up was expected to be nearly worthless."
assert abs(right["bag"] - 0.75) < 0.01, "The bag was expected at its ceiling."
assert right["word by word"] > 0.97, "More than the ceiling was expected."

# %% [markdown]
# **Claim:** the bag meets its ceiling of 0.75 and stays on it. The classifier that reads word by word is right on more
# than 98%.
#
# It held in {{held what_order_is_worth}} seeds. Nor are the sentences learned by heart: trained without a fifth of them,
# the classifier has {{sentiment/never read/right|median .1%}} of that fifth right.
#
# A weight for "not" cannot help: it would have to pull "funny" down and lift "dull" up. Here are twins. **Guess** what the
# bag says of them.

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.experiments.heads import beliefs_of_bags, beliefs_on_the_way
from rnncourse.plots.heads import belief_dots, belief_words

twins = [
    "the film was not funny but clever",
    "the film was clever but not funny",
    "the book was no longer slow but silly",
    "the book was silly but no longer slow",
]
read = [beliefs_on_the_way(reader, text)[-1] for text in twins]
both = {"bag": beliefs_of_bags(bag, twins), "word by word": read}
show(belief_dots(both, twins, xlabel="probability of “positive”"))

# %% [markdown]
# The bag says one half, an honest answer. And the classifier on its way? Ask it after every word.

# %% tags=["experiment", "nbval-ignore-output"] dials="text = \"nobody can deny that the book was never moving\""
text = "the film was not funny but clever"
on_the_way = {text: beliefs_on_the_way(reader, text)}
show(belief_words(on_the_way, "probability of “positive” so far"))

# %% [markdown]
# (It was never asked at "the" or "was", where no sentence ends.) *Try* `"nobody can deny that the book was never moving"`.

# %% [markdown]
# ## 5 · From both ends
#
# What stands near the end reaches the last state most easily. Here are mails from a made-up world in which that matters.
# What a mail is about stands in its first word, who signs it in its last words; the words between are of no importance:

# %% tags=["experiment"]
from rnncourse.experiments.heads import mails

post = mails(0, 2000)
for n in range(4):
    about = ("honest", "advert")[post.is_advert[n]]
    signed = ("signed by its sender", "forged")[post.is_forged[n]]
    words = post.text(n).split()
    print(f"{about}, {signed}:  {' '.join(words[:7])} … {' '.join(words[-4:])}")

# %% [markdown]
# **Is it an advert?** The first word says so: "prize", "lottery", "bargain" and "discount" are adverts. **Is it forged?** A
# mail "from your bank" that is signed "your shop" is: two words, one near each end, have to be held against each other.
#
# A chain that reads from left to right is asked two dozen words after the first one. A second chain comes from the right, and
# *its* last state has just read the first word. That makes two states, $f$ of the first chain and $g$ of the second. Unit
# 09 combined such states in three ways: side by side, their sum, their product.
#
# *By hand*, one unit each, which say +1 or −1. Let $f = \pm 1$ be the signer and $g = \pm 1$ the sender. The mail is
# honest if they agree. A head on both, side by side, gives $v_1 f + v_2 g + c$; on the sum, $v (f + g) + c$. Try to
# make it positive for $(1, 1)$ and $(-1, -1)$, and negative for $(1, -1)$ and $(-1, 1)$: the first two add up to $2c$,
# and so do the last two. No linear head can do it. The product $f g$ is 1 where they agree and −1 where they do not.
#
# The words go in as ids this time, and the network learns an **embedding**, a vector for each word, as in unit 07.

# %% [markdown]
# ### Exercise 11.5 · `BidirectionalClassifier`
# *●●○ · 20 minutes · 4 points*
#
# `__init__(self, vocabulary_size, embedding_size, hidden_size, output_size, how="concat")` makes three layers of exactly
# these names: `embedding`, an `nn.Embedding`; `rnn`, an `nn.RNN` in both directions, time first, with `hidden_size` units
# each; and `head`, an `nn.Linear` from the summary to `output_size`.
#
# `forward(ids, lengths=None)` takes ids `(T, N)` and gives logits `(N, Q)`. The summary is made of each direction's state
# *after it has read everything*, forward $f$ and backward $g$: `"concat"` is $[f, g]$, `"sum"` is $f + g$, `"product"` is
# $f \odot g$. `lengths` is as before: a tensor `(N,)`, in no particular order, possibly all below T; without it all steps
# are real. Under the padding stand valid ids, and they must change nothing.
#
# (Packed, an `nn.RNN` in both directions gives `h_n` as `(2, N, H)`: see the table in section 9 of unit 09.)


# %% answer="BidirectionalClassifier"
class BidirectionalClassifier(nn.Module):
    """One output for a sequence that is read from both ends: ids (T, N), lengths (N,) or None -> logits (N, Q)."""

    def __init__(
        self,
        vocabulary_size,
        embedding_size,
        hidden_size,
        output_size,
        how="concat",
    ):
        super().__init__()
        ### BEGIN SOLUTION
        self.embedding = nn.Embedding(vocabulary_size, embedding_size)
        self.rnn = nn.RNN(embedding_size, hidden_size, bidirectional=True)
        self.head = nn.Linear(2 * hidden_size if how == "concat" else hidden_size, output_size)
        self.how = how
        ### END SOLUTION

    def forward(self, ids, lengths=None):
        ### BEGIN SOLUTION
        if lengths is None:
            lengths = torch.full((ids.shape[1],), len(ids))
        packed = pack_padded_sequence(self.embedding(ids), lengths, enforce_sorted=False)
        _, (f, g) = self.rnn(packed)
        if self.how == "sum":
            summary = f + g
        elif self.how == "product":
            summary = f * g
        else:
            summary = torch.cat([f, g], dim=-1)
        return self.head(summary)
        ### END SOLUTION


# %% check="BidirectionalClassifier"
check(BidirectionalClassifier)

# %% [markdown]
# ### Experiment · adverts and forgeries
#
# Four classifiers, about equally large. Half of the mails are adverts, and half are forged. **Guess** the share of right
# answers of each.

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.experiments.heads import fit_mails

asked = {
    "adverts, one way": ("is_advert", "one way"),
    "adverts, both ways": ("is_advert", "concat"),
    "forged, side by side": ("is_forged", "concat"),
    "forged, product": ("is_forged", "product"),
}
kinds = Classifier, use(BidirectionalClassifier)
right = {name: fit_mails(*question, *kinds) for name, question in asked.items()}
measured = {f"forged, {how}": (how, "right") for how in ("side by side", "product")}
show(shares(right, ours=ours("forged", measured), chance=0.5))

# %% tags=["author"]
assert right["adverts, one way"] < 0.9 < right["adverts, both ways"], "Two chains were expected to find the first word."
assert right["forged, side by side"] < 0.65 < 0.85 < right["forged, product"], (
    "The product alone was expected to compare."
)

# %% [markdown]
# **Claim:** on forgeries, the product is right more than 90% of the time, and two chains side by side less than 65%.
#
# It held in {{held product_compares}} seeds. Side by side the two halves of the answer only add up. Multiplied, they meet.
# (The price: where one factor is near zero, so is the gradient of the other.) And the adverts? One chain *can* carry a word
# over two dozen others (units 05 and 10), but here 150 updates did not drive it there; the second chain had just read it.

# %% [markdown]
# ### Optional · a sequence of images
#
# What comes in at a step can be a picture. In a **film** of five frames a digit moves over the paper, up, down, left or
# right. Which way? **Guess** what a classifier reaches that reads the frames in order, and what one reaches that sees
# their mean, a bag of frames.

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.experiments.heads import films, fit_films

film = films(pictures()[2][:1], torch.tensor([3]))[:, 0].reshape(5, 8, 8)
show(digit_strip(film.numpy(), [f"t = {t}" for t in range(1, 6)]))
in_order, as_a_bag = fit_films(True, Classifier), fit_films(False, use(OneToOne))
print(f"right: in order {in_order:.1%}, as a bag of frames {as_a_bag:.1%}")

# %% [markdown]
# A film that runs backwards has the same frames and the opposite answer, so any bag is right half of the time at most.

# %% [markdown]
# ## 6 · Many from one
#
# Now the other way round. There is a first input, and then nothing more comes. What should the cell read at the second
# step? Its own last output:
#
# $$h_t = \tanh(x_t U + h_{t-1} W + b) \qquad y_t = h_t V + c \qquad x_{t+1} = y_t$$
#
# For that an output must be able to stand where an input stands: $Q = D$. In `generate` of unit 06 a character was *drawn*
# and fed back. Here the output is a vector of plain numbers, and it goes back **as it is**: no softmax, no draw, no
# rounding. So gradients run through what is remembered ($W$) and through what is said ($y_t$ into $x_{t+1}$). Through a
# draw they could not.
#
# *By hand*, one number of each: $x_1 = 0.5$, $u = w = 1$, $b = 0$, $h_0 = 0$, and a head $v = 2$, $c = 0$:
#
# | | $t = 1$ | $t = 2$ |
# |---|---|---|
# | $x_t$ | $0.5$ | $y_1 = 0.924$ |
# | $h_t$ | $\tanh(0.5) = 0.462$ | $\tanh(0.924 + 0.462) = 0.882$ |
# | $y_t$ | $0.924$ | $1.765$ |

# %% [markdown]
# ### Exercise 11.6 · `SequenceGenerator`
# *●●○ · 16 minutes · 4 points*
#
# `__init__(self, input_size, hidden_size, output_size)` makes `rnn` and `head` as before; here `output_size` equals
# `input_size`. `forward(x, steps)` takes the first input x `(N, D)` and gives the `steps` outputs that follow it, `(steps,
# N, D)`. The state starts from zeros, at every call, and is carried from step to step. Each output is the next input,
# unchanged. x itself is not among the outputs. Gradients flow through everything.
#
# The table gives, for `steps=2`: `[[[0.924]], [[1.765]]]`.


# %% answer="SequenceGenerator"
class SequenceGenerator(nn.Module):
    """A first input and what follows from it: x (N, D), steps -> outputs (steps, N, D)."""

    def __init__(self, input_size, hidden_size, output_size):
        super().__init__()
        ### BEGIN SOLUTION
        self.rnn = nn.RNN(input_size, hidden_size)
        self.head = nn.Linear(hidden_size, output_size)
        ### END SOLUTION

    def forward(self, x, steps):
        ### BEGIN SOLUTION
        h, outputs = None, []
        for _ in range(steps):
            states, h = self.rnn(x[None], h)
            x = self.head(states[0])
            outputs.append(x)
        return torch.stack(outputs)
        ### END SOLUTION


# %% check="SequenceGenerator"
check(SequenceGenerator)

# %% [markdown]
# You have a machine that goes on by itself.

# %% [markdown]
# ### Experiment · melodies from a first note
#
# Six old tunes, the first 16 notes of each, begin on six different pitches. A note is a vector: for each of 12 pitches a
# 0 or a 1, and then its duration in quarter notes. *Try* another `n`, from 0 to 5.

# %% tags=["experiment", "nbval-ignore-output"] dials="n = 4"
from IPython.display import Audio

from rnncourse.data import pitches, wav
from rnncourse.experiments.heads import beginnings

n = 0
tunes, names = beginnings(), pitches(beginnings())
print(tunes[n].name, *(pitch for pitch, _ in tunes[n].notes))
Audio(data=wav(tunes[n].notes, seconds=0.22))

# %% [markdown]
# The task: from the first note, all the others. There are two ways to train for it.
#
# **Corrected.** At every step the true note goes in, whatever the network has said. That is your `SequenceTagger`: true
# notes in, next notes out. It is the usual way, quick (one call for all steps), and called *teacher forcing*.
#
# **Alone.** Only the first note goes in, and the network has to go on from its own outputs. That is your
# `SequenceGenerator`.
#
# Core and head have the same names, so the weights of one can be loaded into the other. The loss is the mean squared
# difference to the true vectors. For listening, and only then, the largest pitch is chosen and the duration is rounded.
# **Guess** four shares of right notes: trained in either way, and used in either way.

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.experiments.heads import (
    alone,
    corrected,
    notes_right,
    played,
    taught,
    used_as,
)

Tagger, Generator = use(SequenceTagger), use(SequenceGenerator)
ways = {"corrected": (Tagger, corrected), "alone": (Generator, alone)}
singers = {how: taught(*way) for how, way in ways.items()}
sung, right = {}, {}
for how, model in singers.items():
    for then, (kind, view) in ways.items():
        sung[how, then] = played(used_as(kind, model), view)
        right[f"trained {how}, used {then}"] = notes_right(sung[how, then])
places = {f"trained {a}, used {b}": (a, f"used {b}") for a, b in sung}
show(shares(right, ours=ours("tunes", places), xlabel="share of right notes"))

# %% tags=["author"]
assert min(right["trained corrected, used corrected"], right["trained alone, used alone"]) > 0.97, "Nearly all right."
assert right["trained corrected, used alone"] < 0.85, "Left alone, the corrected one was expected to lose its way."

# %% [markdown]
# **Claim:** trained with corrections, the network has more than 98% of the notes right while it is corrected, and less
# than 85% when it is left alone. Trained alone, it plays more than nine in ten right, alone.
#
# It held in {{held walks_alone}} seeds. Corrected, the one that was trained alone falls to
# {{tunes/alone/used corrected|median}}: it knows only its own notes. Hear the two alone: hatched notes are wrong, in pitch or in
# duration.

# %% tags=["experiment", "nbval-ignore-output"] dials="n = 5"
from rnncourse.experiments.heads import as_heard
from rnncourse.plots.heads import piano_roll

n = 0
rolls = {f"trained {how}": as_heard(sung[how, "alone"], n) for how in ways}
truth = dict.fromkeys(rolls, tunes[n].notes)
show(piano_roll(rolls, names, truth=truth, title=tunes[n].name))
Audio(data=wav(as_heard(sung["corrected", "alone"], n), seconds=0.22))

# %% [markdown]
# Why does the one that was corrected lose its way? In training every pitch in its inputs was a clean 0 or 1. Its own
# outputs are a little off, say 0.93 and 0.08, and it has never met such inputs: small errors feed on themselves. If
# that is so, inputs that are a little off in training should cure it. **Guess**: with noise of size 0.1 on the notes
# that it is fed while it is corrected, what share does it play right alone?

# %% tags=["experiment", "nbval-ignore-output"] dials="noise = 0.5; noise = 0.01"
noise = 0.1
hardened = used_as(Generator, taught(Tagger, corrected, noise=noise))
share = notes_right(played(hardened, alone))
print(beside("11_heads:tunes/corrected, noisy notes/used alone", share))

# %% [markdown]
# Without noise it was {{tunes/corrected/used alone|median .2f}}, with it {{tunes/corrected, noisy notes/used alone|median .2f}}.
# *Try* a noise of 0.01, and of 0.5. Training alone has a price: no step can be computed before the one before it.
#
# This is the network that was trained alone, with one note to start from:

# %% tags=["experiment", "nbval-ignore-output"]
Audio(data=wav(as_heard(sung["alone", "alone"], 2), seconds=0.35))

# %% [markdown]
# It does not know when to stop: we have told it `steps`. An output that says "the end" comes in unit 12.

# %% [markdown]
# ### Experiment · two tunes, one first note
#
# The same first note gives the same tune, always. Now teach the generator a seventh, *Ah ! vous dirai-je, maman*, which
# begins with a C for one quarter, just as *Frère Jacques* does. **Guess**: what will it play after that C? You can compute
# it: the loss asks for the least mean squared difference to two vectors at once.

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.experiments.heads import TWINS, off_the_mean
from rnncourse.plots.heads import pitch_strengths

undecided = played(taught(Generator, alone, count=7), alone, 7)
outputs, apart = off_the_mean(undecided)
print(f"away from the mean of the two: outputs {outputs:.2f}, tunes {apart:.2f}")
print(f"notes right of the two {notes_right(undecided, TWINS):.0%}")
print(f"notes right of the other five {notes_right(undecided, range(1, 6)):.0%}")
show(pitch_strengths(undecided[:, 0, :-1].clamp(0, 1).numpy(), names))

# %% tags=["author"]
assert outputs < 0.1 < apart, "The mean of the two was expected."
assert notes_right(undecided, TWINS) < 0.65, "Neither of the two was expected."

# %% [markdown]
# It sings both at once, each at half strength. Nobody can know from one C which
# tune is meant, and if *one* vector has to be given, the mean is the best. One way out is a distribution and a draw, as in
# unit 06. The other is to tell it more.

# %% [markdown]
# ## 7 · Read, then write
#
# Tell it two notes. Now there are two inputs and 14 outputs: many-to-many, different. No new layer is needed. In the
# generator's `forward`, two lines come before the loop:
#
#     states, h = self.rnn(x)               # x (T_x, N, D): read everything
#     outputs = [self.head(states[-1])]     # the first output, which is the next input
#
# **Guess**: will two notes do for *all seven* tunes?

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.experiments.heads import ReadThenWrite, after_two

pianist = taught(ReadThenWrite, after_two, Generator, count=7)
written = played(pianist, after_two, 7)
print(f"notes right of all seven: {notes_right(written):.1%}")
rolls = {tunes[k].name: as_heard(written, k) for k in TWINS}
show(piano_roll(rolls, names, truth={tunes[k].name: tunes[k].notes for k in TWINS}))

# %% tags=["author"]
assert notes_right(written) > 0.95, "Two notes were expected to do for all seven tunes."

# %% [markdown]
# Nearly every note is right. One state carries everything from what was read to what is written.
# [Unit 12](../12_encoder_decoder/12_encoder_decoder.ipynb) gives reading and writing a core each.

# %% [markdown]
# ### Optional · a picture, and then words
#
# A picture goes into the **first state**: train a small convolutional network to tell digits apart, take away its head, and
# start your `SequenceTagger` from its last layer, `h0`. It then writes letter by letter until it chooses the full stop.
# **Guess**: how many of 100 names will be right?

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.experiments.heads import fit_captions, shares_of_names, written_names

captions = written_names(*fit_captions(use(SequenceTagger)))
found = shares_of_names(captions)
print(f"right {found['right']:.1%}, some digit's name {found['a name']:.1%}")
some = one_of_each()
show(digit_strip(pictures()[2][some].numpy(), [captions[i] for i in some]))

# %% [markdown]
# Unit 12 writes sentences from pictures.

# %% [markdown]
# ## 8 · Who learns from whom?
#
# *Which inputs can output $t$ learn from?* In unit 02 you asked what an output depends on, by moving each input. For
# learning, a **gradient** has to get there. Mostly the two agree. But a `detach` leaves the value and cuts the gradient,
# and then the output depends on something from which nothing can be learned.
#
# To ask, make one number of output $t$, differentiate, and see which steps of the input got anything. The plain sum of its
# entries is a trap: the entries of a softmax always sum to 1, so the gradient of their sum is 0 (or what rounding leaves of
# it) although each entry has one. *By hand*: with $z = (x, -x)$ the sum is $0$, and so is its gradient. With weights, $0.7
# \cdot x + 0.2 \cdot (-x)$ has the gradient $0.5$. Draw the weights at random, and entries will not cancel.

# %% [markdown]
# ### Exercise 11.7 · `gradient_support`
# *●●● · 18 minutes · 4 points*
#
# `model` is anything that can be called with x `(T, N, D)` and gives one tensor with time first, `(T_y, …)`; it need not
# be a module, and T_y need not be T. Output `t`, counted from 0, is `model(x)[t]`. Make one number of it: the sum of its
# entries, each with a weight drawn at random. Return a tensor of T entries, True or False: entry k says whether **any**
# entry of `x[k]` gets a gradient of that number that is not 0.
#
# x comes without `requires_grad`; leave its numbers as they are. If no way leads from the output back to x at all, the
# answer is all False (PyTorch then leaves `.grad` None, or complains unless it is told `allow_unused=True`; and it always
# complains where the output hangs on nothing that needs a gradient, not even on weights).
#
# For a `SequenceTagger`, $T = 4$ and `t=1`: `[True, True, False, False]`.


# %% answer="gradient_support"
def gradient_support(model, x, t):
    """Which steps of x (T, N, D) get gradient from output t of the model: T entries, True or False."""
    ### BEGIN SOLUTION
    leaf = x.clone().requires_grad_()
    output = model(leaf)[t]
    total = (torch.randn_like(output) * output).sum()
    (gradient,) = torch.autograd.grad(total + 0 * leaf.sum(), leaf)  # so there always is a way back to x
    return (gradient != 0).flatten(1).any(dim=1)
    ### END SOLUTION


# %% check="gradient_support"
check(gradient_support)

# %% [markdown]
# You can now X-ray any model. **Guess**: in which of the five is a cell left white?

# %% tags=["experiment"]
from rnncourse.experiments.heads import five_supports
from rnncourse.plots.heads import support_grids

support = use(gradient_support)
answers = (OneToOne, SequenceTagger, SequenceClassifier, SequenceGenerator)
grids = five_supports(support, *(use(answer) for answer in answers))
show(support_grids(grids))

# %% tags=["author"]
assert np.array_equal(grids["many-to-many\n(equal)"], np.tri(5, dtype=bool)), "No output learns from a later input."
assert all(g.all() for name, g in grids.items() if "equal" not in name), "All others learn from every input."

# %% [markdown]
# Only the tagger has white cells: it must speak before it has read everything. Whether a task lets you *wait* decides
# what can be learned.

# %% [markdown]
# ## 9 · Bugs to hunt
#
# All of these run, and give the right shape. What would you see? Which test of this unit finds it?
#
# 1. `states[:, -1]` for the last state, copied from a program with `batch_first=True`.
# 2. A classifier that pads with zeros and reads `states[-1]`.
# 3. A tagger with `batch_first=True` that is fed `(T, N, D)`.
# 4. A generator that is given its first input at every step.
# 5. A generator that feeds back `y.detach()`.
# 6. The label of the whole sequence asked at *every* step, with a `SequenceTagger`, "to get more gradient".
#
# **Guess** what the third one looks like under your X-ray, before you run it:

# %% tags=["experiment"]
from rnncourse.experiments.heads import batch_first_by_mistake

show(support_grids(batch_first_by_mistake(support, use(SequenceTagger))))

# %% [markdown]
# The diagonal alone: it takes the rows of the batch for time, and no output learns from any earlier step.
#
# The first bug gives $(T, Q)$ where $(N, Q)$ was meant, and nearly always that raises an error. But not with batches of 8
# images of 8 rows. **Guess** the loss after 200 updates with it, and without.

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.experiments.heads import (
    last_sequence_for_last_step,
    loss_with_wrong_axis,
)

kinds = {"last step": Classifier, "last sequence": last_sequence_for_last_step()}
for setting, kind in kinds.items():
    place = f"11_heads:wrong_axis/{setting}/loss"
    print(f"{setting:13}", beside(place, loss_with_wrong_axis(kind)))

# %% [markdown]
# **Claim:** with the bug the loss stays above 2, near the $\log 10 = 2.303$ of a guess. Without it, it falls below 1.
#
# It held in {{held wrong_axis_stays_a_guess}} seeds. Only the loss tells.
#
# <details><summary>Answers to the others, when you have thought about them</summary>
#
# **2** The state of a short row has gone on through the padding. Run a row alone and in a batch with a longer one: the
# logits must be the same. **4** `gradient_support` does not find it, for the first input does reach every output. A tagger
# that has the same weights and is fed what the generator has said must say the same. **5** Values and support are right,
# since gradients still run along the states. The gradient itself is not: compare it with finite differences. **6** Not
# wrong in itself, but the first outputs are asked for what they cannot know. In section 4 that cost some of the last
# answers.
# </details>

# %% [markdown]
# ## Summary
#
# Other questions need no other network: it is the same one, asked in another way.
#
# - Count inputs and outputs: five architectures, for which one core and one linear head will do.
# - What matters is what a state has read when it is asked. One step of delay lifted a tagger over its ceiling.
# - Last state or mean: from each row's own real steps. On digits the last state read better, and a hidden layer in the head
#   helped the mean only. The mean helps where all that matters is far from the end.
# - Read from both ends where the beginning matters, too. A sum lets both vote; a product compares them.
# - A generator feeds back what it says. Trained only on clean corrections it cannot walk alone; noise on them helps.
# - One answer to an ambiguous question is the mean of the answers.

# %% [markdown] written="heads_written" points=3
# ### Written question
# *3 points, graded by hand; six to ten sentences*
#
# A company that runs buses records, every second of a trip, speed, acceleration and the angle of the steering wheel. It
# wants three things: **(a)** while the bus is running, a warning each second if the driver seems to be tired; **(b)** after
# a trip, one grade for how smoothly it was driven, trips being 5 to 90 minutes long; **(c)** after a trip, a short report
# in words. For each of the three, name the architecture, say what the head reads, and which inputs its outputs may learn
# from. **(d)** The only labels for (a) are one per trip, "the driver was tired" or not, written down at its end. A
# colleague copies that label to every second and trains a tagger. What does he ask of the first seconds, and what would
# you do?
#
# ### BEGIN SOLUTION
# **Model answer.** (a) Many-to-many of equal length: the head reads every state, and output $t$ may learn from the seconds
# up to $t$ only, since the warning must come while the bus runs; no second chain, at most a short delay. (b) Many-to-one:
# one logit vector from one summary. Smoothness is a property of all moments alike, and up to 5,400 of them have to be added
# up, so the mean over the real steps is the better summary: it adds up by itself, and gives every moment a short way to the
# loss (over so many steps an error that must walk back from the last state can fade); each trip's own length counts, and
# not the padding. It may learn from all inputs. (c) Many-to-many of different length: read the trip, then write word by word from the last state, each word fed back; every word may learn
# from the whole trip and from the words before it. (d) The first seconds of every trip are asked for something that they
# cannot know: whether the driver will be tired at the end. The best that they can do is to say how frequent tired trips
# are, and their errors are noise in every update. I would train many-to-one, with the label at the end (or from the mean,
# so that each second votes and the votes can be shown while the bus runs), or give the late seconds more weight; and I
# would measure at which second the warnings begin to be better than chance, on trips of drivers who were not trained on.
#
# **Rubric.** 1½ points: ½ for each of (a) to (c) with its architecture *and* what the head reads (¼ without). ½ point: (a)
# must not read the future, while (b) and (c) may. 1 point: sees that early outputs are asked for what the inputs so far do
# not hold (½), and proposes something that fits the labels: one answer per trip, votes, weights by time, delayed or better
# labels (½).
# ### END SOLUTION

# %% [markdown]
# ## Where to read on
#
# - A. Karpathy, *The Unreasonable Effectiveness of Recurrent Neural Networks*, 2015: the five architectures.
# - B. Pang, L. Lee, S. Vaithyanathan, *Thumbs up? Sentiment Classification using Machine Learning Techniques*, EMNLP 2002:
#   83% of film reviews are right from their words alone.
# - R. J. Williams, D. Zipser, *A Learning Algorithm for Continually Running Fully Recurrent Neural Networks*, Neural
#   Computation 1, 1989: teacher forcing.
# - S. Bengio, O. Vinyals, N. Jaitly, N. Shazeer, *Scheduled Sampling for Sequence Prediction with Recurrent Neural
#   Networks*, NeurIPS 2015: between corrected and alone.

# %% [markdown]
# ## Something to show to somebody
#
# Your singer knows six tunes by their first notes. What does it sing from a first note *between* two of them? `mix` goes
# from 0, the first note of one tune, to 1, that of another. *Try* other tunes, from 0 to 5, and a mix of 0.4 or of 2.

# %% tags=["experiment", "nbval-ignore-output"] dials="mix = 0.4; mix = 2.0; one = 0; other = 5"
from rnncourse.experiments.heads import between

one = 4
other = 3
mix = 0.5
rolls = {f"mix {m:g}": between(singers["alone"], one, other, m) for m in (0, mix, 1)}
show(piano_roll(rolls, names, title=f"From {tunes[one].name} to {tunes[other].name}"))
Audio(data=wav(rolls[f"mix {mix:g}"], seconds=0.25))

# %% tags=["experiment"]
progress("11_heads")

# %% [markdown]
# ## The question for unit 12
#
# The pianist of section 7 writes plain numbers. A translator reads a sentence in one language and writes it in another: in
# symbols, of which it must choose one at each step, and with an end that it finds by itself.
# **How are two cores joined, one that reads and one that writes? And how does one look for the best sentence, when each
# word that is chosen changes the odds of all that follow?**
