"""Pictures of attention, of heed's models and of anybody's arrays, in a notebook and in files.

    heed.view(model, "Guten Morgen.")                               # as a notebook's last line: the page with every layer and head
    heed.view(weights, rows=tokens)                                 # [heads, L, L] of any library
    heed.view(weights, rows=english, columns=german).save("map.svg")
"""

import base64
import json
import os
import warnings
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Union

import numpy as np

from heed import _heed

PICTURES = (".svg", ".png", ".pdf")
PAGES = (".html", ".htm")
TRACES = (".json", ".npz")
RECORDED = ("scores", "embeddings", "steps")


class Map(NamedTuple):
    """The weights of one attention layer."""

    path: str  #: of its parameters: 'decoder.layers.3.multihead_attn'
    kind: str  #: 'encoder', 'decoder' or 'cross'
    layer: int  #: its number among those of its kind, from 0
    weights: np.ndarray  #: float32 [heads, queries, keys]


class Attention:
    """What every layer and head attends to in one text, or in a text and its translation. A notebook shows it as a page."""

    def __init__(self, trace: "_heed.Trace", model: Optional[str] = None) -> None:
        self._trace = trace if model is None or trace.model == model else trace.renamed(model)
        self.maps: List[Map] = [Map(*one) for one in self._trace.maps]

    @property
    def source_tokens(self) -> List[str]:
        """The keys of encoder and cross maps, the queries of encoder maps."""
        return self._trace.source_tokens

    @property
    def decoder_tokens(self) -> List[str]:
        """What the decoder reads: both axes of decoder maps."""
        return self._trace.decoder_tokens

    @property
    def target_tokens(self) -> List[str]:
        """What it answers to each of them: the queries of cross maps."""
        return self._trace.target_tokens

    @property
    def text(self) -> str:
        """The translation, or the text."""
        return self._trace.target_text

    def __repr__(self) -> str:
        shapes = ", ".join(f"{one.path} {list(one.weights.shape)}" for one in self.maps)
        return f"<heed.Attention of {self.text!r}: {shapes}>"

    def find(self, kind: Optional[str] = None, layer: Optional[int] = None) -> Map:
        """The map of a kind (cross where there is one, else the decoder's, else the encoder's) and a layer (the last one)."""
        kinds = [kind] if kind else [one for one in ("cross", "decoder", "encoder") if any(m.kind == one for m in self.maps)][:1]
        found = [one for one in self.maps if one.kind in kinds and layer in (None, one.layer)]
        if not found:
            there = ", ".join(f"{one.kind} {one.layer}" for one in self.maps)
            wanted = f"{kind or 'map'}" if layer is None else f"{kind or 'map'} of layer {layer}"
            raise _heed.Error(f"heed.Attention: there is no {wanted}; there are: {there}")
        return found[-1]

    def picture(self, format: str = "svg", *, kind: Optional[str] = None, layer: Optional[int] = None,
                head: Union[None, str, int, Sequence[int]] = None, lines: bool = False, word: Optional[str] = None, width: str = "",
                font: str = "", font_size: float = 0, title: Optional[str] = None) -> bytes:
        """A figure of one layer as svg, png or pdf, as `heed view` draws it (docs/figures.md): a heat map, or `lines` between words, or what
        one `word` reads ('it', or 'it:2' for the second); over the picture, where that is what was read.

        head: 'mean', 'all' side by side, a number from 0, or several side by side; by default the mean, and all for a word. width: '8cm',
        '3.3in' or '240pt' for a paper; otherwise for a screen. font: a family. font_size: of labels, in points. title: in place of the
        figure's own; '' is none.
        """
        chosen = self.find(kind, layer)
        there = range(chosen.weights.shape[0])
        head = head if head is not None else "mean" if word is None else "all"
        heads = [] if head in ("mean", "all") else [head] if isinstance(head, (str, int)) else list(head)
        if any(one not in there for one in heads):
            raise _heed.Error(f"heed.Attention: head must be 'mean', 'all' or from 0 to {there[-1]}, but is {head!r}")
        at = next(n for n, one in enumerate(self.maps) if one.path == chosen.path)
        return _heed.picture(self._trace, at, f"picture.{format}", heads, head == "mean", lines, word, width, font, font_size, title)

    def save(self, path: Union[str, "os.PathLike[str]"], **options: Any) -> None:
        """Writes a page (.html), a picture (.svg, .png, .pdf) with the options of picture(), or the trace (.json, .npz)."""
        View([self]).save(path, **options)

    def trace(self) -> Dict[str, Any]:
        """Everything, as docs/trace.md names it: {'source': {'tokens': [...], ...}, 'maps': [{'kind': 'cross', 'weights': array, ...}], ...}."""
        return View([self]).traces()["traces"][0]

    def _repr_html_(self) -> str:
        return View([self])._repr_html_()


class View:
    """One or several Attentions on one page. A notebook shows it; other places have page() and save()."""

    def __init__(self, shown: Sequence[Attention], height: int = 720, language: str = "en") -> None:
        self.shown = list(shown)
        self.height = height
        self.language = language

    def page(self, fragment: bool = False) -> str:
        """The page, HTML that needs no network and no other file; or a fragment of HTML, of which several may stand in one page."""
        return _heed.page([one._trace for one in self.shown], self.language, fragment)

    def save(self, path: Union[str, "os.PathLike[str]"], **options: Any) -> None:
        """Writes a page (.html) or the traces (.json, .npz) of all, or a picture (.svg, .png, .pdf) of the one that there is, with the options
        of Attention.picture()."""
        ending = os.path.splitext(os.fspath(path))[1].lower()
        if ending in PICTURES:
            if len(self.shown) != 1:
                raise _heed.Error(f"heed.view: a picture shows one text, and there are {len(self.shown)}: save a page (.html), or one of them")
            _heed.write_file(os.fspath(path), self.shown[0].picture(ending[1:], **options))
        elif ending in PAGES and not options:
            _heed.write_file(os.fspath(path), self.page().encode())
        elif ending in TRACES and not options:
            _heed.write_traces(os.fspath(path), [one._trace for one in self.shown])
        else:
            endings = ", ".join(PICTURES + TRACES)
            raise _heed.Error(f"heed.view: {os.fspath(path)} must end in {endings}, or {PAGES[0]} (pictures alone have options)")

    def traces(self) -> Dict[str, Any]:
        """What save("traces.json") writes, with arrays of numpy. view() takes it back, as it is or changed."""
        return json.loads(_heed.traces_to_text([one._trace for one in self.shown]), object_hook=_array_of)

    def _repr_html_(self) -> str:
        # What is in it keeps its styles to itself, so that the notebook's do not meet them, and several may stand in one.
        return f'<div style="max-height: {int(self.height)}px; overflow: auto; border: 1px solid #8884; border-radius: 8px">{self.page(fragment=True)}</div>'


def recorded(caller: str, record: Union[str, Sequence[str]]) -> List[bool]:
    """Whether scores, embeddings and steps are to be kept."""
    names = [record] if isinstance(record, str) else list(record)
    for name in names:
        if name not in RECORDED + ("all",):
            raise _heed.Error(f"{caller}: record must be of {', '.join(RECORDED)} or 'all', but is {name!r}")
    return [part in names or "all" in names for part in RECORDED]


def view(*what: Any, rows: Optional[Sequence[str]] = None, columns: Optional[Sequence[str]] = None, kind: Optional[str] = None,
         target: Optional[str] = None, name: str = "", height: int = 720, language: str = "en") -> View:
    """Shows attention: as a notebook's last line it is a page to look around in, and save() writes it.

    view(model, text, ...)      what a model of heed.load() attends to in each of the texts; of one text, `target` is the translation to look at.
    view(attention, ...)        what model.attention() gave, several on one page.
    view("traces.json")         what heed view --trace, save(), or another program wrote, .json or .npz; or what traces() gave.
    view(weights, rows=tokens)  weights of any library: [heads, queries, keys] or [queries, keys], a list of these, a layer each, or a dict of
                                them by name. rows and columns name the queries and the keys (one list serves both where columns is not
                                given). kind: 'encoder', 'decoder' or 'cross'; 'cross' where there are columns, else 'decoder'.

    name: what the page is called. height: of what a notebook shows, at most, in pixels. language: that the page begins with, 'en' or 'zh'.
    """
    from heed.models import Model

    if not what:
        raise _heed.Error("heed.view: needs a model and a text, Attentions, or weights")
    if isinstance(what[0], Model):
        if len(what) < 2:
            raise _heed.Error("heed.view: needs a text for the model to read")
        read = [what[0].attention(text, target, record="all") for text in what[1:]]
        left_out = _heed.lighten([one._trace for one in read])
        if left_out:
            warnings.warn(f"heed.view: {left_out}: heed.view(model.attention(text, record='all')) keeps them", stacklevel=2)
        return View(read, height, language)
    if all(isinstance(one, Attention) for one in what):
        return View(what, height, language)
    if len(what) == 1 and isinstance(what[0], (str, os.PathLike)) and os.fspath(what[0]).endswith(TRACES):
        return View([Attention(one) for one in _heed.read_traces(os.fspath(what[0]))], height, language)
    if isinstance(what[0], Mapping) and "format" in what[0] and len(what) == 1:
        return View([Attention(one) for one in _heed.parse_traces(json.dumps(what[0], default=_packed), "heed.view")], height, language)
    if len(what) != 1:
        raise _heed.Error("heed.view: takes the weights of one text; of several, view() each, and give view() what is shown of them")
    return View([attention_of(what[0], rows, columns, kind, name)], height, language)


def attention_of(weights: Any, rows: Optional[Sequence[str]], columns: Optional[Sequence[str]], kind: Optional[str], name: str) -> Attention:
    """Anybody's weights as an Attention."""
    layers: Dict[str, Any]
    if isinstance(weights, Mapping):
        layers = {str(path): one for path, one in weights.items()}
    elif isinstance(weights, (list, tuple)):
        layers = {f"layers.{number}": one for number, one in enumerate(weights)}
    else:
        layers = {"attention": weights}
    layers = {path: _three_axes(path, one) for path, one in layers.items()}
    if not layers:
        raise _heed.Error("heed.view: there must be weights, but there are none")
    _, queries, keys = next(iter(layers.values())).shape
    if kind is None:
        kind = "cross" if columns is not None or queries != keys else "decoder"
    if kind != "cross" and columns is not None:
        raise _heed.Error(f"heed.view: {kind} maps have the same tokens as rows and columns: give rows alone")
    of_rows = [str(one) for one in (range(queries) if rows is None else rows)]
    of_columns = [str(one) for one in (range(keys) if columns is None else columns)]
    source = {"cross": of_columns, "encoder": of_rows}.get(kind, [])
    target = [] if kind == "encoder" else of_rows
    maps = [(path, kind, one) for path, one in layers.items()]
    return Attention(_heed.Trace(name, " ".join(source), " ".join(target), source, target, target, maps))


def _array_of(value: Dict[str, Any]) -> Any:
    """A packed array as numpy's; anything else as it is."""
    if value.keys() != {"shape", "f32"}:
        return value
    return np.frombuffer(base64.b64decode(value["f32"]), "<f4").reshape(value["shape"])


def _packed(array: Any) -> Dict[str, Any]:
    """An array as a trace has it in JSON."""
    numbers = np.asarray(array, "<f4")
    return {"shape": list(numbers.shape), "f32": base64.b64encode(numbers.tobytes()).decode()}


def _three_axes(path: str, weights: Any) -> Any:
    """[heads, queries, keys] of an array, which may lack the heads, or have a batch of one."""
    axes = len(getattr(weights, "shape", ()))
    if axes == 2:
        return weights[None]
    if axes == 4 and weights.shape[0] == 1:
        return weights[0]
    if axes != 3:
        raise _heed.Error(f"heed.view: {path} must be an array [heads, queries, keys] of one text, but is "
                          f"{list(weights.shape) if hasattr(weights, 'shape') else type(weights).__name__}")
    return weights
