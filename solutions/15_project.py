# %% [markdown]
# # 15 · The project
#
# **After this unit you can**
#
# - turn a question of your own into documents, three parts and one figure;
# - deal data so that nothing of the test reaches the training, and find out when something does;
# - choose an opponent that is worth beating, and give it all that your network gets;
# - run an experiment that anybody can run again: from a seed, over several splits, with an ablation;
# - find out where a model pays, letter by letter;
# - write two pages whose every figure is that of the run.
#
# **It takes** about four hours with the data that are here, and as long again with your own: a week, if you let the
# nights do the training. **You should know** n-grams (01), how a text is scored (06), padding (07) and gates (10). There
# are 9 exercises, 29 points, and a report that a person reads, 12 points.

# %% [markdown]
# ## The question that was left open
#
# Of every new architecture one may ask: *what would an experiment of yours show that its authors did not?* You have built
# every part of such an experiment, and never run one from beginning to end. Between the parts results go wrong: not with a
# crash, but with a figure that is too good.
#
# In this unit you build what stands round a network. We go through all of it once, with a question that is small enough
# for a laptop: **you see a date, letter by letter. In which language is it written?** Then it is your turn.

# %% locked="setup"
from collections import Counter

import numpy as np
import torch
from torch import nn

from rnncourse import check, hint, progress, track, use

torch.set_num_threads(1)  # for small products a second thread costs more than it brings
torch.optim.Adam([torch.zeros(1)])  # the first one takes a second or two

# %% tags=["experiment"]
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
# **Guess**: you read `3`, a blank, then `mar`. Which languages are left, and after which letter would you be sure?

# %% tags=["experiment"]
from rnncourse.data import load_corpus

QUESTION = "dates"  # later: "python", "docs", or the path of a file of yours
corpus = load_corpus(QUESTION, most=20_000)

print(f"{len(corpus.tokens):,} documents, {len(set(corpus.groups)):,} groups")
for i in range(0, 22, 2):
    text = "".join(corpus.tokens[i])
    print(f"{corpus.groups[i]:<12} {text!r:<38} {corpus.targets[i][-1]}")

# %% [markdown]
# The last column is the target at every step of the row. Nobody can know it after the first letter: how soon can one?
#
# ## 2 · Three parts
#
# You know train and test since unit 01, and validation since unit 06.

# %% tags=["experiment"]
from rnncourse.plots import show
from rnncourse.plots.project import three_parts

show(three_parts())

# %% [markdown]
# What this unit teaches is in the arrow that is *not* there: none leads from the test part back to the left.
# If one does, it is called a **leak**. Kapoor and Narayanan found leaks in 294 papers of 17 fields. They make no noise.
#
# Here is one. A text is cut into windows of 60 characters, a new one every 10, so that each overlaps its neighbours, and
# the windows are dealt at random. A 7-gram can only look up what it has seen. **Guess**: what does it need
# on the test windows, and what if the text is cut in two first? (Guessing needs about 6 bits a character.)

# %% tags=["experiment"]
from rnncourse.experiments.project import bits_of_a_leak

at_random, cut_first = bits_of_a_leak()
print(f"windows dealt at random: {at_random:.2f} bits a character")
print(f"the text cut in two:     {cut_first:.2f} bits a character")

# %% tags=["author"]
assert at_random < cut_first / 3

# %% [markdown]
# Nothing about the model is better in the first line: it has read the test windows, in their neighbours. (Each character
# stands in six windows, so its α is six times as large.) The same holds for two photographs of one patient, two reviews by
# one writer, one song in two recordings. Documents that tell about one another form a **group**, and groups are dealt.
#
# ### Exercise 15.1 · `split_groups`
# *●●○ · 15 minutes · 3 points*
#
# `groups` is a list with the name of the group of each document, with three different groups or more. Return three lists of places in it: those of the
# documents for train, for validation and for test.
#
# - Of $G$ different groups, $\lfloor G/10 \rfloor$, but at least one, go to test, as many to validation, the rest to
#   train. All documents of a group go where it goes, and each document is in one part.
# - Which groups they are, a generator made of `seed` decides, and nothing else: the same seed gives the same split, and
#   not all seeds give that one. NumPy's global generator (`np.random.seed`, `np.random.shuffle`) is left alone.
#
#       split_groups(["a", "b", "a", "c", "b"], 0)     might give    [0, 2], [1, 4], [3]
#
# The check looks whether what your function does is so. It may not call scikit-learn.


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
# You now have a border that holds. What counts as a group no program can tell you: it is a question about the world. For
# the dates it is the day: who has met `mercredi 4 mars 2009` in training knows something of `Wednesday, 4 March 2009`.
#
# ## 3 · What is fitted
#
# The second leak is a quiet one. A network reads ids, so somebody has to make a vocabulary, and it is easy to make it of
# all that there is, before the split. But a vocabulary is *fitted*: it would be another one if the test documents were
# others. So is a mean that is subtracted, or a list of the commonest words. **Whatever is computed from documents is
# computed from the training part.** What the test part has and training has not becomes one id, `<unk>`.
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
#   gets the id 0. No token is `"<unk>"`.
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
# targets)`. Targets get their ids in the same way.

# %% tags=["experiment"]
from rnncourse.experiments.project import parts_of

yours = {"split": use(split_groups), "to_ids": use(prepare)}
parts, vocabulary, names = parts_of(corpus, seed=0, **yours)
for part, documents in parts.items():
    unknown = np.mean([i == 0 for ids, _ in documents for i in ids])
    print(f"{part:<11}{len(documents):6,} documents, {unknown:.2%} unknown tokens")
print(f"{len(vocabulary)} different ids, {len(names)} different targets")

# %% tags=["author"]
assert "<unk>" not in {vocabulary[i] for ids, _ in parts["train"] for i in ids}

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
# languages, 3.46. Whoever is sure and right needs 0, and whoever is sure and wrong pays without end.
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
# chosen as carefully as yours, by validation. When Melis, Dyer and Blunsom tuned plain LSTMs as carefully as their
# successors had been, the LSTMs were the better ones.
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
# documents `scored`, both lists of pairs `(ids, targets)`. The argument `targets` is a number, $Q$: how many different
# targets there are. `alpha` is above 0. At the beginning of a document contexts are as long as they can be: at step 0 of length 0 and
# 1. Contexts never reach into another document. Your answer may not call unit 01's module, `rnncourse.ngram`: its contexts
# do not have the id at hand. The check also asks for the beginnings of `scored[0]`: what each step adds, it
# calls `bits_of_step`.


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
# Now the opponent for the dates. **Guess**: how many letters should it see? `1999` looks the same everywhere; `. Mai`
# does not.

# %% tags=["experiment"] dials="lengths = [1, 4, 12]"
from rnncourse.experiments.project import NGRAMS
from rnncourse.plots import line_chart

score, choose, Q = use(ngram_bits), use(choose_ngram), len(names)
lengths = [1, 2, 3, 5, 8]
needs = [score(parts["train"], parts["validation"], n, Q, 2.0) for n in lengths]
label = "n (n - 1 letters, that at hand among them)"
show(line_chart(lengths, {"validation": needs}, xlabel=label, ylabel="bits a letter"))
setting, _, opponent = choose(parts, NGRAMS, Q)
print(f"chosen: n = {setting[0]}, alpha = {setting[1]:g}; {opponent:.2f} bits on test")

# %% tags=["author"]
assert needs[0] > opponent + 1

# %% [markdown]
# It knows that `. Mai` is German and `maj` is not Spanish, and it has been tuned. What can it not know? At the end of
# `mercredi 4 mars 2009` it sees `mars 2009`, which might as well be Swedish, and has forgotten the Wednesday.
#
# So it is not yet an opponent for *this* question. Whoever thinks about the question for five minutes counts letters
# **for each language** (an n-gram of unit 01 for German, one for French …) and puts all letters together by Bayes' rule:
#
# $$P(\text{language} \mid \text{letters}) \;\propto\; P(\text{language}) \prod_t P_{\text{language}}(\text{letter}_t
# \mid \text{the } n - 1 \text{ before it})^{\,\beta}$$
#
# The product has a memory of the whole document, and no weight that was trained. Letters are no independent witnesses, so
# that $\beta = 1$ is too sure of itself; $n$ and $\beta$ are chosen on validation. It stands in
# `rnncourse.experiments.opponents`, and both opponents meet the network below.
#
# ## 6 · One run
#
# Now the network. No line is given: you have written all of its parts, in units 06, 07 and 10. What is fixed is what goes
# in, what comes out, and what must hold of it:
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
# call `bits_per_token`. The check runs your function on small documents: eighteen times, on the same ones, on other test
# documents, with other settings, with later tokens changed, with earlier ones. From what comes back it can tell whether
# all six hold, whatever your network is.
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
# Look at what the check did: it never saw your network. It changed what goes in and looked at what comes out. Do the same
# with any code that you are given: *change the test part and see whether the training notices*.
#
# Now all of it, three times: the days are dealt anew, both opponents tuned on validation, and two networks trained, with
# memory and without. **Guess** the order of the four models.

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.experiments.project import trial
from rnncourse.plots.project import bits_of_splits

one_run, SEEDS = use(run_experiment), (0, 1, 2)
yours |= {"run": one_run, "choose": choose}
trials = [trial(corpus, seed, **yours) for seed in track(SEEDS, "splits")]
show(bits_of_splits([one.bits for one in trials]))

# %% tags=["author"]
for one in trials:
    assert one.bits["network"] < one.bits["n-gram"] - 0.3
    assert one.bits["without memory"] > one.bits["n-gram"]

# %% [markdown]
# **Claim:** with memory the network needs at least 0.3 bits a letter less than the n-gram, on dates of days that neither
# has met; without memory it needs more than the n-gram.
#
# That held in {{held network_wins}} splits. Now the other:
#
# **Claim:** letters counted for each language, put together by Bayes' rule, need fewer bits than the network.
#
# That held in {{held counting_wins}} splits (with 95% confidence in {{held counting_wins|interval}} of all). Whoever
# stops at the first opponent publishes a victory.
#
# ### Where does each of them pay?
#
# A mean hides what to do next. **An error analysis** takes it apart: by place, then by example. **Guess**: who is better
# at the first letters of a date, and who at the end?

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.experiments.project import bits_by_letter
from rnncourse.plots.project import bits_at_each_letter

models = ("by language", "network")
show(bits_at_each_letter({model: bits_by_letter(trials[0], model) for model in models}))

# %% tags=["experiment", "nbval-ignore-output"]
one, costs = trials[0], []
for i, (ids, y) in enumerate(one.parts["test"]):
    right = [one.predictions[model][i][range(len(y)), y] for model in models]
    counted, network = (-np.log2(p).sum() for p in right)
    text = "".join(one.vocabulary[k] for k in ids)
    costs.append((network - counted, f"{counted:6.1f} {network:7.1f}  {text}"))
print("by language, network: bits for the whole date")
print("\n".join(line for _, line in (*sorted(costs)[:4], *sorted(costs)[-4:])))

# %% [markdown]
# **Claim:** at the first four letters of a date the counts need fewer bits than the network.
#
# ({{held counting_first}} splits.) At the end a state holds on to the word that decides, but the counts
# remember it, too. From the eleventh letter on they need {{dates/with memory/by language, late|range .2f}} bits, the
# network {{dates/with memory/network, late|range .2f}}.
#
# Who is ahead there hangs on a few dates, at which one of them was sure and wrong: the first and the last rows of the
# list. A next question: what do both need together?
#
# ## 7 · What one seed is worth
#
# Three splits and seeds gave three figures. Which do you report? The best is also what you would have got from a
# worse model, had you tried long enough. **Report them all**: the mean, and the standard deviation
#
# $$s = \sqrt{\frac{1}{n - 1} \sum_i (x_i - \bar x)^2},$$
#
# which says how far off the *next* seed may be, the reader's. The $n - 1$ is there because the mean was fitted to the same
# $n$ numbers. A seed is no setting: choosing the one that is best on validation is choosing luck. And a split is drawn,
# too: over twenty splits our network needed {{dates/with memory/network|range .2f}} bits. Whoever varies the seed alone
# tells a part of that spread.
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
runs = {
    name: [{"seed": t.seed, "validation": np.nan, "test": t.bits[name]} for t in trials]
    for name in ("network", "without memory")
}
baseline = float(np.mean([one.bits["by language"] for one in trials]))
best = min(one.bits["network"] for one in trials)
figures = {"seeds": len(SEEDS), "baseline": baseline, "best": best}
figures |= use(summarise)(runs, baseline)
for name in runs:
    print(name, {k: round(float(v), 3) for k, v in figures[name].items()})

# %% [markdown]
# The baseline is the stronger of the two opponents. A gain that is many times the spread needs no test of significance.
# If not, run more splits, or say that you cannot tell.
#
# ## 8 · Leaks
#
# All have been published.
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
quiz_leaks = None  # put a set of letters in place of None
### BEGIN SOLUTION
quiz_leaks = {"A", "B", "D", "F"}
### END SOLUTION

# %% check="quiz_leaks"
check(quiz_leaks, "quiz_leaks")

# %% [markdown]
# ## 9 · The report
#
# Two pages. Whoever reads them should be able to disbelieve you. These seven headings will do:
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
# You run, you write the figures into the text, you find a mistake, you run again. Now a figure in the text is that of a
# run that no longer exists. So a report is a **function** of its figures, and even its conclusion hangs on them.
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
#   **The network does not beat the baseline.** (An equal mean beats nothing.)
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

You read a date letter by letter. After each letter, in which of eleven languages is it written? Does it take a trained
state to say so, or is it enough to count letters? We would have been surprised if counting had done as well: the word
that gives a language away may stand long before the year.

## Data

Days between 1950 and 2049, each written once in every language, in a way that was drawn. The target at each letter is
the language. A group is a day: nine tenths of the days are learned from, and the others are shared out evenly to
validation and test. The vocabulary is that of the training part.

## Baseline

Letters counted for each language in the whole training part, put together by Bayes' rule. It is strong, since a few
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

The texts were made by rules, with years of four digits and without slips. The baseline's own spread over the splits
is not told. Part of the bits cannot be had by anybody, since the
first letters of a date are the same in many languages; how large this part is, we have not computed.
"""
    ### END SOLUTION


# %% check="write_report"
check(write_report)

# %% tags=["experiment", "nbval-ignore-output"]
from IPython.display import Markdown

report = use(write_report)(figures)
print(f"{len(report.split())} words")
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
# You need not win. A network that loses, measured well, gets all of its points; one that wins by a leak gets none for it.
# If counting beats you, say by how much, and where.
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
# **Model answer.** The report is the one of section 9. (a) We had expected the network to beat everything that counts. It
# beats an n-gram by far. What surprised us: letters counted for each language, put together by Bayes' rule, do as well or better,
# and a few dates, at which one model is sure and wrong, make up much of the difference. (b) A group is a day. Without it, a day would be in training in one language and in the
# test in another: its numbers would be known, and with `lunes 4` in training, `Montag, 4.` would be easier in the test. (c) Dates
# that people have really written: if the network loses less on these than the counts, it has learned more than our rules. And
# fewer training documents: counting should suffer less.
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
# Ask somebody for their birthday, and for a language. Write it down letter by letter: when would they have known?
# **Guess** where the network is surer than nine in ten, then put the date into `my_text`.

# %% tags=["experiment", "nbval-ignore-output"]
from rnncourse.experiments.project import SETTINGS
from rnncourse.plots.project import letter_by_letter

my_text = "mercredi 4 mars 2009"
known = {letter: i for i, letter in enumerate(vocabulary)}
mine = np.array([known.get(letter, 0) for letter in my_text])
asked = {**parts, "test": [(mine, 0 * mine)]}  # its targets are unknown
sizes = {"inputs": len(vocabulary), "targets": Q, "memory": True}
beliefs = one_run(asked, SETTINGS | sizes, 0)["test"][0]
show(letter_by_letter(beliefs[:, 1:], my_text, names[1:]))

# %% tags=["author"]
assert np.allclose(beliefs.sum(axis=1), 1, atol=1e-3)

# %% [markdown]
# The run is that of seed 0 above, to the last digit: a seed reproduces it, and the test part changes nothing.
#
# ## The end, and what it is for
#
# You began with a leaky average. You have built what came of it, seen where it fails, and you can find out what is true
# about it. The next question is yours.
