"""Attention by its definition, in torch's operators, which torch differentiates as often as is wanted: where second derivatives come from
that heed has not itself. Whole matrices, in the operands' type (float32 at least)."""

import torch

import heed
from heed import _heed


def as_tensor(array, like):
    """An array of any library as a tensor of a type that is reckoned with."""
    tensor = array if isinstance(array, torch.Tensor) else torch.as_tensor(array)
    return tensor.to(like.dtype)


def scores_of(q, k, score, scale, arrays):
    """The raw scores [B, H, Lq, Lk] of q [B, H, Lq, D] and k [B, H, Lk, D]."""
    kind = "scaled_dot" if score is None else score.kind
    width = q.shape[-1]
    if scale is None:
        scale = width**-0.5 if kind in ("scaled_dot", "squared_distance") else 1.0
        inner = width**-0.5
    else:
        inner = scale
    if kind in ("scaled_dot", "dot"):
        return scale * (q @ k.transpose(-1, -2))
    if kind == "cosine":
        q, k = (x / x.norm(dim=-1, keepdim=True).clamp(min=1e-8) for x in (q, k))
        return scale * (q @ k.transpose(-1, -2))
    if kind == "squared_distance":
        return -scale * (q[..., :, None, :] - k[..., None, :, :]).square().sum(-1)
    if kind == "additive":
        return scale * (torch.tanh(q[..., :, None, :] + k[..., None, :, :]) @ as_tensor(arrays["additive_vector"], q))
    if kind == "performer":
        w = as_tensor(arrays["projection"], q)
        q, k = (inner**0.5 * x for x in (q, k))
        q, k = (torch.exp(x @ w.T - x.square().sum(-1, keepdim=True) / 2) * w.shape[0] ** -0.5 for x in (q, k))
        return q @ k.transpose(-1, -2)
    if kind == "elu":
        q, k = (torch.where(x > 0, x + 1, torch.exp(x.clamp(max=0))) for x in (q, k))
    else:
        q, k = (x.clamp(min=0) for x in (q, k))
    return scale * (q @ k.transpose(-1, -2))


def bias_of(bias, mask, extents, arrays, like):
    """The sum of a bias' parts, [B|1, H|1, Lq|1, Lk]; 0 for none."""
    if bias is None:
        return 0
    total = 0
    heads, keys = extents[1], extents[3]
    if "bias" in arrays:
        total = total + as_tensor(arrays["bias"], like)
    if bias.has_alibi:
        slopes = {} if "alibi" not in arrays else {"slopes": as_tensor(arrays["alibi"], like).double()}
        total = total + as_tensor(_heed.bias_array(heed.alibi(**slopes), mask, extents), like)
    if "relative" in arrays:
        table = as_tensor(arrays["relative"], like)
        numbers = torch.arange(table.shape[0], dtype=torch.float64)[:, None].expand(-1, heads).contiguous()
        numbered = heed.relative(numbers, bias.bidirectional, bias.max_distance)
        bucket = torch.as_tensor(_heed.bias_array(numbered, mask, extents)).round().long()  # which one each distance has
        total = total + table[bucket, torch.arange(heads)[None, :, None, None]]
    if "centre" in arrays:
        distance = torch.arange(keys, dtype=like.dtype) - as_tensor(arrays["centre"], like)[..., None]
        total = total - distance.square() / (2 * bias.sigma**2)
    return total


def normalise(x, allowed, kind, sinks, support):
    """(weights, the row's statistic) of scores of which only the allowed count. Rows without any are zero, and their statistic -inf."""
    alive = allowed.any(-1)
    dead = torch.full_like(x[..., 0], -torch.inf)
    if kind == "sigmoid":
        return torch.where(allowed, torch.sigmoid(x), 0), torch.where(alive, torch.zeros_like(dead), dead)
    if kind == "sum":
        total = torch.where(allowed, x, 0).sum(-1)
        divisor = torch.where(total == 0, torch.ones_like(total), total)[..., None]
        return torch.where(allowed & (total != 0)[..., None], x / divisor, 0), torch.where(alive, total, dead)
    if kind == "softmax":
        most = torch.where(allowed, x, -torch.inf).amax(-1, keepdim=True).detach()
        if sinks is not None:
            most = torch.maximum(most, sinks.detach()[None, :, None, None])
        most = torch.where(most == -torch.inf, torch.zeros_like(most), most)
        powers = torch.where(allowed, torch.exp(torch.where(allowed, x - most, 0)), 0)
        total = powers.sum(-1, keepdim=True)
        if sinks is not None:
            total = total + torch.exp(sinks[None, :, None, None] - most)
        total = torch.where(alive[..., None], total, torch.ones_like(total))
        return powers / total, torch.where(alive, most[..., 0] + torch.log(total[..., 0]), dead)
    # The threshold of the keys that have weight.
    if kind == "entmax15":
        x = x / 2
    x = torch.where(support, x, 0)
    count = support.sum(-1).clamp(min=1).to(x.dtype)
    mean = x.sum(-1) / count
    if kind == "sparsemax":
        tau = mean - 1 / count
    else:
        spread = torch.where(support, (x - mean[..., None]).square(), 0).sum(-1)
        tau = mean - torch.sqrt(torch.where(alive, (1 - spread) / count, torch.ones_like(spread)))
    above = torch.where(support, x - tau[..., None], 0)
    return above if kind == "sparsemax" else above.square(), torch.where(alive, tau, dead)


def attention(call, lse, q, k, v, learned):
    """(out, lse) of the operands, by call.options() and the learned tensors by name."""
    group = q.shape[1] // k.shape[1]
    extents = [q.shape[0], q.shape[1], q.shape[2], k.shape[2]]
    arrays = {}
    for part in (call.score, call.bias, call.normaliser):
        arrays.update(getattr(part, "arrays", {}))
    arrays.update(learned)
    kind = "softmax" if call.normaliser is None else call.normaliser.kind
    support = None
    if kind in ("sparsemax", "entmax15"):
        options = {name: value for name, value in call.options().items() if name not in ("dropout", "sequences")}
        support = heed.attention_weights(q.detach(), k.detach(), lse.detach(), **options) > 0
    number = torch.float64 if q.dtype == torch.float64 else torch.float32
    q, k, v = (x.to(number) for x in (q, k.repeat_interleave(group, 1), v.repeat_interleave(group, 1)))
    x = scores_of(q, k, call.score, call.scale, arrays)
    if call.soft_cap is not None:
        x = call.soft_cap * torch.tanh(x / call.soft_cap)
    bias = bias_of(call.bias, call.mask, extents, arrays, x)
    allowed = torch.ones(x.shape, dtype=torch.bool)
    if isinstance(call.mask, heed.Mask):
        allowed = torch.as_tensor(call.mask.array(*extents))
    elif call.mask is not None:
        allowed = allowed & torch.as_tensor(call.mask)
    allowed = allowed & (x.detach() + torch.as_tensor(bias).detach() > -torch.inf)
    x = torch.where(allowed, x, 0) + torch.where(allowed, torch.as_tensor(bias, dtype=number), 0)
    sinks = as_tensor(arrays["sinks"], x) if "sinks" in arrays else None
    weights, statistic = normalise(x, allowed, kind, sinks, support)
    if call.dropout is not None:
        weights = weights * torch.as_tensor(_heed.dropout_array(call.dropout, *extents)).to(number)
    return weights @ v, statistic


def second_derivatives(call, lse, dout, dlse, given, seconds):
    """The gradient by dout, dlse and each of `given` (q, k, v and the learned tensors) of the sum of seconds[name] times the first
    derivative by the tensor of that name; None where there is none."""
    if call.sequences is not None:
        raise heed.Error("heed.torch.attention: second derivatives need one sequence to a batch element")
    third = torch.is_grad_enabled()
    with torch.enable_grad():
        if not third:
            given, dout, dlse = [x.detach().requires_grad_() for x in given], dout.detach().requires_grad_(), (
                None if dlse is None else dlse.detach().requires_grad_())
        else:  # views, so that each has a gradient of its own
            given, dout, dlse = [x.view_as(x) for x in given], dout.view_as(dout), None if dlse is None else dlse.view_as(dlse)
            given, dout = [x if x.requires_grad else x.detach().requires_grad_() for x in given], (
                dout if dout.requires_grad else dout.detach().requires_grad_())
        names = ("q", "k", "v", *call.names)
        out, statistic = attention(call, lse, *given[:3], dict(zip(call.names, given[3:])))
        outputs, gradients = [out], [dout.to(out.dtype)]
        if dlse is not None and statistic.requires_grad:  # a sigmoid's is a constant
            alive = statistic > -torch.inf
            outputs.append(torch.where(alive, statistic, torch.zeros_like(statistic)))
            gradients.append(torch.where(alive, dlse, torch.zeros_like(dlse)))
        wanted = [x for name, x in zip(names, given) if seconds.get(name) is not None]
        firsts = torch.autograd.grad(outputs, wanted, gradients, create_graph=True)
        along = [seconds[name] for name in names if seconds.get(name) is not None]
        inputs = [dout, *([] if dlse is None else [dlse]), *given]
        found = list(torch.autograd.grad(firsts, inputs, along, create_graph=third, allow_unused=True))
    if dlse is None:
        found.insert(1, None)
    return found
