"""heed's attention as torch differentiates it. Imports torch.

    from heed.torch import attention, scaled_dot_product_attention, MultiheadAttention
    out = attention(q, k, v, mask=heed.causal(), normaliser=heed.entmax15())        # out.sum().backward()

Tensors are on the processor, and are shared with heed, not copied.
"""

from heed.torch.differentiable import attention
from heed.torch.multihead_attention import MultiheadAttention
from heed.torch.scaled_dot_product import scaled_dot_product_attention

__all__ = ["MultiheadAttention", "attention", "scaled_dot_product_attention"]
