"""Attention taken apart: every intermediate matrix, for a reader with a pencil.

    print(heed.walkthrough())                                   # a two-by-two example
    heed.walkthrough(q, k, v, causal=True).step("weights")      # one's own numbers
"""

from typing import Any, Dict, List, NamedTuple, Optional

import numpy as np

from heed import _heed


class Matrix(NamedTuple):
    name: str
    rows: List[str]
    columns: List[str]
    values: np.ndarray  #: float64 [rows, columns]; -inf where a mask refuses


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

    def picture(self, format: str = "svg") -> bytes:
        """The weights, or the table of positions, as svg, png or pdf."""
        return self._explanation.picture(f"picture.{format}")

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"<heed.Walkthrough: {self._explanation.title}>"

    def _repr_html_(self) -> str:
        return self.picture().decode()


def walkthrough(q: Any = None, k: Any = None, v: Any = None, *, causal: bool = False, mask: Any = None, scale: Optional[float] = None,
                example: str = "attention", length: int = 10, width: int = 8) -> Walkthrough:
    """Computes attention step by step: inputs, scores, scaled, masked, exponentials, weights, output.

    q, k, v: [L, D], [heads, L, D] or [batch, heads, L, D] of floats, converted to float64; without them, a two-by-two example. causal, or mask: bool
    [Lq, Lk] and the like, True for attend. Every number is the operator's. example: 'thinking-machines' (The Illustrated Transformer),
    'bahdanau', 'luong', or 'positions' (sinusoids of `length` positions and `width` features). Raises heed.Error for more than a million numbers.
    """
    if example == "attention":
        return Walkthrough(_heed.walk_arrays(q, k, v, causal, mask, scale))
    if q is not None or k is not None or v is not None:
        raise _heed.Error(f"heed.walkthrough: the example {example!r} has numbers of its own: give no q, k and v")
    return Walkthrough(_heed.walk_example(example, length, width))
