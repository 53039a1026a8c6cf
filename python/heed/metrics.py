"""Scores of translations and of word alignments, the numbers of sacreBLEU and of Och and Ney. Hypotheses and references are lists of lines."""

from typing import List, NamedTuple, Optional, Sequence

from heed import _heed


class BleuScore(NamedTuple):
    score: float  #: 0 to 100
    precisions: List[float]  #: of orders 1 to max_order, smoothed, 0 to 100
    brevity_penalty: float
    hypothesis_length: int  #: tokens
    reference_length: int  #: tokens of each line's closest reference
    signature: str  #: how the number came about
    summary: str  #: sacreBLEU's line


class ChrfScore(NamedTuple):
    score: float  #: 0 to 100
    name: str  #: 'chrF2', 'chrF2++'
    signature: str
    summary: str


class TerScore(NamedTuple):
    score: float  #: 100 edits / reference_length: 0 is best
    edits: int
    reference_length: float  #: words
    signature: str
    summary: str


class AlignmentScore(NamedTuple):
    error_rate: float  #: 0 to 1, as the others
    precision: float
    recall: float
    f1: float
    links: int
    summary: str


def bleu(hypotheses: Sequence[str], *references: Sequence[str], tokenizer: str = "13a", lowercase: bool = False, max_order: int = 4,
         smoothing: str = "exp", smoothing_value: Optional[float] = None, effective_order: bool = False) -> BleuScore:
    """BLEU of a corpus (Papineni et al. 2002), against one or several lists of references.

    tokenizer: '13a', 'none', 'intl', 'char'. smoothing: 'exp', 'none', 'floor' or 'add-k'. effective_order: for single sentences.
    """
    return BleuScore(**_heed.bleu(
        hypotheses, references, tokenizer, lowercase, max_order, smoothing, smoothing_value, effective_order))


def chrf(hypotheses: Sequence[str], *references: Sequence[str], char_order: int = 6, word_order: int = 0, beta: int = 2,
         whitespace: bool = False, lowercase: bool = False, eps_smoothing: bool = False) -> ChrfScore:
    """chrF of a corpus (Popovic 2015); chrF++ with word_order=2."""
    return ChrfScore(**_heed.chrf(hypotheses, references, char_order, word_order, beta, whitespace, lowercase, eps_smoothing))


def ter(hypotheses: Sequence[str], *references: Sequence[str], normalized: bool = False, no_punctuation: bool = False,
        asian_support: bool = False, case_sensitive: bool = False) -> TerScore:
    """TER of a corpus (Snover et al. 2006)."""
    return TerScore(**_heed.ter(hypotheses, references, normalized, no_punctuation, asian_support, case_sensitive))


def aer(alignments: Sequence[str], gold: Sequence[str], *, one_based: bool = False) -> AlignmentScore:
    """The alignment error rate (Och and Ney 2003) of lines of links '0-0 1-2'; gold also has possible ones, '2p3'.

    one_based: whether the gold lines count words from 1.
    """
    return AlignmentScore(**_heed.aer(alignments, gold, one_based))
