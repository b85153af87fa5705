"""Data that every machine has: text, labelled text, grammars whose best possible score is known, and a small image.

Nothing here needs a network. The text is Python's own library and documentation; a file or an address of your own
can take its place (`load_text`). The grammars are small enough that the best any model can do on them is computed
exactly, so that a model is compared with the truth and not with another model.
"""

from .dates import (
    BOS,
    DATE_LANGUAGES,
    EOS,
    ISO_VOCABULARY,
    PAD,
    EncodedDates,
    WrittenDate,
    date_vocabulary,
    encode_dates,
    is_held_out,
    written_as,
    written_dates,
)
from .digits import Digits, digits
from .grammars import Grammar, study_grammar
from .images import digit_image
from .python_tokens import TOKEN_LABELS, LabelledText, label_python, labelled_python
from .recall import recall_batch
from .teddy import AMBIGUOUS_NAMES, TaggedSentence, encode_tagged, tagging_ceiling, teddy_sentences
from .text import load_text, python_docs, python_source, train_and_held_out, words

__all__ = [
    "AMBIGUOUS_NAMES",
    "BOS",
    "DATE_LANGUAGES",
    "EOS",
    "ISO_VOCABULARY",
    "PAD",
    "TOKEN_LABELS",
    "Digits",
    "EncodedDates",
    "Grammar",
    "LabelledText",
    "TaggedSentence",
    "WrittenDate",
    "date_vocabulary",
    "digit_image",
    "digits",
    "encode_dates",
    "encode_tagged",
    "is_held_out",
    "label_python",
    "labelled_python",
    "load_text",
    "python_docs",
    "python_source",
    "recall_batch",
    "study_grammar",
    "tagging_ceiling",
    "teddy_sentences",
    "train_and_held_out",
    "words",
    "written_as",
    "written_dates",
]
