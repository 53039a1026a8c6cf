"""What attention is asked with. A score, bias, mask or normaliser remembers how it was made: it is written so, and copied and pickled
so, with copies of its arrays, as torch.nn.Module asks of all that a module holds."""

import copyreg
import functools
from typing import Any, Callable, TypeVar

from heed import _heed
from heed._heed import Bias, Dropout, Mask, Normaliser, Score, Sequences

Maker = TypeVar("Maker", bound=Callable[..., Any])


def remembered(maker: Maker) -> Maker:
    """The maker, whose values know its name and what it was called with."""
    @functools.wraps(maker)
    def make(*values, **by_name):
        made = maker(*values, **by_name)
        made.made_by = (maker.__name__, values, by_name)
        return made

    return make  # type: ignore[return-value]


additive = remembered(_heed.additive)
alibi = remembered(_heed.alibi)
around = remembered(_heed.around)
bigbird = remembered(_heed.bigbird)
boolean = remembered(_heed.boolean)
causal = remembered(_heed.causal)
cosine = remembered(_heed.cosine)
dense = remembered(_heed.dense)
dot = remembered(_heed.dot)
elu = remembered(_heed.elu)
entmax15 = remembered(_heed.entmax15)
fixed = remembered(_heed.fixed)
gaussian = remembered(_heed.gaussian)
key_lengths = remembered(_heed.key_lengths)
longformer = remembered(_heed.longformer)
packed = remembered(_heed.packed)
paged = remembered(_heed.paged)
performer = remembered(_heed.performer)
predicate = remembered(_heed.predicate)
prefix = remembered(_heed.prefix)
relative = remembered(_heed.relative)
relu = remembered(_heed.relu)
scaled_dot = remembered(_heed.scaled_dot)
segments = remembered(_heed.segments)
sigmoid = remembered(_heed.sigmoid)
softmax = remembered(_heed.softmax)
sparsemax = remembered(_heed.sparsemax)
squared_distance = remembered(_heed.squared_distance)
strided = remembered(_heed.strided)
sum = remembered(_heed.sum)
tiles = remembered(_heed.tiles)
window = remembered(_heed.window)


def joins(kind, symbol, of_array):
    """Lets values of a kind join by an operator, also with an array, of which of_array() makes such a value."""
    name = {"&": "and", "+": "add"}[symbol]
    join = getattr(kind, f"__{name}__")

    def side(value):
        return of_array(value) if hasattr(value, "__dlpack__") or hasattr(value, "__array__") else value

    def forward(self, other):
        other = side(other)
        if not isinstance(other, kind):
            return NotImplemented
        both = join(self, other)
        both.made_by = (symbol, (self, other), {})
        return both

    def backward(self, other):
        other = side(other)
        return forward(other, self) if isinstance(other, kind) else NotImplemented

    setattr(kind, f"__{name}__", forward)
    setattr(kind, f"__r{name}__", backward)
    kind.__array_ufunc__ = None  # NumPy leaves its array's operator to ours
    kind.__torch_function__ = classmethod(lambda cls, function, types, args=(), kwargs=None: NotImplemented)  # and so does torch


joins(Mask, "&", boolean)
joins(Bias, "+", dense)


def made_again(name, values, by_name):
    if name in "&+":
        return values[0] & values[1] if name == "&" else values[0] + values[1]
    return globals()[name](*values, **by_name)


def reduced(option):
    return made_again, option.made_by


def arrays_of(option):
    """Those that an option was made of."""
    if hasattr(option, "made_by"):
        _, values, by_name = option.made_by
        return [array for part in (*values, *by_name.values()) for array in arrays_of(part)]
    return [option] if hasattr(option, "__dlpack__") else []


def written(value):
    """As Python would write a value; of an array its type and shape."""
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        return f"<{str(value.dtype).removeprefix('torch.')} {list(value.shape)}>"
    return repr(value)


def written_option(option):
    name, values, by_name = option.made_by
    if name in "&+":
        return f" {name} ".join(map(repr, values))
    given = [written(value) for value in values] + [f"{key}={written(value)}" for key, value in by_name.items()]
    return f"heed.{name}({', '.join(given)})"


for kind in (Bias, Mask, Normaliser, Score, Sequences):
    copyreg.pickle(kind, reduced)
    kind.__repr__ = written_option  # type: ignore[method-assign, assignment]


def drawn_by(dropout):
    return dropout.probability, dropout.seed, dropout.stream


copyreg.pickle(Dropout, lambda dropout: (Dropout, drawn_by(dropout)))
Dropout.__repr__ = (  # type: ignore[method-assign, assignment]
    lambda dropout: "heed.Dropout({}, seed={}, stream={})".format(*drawn_by(dropout)))
