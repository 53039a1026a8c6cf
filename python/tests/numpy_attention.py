"""The definition of attention in NumPy and double precision, that tests compare with: whole matrices, no algorithm."""

import numpy as np


def sparsemax(x):
    """Martins and Astudillo 2016, algorithm 1, of a vector."""
    order = np.sort(x)[::-1]
    sums = np.cumsum(order)
    count = np.nonzero(1 + np.arange(1, len(x) + 1) * order > sums)[0][-1] + 1
    return np.maximum(x - (sums[count - 1] - 1) / count, 0)


def entmax15(x):
    """Peters et al. 2019: the threshold by bisection."""
    x = x / 2
    low, high = x.max() - 1, x.max()
    for _ in range(200):
        tau = (low + high) / 2
        if (np.maximum(x - tau, 0) ** 2).sum() < 1:
            high = tau
        else:
            low = tau
    return np.maximum(x - low, 0) ** 2


def normalise(row, normaliser, sink=-np.inf):
    """The weights of a row of scores, of which some are -inf."""
    there = row > -np.inf
    weights = np.zeros_like(row)
    x = row[there]
    if len(x) == 0:
        return weights
    if normaliser == "softmax":
        most = max(x.max(), sink)
        e = np.exp(x - most)
        weights[there] = e / (e.sum() + np.exp(sink - most))
    elif normaliser == "sigmoid":
        weights[there] = 1 / (1 + np.exp(-x))
    elif normaliser == "sum":
        weights[there] = x / x.sum() if x.sum() != 0 else 0
    else:
        weights[there] = {"sparsemax": sparsemax, "entmax15": entmax15}[normaliser](x)
    return weights


def scores_of(q, k, score="scaled_dot", scale=None, vector=None):
    """[B, H, Lq, Lk] of q [B, H, Lq, D] and k [B, H, Lk, D]."""
    width = q.shape[-1]
    products = np.einsum("bhid,bhjd->bhij", q, k)
    if score == "scaled_dot":
        return products * (width**-0.5 if scale is None else scale)
    if score == "dot":
        return products * (1 if scale is None else scale)
    if score == "cosine":
        norms = np.linalg.norm(q, axis=-1)[..., :, None] * np.linalg.norm(k, axis=-1)[..., None, :]
        return products / norms * (1 if scale is None else scale)
    if score == "squared_distance":
        distance = ((q[..., :, None, :] - k[..., None, :, :]) ** 2).sum(-1)
        return -distance * (width**-0.5 if scale is None else scale)
    if score == "additive":
        return (np.tanh(q[..., :, None, :] + k[..., None, :, :]) * vector).sum(-1)
    phi = {"elu": lambda x: np.where(x > 0, x + 1, np.exp(np.minimum(x, 0))), "relu": lambda x: np.maximum(x, 0)}[score]
    return np.einsum("bhid,bhjd->bhij", phi(q), phi(k)) * (1 if scale is None else scale)


def attention(q, k, v, score="scaled_dot", scale=None, vector=None, soft_cap=None, bias=0, allowed=True, normaliser="softmax", sinks=None):
    """(out, weights) of float64 arrays; k and v may have fewer heads."""
    group = q.shape[1] // k.shape[1]
    q, k, v = q.astype(np.float64), np.repeat(k, group, 1).astype(np.float64), np.repeat(v, group, 1).astype(np.float64)
    x = scores_of(q, k, score, scale, vector)
    if soft_cap is not None:
        x = soft_cap * np.tanh(x / soft_cap)
    x = np.where(allowed, x + bias, -np.inf)
    weights = np.empty_like(x)
    for b, h, i in np.ndindex(*x.shape[:3]):
        weights[b, h, i] = normalise(x[b, h, i], normaliser, -np.inf if sinks is None else sinks[h])
    return np.einsum("bhij,bhjd->bhid", weights, v), weights
