"""Attention as an autograd.Function, with first and second derivatives."""

from typing import Any, Dict, NamedTuple, Optional, Tuple, Union

import torch

import heed
from heed.options import arrays_of
from heed.torch import definition

# The options that are made of arrays, and may be learned.
LEARNED = ("bias", "additive_vector", "sinks", "relative", "centre")


class Call(NamedTuple):
    """What one call is asked with, but for the tensors that get gradients."""

    score: Any
    bias: Any
    mask: Any
    normaliser: Any
    scale: Optional[float]
    soft_cap: Optional[float]
    dropout: Any
    sequences: Any
    names: Tuple[str, ...]  #: of the learned tensors, in their order

    def options(self):
        return {name: value for name, value in zip(self._fields[:-1], self)}


def rows(tensor):
    """The tensor, or a copy where its last axis has not stride 1, as gradients of sums and expanded tensors have not."""
    return tensor if tensor.stride(-1) == 1 or tensor.shape[-1] <= 1 else tensor.contiguous()


def versions(call):
    """How often each tensor that the options are made of has been written to: what torch asks of the operands that it keeps."""
    tensors = [array for option in call for array in arrays_of(option) if isinstance(array, torch.Tensor)]
    return [tensor._version for tensor in tensors if not tensor.is_inference()]


class Attention(torch.autograd.Function):
    @staticmethod
    def forward(ctx, call, q, k, v, *learned):
        ctx.versions = versions(call)
        out, lse = heed.attention(q.detach(), k.detach(), v.detach(), return_lse=True, **call.options())
        ctx.set_materialize_grads(False)
        ctx.call = call
        ctx.save_for_backward(q, k, v, *learned, out, lse)
        return out, lse

    @staticmethod
    def backward(ctx, dout, dlse):
        if dout is None and dlse is None:
            return (None,) * (4 + len(ctx.call.names))
        if versions(ctx.call) != ctx.versions:
            raise heed.Error("heed.torch.attention: a tensor of the mask, bias, score or normaliser was written to after the call whose gradient "
                             "is asked for")
        *given, out, lse = ctx.saved_tensors
        if dout is None:
            dout = torch.zeros_like(out)
        wanted = tuple(name for name, needed in zip(("q", "k", "v", *ctx.call.names), ctx.needs_input_grad[1:]) if needed)
        gradients = iter(AttentionBackward.apply(ctx.call, wanted, out, lse, dlse, dout, *given))
        return (None, *(next(gradients) if needed else None for needed in ctx.needs_input_grad[1:]))


class AttentionBackward(torch.autograd.Function):
    """The gradients that are wanted, as a function that has a gradient itself: of q, k, v, what is learned, dout and dlse. Of out and
    lse it needs none, which follow from those."""

    @staticmethod
    def forward(ctx, call, wanted, out, lse, dlse, dout, q, k, v, *learned):
        ctx.set_materialize_grads(False)
        ctx.call, ctx.wanted = call, wanted
        ctx.save_for_backward(lse, dlse, dout, q, k, v, *learned)
        plain = [None if x is None else x.detach() for x in (q, k, v, out, lse, dout, dlse)]
        plain[5] = rows(plain[5])
        found = heed.attention_backward(*plain, wanted=wanted, **call.options())
        given = dict(zip(("q", "k", "v", *call.names), (q, k, v, *learned)))
        return tuple(getattr(found, name).reshape(given[name].shape).to(given[name].dtype) for name in wanted)

    @staticmethod
    def backward(ctx, *seconds):
        lse, dlse, dout, *given = ctx.saved_tensors
        none = (None,) * 4
        if all(second is None for second in seconds):
            return (*none, None, None, *(None for _ in given))
        by_name = dict(zip(ctx.wanted, seconds))
        if is_fused(ctx.call, by_name, dlse) and not torch.is_grad_enabled():
            plain = [x.detach() for x in (*given[:3], lse, rows(dout))]
            second = [None if by_name.get(name) is None else rows(by_name[name].detach()) for name in "qkv"]
            options = {name: value for name, value in ctx.call.options().items() if name not in ("score", "sequences")}
            dq, dk, dv, ddout = heed.attention_double_backward(*plain, *second, **options)
            return (*none, None, ddout, dq, dk, dv, *(None for _ in given[3:]))
        ddout, ddlse, *gradients = definition.second_derivatives(ctx.call, lse, dout, dlse, given, by_name)
        return (*none, ddlse, ddout, *gradients)


def is_fused(call, seconds, dlse):
    """Whether heed has this second derivative itself: softmax of dot products, where nothing else is learned."""
    is_dot = call.score is None or call.score.kind in ("scaled_dot", "dot")
    is_softmax = call.normaliser is None or call.normaliser.kind == "softmax"
    keeps_scale = call.score is None or call.score.kind == "scaled_dot" or call.scale is not None
    return is_dot and is_softmax and keeps_scale and dlse is None and not call.names and call.sequences is None


def attention(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, *,
    score: Optional[heed.Score] = None, bias: Union[heed.Bias, torch.Tensor, None] = None,
    mask: Union[heed.Mask, torch.Tensor, None] = None, normaliser: Optional[heed.Normaliser] = None, scale: Optional[float] = None,
    soft_cap: Optional[float] = None, dropout: Union[float, heed.Dropout, None] = None, sequences: Optional[heed.Sequences] = None,
    return_lse: bool = False,
) -> Union[torch.Tensor, Tuple[torch.Tensor, torch.Tensor]]:
    """heed.attention() with gradients, for q [B, H, Lq, D], k [B, Hk, Lk, D] and v [B, Hk, Lk, Dv]; options as there.

    Gradients go to q, k, v and to the tensors that options are made of: a dense bias, the vector of heed.additive(), the sinks of
    heed.softmax(), the table of heed.relative(), the centre of heed.gaussian(). A float `dropout` draws its seed from torch's generator;
    heed.Dropout has its own.

    Returns out [B, H, Lq, Dv]; with return_lse also lse [B, H, Lq], float32 (float64 where q is), which has gradients too.

    Second derivatives (create_graph=True) of softmax over dot products, where nothing but q, k and v is learned, are heed's plain loops:
    O(Lq Lk (D + Dv)) time, and memory for Lk rows a head. All others, and third derivatives, are torch's of the definition written
    with its operators: that takes the memory of several [B, H, Lq, Lk], and under additive and squared-distance scores of several
    [B, H, Lq, Lk, D]. Packed sequences have first derivatives only.
    """
    for name, number in (("scale", scale), ("soft_cap", soft_cap)):
        if isinstance(number, torch.Tensor) and number.requires_grad:
            raise heed.Error(f"heed.torch.attention: {name} has no gradient: multiply q by a scale that is learned")
    if isinstance(bias, torch.Tensor):
        bias = heed.dense(bias)
    if isinstance(dropout, (int, float)):
        dropout = heed.Dropout(dropout, int(torch.randint(1 << 62, ()))) if dropout != 0 else None
    arrays: Dict[str, Any] = {}
    for part in (score, bias, normaliser):
        arrays.update(getattr(part, "arrays", {}))
    learned = {name: arrays[name] for name in LEARNED if isinstance(arrays.get(name), torch.Tensor) and arrays[name].requires_grad}
    q, k, v = rows(q), rows(k), rows(v)
    call = Call(score, bias, mask, normaliser, scale, soft_cap, dropout, sequences, tuple(learned))
    if torch.is_grad_enabled() and any(x.requires_grad for x in (q, k, v, *learned.values())):
        out, lse = Attention.apply(call, q, k, v, *learned.values())
    elif return_lse:
        out, lse = heed.attention(q.detach(), k.detach(), v.detach(), return_lse=True, **call.options())
    else:
        return heed.attention(q.detach(), k.detach(), v.detach(), **call.options())
    return (out, lse) if return_lse else out
