"""Attention: one equation, forward, backward, and the weights on request.

For a batch element b and a head h, query i attends to the keys j that the mask allows:

    w_ij = N over j of ( s(q_i, k_j) + b_ij )          o_i = sum_j dropout(w_ij) v_j

Options that all calls take, by name:

score       s, of scaled_dot() (the default), dot(), additive(), cosine(), squared_distance(), elu(), relu(), performer().
bias        b, of dense(), alibi(), relative(), gaussian(), which add up (`a + b`); or an array, which is a dense bias: [B|1, H|1, Lq|1, Lk|1],
            where axes may lack at the front. -inf refuses a key.
mask        of causal(), window(), prefix(), key_lengths(), boolean(), segments(), around(), strided(), fixed(), longformer(), bigbird(), tiles(),
            predicate(), which intersect (`a & b`); or a bool array [B|1, H|1, Lq|1, Lk|1], True for attend.
normaliser  N, of softmax() (the default; with sinks), sigmoid(), sparsemax(), entmax15(), sum().
scale       what scores are multiplied by; where it is not given, 1 / sqrt(D) or what the score says.
soft_cap    c: a score x becomes c * tanh(x / c), before the bias.
dropout     Dropout(probability, seed, stream), or a probability, which draws as the seed 0 does, the same in each call (heed.torch's draw
            their seeds from torch).
sequences   packed() or paged(), where there is not one sequence to a batch element.
scales      (scales of k, scales of v), where those are int8: float32 [B, Hk, Lk] each. Forward only.
"""

from typing import Any, Literal, NamedTuple, Optional, Sequence, Tuple, Union

from heed import _heed

ScoreStage = Literal["raw", "capped", "masked"]


class AttentionGradient(NamedTuple):
    """What attention_backward gives; None for what was not wanted."""

    q: Any = None  #: the shape and type of q
    k: Any = None
    v: Any = None
    bias: Any = None  #: the shape of the dense bias, float32 (float64 where q is), as all that follow
    additive_vector: Any = None  #: [D]
    sinks: Any = None  #: [H]
    relative: Any = None  #: [buckets, H]
    centre: Any = None  #: of the Gaussian bias


def attention(
    q: Any, k: Any, v: Any, *,
    score: Optional[_heed.Score] = None, bias: Any = None, mask: Any = None, normaliser: Optional[_heed.Normaliser] = None,
    scale: Optional[float] = None, soft_cap: Optional[float] = None, dropout: Union[float, _heed.Dropout, None] = None,
    sequences: Optional[_heed.Sequences] = None, scales: Optional[Tuple[Any, Any]] = None,
    out: Any = None, return_lse: bool = False, return_weights: bool = False, return_scores: Optional[ScoreStage] = None,
) -> Any:
    """Computes attention of q [B, H, Lq, D] over k [B, Hk, Lk, D] and v [B, Hk, Lk, Dv]; head h reads key/value head h // (H // Hk).

    Arrays of NumPy, or of any library with DLPack; float32, float64, float16 or bfloat16 (k and v also of 16 bits beside float32, or int8
    with scales), with any strides whose last is one: [B, L, H, D] is x.transpose(0, 2, 1, 3) of NumPy or x.transpose(1, 2) of torch. They are
    read where they are. Options: see the module's documentation, `help(heed.attention_calls)`.

    Returns out [B, H, Lq, Dv], of the library and the type of q; or a tuple of it and of what else is asked for, in this order:
    return_lse      [B, H, Lq], float32 (float64 where q is): each row's log-sum-exp (its statistic, under other normalisers), which
                    attention_backward, attention_weights and merge read.
    return_weights  [B, H, Lq, Lk], before dropout.
    return_scores   [B, H, Lq, Lk], 'raw' (after the scale), 'capped' or 'masked' (with the bias, -inf for refused keys).

    out, where it is given, is filled and returned; it must share no memory with what is read. A row without a key has out 0 and lse -inf. A
    row's bits do not depend on the batch around it, on padding or on the number of threads. Raises heed.Error, before anything is
    written, naming the rule and the shapes.
    """
    return _heed.attention(
        q, k, v, (score, bias, mask, normaliser, scale, soft_cap, dropout, sequences, scales), out, return_lse, return_weights, return_scores)


def attention_backward(
    q: Any, k: Any, v: Any, out: Any, lse: Any, dout: Any, dlse: Any = None, *, wanted: Sequence[str] = ("q", "k", "v"),
    score: Optional[_heed.Score] = None, bias: Any = None, mask: Any = None, normaliser: Optional[_heed.Normaliser] = None,
    scale: Optional[float] = None, soft_cap: Optional[float] = None, dropout: Union[float, _heed.Dropout, None] = None,
    sequences: Optional[_heed.Sequences] = None,
) -> AttentionGradient:
    """Computes the gradients of attention() with the same options, from its out and lse and the gradients of both.

    dout: [B, H, Lq, Dv]; dlse: [B, H, Lq], zero where it is not given. wanted: which of q, k, v, bias (the dense one), additive_vector,
    sinks, relative (the table) and centre. Gradients have the shapes of what they are of; those of k and v sum over the query heads that
    read them. Raises heed.Error as attention() does, and for paged or int8 keys.
    """
    options = (score, bias, mask, normaliser, scale, soft_cap, dropout, sequences, None)
    return AttentionGradient(**_heed.attention_backward(q, k, v, out, lse, dout, dlse, options, wanted))


def attention_double_backward(
    q: Any, k: Any, v: Any, lse: Any, dout: Any, ddq: Any = None, ddk: Any = None, ddv: Any = None, *,
    bias: Any = None, mask: Any = None, normaliser: Optional[_heed.Normaliser] = None, scale: Optional[float] = None,
    soft_cap: Optional[float] = None, dropout: Union[float, _heed.Dropout, None] = None,
) -> Tuple[Any, Any, Any, Any]:
    """Computes the gradient of attention_backward: second derivatives of softmax attention with dot products.

    ddq, ddk and ddv are the gradients of a loss by what attention_backward gave for q, k and v; None is zero. Returns that loss's gradients by
    q, k, v and dout, of their shapes. Plain loops: O(Lq Lk (D + Dv)) for each head, memory for Lk rows. The bias is held constant.
    """
    options = (None, bias, mask, normaliser, scale, soft_cap, dropout, None, None)
    return _heed.attention_double_backward(q, k, v, lse, dout, ddq, ddk, ddv, options)


def attention_weights(
    q: Any, k: Any, lse: Any, *, heads: Sequence[int] = (), rows: Sequence[int] = (),
    score: Optional[_heed.Score] = None, bias: Any = None, mask: Any = None, normaliser: Optional[_heed.Normaliser] = None,
    scale: Optional[float] = None, soft_cap: Optional[float] = None, scales: Optional[Tuple[Any, Any]] = None,
) -> Any:
    """Computes the weights (before dropout) again from the lse that attention() gave, of the heads and rows that are named, or of all.

    Returns [B, heads, rows, Lk], in the order in which they are named.
    """
    options = (score, bias, mask, normaliser, scale, soft_cap, None, None, scales)
    return _heed.attention_weights(q, k, lse, heads, rows, options)


def explain(
    q: Any, k: Any, v: Any, *,
    score: Optional[_heed.Score] = None, bias: Any = None, mask: Any = None, normaliser: Optional[_heed.Normaliser] = None,
    scale: Optional[float] = None, soft_cap: Optional[float] = None, dropout: Union[float, _heed.Dropout, None] = None,
    sequences: Optional[_heed.Sequences] = None, scales: Optional[Tuple[Any, Any]] = None,
) -> str:
    """Names the algorithm that attention() would use for these arrays and options, and why each other one refused."""
    return _heed.explain(q, k, v, (score, bias, mask, normaliser, scale, soft_cap, dropout, sequences, scales))
