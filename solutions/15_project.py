# %% [markdown]
# # 15 · The project
#
# **After this unit you can**
#
# - turn a question of your own into documents, three parts and one figure;
# - deal data so that nothing of the test reaches the training, and find out when something does;
# - choose an opponent that is worth beating, and give it all that your network gets;
# - run an experiment that anybody can run again: from a seed, over several seeds, with an ablation;
# - write two pages whose every figure is that of the run.
#
# **It takes** about four hours with the data that are here, and as long again with your own: a week, if you let the
# nights do the training. **You should know** n-grams (01), how a text is scored (06), padding (07) and gates (10). There
# are 9 exercises, 29 points, and a report that a person reads, 12 points.

# %% [markdown]
# ## The question that was left open
#
# Unit 14 ended with a question to ask of every new architecture: *what would an experiment of yours show that its
# authors did not?* You have built every part of such an experiment. You have never been asked to run one from beginning
# to end, and it is there, between the parts, that results go wrong. Not with a crash: with a figure that is too good.
#
# So in this unit you build no network that you do not know already. You build what stands round it. We go through all of
# it once, with a question that is small enough for a laptop: **you see a date, letter by letter. In which language is it
# written?** Then it is your turn, with a question of your own.

# %% locked="setup"
from collections import Counter

import numpy as np
import torch
from torch import nn

from rnncourse import check, hint, progress, track, use

torch.set_num_threads(1)  # for products as small as ours a second thread costs more than it brings
torch.optim.Adam(
    [torch.zeros(1)]
)  # the first optimiser loads much of PyTorch: a second or two, here and not in a check

# %% tags=["experiment"]
answer_above = "if an answer above has not passed its check, that may be why."
progress("15_project")

# %% [markdown]
# ## 1 · Documents
#
# Everything in this unit is of one form. A **document** is a row of tokens, with a **target** for each of them: what a
# model is asked when it has read so far. That is less narrow than it sounds:
#
# | question | tokens | the target at each step |
# |---|---|---|
# | which character comes next? | characters | the next character |
# | which word is a name? | words | name or none |
# | in which language is this? | characters | the language, the same at every step |
# | is the review friendly? | words | friendly or not, the same at every step |
#
# Three corpora are here, and a file of yours takes their place:
#
# | `load_corpus(…)` | what is asked | documents that belong together |
# |---|---|---|
# | `"dates"` | in which of eleven languages is this date written? | all ways to write one day |
# | `"python"` | what is this character of a program: a name, a string, a comment …? | one module |
# | `"docs"` | which character of Python's documentation comes next? | one topic |
# | `"mine.txt"` | which character comes next? (`by_word=True`: which word) | equal paragraphs |
# | `"mine.tsv"` | the label of a line, `text<TAB>label`, asked after each character | equal texts |
#
# Before you run the next cell: you read `3`, then a blank, then `mar`. Which languages are left, and after which letter
# would you be sure?

# %% tags=["experiment"]
from rnncourse.data import load_corpus

QUESTION = "dates"  # later: "python", "docs", or the path of a file of yours
corpus = load_corpus(QUESTION, most=28_000)

steps = sum(map(len, corpus.tokens))
print(f"{len(corpus.tokens):,} documents, {steps:,} steps, {len(set(corpus.groups)):,} groups\n")
for i in range(0, 22, 2):
    print(f"{corpus.groups[i]:<12} {''.join(corpus.tokens[i])!r:<38} {corpus.targets[i][-1]}")
assert all(len(tokens) == len(targets) for tokens, targets in zip(corpus.tokens, corpus.targets)), (
    "Each token was expected to have a target."
)

# %% [markdown]
# The last column is the target at every step of the row: `de` after the first letter, `de` after the last. Of course
# nobody can know it after the first. That is the point: we want to see how soon it is known.
#
# ## 2 · Three parts
#
# You know train and test since unit 01, and validation since unit 06. Here is the whole of it in one picture.

# %% tags=["experiment"]
from rnncourse.plots import show
from rnncourse.plots.project import three_parts

show(
    three_parts(),
    alt="Documents are dealt to three parts, whole groups at a time. Train leads to what is fitted: vocabulary, counts and "
    "weights. Validation leads to what is chosen: n, alpha, the epoch. Test leads to what is told: the figures, once. "
    "From fitted an arrow leads to chosen and to told. No arrow leads away from the test part but to the figures.",
)

# %% [markdown]
# Everything that this unit teaches is in the arrow that is *not* there: none leads from the test part back to the left.
# If one does, it is called a **leak**. Leaks are the commonest mistake in published work with learned models, and they
# make no noise.
#
# The first of them happens before anything is learned. Here is what it looks like. A text is cut into windows of 60
# characters, a new one every 6, so that each overlaps its neighbours, and the windows are dealt at random. What does a
# 7-gram, which cannot do anything but look up what it has seen, then need on the test windows? And what if the text is cut
# in two first?
#
# **Claim:** with windows dealt at random the 7-gram seems to need less than half of the bits that it needs on text that
# it has really never seen.

# %% tags=["experiment"]
from rnncourse.data import python_docs
from rnncourse.project import ngram_bits as counted_bits

text = python_docs(30_000)
index = {character: i for i, character in enumerate(sorted(set(text)))}
ids = [index[character] for character in text]


def windows(start, stop, step=6, length=60):
    """Windows of the text from `start` to `stop`, each with its next characters as targets."""
    return [(ids[i : i + length], ids[i + 1 : i + length + 1]) for i in range(start, stop - length, step)]


dealt = np.random.default_rng(0).permutation(len(every := windows(0, len(ids))))
cut = len(dealt) * 9 // 10
at_random = counted_bits([every[i] for i in dealt[:cut]], [every[i] for i in dealt[cut:]][:150], 7, len(index))
border = len(ids) * 9 // 10
cut_first = counted_bits(windows(0, border), windows(border, len(ids), 20), 7, len(index))
print(f"windows dealt at random: {at_random:.2f} bits a character")
print(f"the text cut in two:     {cut_first:.2f} bits a character")
assert at_random < cut_first / 2, "Windows that overlap were expected to flatter the 7-gram."

# %% [markdown]
# Nothing about the model is better in the first line. The same holds for two photographs of one patient, two reviews by
# one writer, one song in two recordings. Documents that tell about one another form a **group**, and it is groups that
# are dealt.
#
# ### Exercise 15.1 · `split_groups`
# *●●○ · 15 minutes · 3 points*
#
# `groups` is a list with the name of the group of each document. Return three lists of places in it: those of the
# documents for train, for validation and for test.
#
# - Of $G$ different groups, $\lfloor G/10 \rfloor$, but at least one, go to test, as many to validation, the rest to
#   train. All documents of a group go where it goes, and each document is in one part.
# - Which groups they are, a generator made of `seed` decides, and nothing else: the same seed gives the same split, another
#   seed another one. NumPy's global generator (`np.random.seed`, `np.random.shuffle`) is left alone.
#
#       split_groups(["a", "b", "a", "c", "b"], 0)     might give    [0, 2], [1, 4], [3]
#
# How you do it is up to you: there is no one right answer. The check calls your function several times and looks whether
# what it does is so. Your answer may not call scikit-learn.


# %% answer="split_groups"
def split_groups(groups, seed):
    """Deal documents by their groups: three lists of places, for train, validation and test."""
    ### BEGIN SOLUTION
    names = list(dict.fromkeys(groups))
    held = max(1, len(names) // 10)
    order = np.random.default_rng(seed).permutation(len(names))
    test = {names[i] for i in order[:held]}
    validation = {names[i] for i in order[held : 2 * held]}
    parts = [], [], []
    for i, group in enumerate(groups):
        parts[2 if group in test else 1 if group in validation else 0].append(i)
    return parts
    ### END SOLUTION


# %% check="split_groups"
check(split_groups)

# %% [markdown]
# You now have a border that holds. What counts as a group is the one thing that no program can tell you: it is a
# question about the world. For the dates it is the day: who has met `mercredi 4 mars 2009` in training knows something of
# `Wednesday, 4 March 2009` that a stranger would not.
#
# ## 3 · What is fitted
#
# The second leak is a quiet one. A network reads ids, so somebody has to make a vocabulary, and the easiest thing is to
# make it of all that there is, before the split. But a vocabulary is *fitted*: it would be another one if the test
# documents were others. The same is true of a mean that is subtracted, a scale that is divided by, a list of the
# commonest words. **Whatever is computed from documents is computed from the training part.**
#
# What the test part has and training has not becomes one id, `<unk>`. That is no loss. It is what will happen on the
# first day that somebody uses your model.
#
# ### Exercise 15.2 · `prepare`
# *●○○ · 12 minutes · 2 points*
#
# `parts` is a dict with the documents of each part, lists of tokens: `{"train": [["b", "a"], …], "validation": …}`. It
# has "train"; which others it has may differ. Return `(vocabulary, ids)`:
#
# - `vocabulary` is a list: first `"<unk>"`, then the tokens that occur `least` times or more in `parts["train"]`, all
#   occurrences counted, in code-point order (`sorted`). A token's id is its place.
# - `ids` is a dict with the same parts, and in place of each document an array of its ids. What is not in the vocabulary
#   gets the id 0.
#
#       prepare({"train": [["b", "a", "b"]], "test": [["a", "c"]]})
#           gives   ["<unk>", "a", "b"],   {"train": [[2, 1, 2]], "test": [[1, 0]]}


# %% answer="prepare"
def prepare(parts, least=1):
    """Make ids of tokens, by a vocabulary of the training part: (vocabulary, {part: [ids of each document]})."""
    ### BEGIN SOLUTION
    counts = Counter(token for document in parts["train"] for token in document)
    vocabulary = ["<unk>", *sorted(token for token in counts if counts[token] >= least)]
    index = {token: i for i, token in enumerate(vocabulary)}
    return vocabulary, {
        name: [np.array([index.get(token, 0) for token in document]) for document in documents]
        for name, documents in parts.items()
    }
    ### END SOLUTION


# %% check="prepare"
check(prepare)

# %% [markdown]
# Both functions together make of a corpus what all that follows works with: for each part a list of pairs `(ids,
# targets)`. Targets get their ids in the same way. A target that training never had becomes `<unk>` too, and costs what
# it costs.

# %% tags=["experiment"]
split, to_ids = use(split_groups), use(prepare)


def parts_of(corpus, seed=0):
    """(parts, vocabulary, names of the targets): three lists of pairs (ids, targets), dealt by the seed."""
    places = dict(zip(("train", "validation", "test"), split(corpus.groups, seed)))
    vocabulary, ids = to_ids({part: [corpus.tokens[i] for i in where] for part, where in places.items()})
    names, targets = to_ids({part: [corpus.targets[i] for i in where] for part, where in places.items()})
    return {part: list(zip(ids[part], targets[part])) for part in places}, vocabulary, names


parts, vocabulary, names = parts_of(corpus)
for part, documents in parts.items():
    unknown = np.mean([i == 0 for ids, _ in documents for i in ids])
    print(f"{part:<11}{len(documents):6,} documents, {unknown:.2%} of the tokens unknown")
print(f"{len(vocabulary)} different ids, {len(names)} different targets")
first = "".join(vocabulary[i] for i in parts["test"][0][0])
print(f"for example {first!r}: {names[parts['test'][0][1][0]]}")
assert "<unk>" not in {vocabulary[i] for ids, _ in parts["train"] for i in ids}, (
    "Training was expected to know its own."
)

# %% [markdown]
# ## 4 · One figure
#
# A project needs **one** figure by which all models are compared, chosen before the first of them is trained. Ours is
# that of unit 06: how many bits the targets cost,
#
# $$\text{bits} = -\frac1M \sum_{\text{documents}} \sum_{t} \log_2 P(\text{target}_t \mid \text{id}_1, \dots,
# \text{id}_t),$$
#
# where $M$ is the number of steps of all documents together. With $Q$ targets and no idea, it is $\log_2 Q$: for eleven
# languages, 3.46. Whoever is sure and right needs 0, and whoever is sure and wrong pays without end. (How often the
# likeliest target is right is easier to tell a friend, and says nothing of how sure a model was.)
#
# By hand: two documents, of one step and of three. The first gives its target ½, the second all of its targets 1. That is
# $1 + 0 + 0 + 0$ bits for four steps: 0.25. The mean of the two documents' means would be ½: a step of the short document
# would count for three of the long.
#
# ### Exercise 15.3 · `bits_per_token`
# *●○○ · 8 minutes · 2 points*
#
# `documents` is a list of pairs `(ids, targets)`. `predictions` holds for each of them an array of probabilities `(T, Q)`.
# Return the bits: one mean over all steps of all documents. Where the target had probability 0, they are infinite.


# %% answer="bits_per_token"
def bits_per_token(predictions, documents):
    """The mean of -log2 P(target) over all steps of all documents; predictions are arrays (T, Q)."""
    ### BEGIN SOLUTION
    chosen = [p[np.arange(len(targets)), targets] for p, (_, targets) in zip(predictions, documents)]
    return -np.log2(np.concatenate(chosen)).mean()
    ### END SOLUTION


# %% check="bits_per_token"
check(bits_per_token)

# %% [markdown]
# ## 5 · An opponent
#
# 0.9 bits: is that good? Nobody can say. A figure means something beside that of an **opponent**, or baseline: a model
# that is simpler and cheaper, and that has been given a fair chance. There is always one:
#
# - the **shares** of the targets in training: the majority, if you like. Whoever does not beat it has learned nothing.
# - the **n-gram** of unit 01, which counts what follows the last $n - 1$ tokens.
# - a **hidden Markov model**, where there is one for your task: a state as well, but one of $K$, and no more.
#
# A fair chance means: the same training part, the same test part, the same information at each step. And its own settings
# chosen as carefully as yours, by validation. Half of all progress in the literature is an opponent that nobody tuned.
#
# Our n-gram counts, below each context of $k = 0, 1, \dots, n - 1$ ids that end *with the id at hand*, which targets came.
# Then the contexts vote, the shortest first. Each corrects the one before by what it has seen itself:
#
# $$P_{-1}(y) = \frac1Q, \qquad P_k(y) = \frac{\text{count}_k(y) + \alpha\, P_{k-1}(y)}{\text{count}_k + \alpha}.$$
#
# With $\alpha = 1$, a context that was seen nine times has nine tenths of the say. One that was never seen has none, and
# leaves the opinion as it is. For $n = 1$ there is only the empty context: those are the shares.
#
# By hand, $Q = 2$, $\alpha = 1$, one training document: ids `0 1 0 1`, targets `1 0 1 0`. Empty context: target 1 came
# twice in four, so $P_0(1) = (2 + \frac12)/(4 + 1) = \frac12$. Context `(0,)`: target 1 came twice in two, so
# $P_1(1) = (2 + \frac12)/(2 + 1) = 0.83$, that is 0.263 bits.
#
# ### Exercise 15.4 · `ngram_bits`
# *●●● · 25 minutes · 4 points*
#
# `ngram_bits(train, scored, n, targets, alpha)` counts in the documents `train` and returns the bits per token on the
# documents `scored`, both lists of pairs `(ids, targets)`. The argument `targets` is $Q$, how many different targets there
# are; `alpha` is above 0. At the beginning of a document contexts are as long as they can be: at step 0 of length 0 and
# 1. Contexts never reach into another document. Your answer may not call unit 01's module, `rnncourse.ngram`: its contexts
# do not have the id at hand.


# %% answer="ngram_bits"
def ngram_bits(train, scored, n, targets, alpha=1.0):
    """Count an n-gram in `train`; its bits per token on `scored`. There are `targets` different targets."""
    ### BEGIN SOLUTION
    counts = {}
    for ids, asked in train:
        ids = [int(i) for i in ids]
        for t, y in enumerate(asked):
            for k in range(min(n, t + 2)):
                context = tuple(ids[t + 1 - k : t + 1])
                counts.setdefault(context, Counter())[y] += 1
    bits = []
    for ids, asked in scored:
        ids = [int(i) for i in ids]
        for t, y in enumerate(asked):
            p = 1 / targets
            for k in range(min(n, t + 2)):
                seen = counts.get(tuple(ids[t + 1 - k : t + 1]), Counter())
                p = (seen[y] + alpha * p) / (seen.total() + alpha)
            bits.append(-np.log2(p))
    return np.mean(bits)
    ### END SOLUTION


# %% check="ngram_bits"
check(ngram_bits)

# %% [markdown]
# ### Exercise 15.5 · `choose_ngram`
# *●●○ · 10 minutes · 2 points*
#
# `parts` has "train", "validation" and "test", lists of pairs `(ids, targets)`; `settings` is a list of pairs `(n,
# alpha)`, `targets` is $Q$. Count each setting in the whole training part, take the one with the fewest bits on
# validation, the first if there are several, and score the test part with that one alone. Return `(setting,
# validation_bits, test_bits)`, the setting being the pair. You may call `ngram_bits`.


# %% answer="choose_ngram"
def choose_ngram(parts, settings, targets):
    """The best (n, alpha) by validation, its bits on validation, and its bits on test."""
    ### BEGIN SOLUTION
    found = [ngram_bits(parts["train"], parts["validation"], n, targets, alpha) for n, alpha in settings]
    best = int(np.argmin(found))
    n, alpha = settings[best]
    return (n, alpha), found[best], ngram_bits(parts["train"], parts["test"], n, targets, alpha)
    ### END SOLUTION


# %% check="choose_ngram"
check(choose_ngram)

# %% [markdown]
# Now the opponent for the dates. Guess first: how many letters should it see? `1999` looks the same everywhere; `. Mai`
# does not.

# %% tags=["experiment"]
from rnncourse.plots import line_chart

score, choose = use(ngram_bits), use(choose_ngram)
Q = len(names)
lengths = [1, 2, 3, 4, 5, 6, 8]
curves = {
    "training": [score(parts["train"][:300], parts["train"][:300], n, Q, 2.0) for n in lengths],
    "validation": [score(parts["train"], parts["validation"], n, Q, 2.0) for n in lengths],
}
OPPONENTS = [(6, 2.0), (8, 2.0), (8, 5.0), (10, 5.0)]
setting, opponent_validation, opponent = choose(parts, OPPONENTS, Q)
print(f"chosen by validation: n = {setting[0]}, alpha = {setting[1]:g}; it needs {opponent:.2f} bits on the test part")
assert curves["validation"][0] > opponent + 1, "The n-gram was expected to beat the shares; " + answer_above
show(
    line_chart(lengths, curves, xlabel="n (n - 1 letters, that at hand among them)", ylabel="bits a letter"),
    alt="Bits a letter against n from 1 to 8. On validation they fall from 3.5 to about 1.5, fast at first and then hardly "
    "at all. On documents that were counted they fall to well below that.",
)

# %% [markdown]
# That is a strong opponent: it knows that `. Mai` is German and `maj` is not Spanish, and it has been tuned. (Its choice
# is the longest that we have offered, but the curve is nearly flat there.) What can it not know? At the end of
# `mercredi 4 mars 2009` it sees `mars 2009`, which might as well be Swedish, and has forgotten the Wednesday.
#
# ## 6 · One run
#
# Now the network. This time no cell is given, no loop, no line: you have written all of its parts, in units 06, 07 and
# 10. What is fixed is what goes in and what comes out, and what must hold of it. The second is the harder half:
#
# 1. **A seed reproduces it.** Two calls with the same arguments give the same figures. Another seed gives others.
# 2. **The test part changes nothing** in training: not a weight, not the number of the epoch.
# 3. **Validation chooses, and does nothing else.** After each epoch its bits are written down. The network that counts is
#    that of the epoch where they were lowest. This is early stopping, with the patience to look at all epochs.
# 4. **No prediction looks ahead.** What is said at step $t$ hangs on the ids up to $t$.
# 5. **An ablation is built in.** With `settings["memory"]` False the same network reads each id as if it stood at the
#    beginning of a document. All else is equal, so the difference is what memory is worth.
# 6. **The figures are those of the predictions**, which are handed back with them, so that anybody can count again.
#
# ### Exercise 15.6 · `run_experiment`
# *●●● · 60 minutes · 8 points*
#
# `parts` is as above. `settings` is a dict: "inputs" and "targets" say how many different ids there are of each, "hidden"
# how many units, "rate" the learning rate, "batch" how many documents there are in a batch, "epochs" how many epochs, all
# of which are run, and "memory" see above. `seed` is a whole number. Return a dict with exactly these keys:
#
# | key | what it is |
# |---|---|
# | `"curve"` | a list: the bits per token on the validation part after each epoch |
# | `"epoch"` | the place of its lowest number, an int; the first if there are several |
# | `"validation"`, `"test"` | of the network after that epoch: for each document of the part an array `(T, Q)` of probabilities |
# | `"validation_bits"`, `"test_bits"` | their bits per token, floats |
#
# Which network, which optimiser and which embedding is your business; a GRU or an LSTM and Adam will do well. You may
# call `bits_per_token`. The check runs your function on small documents: ten times, on the same ones, on other test
# documents, with another seed, with later tokens changed, with earlier ones. From what comes back it can tell whether all
# six hold, whatever your network is.
#
# *PyTorch draws a module's first weights from its global generator: `torch.manual_seed(seed)` is the way to seed them.
# What you draw yourself, draw from `np.random.default_rng(seed)`.*


# %% answer="run_experiment"
def run_experiment(parts, settings, seed):
    """One run from a seed: the curve on validation, its best epoch, and that epoch's predictions and bits."""
    ### BEGIN SOLUTION
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    embedding = nn.Embedding(settings["inputs"], 32)
    core = nn.GRU(32, settings["hidden"])
    head = nn.Linear(settings["hidden"], settings["targets"])
    model = nn.ModuleList([embedding, core, head])
    optimizer = torch.optim.Adam(model.parameters(), lr=settings["rate"])

    def side_by_side(sequences, padding):
        return nn.utils.rnn.pad_sequence([torch.tensor(s) for s in sequences], padding_value=padding)

    def read(documents):
        vectors = embedding(side_by_side([ids for ids, _ in documents], 0))
        T, N, _ = vectors.shape
        if settings["memory"]:
            states, _ = core(vectors)
        else:
            states = core(vectors.reshape(1, T * N, 32))[0].reshape(T, N, -1)
        return head(states).log_softmax(dim=-1)

    @torch.no_grad()
    def predict(documents):
        probabilities = read(documents).exp().numpy()
        return [probabilities[: len(ids), n] for n, (ids, _) in enumerate(documents)]

    train, curve = parts["train"], []
    for epoch in range(settings["epochs"]):
        order = rng.permutation(len(train))
        for start in range(0, len(train), settings["batch"]):
            batch = [train[i] for i in order[start : start + settings["batch"]]]
            targets = side_by_side([asked for _, asked in batch], -1)
            loss = nn.functional.nll_loss(read(batch).flatten(0, 1), targets.flatten(), ignore_index=-1)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
        validation = predict(parts["validation"])
        curve.append(float(bits_per_token(validation, parts["validation"])))
        if curve[-1] < min(curve[:-1], default=np.inf):
            kept = {"epoch": epoch, "validation": validation, "test": predict(parts["test"])}
    for name in ("validation", "test"):
        kept[f"{name}_bits"] = float(bits_per_token(kept[name], parts[name]))
    return {"curve": curve, **kept}
    ### END SOLUTION


# %% check="run_experiment"
check(run_experiment)

# %% [markdown]
# Look at what the check did: it never saw your network. It changed what goes in and looked at what comes out. You can do
# the same with any code that somebody gives you. *Change the test part and see whether the training notices* is the best
# test for leaks that there is.
#
# **Claim:** with memory the network needs at least 0.3 bits a letter less than the best n-gram, on dates of days that
# neither has met; without memory it needs more than the n-gram.

# %% tags=["experiment", "nbval-ignore-output"]
one_run = use(run_experiment)
SEEDS = (0, 1, 2)
SETTINGS = {"inputs": len(vocabulary), "targets": Q, "hidden": 64, "rate": 0.01, "batch": 32, "epochs": 6}


def runs_of(parts, settings, seeds, label):
    """One run for each seed."""
    return [one_run(parts, settings, seed) for seed in track(seeds, label)]


results = {
    "network": runs_of(parts, SETTINGS | {"memory": True}, SEEDS, "with memory"),
    "without memory": runs_of(parts, SETTINGS | {"memory": False, "epochs": 3}, SEEDS, "without memory"),
}
for name, runs in results.items():
    for seed, run in zip(SEEDS, runs):
        print(f"{name:<15} seed {seed}: epoch {run['epoch']}, {run['test_bits']:.2f} bits on test")
assert max(run["test_bits"] for run in results["network"]) < opponent - 0.3, (
    "The network was expected to beat the n-gram by 0.3 bits; " + answer_above
)
assert min(run["test_bits"] for run in results["without memory"]) > opponent, (
    "Without memory the network was expected to lose; " + answer_above
)
show(
    line_chart(
        range(1, SETTINGS["epochs"] + 1),
        {
            **{f"seed {seed}": run["curve"] for seed, run in zip(SEEDS, results["network"])},
            "best n-gram": [opponent_validation] * SETTINGS["epochs"],
        },
        xlabel="epochs",
        ylabel="bits a letter, validation",
    ),
    alt="Bits a letter on the validation part after each epoch, for three seeds. All fall quickly below the line of the "
    "best n-gram and level out near 0.8; they lie close together and cross.",
)

# %% [markdown]
# Over five splits, each with a seed of its own: the n-gram needs {{dates/with memory/n-gram}} bits, the network
# {{dates/with memory/network}}, and without memory {{dates/without memory/network}}. The claim holds in
# {{held network_wins}}.
#
# ## 7 · What one seed is worth
#
# Three seeds gave three figures. Which do you report? The best is the most beautiful. It is also the one that you would
# have got from a worse model, had you tried long enough: the minimum of many draws goes down and down, whatever they are
# drawn from. **Report them all**: the mean, and the standard deviation
#
# $$s = \sqrt{\frac{1}{n - 1} \sum_i (x_i - \bar x)^2},$$
#
# which says how far off the *next* seed may be, the reader's. The $n - 1$ is there because the mean was fitted to the same
# $n$ numbers. And a seed is no setting: choosing the one that is best on validation is choosing luck.
#
# By hand: 1.5 and 2.5 bits. Mean 2, deviations ½ and ½, so $s = \sqrt{(0.25 + 0.25)/1} = 0.707$. With a baseline of 2.25
# that is a gain of 0.25, and one win in two.
#
# ### Exercise 15.7 · `summarise`
# *●●○ · 12 minutes · 3 points*
#
# `runs` is a dict from the name of a setting to its runs, and a run is a dict with "seed", "validation" and "test", the
# last two in bits; `baseline` are the opponent's bits on test. Return a dict with the same names, and for each a dict:
# "mean" and "sd" of the test bits of all of its runs, "gain", by how much the mean is lower than the baseline, and "wins",
# in how many runs the test bits are lower than the baseline (an int). There are at least two runs.


# %% answer="summarise"
def summarise(runs, baseline):
    """For each setting: "mean" and "sd" of its test bits, "gain" over the baseline, and "wins"."""
    ### BEGIN SOLUTION
    figures = {}
    for name, of_setting in runs.items():
        test = np.array([run["test"] for run in of_setting])
        figures[name] = {
            "mean": test.mean(),
            "sd": test.std(ddof=1),
            "gain": baseline - test.mean(),
            "wins": int((test < baseline).sum()),
        }
    return figures
    ### END SOLUTION


# %% check="summarise"
check(summarise)

# %% tags=["experiment", "nbval-ignore-output"]
sum_up = use(summarise)
bits_of = {
    name: [
        {"seed": seed, "validation": run["validation_bits"], "test": run["test_bits"]} for seed, run in zip(SEEDS, runs)
    ]
    for name, runs in results.items()
}
figures = {
    "seeds": len(SEEDS),
    "baseline": float(opponent),
    "best": min(run["test"] for run in bits_of["network"]),
    **sum_up(bits_of, opponent),
}
print(f"{'':<16}{'mean':>6}{'sd':>7}{'gain':>7}   wins")
for name in bits_of:
    of = figures[name]
    print(f"{name:<16}{of['mean']:6.2f}{of['sd']:7.3f}{of['gain']:+7.2f}   {of['wins']} of {len(SEEDS)}")
assert figures["network"]["gain"] > figures["network"]["sd"], (
    "The gain was expected to be more than chance; " + answer_above
)

# %% [markdown]
# The gain is many times the spread: nobody needs a test of significance to see it. When it is not, run more seeds, or say
# that you cannot tell.
#
# ## 8 · Leaks
#
# Here is a small hunt, before you write. All of these have been published.
#
# ### Exercise 15.8 · `quiz_leaks`
# *●●○ · 6 minutes · 2 points*
#
# In which of these does something of the test part reach the training or a choice?
#
# - **A** The mean and the standard deviation of all recordings are computed, all are standardised with them, and then they
#   are dealt to three parts.
# - **B** A novel is cut into windows of 100 characters, a new one every 10, and these are dealt at random.
# - **C** After each epoch the validation part is scored, the best epoch is kept, and the test part is scored with it.
# - **D** Twenty networks of different sizes are trained on train. The one that is best on test is reported.
# - **E** The training documents are shuffled anew in each epoch, from a generator with a seed.
# - **F** Reviews are dealt one by one. Some writers have posted the same review under three films.
#
# Answer with the set of those that leak, in the form `{"X", "Y"}`.

# %% answer="quiz_leaks"
quiz_leaks = None  # put a set of letters in place of None, and delete what stands below
### BEGIN SOLUTION
quiz_leaks = {"A", "B", "D", "F"}
### END SOLUTION

# %% check="quiz_leaks"
check(quiz_leaks, "quiz_leaks")

# %% [markdown]
# ## 9 · The report
#
# Two pages. Whoever reads them should be able to disbelieve you: to see what was asked, what was compared with what, by
# which figure, and what would have shown the opposite. These seven headings will do:
#
# | heading | what a reader wants to know |
# |---|---|
# | Question | what is asked, and which answer would have surprised you |
# | Data | where from, how many, what a group is, how it was dealt |
# | Baseline | which opponent, how it was chosen, what it needs |
# | Method | which network, which settings, chosen how, how many seeds |
# | Results | mean and spread of all seeds, beside the opponent |
# | Ablation | what the same network does without the part that is said to matter |
# | Limits | what this does *not* show |
#
# There is a trap here that catches nearly everybody. You run, you write the figures into the text, you find a mistake, you
# run again. Now a figure in the text is that of a run that no longer exists. So a report is a **function** of its figures:
# what is run again is written again. Even its conclusion hangs on them: a text that says "we win" whatever came has not
# been written by the experiment.
#
# ### Exercise 15.9 · `write_report`
# *●●○ · 40 minutes · 3 points*
#
# `figures` is the dict that you have just seen: "seeds" (how many, an int below 10), "baseline", "best", and for "network"
# and "without memory" a dict with "mean", "sd", "gain" and "wins". Return your report, a text in Markdown:
#
# - 120 to 900 words, with the seven headings of the table, each on a line of its own behind `## `;
# - with the baseline's bits in *Baseline*, the network's mean and its sd in *Results*, the mean without memory in *Ablation*,
#   all to two digits or more behind the point (`:.2f`), and with the number of seeds;
# - in *Results* with one of these two sentences, word for word, the one that is so: **The network beats the baseline.** or
#   **The network does not beat the baseline.**
# - in whose *Baseline*, *Results* and *Ablation* every number with a point comes from `figures`: none is typed in.
#   Elsewhere, a learning rate or a date may stand as it is.
#
# First write it for the dates, to have it checked. When you have a project of your own, it is this function that you
# rewrite, and it is checked in the same way.


# %% answer="write_report"
def write_report(figures):
    """The report with these figures: a text in Markdown, with seven headings."""
    ### BEGIN SOLUTION
    network, plain = figures["network"], figures["without memory"]
    clear = network["gain"] > 2 * network["sd"]
    verdict = "The network beats the baseline." if clear else "The network does not beat the baseline."
    return f"""
## Question

You read a date letter by letter. After each letter, in which of eleven languages is it written? Does it take a state
to say so, or is it enough to look at the last few letters? We would have been surprised if an n-gram had done as well:
the word that gives a language away may stand long before the year, where the n-gram no longer sees it.

## Data

Days between 1950 and 2049, each written once in every language, in a way that was drawn. The target at each letter is
the language. A group is a day: nine tenths of the days are learned from, and the others are shared out evenly to
validation and test. The vocabulary is that of the training part.

## Baseline

An n-gram that lets contexts of all lengths vote, counted in the whole training part. It is strong, since a few
letters do: its length was chosen on the validation part. It needs {figures["baseline"]:.2f} bits on the test part.

## Method

A GRU with its epoch chosen on the validation part, from {figures["seeds"]} seeds. The test part was scored once.
Size and rate are those of the course, and were not searched for.

## Results

{verdict} It needs {network["mean"]:.2f} ± {network["sd"]:.2f} bits, a gain of {network["gain"]:+.2f}, and won
in {network["wins"]} of {figures["seeds"]} seeds.

## Ablation

The same network, each letter read on its own, needs {plain["mean"]:.2f} ± {plain["sd"]:.2f} bits.
So it is the memory that counts, and not its being a network.

## Limits

The texts were made by rules, with years of four digits and without slips. There is one split: what another choice of
days would give is not in the spread, which is that of seeds. Part of the bits cannot be had by anybody, since the
first letters of a date are the same in many languages; how large this part is, we have not computed.
"""
    ### END SOLUTION


# %% check="write_report"
check(write_report)

# %% tags=["experiment", "nbval-ignore-output"]
from IPython.display import Markdown

report = use(write_report)(figures)
print(f"{len(report.split())} words")
assert f"{figures['network']['mean']:.2f}" in report, "The report was expected to have the figures of the run."
Markdown(report)

# %% [markdown]
# ## 10 · Bugs to hunt
#
# Each of these stood in a project that was handed in. What do you change, and what do you look at, to find it?
#
# - **Report A.** "Test is a little better than validation, in every run." Early stopping looks at the test part.
# - **Report B.** "99% right on the first try." The same patients are in train and test.
# - **Report C.** "My ablation does nothing." `memory` is read from the settings and never used.
# - **Report D.** "It worked yesterday." No seed was set, and yesterday's was a lucky one.
# - **Report E.** "We beat the n-gram by 30%." The network's loss is in nats.
# - **Report F.** "On a year of new data it is as bad as guessing." The scale was fitted to everything, and the new year is
#   another one.
#
# <details><summary>What finds them</summary>
#
# A: give the test part wrong targets; the number of the epoch must not change. B: count groups that are in two parts; there
# should be none. C: change an early token; without memory nothing later may change. D: call twice and compare. E: count the
# bits again from the predictions. F: change the test part, and look whether what was fitted changes. All of these are
# properties, and the checks of this unit use nothing else.
#
# </details>
#
# ## 11 · Now yours
#
# 1. **Ask something.** A question whose answer you do not know, about data that you care for: `QUESTION` in section 1. The
#    other two corpora are good ones. `"python"` asks for a state that remembers whether a string is open. On `"docs"` the
#    n-gram is very hard to beat, as you know from unit 06.
# 2. **Say what would surprise you**, and write it down before the first run.
# 3. **Find the groups.** Who or what would have to be new for the test to be a test?
# 4. **Run sections 3 to 7** with it, unchanged at first. Then choose *one* thing to change (size, gates, two layers, words
#    for characters), by validation. Choose one thing to take away: that is your ablation, if memory is not what your
#    question is about.
# 5. **Rewrite the report.** Two pages, figures by themselves.
#
# You need not win. A network that loses, measured well, is a result, and gets all of its points; one that wins by a leak
# gets none for it. If the n-gram beats you, say so, say by how much, and say where: look at the steps at which the two
# differ most.
#
# ## 12 · Summary
#
# - A **document** has a target at each step. **Groups** of documents are dealt, not documents.
# - **Train** fits, **validation** chooses, **test** is scored once. Nothing leads back from the test.
# - An **opponent** gets the same data, the same information, and its own choice of settings.
# - A **run** is a function of its arguments and a seed. Change what must not matter, and see that it does not.
# - A **figure** is mean ± standard deviation over all seeds, beside the opponent and an ablation.
# - A **report** is a function of the figures.

# %% [markdown] written="project_written" points=12
# ### Your report
# *12 points, read by a person*
#
# Put your report here, as the cell above has printed it (a right click on a rendered text copies it; `print(report)` gives
# its source): two pages, about your own question or about the dates. Below it answer in two or three sentences each:
# **(a)** What had you expected before the first run, and what surprised you? **(b)** What is a group in your data, and what
# would have leaked without it? **(c)** Which experiment would show that your conclusion is wrong?
#
# ### BEGIN SOLUTION
# **Model answer.** The report is the one of section 9. (a) We had expected the n-gram to do well on dates, since the
# letters of a month are enough to name a language, and to lose in the year. It did. What surprised us was how little
# longer contexts bring: from six letters on, hardly anything. (b) A group is a day. Without it, a day would be in training in one
# language and in the test in another: its numbers would be known, and with `lunes 4` in training, `Montag, 4.` would be
# easier in the test. (c) A split by language family, or dates that people have really written: if the n-gram, whose
# contexts are local, loses less on these than the network, then what the network has learned is our rules and not the
# languages. A larger n-gram that skips over digits would be a fairer opponent still.
#
# **Rubric.** The figures are checked by program (`write_report`); here it is the thinking that counts. If a figure in this
# text is not what the cell has printed, take off 2 points and say so.
#
# | points | what | full | half |
# |---|---|---|---|
# | 2 | **Question** | one question, with an answer that could have come out otherwise, said beforehand | a topic, no question |
# | 2 | **Data and groups**, (b) | where from, how many, what a group is and what would leak without it | a split, no reason |
# | 2 | **Opponent** | same data, same information, own settings chosen by validation; the figure understood | named, not tuned |
# | 2 | **Results** | mean and spread of all seeds; the conclusion goes as far as they do and no further; a loss is called one | right figures, too much concluded |
# | 2 | **Ablation**, (c) | takes away what is said to matter and nothing else; an experiment that could refute the conclusion | takes away several things, or could not refute |
# | 1 | **Limits**, (a) | a real one, of these data and this method; a surprise that is one | "more data would be better" |
# | 1 | **Two pages** that a fellow student can follow, in own words | | |
#
# A network that lost, well measured, has all points in reach. One that won over an opponent that was given less, or by
# the best seed, has 0 for **Opponent** or **Results**.
# ### END SOLUTION

# %% [markdown]
# ## Where to read on
#
# - S. Kapoor, A. Narayanan, "Leakage and the reproducibility crisis in machine-learning-based science", *Patterns* 4, 2023:
#   kinds of leaks, and what became of the papers that had them.
# - X. Bouthillier and others, "Accounting for Variance in Machine Learning Benchmarks", *MLSys* 2021: what one seed is
#   worth, and one split.
# - G. Melis, C. Dyer, P. Blunsom, "On the State of the Art of Evaluation in Neural Language Models", *ICLR* 2018: old
#   networks, tuned as carefully as new ones.
# - J. Dodge and others, "Show Your Work: Improved Reporting of Experimental Results", *EMNLP* 2019: the best of how many?
# - D. J. C. MacKay, L. C. Bauman Peto, "A hierarchical Dirichlet language model", *Natural Language Engineering* 1, 1995:
#   the n-gram of this unit.
# - L. R. Rabiner, "A Tutorial on Hidden Markov Models and Selected Applications in Speech Recognition", *Proceedings of the
#   IEEE* 77, 1989: the opponent with a state.

# %% tags=["experiment"]
progress("15_project")

# %% [markdown]
# ## Something to show to somebody
#
# Ask somebody for their birthday, and for a language. Then write it down letter by letter, and let them say when they would
# have known. (Put it into `my_text`; it is a test document that you made yourself.)

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.plots.project import letter_by_letter

my_text = "mercredi 4 mars 2009"

mine = np.array([vocabulary.index(letter) if letter in vocabulary else 0 for letter in my_text])
asked = {**parts, "test": [(mine, np.zeros(len(mine), dtype=int))]}  # no target of ours is known: the bits mean nothing
beliefs = one_run(asked, SETTINGS | {"memory": True}, SEEDS[0])["test"][0]
shown = [name for name in names if name != "<unk>"]
known_from = next(t for t in range(len(my_text)) if (beliefs[t:].argmax(axis=1) == beliefs[-1].argmax()).all())
print(f"{names[beliefs[-1].argmax()]}, known from letter {known_from + 1} on: {my_text[: known_from + 1]!r}")
assert np.allclose(beliefs.sum(axis=1), 1, atol=1e-3), "Probabilities were expected to sum to 1; " + answer_above
show(
    letter_by_letter(beliefs[:, 1:], my_text, shown),
    alt=f"What the network believes after each letter of {my_text!r}: a row for each of eleven languages, darker where it "
    "is surer. At first many are possible; within a word one row is left.",
)

# %% [markdown]
# The run is the same as that of seed 0 above, to the last digit, because a seed reproduces it and the test part changes
# nothing. That is why you could exchange the test part, and ask one more question of a network that nobody had stored.
#
# ## The end, and what it is for
#
# You began with a leaky average. You have built what came of it, seen where it fails, and now you can find out what is
# true about it: which is more than most who use it can. The next question is yours.
