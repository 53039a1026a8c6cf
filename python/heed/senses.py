"""Models that see and that hear.

    heed.PictureClassifier("vit-base-patch16-224").classify("cat.jpg")
    heed.Transcriber("whisper-tiny").transcribe("speech.wav").text
"""

import os
from typing import Dict, List, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from heed import _heed
from heed.views import Attention, recorded

Path = Union[str, "os.PathLike[str]"]


class TimedWord(NamedTuple):
    text: str
    begin: float  #: seconds
    end: float


class Transcription(NamedTuple):
    text: str
    language: str  #: its code; of a model of one language, ''
    words: List[TimedWord]  #: where they were asked for


class PictureClassifier:
    """A model that sees (ViT). A picture is the path of a PNG or JPEG file, or an array [height, width, 3] of uint8: red, green, blue."""

    def __init__(self, folder: Path) -> None:
        """Raises heed.Error that names the file and what is wrong with it."""
        self._classifier = _heed.PictureClassifier(os.fspath(folder))
        self._name = os.path.basename(os.path.abspath(folder))

    @property
    def labels(self) -> List[str]:
        """The names of the classes."""
        return self._classifier.labels()

    def classify(self, picture: Union[Path, np.ndarray]) -> Dict[str, float]:
        """The probability of each class, the likeliest first."""
        probabilities = self._classifier.classify(pixels_of(picture))
        return by_probability(self.labels, probabilities)

    def attention(self, picture: Union[Path, np.ndarray], *, layer: Optional[int] = None) -> np.ndarray:
        """[heads, rows, columns]: what the first token, which the class is told by, attends to among the patches. layer: the last one where it
        is not given."""
        return np.stack(self._classifier.attention(pixels_of(picture), layer))

    def trace(self, picture: Union[Path, np.ndarray], *, record: Union[str, Sequence[str]] = ()) -> Attention:
        """What every token and patch attends to, in every layer and head, over the picture: for heed.view(). record: 'scores', 'embeddings'
        or 'all'."""
        scores, embeddings, _ = recorded("heed.PictureClassifier.trace", record)
        return Attention(self._classifier.trace(pixels_of(picture), scores, embeddings), self._name)


class Transcriber:
    """A model that hears (Whisper)."""

    def __init__(self, folder: Path) -> None:
        """Raises heed.Error that names the file and what is wrong with it."""
        self._transcriber = _heed.Transcriber(os.fspath(folder))
        self._name = os.path.basename(os.path.abspath(folder))

    def transcribe(
        self, sound: Union[Path, Tuple[np.ndarray, int]], *, language: str = "", task: str = "transcribe", beam: int = 1, words: bool = False
    ) -> Transcription:
        """What is said. sound: the path of a WAV file, or samples of one channel [T], floats from -1 to 1, int8, int16 or int32, with how
        many a second there are. language: its code; '' is the one that the model hears. task: or 'translate', into English. words: their times too."""
        samples, rate = samples_of(sound)
        text, spoken, timed = self._transcriber.transcribe(samples, rate, language, task, beam, words)
        return Transcription(text, spoken, [TimedWord(*word) for word in timed])

    def trace(
        self, sound: Union[Path, Tuple[np.ndarray, int]], *, language: str = "", task: str = "transcribe", record: Union[str, Sequence[str]] = ()
    ) -> Attention:
        """What it attends to while it writes down the first thirty seconds, in every layer and head: for heed.view(). record: 'scores',
        'embeddings' or 'all'."""
        samples, rate = samples_of(sound)
        scores, embeddings, _ = recorded("heed.Transcriber.trace", record)
        return Attention(self._transcriber.trace(samples, rate, language, task, scores, embeddings), self._name)


def pixels_of(picture: Union[Path, np.ndarray]) -> np.ndarray:
    if isinstance(picture, (str, os.PathLike)):
        return _heed.read_image(os.fspath(picture))
    pixels = np.asarray(picture)
    if pixels.dtype != np.uint8 or pixels.ndim != 3 or pixels.shape[2] != 3 or pixels.size == 0:
        raise _heed.Error("heed.PictureClassifier: a picture must be [height, width, 3] of uint8, red, green and blue, but is "
                          f"{pixels.dtype} {list(pixels.shape)}")
    return pixels


def samples_of(sound: Union[Path, Tuple[np.ndarray, int]]) -> Tuple[np.ndarray, int]:
    """Samples as float32 from -1 to 1, of integers as a WAV file's are, and how many a second there are."""
    if not isinstance(sound, tuple):
        return _heed.read_wave(os.fspath(sound))
    samples, rate = np.asarray(sound[0]), sound[1]
    # int64 is what NumPy makes of a list: it does not tell how loud the loudest may be.
    if samples.dtype.kind not in "fi" or samples.dtype == np.int64 or samples.ndim != 1 or samples.size == 0:
        raise _heed.Error("heed.Transcriber: sound must be one row of samples [T], floats from -1 to 1, int8, int16 or int32, but is "
                          f"{samples.dtype} {list(samples.shape)}")
    if samples.dtype.kind == "i":
        return (samples / -float(np.iinfo(samples.dtype).min)).astype(np.float32), rate
    if not np.isfinite(samples).all():
        raise _heed.Error("heed.Transcriber: sound has samples that are not finite")
    return samples.astype(np.float32, copy=False), rate


def by_probability(labels: List[str], probabilities: List[float]) -> Dict[str, float]:
    """The likeliest first, of equals the first."""
    return {labels[i]: probabilities[i] for i in sorted(range(len(labels)), key=lambda i: -probabilities[i])}
