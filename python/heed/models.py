"""What can be done with a model in a folder.

    model = heed.load("model")
    model.translate("Guten Morgen.")
    for piece in heed.load("language-model").generate("The man", temperature=0.8):
        print(piece, end="", flush=True)
"""

import datetime
import json
import os
import queue
import threading
import weakref
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple, Union, overload

import numpy as np

from heed import _heed
from heed.senses import by_probability
from heed.views import Attention, recorded

Classes = Union[Dict[str, float], List[Tuple[str, Dict[str, float]]]]  # of a text, or of each of its tokens

Messages = Union[str, Sequence[Dict[str, str]]]  # what the user says, or what each role said

NOT_WHOLE = "\N{REPLACEMENT CHARACTER}"  # stands for a character of which a part is missing


class Translation(NamedTuple):
    text: str
    score: float  #: log-probability after the length penalty
    tokens: List[int]  #: ids, without the end token
    token_scores: List[float]  #: log-probabilities of the tokens, then of the end token


class Generated(NamedTuple):
    text: str  #: the prompt as the vocabulary has it, and its continuation
    tokens: List[int]  #: ids of the continuation, without the end token, and with a text to stop at
    token_scores: List[float]  #: the model's log-probabilities of these, and of the end token where it came


class TokenScores(NamedTuple):
    tokens: List[int]  #: ids of the text, and last the end token
    log_probabilities: List[float]  #: of each after those before it

    @property
    def sum(self) -> float:
        return float(np.sum(self.log_probabilities))


class Candidate(NamedTuple):
    token: str  #: as the vocabulary writes it
    probability: float
    text: str  #: the text with it in the mask's place


def listed(texts: Union[str, Sequence[str]]) -> List[str]:
    return [texts] if isinstance(texts, str) else list(texts)


class Closed(Exception):
    """Nobody reads a stream any more."""


def streamed(generate: Callable[[Callable[[int, str, bool], None]], Any], shown: str = "") -> Iterator[str]:
    """What generate(on_part) writes behind `shown`, as it comes. It goes on when the next piece is asked for."""
    parts: "queue.Queue[Any]" = queue.Queue()
    wanted = threading.Semaphore(0)
    closed = threading.Event()

    def on_part(_: int, text: str, ended: bool) -> None:
        parts.put((text, ended))
        wanted.acquire()  # goes on when the piece has been asked for
        if closed.is_set():
            raise Closed

    def run() -> None:
        try:
            generate(on_part)
            parts.put(None)
        except Closed:
            pass
        except BaseException as error:  # raised where the text is read
            parts.put(error)

    thread = threading.Thread(target=run, name="heed.Model.generate", daemon=True)
    thread.start()

    def end() -> None:
        closed.set()
        wanted.release()
        thread.join()

    # Where the program ends before the text has been read to its end, too: no thread may wait while Python is taken apart.
    finish = weakref.finalize(thread, end)
    try:
        while (part := parts.get()) is not None:
            if isinstance(part, BaseException):
                raise part
            text, ended = part
            if text.startswith(shown) and (ended or not text.endswith(NOT_WHOLE)):
                if text != shown:
                    yield text[len(shown):]
                shown = text
            wanted.release()
    finally:
        finish()


def said(caller: str, messages: Messages) -> List[Tuple[str, str]]:
    """Roles and contents."""
    if isinstance(messages, str):
        return [("user", messages)]
    for number, message in enumerate(messages):
        if not all(isinstance(message.get(key), str) for key in ("role", "content")):
            raise _heed.Error(f"{caller}: messages[{number}] must have a 'role' and a 'content', which are texts")
    return [(message["role"], message["content"]) for message in messages]


def day_of(today: Optional[datetime.date]) -> Optional[Tuple[int, int, int]]:
    return None if today is None else (today.year, today.month, today.day)


def load(folder: Union[str, "os.PathLike[str]"], *, from_language: str = "", to_language: str = "") -> "Model":
    """Reads a model's folder. Raises heed.Error that names the file and what is wrong with it.

    from_language, to_language: of a model that translates between many languages, what sources are in and what is written, by their tokens
    ('deu_Latn', 'de_DE'); else as the folder says.
    """
    return Model(folder, from_language, to_language)


class Model:
    """A model, which translates or continues text. Its methods may be called from several threads, and let others run."""

    def __init__(self, folder: Union[str, "os.PathLike[str]"], from_language: str = "", to_language: str = "") -> None:
        self._model = _heed.load(os.fspath(folder), from_language, to_language)
        self._name = os.path.basename(os.path.abspath(folder))
        self._chats: List[_heed.GrowingText] = []  # one at most: what was read last, for the next to go on from

    @property
    def translates(self) -> bool:
        """Whether it reads a source, which it translates."""
        return self._model.translates

    @property
    def config(self) -> dict:
        """config.json."""
        return json.loads(self._model.config)

    @property
    def parameters(self) -> int:
        """How many numbers were learned."""
        return self._model.parameters

    @property
    def vocabulary(self) -> int:
        """How many tokens there are."""
        return self._model.vocabulary

    @property
    def max_length(self) -> int:
        """The most tokens of a text."""
        return self._model.max_length

    @property
    def purpose(self) -> str:
        """What it is for, with the call that has it do that: 'translates text (translate)'."""
        return self._model.purpose

    def __repr__(self) -> str:
        return f"<heed.Model {self._name}: {self.purpose}, {self.parameters / 1e6:.2f} M parameters>"

    def encode(self, text: str) -> List[int]:
        """The ids of a text to read: of a translator's source, or of a language model's text."""
        return self._model.encode(text)

    def decode(self, ids: Sequence[int]) -> str:
        """The text of ids that the model wrote."""
        return self._model.decode(list(ids))

    def pieces(self, ids: Sequence[int]) -> List[str]:
        """How the vocabulary writes each id that the model wrote."""
        return [self._model.piece(one) for one in ids]

    @overload  # type: ignore[misc]  # a str is a sequence of them, too
    def translate(self, text: str, **options: Any) -> str: ...
    @overload
    def translate(self, text: Sequence[str], **options: Any) -> List[str]: ...

    def translate(self, text, **options):
        """Translates a line, or each of several; options as in translations()."""
        if isinstance(text, str):
            return self.translations([text], **options)[0][0].text
        return [best[0].text for best in self.translations(text, **options)]

    def translations(self, lines: Sequence[str], *, long_lines: str = "fail", **options: Any) -> List[List[Translation]]:
        """The best translations of each line, best first, by beam search.

        options: beam (5), best (1, of how many), length_penalty (1), repetition_penalty (1), no_repeat_ngram (0), early_stopping (True), any_length
        (False), renormalize (False), max_ratio (2), max_extra (10), min_tokens (0), max_tokens (as max_ratio says); where the model's folder says otherwise (generation_config.json),
        that. long_lines: what becomes of a line that is too long for the model: 'fail' raises heed.Error, 'crop' translates its first tokens,
        'empty' gives nothing. A line's translation does not depend on the other lines.
        """
        return [[Translation(*one) for one in best] for best in self._model.translate(list(lines), options, long_lines)]

    def generate(
        self, prompt: str = "", *, max_tokens: int = 100, stop: Union[str, Sequence[str]] = (), **options: Any
    ) -> Iterator[str]:
        """Continues a text, and gives what is new of it as it comes; joined, the pieces are the continuation.

        stop: a text, or several, at the first of which the continuation ends, without it. options: temperature (1; 0 takes the likeliest
        token), top_k (0: all), top_p (1), min_p (0), repetition_penalty (1), no_repeat_ngram (0), min_tokens (0), seed (1); where the
        model's folder says otherwise (generation_config.json), that; and cache ('f32'; 'bf16', 'f16' or 'int8' keep keys and values in less
        memory, which is read faster, and round them). The model computes while the caller waits for the next piece, and stops where the
        caller does.
        """
        shown = self.decode(self.encode(prompt)) if prompt else ""
        return streamed(lambda on_part: self._model.generate([prompt], options, max_tokens, listed(stop), on_part), shown)

    def chat(
        self, messages: Messages, *, max_tokens: int = 100, stop: Union[str, Sequence[str]] = (), today: Optional[datetime.date] = None,
        names: Optional[Dict[str, Any]] = None, **options: Any
    ) -> Iterator[str]:
        """The answer of a model that was taught to answer, as it comes, by the template that came with it.

        messages: what the user says, or all that was said, the user's last: [{"role": "system", "content": "Be brief."},
        {"role": "user", "content": "What is attention?"}]. today: the day that the template writes; without, the one that it has for when
        nobody tells it. names: what the template's own names are, {"enable_thinking": False}. Else as generate(). Of what was said, a call
        reads what the last one that came to its end has not: keys and values are kept as long as the model is. Raises heed.Error where
        no template is there, or it refuses what was said.
        """
        talk = said("heed.Model.chat", messages)

        def answer(on_part: Callable[[int, str, bool], None]) -> None:
            try:
                text = self._chats.pop()
            except IndexError:  # the first, or beside another
                text = _heed.GrowingText(self._model)
            try:
                self._model.chat(text, talk, day_of(today), names or {}, options, max_tokens, listed(stop), on_part)
            finally:
                self._chats = [text]

        return streamed(answer)

    def chat_text(self, messages: Messages, *, today: Optional[datetime.date] = None, names: Optional[Dict[str, Any]] = None) -> str:
        """What the model reads before it answers, special tokens spelled, as Hugging Face's apply_chat_template(messages, tokenize=False,
        add_generation_prompt=True) gives it. Arguments as in chat()."""
        return self._model.chat_text(said("heed.Model.chat_text", messages), day_of(today), names or {})

    def complete(
        self, prompts: Sequence[str], *, max_tokens: int = 100, stop: Union[str, Sequence[str]] = (), **options: Any
    ) -> List[Generated]:
        """The continuation of each prompt, several at once; options as in generate(). Prompt i draws as the i-th of its seed."""
        return [Generated(*one) for one in self._model.generate(list(prompts), options, max_tokens, listed(stop), None)]

    @overload  # type: ignore[misc]  # a str is a sequence of them, too
    def score(self, text: str, source: Optional[str] = None) -> TokenScores: ...
    @overload
    def score(self, text: Sequence[str], source: Optional[Sequence[str]] = None) -> List[TokenScores]: ...

    def score(self, text, source=None):
        """How likely the model finds a text, token by token, or each of several; of a translation, given its source."""
        if isinstance(text, str):
            return self.score([text], None if source is None else [source])[0]
        return [TokenScores(*one) for one in self._model.score(list(text), None if source is None else list(source))]

    def logits(self, text: str, source: Optional[str] = None) -> np.ndarray:
        """The logits [T + 1, vocabulary] of each next token of a text of T tokens: row t is what follows the first t. A language model of others
        begins a text with nothing but what its template puts there: T rows, of which row t is what follows the first t + 1. source: what a
        translator translates."""
        return self._model.logits(text, source)

    @overload  # type: ignore[misc]  # a str is a sequence of them, too
    def embed(self, text: str, *, pooling: Optional[str] = None, normalise: Optional[bool] = None, layer: int = -1,
              prompt: Optional[str] = None, cut: bool = False) -> np.ndarray: ...
    @overload
    def embed(self, text: Sequence[str], *, pooling: Optional[str] = None, normalise: Optional[bool] = None, layer: int = -1,
              prompt: Optional[str] = None, cut: bool = False) -> np.ndarray: ...

    def embed(self, text, *, pooling=None, normalise=None, layer=-1, prompt=None, cut=False):
        """A vector for a text, [width], or for each of several, [N, width]: the 'mean' (or the 'first', or the 'last') of what a Transformer's
        encoder, or a language model, makes of its tokens in a layer (see hidden_states; -1 is the last); an encoder of heed's own reads an
        end token too, and a decoder a begin token, and models of others what their templates put around a text. A tab parts two texts that
        are read together. What is None is as a folder of sentence-transformers says, else 'mean' and not normalised to the length 1, behind no
        prompt; a folder's layers are behind its own pooling alone. prompt: which of the folder's stands before each text. cut: of a text of
        too many tokens the first are read; otherwise it is an error."""
        texts = listed(text)
        vectors = self._model.embed(texts, pooling, normalise, layer, prompt or "", cut)
        return vectors[0] if isinstance(text, str) else vectors

    def hidden_states(self, text: str) -> np.ndarray:
        """What each layer of a Transformer's encoder, or of a language model, makes of a text's tokens, float32 [layers + 1, T, width]: 0 is
        what the first layer reads, n what layer n gives; the last has been through the model's final norm, where there is one. The tokens
        are those that embed reads."""
        return self._model.hidden_states(text)

    def fill(self, text: str, *, candidates: int = 5) -> List[List[Candidate]]:
        """The likeliest words for each mask of a text ('[MASK]', or as the model's vocabulary writes it), the likeliest first."""
        return [[Candidate(*one) for one in mask] for mask in _heed.fill(self._model, [text], candidates)[0]]

    @overload  # type: ignore[misc]  # a str is a sequence of them, too
    def classify(self, text: str) -> Classes: ...
    @overload
    def classify(self, text: Sequence[str]) -> List[Classes]: ...

    def classify(self, text):
        """The probability of each class of a text, or of each of several, the likeliest first. Of a model that classifies tokens: for each token
        what the vocabulary writes and its classes. A tab parts two texts that are read together."""
        if isinstance(text, str):
            return self.classify([text])[0]
        labels = _heed.class_labels(self._model)
        if not _heed.classifies_tokens(self._model):
            return [by_probability(labels, row) for row in _heed.classes_of_texts(self._model, list(text))]
        return [
            [(piece, by_probability(labels, row)) for piece, row in tokens] for tokens in _heed.classes_of_tokens(self._model, list(text))
        ]

    def attention(
        self, text: str, target: Optional[str] = None, *, second: Optional[str] = None, record: Union[str, Sequence[str]] = ()
    ) -> Attention:
        """What every layer and head attends to while the model translates a text (into `target`, or as it would itself), or reads it. second:
        what an encoder such as BERT reads behind the text. record: what to keep besides the weights: 'scores' (queries, keys, biases),
        'embeddings', 'steps' (of the search for a translation), several of them, or 'all'."""
        kept = recorded("heed.Model.attention", record)
        return Attention(self._model.trace(text, target, second, *kept), self._name)
