"""Training a model from text files, one sentence or document a line."""

import os
from typing import Any, Callable, Dict, NamedTuple, Optional, Union

from heed import _heed

Path = Union[str, "os.PathLike[str]"]
Callback = Callable[[str, Dict[str, Any]], Any]


class TrainingResult(NamedTuple):
    stop: str  #: 'max_updates', 'max_epochs', 'max_minutes', 'patience', 'interrupted' or 'finished_before'
    updates: int
    epochs: int  #: whole passes over the text
    seconds: float  #: of training, validations counted
    target_tokens_per_second: float
    bleu: float  #: of the model on the validation text; 0 of a language model
    loss: float  #: of the model on the validation text


def train(
    folder: Path, *, source: Path = "", target: Path = "", valid_source: Path = "", valid_target: Path = "", text: Path = "", valid: Path = "",
    start: Path = "", model: Optional[str] = None, preset: Optional[str] = None, callback: Optional[Callback] = None, **options: Any,
) -> TrainingResult:
    """Trains, and leaves a model in the folder. A folder that holds an unfinished run with the same options is continued, to the same bits.

    source, target, valid_source and valid_target: UTF-8 files whose lines correspond, for a model that translates; or text and valid, documents,
    one a line, for one that continues text. With task='caption', source and valid_source are lists of pictures, and targets tell what they
    show. model: 'transformer' (where none is given), 'bahdanau' or 'luong'. preset: 'tiny', 'small' (where none is given) or 'base'.

    start: a model to go on from, heed's own or another toolkit's, with its vocabulary and shape, in the place of model and preset. With lora=8
    low-rank factors for its attention are learned (lora_alpha, lora_targets), and the folder is an adapter's, which heed.load() takes.

    options, by name, are those of `heed train --help` with _ for -: max_updates, max_minutes, patience, vocabulary_size, batch_tokens, rate,
    validate_every, seed, width, heads, decoder_layers, attention='alibi + window(8)', ...

    callback(event, report) is called with a dict of numbers: 'vocabulary', 'start', 'resume', 'update' (update, epoch, loss, rate, ...),
    'validation' (loss, bleu, exact, best, samples), 'candidate' and 'save'. Where it returns something true, raises, or Ctrl-C comes, the run
    saves and stops; exceptions come out here. Raises heed.Error for options and files that make no sense.
    """
    paths = {"folder": folder, "source": source, "target": target, "valid_source": valid_source, "valid_target": valid_target, "text": text,
             "valid": valid, "start": start}
    for name, given in (("model", model), ("preset", preset)):
        if given is not None and os.fspath(start):
            raise _heed.Error(f"heed.train: {name} means nothing with start: the shape is that model's")
    return TrainingResult(**_heed.train({name: os.fspath(path) for name, path in paths.items()}, model or "transformer", preset or "small",
                                        options, callback))
