"""torch.nn.functional.scaled_dot_product_attention, computed by heed."""

from typing import Any, Optional, Union

import torch

import heed
from heed.torch.differentiable import attention


def scaled_dot_product_attention(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, attn_mask: Optional[torch.Tensor] = None, dropout_p: float = 0.0,
    is_causal: bool = False, scale: Optional[float] = None, enable_gqa: bool = False,
) -> torch.Tensor:
    """torch's function of this name, with its signature and its meaning, on the processor.

    query [..., Hq, L, E], key [..., H, S, E], value [..., H, S, Ev]; the axes before the last two broadcast, and with enable_gqa, Hq may be
    a multiple of H. attn_mask: broadcasts to [..., Hq, L, S]; bool, True for attend; or of query's type, added to the scores. is_causal: query i
    sees the keys up to i. dropout_p, in [0, 1): always applied; its seed is drawn from torch's generator. scale: 1 / sqrt(E) where it is not given.

    Returns [..., Hq, L, Ev]. A row that sees no key is zero (torch before 2.5: NaN). First and second derivatives, by attn_mask too. Raises
    heed.Error for operands that disagree, and for attn_mask beside is_causal.
    """
    if attn_mask is not None and is_causal:
        raise heed.Error("scaled_dot_product_attention: attn_mask and is_causal cannot both be given")
    least = 3 if enable_gqa else 2
    if min(query.dim(), key.dim(), value.dim()) < least:
        raise heed.Error(f"scaled_dot_product_attention: query, key and value must have {'three' if enable_gqa else 'two'} axes at least, but have "
                         f"{query.dim()}, {key.dim()} and {value.dim()}")
    try:
        q, k, v, batch = with_four_axes(query, key, value, enable_gqa)
    except RuntimeError as refused:
        raise heed.Error(f"scaled_dot_product_attention: the axes before the last two must broadcast, but are "
                         f"{list(query.shape[:-2])}, {list(key.shape[:-2])} and {list(value.shape[:-2])}") from refused
    mask: Union[heed.Mask, torch.Tensor, None] = None
    bias: Optional[torch.Tensor] = None
    if attn_mask is not None:
        spread = attn_mask
        if len(batch) > 2 and attn_mask.dim() > 2:  # as many axes as the operands had, so that they can be joined as theirs are
            try:
                spread = attn_mask.expand(*batch, *attn_mask.shape[-2:]).reshape(*q.shape[:2], *attn_mask.shape[-2:])
            except RuntimeError as refused:
                raise heed.Error(f"scaled_dot_product_attention: attn_mask must broadcast to {[*batch, q.shape[2], k.shape[2]]}, but is "
                                 f"{list(attn_mask.shape)}") from refused
        mask, bias = (spread, None) if attn_mask.dtype == torch.bool else (None, spread)
    if is_causal:
        mask = heed.causal("start")
    out: Any = attention(q, k, v, mask=mask, bias=bias, scale=scale, dropout=float(dropout_p))
    return out.reshape(*batch, *out.shape[-2:])


def with_four_axes(query, key, value, enable_gqa):
    """The operands as [B, H, L, E], and what the axes before the last two are of the result."""
    if not enable_gqa:
        batch = torch.broadcast_shapes(query.shape[:-2], key.shape[:-2], value.shape[:-2])
        operands = [x.expand(*batch, *x.shape[-2:]) for x in (query, key, value)]
    else:
        before = torch.broadcast_shapes(query.shape[:-3], key.shape[:-3], value.shape[:-3])
        operands = [x.expand(*before, *x.shape[-3:]) for x in (query, key, value)]
        batch = torch.Size((*before, query.shape[-3]))
    if len(batch) > 2:
        operands = [x.reshape(-1, *x.shape[-3:]) for x in operands]
    while operands[0].dim() < 4:
        operands = [x[None] for x in operands]
    return (*operands, batch)
