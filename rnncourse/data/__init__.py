"""Data that every machine has: text, labelled text, grammars whose best possible score is known, and a small image.

Nothing here needs a network. The text is Python's own library and documentation; a file or an address of your own
can take its place (`load_text`). The grammars are small enough that the best any model can do on them is computed
exactly, so that a model is compared with the truth and not with another model.
"""

from .corpora import CORPORA, Corpus, load_corpus
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
from .embeddings import WordVectors, word_vectors
from .grammars import Grammar, study_grammar
from .images import digit_image
from .mails import Mails, draw_mails
from .marked_words import MarkedSentence, marked_sentences
from .melodies import Note, Tune, decode_melody, encode_melody, melodies, pitches, wav
from .names import FirstNames, first_names
from .python_tokens import TOKEN_LABELS, LabelledText, label_python, labelled_python
from .recall import recall_batch
from .sentiment import Review, bag_ceiling, encode_reviews, sentiment_sentences
from .teddy import AMBIGUOUS_NAMES, TaggedSentence, encode_tagged, tagging_ceiling, teddy_sentences
from .text import load_text, python_docs, python_source, train_and_held_out, words
from .trained import TrainedNetwork, trained_network
