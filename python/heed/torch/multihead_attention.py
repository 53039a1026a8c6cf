"""torch.nn.MultiheadAttention, with heed's attention in it."""

from typing import Optional, Tuple, Union

import torch
from torch.nn import functional

import heed
from heed.torch.differentiable import attention


class MultiheadAttention(torch.nn.MultiheadAttention):
    """torch.nn.MultiheadAttention with its arguments, parameters and state_dict, whose attention heed computes.

        layer = heed.torch.MultiheadAttention(512, 8, batch_first=True)
        layer.load_state_dict(trained.state_dict())                   # of a torch.nn.MultiheadAttention
        out, weights = layer(x, x, x, key_padding_mask=padding)

    Further options, by name, are heed.torch.attention's: score, mask, normaliser, scale, soft_cap, and bias, a heed.Bias or a tensor (True or
    False is torch's argument, whether projections have one). A mask of these and those of forward() intersect; a bias adds to theirs.

    Other than torch's: returned weights are before dropout, and have no gradient; a row that may attend to no key gives zero, not NaN.
    """

    def __init__(self, embed_dim: int, num_heads: int, dropout: float = 0.0, bias: Union[bool, heed.Bias, torch.Tensor] = True,
                 add_bias_kv: bool = False, add_zero_attn: bool = False, kdim: Optional[int] = None, vdim: Optional[int] = None,
                 batch_first: bool = False, device=None, dtype=None, **options) -> None:
        unknown = options.keys() - {"score", "mask", "normaliser", "scale", "soft_cap"}
        if unknown:
            raise TypeError(f"heed.torch.MultiheadAttention has no option {', '.join(sorted(unknown))}")
        if isinstance(bias, (heed.Bias, torch.Tensor)):
            options["bias"], bias = bias, True
        super().__init__(embed_dim, num_heads, dropout, bias, add_bias_kv, add_zero_attn, kdim, vdim, batch_first, device, dtype)
        self.options = options

    def _reset_parameters(self) -> None:  # the last that torch's __init__ calls
        self._qkv_same_embed_dim = self.in_proj_weight is not None
        super()._reset_parameters()
        # A torch.nn.TransformerEncoderLayer asks this before it takes a way of its own around its attention's forward.
        self._qkv_same_embed_dim = False

    def forward(self, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, key_padding_mask: Optional[torch.Tensor] = None,
                need_weights: bool = True, attn_mask: Optional[torch.Tensor] = None, average_attn_weights: bool = True,
                is_causal: bool = False) -> Tuple[torch.Tensor, Optional[torch.Tensor]]:
        """torch's forward: query [L, N, E], key [S, N, kdim], value [S, N, vdim], batch first where the layer is, or without a batch.

        key_padding_mask: [N, S], True for padding, or numbers to add. attn_mask: [L, S] or [N * heads, L, S], True for keys that must not be
        attended to, or numbers to add. is_causal says that attn_mask is the causal one, and needs it, as in torch.

        Returns (out as query, weights): [N, L, S], the mean of the heads, or [N, heads, L, S]; None without need_weights.
        """
        if is_causal and attn_mask is None:
            raise heed.Error("heed.torch.MultiheadAttention: is_causal needs attn_mask, of which it is a hint")
        self.check_shapes(query, key, value, key_padding_mask, attn_mask)
        batched = query.dim() == 3
        if not batched:
            query, key, value = query[None], key[None], value[None]
            key_padding_mask = None if key_padding_mask is None else key_padding_mask[None]
        elif not self.batch_first:
            query, key, value = (x.transpose(0, 1) for x in (query, key, value))
        q, k, v = self.heads_of(query, key, value)
        mask, bias = self.masks_of(q, k, key_padding_mask, attn_mask)
        options = {name: value for name, value in self.options.items() if name not in ("mask", "bias")}
        dropout = self.dropout if self.training else 0.0
        out, lse = attention(q, k, v, mask=mask, bias=bias, dropout=dropout, return_lse=True, **options)
        out = self.out_proj(out.transpose(1, 2).reshape(*query.shape[:2], self.embed_dim))
        weights = None
        if need_weights:
            with torch.no_grad():
                weights = heed.attention_weights(q.detach(), k.detach(), lse.detach(), mask=mask, bias=bias, **options)
            weights = weights.mean(1) if average_attn_weights else weights
        if not batched:
            return out[0], None if weights is None else weights[0]
        return out if self.batch_first else out.transpose(0, 1), weights

    def check_shapes(self, query, key, value, key_padding_mask, attn_mask):
        """Raises heed.Error that names what has another shape than torch's forward takes."""
        axes = query.dim()
        batch = () if axes == 2 else (query.shape[0 if self.batch_first else 1],)
        length_axis = 1 if axes == 3 and self.batch_first else 0

        def check(name, tensor, *shapes):
            if tensor is not None and tuple(tensor.shape) not in shapes:
                expected = " or ".join(str(list(shape)) for shape in shapes)
                raise heed.Error(f"heed.torch.MultiheadAttention: {name} must be {expected}, but is {list(tensor.shape)}")

        def sequence(length, width):
            return (*batch, length, width) if self.batch_first else (length, *batch, width)

        if axes not in (2, 3):
            raise heed.Error(f"heed.torch.MultiheadAttention: query must have two axes, or three with a batch, but is {list(query.shape)}")
        queries = query.shape[length_axis]
        keys = key.shape[length_axis] if key.dim() == axes else queries
        check("query", query, sequence(queries, self.embed_dim))
        check("key", key, sequence(keys, self.kdim))
        check("value", value, sequence(keys, self.vdim))
        check("key_padding_mask", key_padding_mask, (*batch, keys))
        check("attn_mask", attn_mask, (queries, keys), (self.num_heads * (batch[0] if batch else 1), queries, keys))

    def heads_of(self, query, key, value):
        """The projected operands [N, heads, L, width], with the keys and values that the layer adds."""
        if self.in_proj_weight is not None:
            projections = self.in_proj_weight.chunk(3)
        else:
            projections = (self.q_proj_weight, self.k_proj_weight, self.v_proj_weight)
        biases = (None,) * 3 if self.in_proj_bias is None else self.in_proj_bias.chunk(3)
        q, k, v = (functional.linear(x, weight, bias) for x, weight, bias in zip((query, key, value), projections, biases))
        if self.bias_k is not None:
            k, v = (torch.cat([x, added.expand(len(x), -1, -1)], 1) for x, added in ((k, self.bias_k), (v, self.bias_v)))
        if self.add_zero_attn:
            k, v = (torch.cat([x, x.new_zeros(len(x), 1, self.embed_dim)], 1) for x in (k, v))
        return tuple(x.unflatten(2, (self.num_heads, self.head_dim)).transpose(1, 2) for x in (q, k, v))

    def masks_of(self, q, k, key_padding_mask, attn_mask):
        """What forward() and the layer were given, as one mask and one bias; keys that the layer adds are open."""
        mask, bias = self.options.get("mask"), self.options.get("bias")
        if isinstance(mask, torch.Tensor):
            mask = heed.boolean(mask)
        added = None
        for given, axes in ((key_padding_mask, lambda x: x[:, None, None]), (attn_mask, lambda x: self.spread(x, q))):
            if given is None:
                continue
            given = axes(functional.pad(given, (0, k.shape[2] - given.shape[-1])))
            if given.dtype == torch.bool:
                allowed = heed.boolean(~given)
                mask = allowed if mask is None else mask & allowed
            else:
                added = given if added is None else added + given
        if added is not None:
            added = added.to(torch.float64 if q.dtype == torch.float64 else added.dtype)
            bias = heed.dense(added) if bias is None else heed.dense(bias + added) if isinstance(bias, torch.Tensor) else bias + heed.dense(added)
        elif isinstance(bias, torch.Tensor):
            bias = heed.dense(bias)
        return mask, bias

    @staticmethod
    def spread(mask, q):
        """[L, S] as it is, [N * heads, L, S] as [N, heads, L, S]."""
        return mask if mask.dim() == 2 else mask.unflatten(0, q.shape[:2])
