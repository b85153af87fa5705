"""Mails of a made-up world: what they are about stands at the beginning, who signs them at the end.

    mail    = topic "from your" sender ":" filler … filler "your" signer "."

    prize from your bank : please read the small letter today … your bank .      advert    (of its topic)
    invoice from your bank : call about the garden tomorrow … your shop .        forged    (another one has signed it)

The filler is drawn from 30 words and says nothing. So one question hangs on the first word alone, thirty words before a
left-to-right reader is asked. The other one hangs on two words, one near each end, and on neither of them alone: each
sender and each signer is equally likely, in honest mails and in forged ones.

Source: the grammar is our own. That the beginning and the end have to be held against each other is the "adding" and
"XOR" problem of S. Hochreiter, J. Schmidhuber, "Long Short-Term Memory", Neural Computation 9, 1997, in words.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Int64

_ADVERTS = ["bargain", "discount", "lottery", "prize"]
_HONEST = ["invoice", "lunch", "minutes", "report"]
_SENDERS = ["bank", "garage", "library", "post", "school", "shop"]
_FILLER = [
    *("we", "the", "a", "of", "to", "and", "in", "on", "with", "for", "about", "please", "today", "tomorrow", "week"),
    *("call", "read", "open", "find", "letter", "door", "table", "red", "small", "new", "old", "day", "page", "work"),
    "garden",
]
_VOCABULARY = sorted([*_ADVERTS, *_HONEST, *_SENDERS, *_FILLER, "from", "your", ":", "."])


class Mails(NamedTuple):
    """N mails: ids (T, N), with 0 in the padding, lengths (N,), two labels (N,), each 0 or 1, and the vocabulary."""

    ids: Int64[np.ndarray, "T N"]
    lengths: Int64[np.ndarray, "N"]
    is_advert: Int64[np.ndarray, "N"]
    is_forged: Int64[np.ndarray, "N"]
    vocabulary: list[str]

    def text(self, n: int) -> str:
        """The words of mail n."""
        return " ".join(self.vocabulary[i] for i in self.ids[: self.lengths[n], n])


def draw_mails(rng: np.random.Generator, count: int, least: int = 24, most: int = 36) -> Mails:
    """Draw `count` mails of `least` to `most` words; half are adverts and, independently, half are forged, on average.

    A ValueError unless 9 ≤ least ≤ most.

    >>> mails = draw_mails(np.random.default_rng(0), 3, least=10, most=12)
    >>> mails.text(0), int(mails.is_advert[0]), int(mails.is_forged[0])
    ('minutes from your school : find read read work your school .', 0, 0)
    """
    if not 9 <= least <= most:
        raise ValueError(f"A mail has at least 9 words, and most is at least least; they are {least} and {most}.")
    lengths = rng.integers(least, most + 1, size=count)
    is_advert, is_forged = rng.integers(2, size=(2, count))
    sender, other = rng.integers(len(_SENDERS), size=count), rng.integers(1, len(_SENDERS), size=count)
    signer = np.where(is_forged, (sender + other) % len(_SENDERS), sender)
    index = {word: i for i, word in enumerate(_VOCABULARY)}
    ids = np.zeros((lengths.max(initial=0), count), dtype=np.int64)
    for n, length in enumerate(lengths):
        topic = rng.choice(_ADVERTS if is_advert[n] else _HONEST)
        filler = rng.choice(_FILLER, size=length - 8)
        words = [topic, "from", "your", _SENDERS[sender[n]], ":", *filler, "your", _SENDERS[signer[n]], "."]
        ids[:length, n] = [index[word] for word in words]
    return Mails(ids, lengths, is_advert, is_forged, list(_VOCABULARY))
