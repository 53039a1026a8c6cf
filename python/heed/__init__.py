"""Attention, on NumPy arrays and on those of any library with DLPack (torch tensors too), which are shared and never copied.

    import heed
    out = heed.attention(q, k, v, mask=heed.causal() & heed.window(128, 0))

q, k and v are [batch, heads, length, width]. What heed refuses is a heed.Error, which is a ValueError. Long calls let other threads run.
heed.torch has the same as functions that torch differentiates. docs/python.md shows it all.
"""

import importlib as _importlib

from heed._heed import (
    Array, Bias, Dropout, Error, Mask, Normaliser, RotaryScaling, Score, Sequences, corpus, merge, quantise_rows, random_features, rotary,
    rotary_backward, rotary_tables, set_threads, threads, version)
from heed.attention_calls import (
    AttentionGradient, attention, attention_backward, attention_double_backward, attention_weights, explain)
from heed.metrics import aer, bleu, chrf, ter
from heed.models import Model, load
from heed.options import (
    additive, alibi, around, bigbird, boolean, causal, cosine, dense, dot, elu, entmax15, fixed, gaussian, key_lengths, longformer, packed, paged,
    performer, predicate, prefix, relative, relu, scaled_dot, segments, sigmoid, softmax, sparsemax, squared_distance, strided, sum, tiles,
    window)
from heed.senses import PictureClassifier, Transcriber
from heed.training import train
from heed.views import Attention, View, view
from heed.walkthroughs import Walkthrough, walkthrough

__all__ = [  # all but heed.sum, which a star must not put in the place of Python's
    "Array", "Attention", "AttentionGradient", "Bias", "Dropout", "Error", "Mask", "Model", "Normaliser", "PictureClassifier", "RotaryScaling",
    "Score", "Sequences", "Transcriber", "View", "Walkthrough", "additive", "aer", "alibi", "around", "attention", "attention_backward",
    "attention_double_backward", "attention_weights", "bigbird", "bleu", "boolean", "causal", "chrf", "corpus", "cosine", "dense", "dot",
    "elu", "entmax15", "explain", "fixed", "gaussian", "key_lengths", "load", "longformer", "merge", "packed", "paged", "performer",
    "predicate", "prefix", "quantise_rows", "random_features", "relative", "relu", "rotary", "rotary_backward", "rotary_tables",
    "scaled_dot", "segments", "set_threads", "sigmoid", "softmax", "sparsemax", "squared_distance", "strided", "ter", "threads", "tiles",
    "train", "view", "walkthrough", "window",
]

__version__ = version


def __getattr__(name):
    if name == "torch":  # imports torch, which takes a while and need not be there
        return _importlib.import_module("heed.torch")
    raise AttributeError(f"module 'heed' has no attribute {name!r}")
