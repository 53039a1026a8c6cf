"""Attention taken apart: every intermediate matrix, for a reader with a pencil.

    print(heed.walkthrough())                                   # a two-by-two example
    heed.walkthrough(q, k, v, causal=True).step("weights")      # one's own numbers
"""

from typing import Any, Dict, List, NamedTuple, Optional, Sequence

import numpy as np

from heed import _heed


class Matrix(NamedTuple):
    name: str
    rows: List[str]
    columns: List[str]
    values: np.ndarray  #: float64 [rows, columns]; -inf where a mask refuses
    batch: Optional[int]  #: which batch element and head it is of, where there are several
    head: Optional[int]


class Step(NamedTuple):
    name: str  #: 'scores'
    title: str  #: 'every query against every key'
    formula: str
    meaning: str
    matrices: List[Matrix]


class Walkthrough:
    """Steps, each with its formula, its matrices and a sentence; print() shows them, and a notebook a picture beside them."""

    def __init__(self, explanation: "_heed.Explanation") -> None:
        self._explanation = explanation
        self.steps = [Step(*one[:4], [Matrix(*matrix) for matrix in one[4]]) for one in explanation.steps]

    def step(self, name: str) -> Step:
        """The step of this name."""
        by_name: Dict[str, Step] = {one.name: one for one in self.steps}
        if name not in by_name:
            raise _heed.Error(f"heed.walkthrough: there is no step {name!r}; there are: {', '.join(by_name)}")
        return by_name[name]

    def text(self, digits: int = 3) -> str:
        """All of it, as `heed explain` prints it."""
        return self._explanation.text(digits)

    def json(self) -> str:
        """The numbers with their names, as `heed explain --out walk.json` writes them."""
        return self._explanation.json()

    def picture(self, format: str = "svg") -> bytes:
        """The weights, or the table of positions, as svg, png or pdf."""
        return self._explanation.picture(f"picture.{format}")

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"<heed.Walkthrough: {self._explanation.title}>"

    def _repr_html_(self) -> str:
        return self.picture().decode()


def walkthrough(q: Any = None, k: Any = None, v: Any = None, *, x: Any = None, w_q: Any = None, w_k: Any = None, w_v: Any = None, w_o: Any = None,
                memory: Any = None, heads: int = 1, kv_heads: Optional[int] = None, causal: bool = False, mask: Any = None, scale: Optional[float] = None,
                attention: str = "", additive_vector: Any = None, labels: Sequence[str] = (), key_labels: Sequence[str] = (), example: str = "attention",
                length: int = 10, width: int = 8, language: str = "en") -> Walkthrough:
    """Computes attention step by step: inputs, scores, scaled, masked, exponentials, weights, output.

    q, k, v: [L, D], [heads, L, D] or [batch, heads, L, D] of numbers, converted to float64; or x: rows [L, E] with matrices that project them,
    q = x w_q, and for cross-attention memory, the rows that keys and values are made of; without any, a two-by-two example. heads, kv_heads: cut matrices
    into heads. causal, or mask: [Lq, Lk] and the like, True or 1 for attend. attention: score, biases, masks and normaliser as heed train takes them, such as
    "cosine + sparsemax"; the score additive needs additive_vector. labels, key_labels: names of the queries and keys; of as many keys the same. Every number is the operator's.
    example: 'thinking-machines' (The Illustrated Transformer), 'bahdanau', 'luong', 'positions' (sinusoids of `length` positions and `width` features),
    'masks', 'gqa', 'flash-attention' or 'windows'. language: 'en' or 'zh'. Raises heed.Error for arrays that do not fit, and for more than a million numbers.
    """
    arrays = {"q": q, "k": k, "v": v, "x": x, "w_q": w_q, "w_k": w_k, "w_v": w_v, "w_o": w_o, "memory": memory, "mask": mask,
              "additive_vector": additive_vector}
    given = {name: array for name, array in arrays.items() if array is not None}
    options = {"causal": causal, "scale": scale is not None, "attention": attention, "labels": len(labels), "key_labels": len(key_labels),
               "heads": heads != 1, "kv_heads": kv_heads is not None}
    chosen = [*given, *(name for name, is_given in options.items() if is_given)]
    if example != "attention":
        if chosen:
            raise _heed.Error(f"heed.walkthrough: the example {example!r} has numbers of its own: give no {', '.join(chosen)}")
        return Walkthrough(_heed.walk_example(example, length, width, language))
    for group in ({"q", "k", "v"}, {"x", "w_q", "w_k", "w_v"}):
        missing = sorted(group - given.keys())
        if missing and len(missing) < len(group):
            raise _heed.Error(f"heed.walkthrough: {', '.join(missing)} must be given too")
    if "q" in given and "x" in given:
        raise _heed.Error("heed.walkthrough: give q, k and v, or x and what projects it, not both")
    return Walkthrough(_heed.walk_arrays(given, heads, kv_heads or 0, causal, scale, attention, list(labels), list(key_labels), language))
