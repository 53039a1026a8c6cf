"""A decoder of Hugging Face's names as llama.cpp's converter writes it: a GGUF file of f32.

    write_gguf(path / "model.gguf", config, weights.tensors)
"""

import struct

import torch

from gguf_bytes import F32, F32_TENSOR, STRING, array_value, gguf_bytes, number_value, string, text_value

I32 = 5  # a kind of values
ARCHITECTURES = {"gemma3_text": "gemma3"}
# What a configuration's numbers are called.
KEYS = {"hidden_size": "embedding_length", "intermediate_size": "feed_forward_length", "num_hidden_layers": "block_count",
        "num_attention_heads": "attention.head_count", "num_key_value_heads": "attention.head_count_kv", "max_position_embeddings": "context_length",
        "head_dim": "attention.key_length", "sliding_window": "attention.sliding_window", "rms_norm_eps": "attention.layer_norm_rms_epsilon",
        "rope_theta": "rope.freq_base", "rope_local_base_freq": "rope.freq_base_swa", "attn_logit_softcapping": "attn_logit_softcapping",
        "final_logit_softcapping": "final_logit_softcapping"}
NAMES = {"self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v", "self_attn.qkv_proj": "attn_qkv",
         "self_attn.o_proj": "attn_output", "self_attn.q_norm": "attn_q_norm", "self_attn.k_norm": "attn_k_norm", "mlp.gate_proj": "ffn_gate",
         "mlp.up_proj": "ffn_up", "mlp.gate_up_proj": "ffn_up", "mlp.down_proj": "ffn_down", "input_layernorm": "attn_norm",
         "post_attention_layernorm": "ffn_norm"}
NAMES_OF_BOTH_NORMS = {"post_attention_layernorm": "post_attention_norm", "pre_feedforward_layernorm": "ffn_norm",
                       "post_feedforward_layernorm": "post_ffw_norm"}
OUTER = {"model.embed_tokens": "token_embd", "model.norm": "output_norm", "lm_head": "output"}


def name_in_gguf(name, kind):
    stem, _, last = name.rpartition(".")
    if stem in OUTER:
        return f"{OUTER[stem]}.{last}"
    _, _, layer, part = stem.split(".", 3)
    names = {**NAMES, **NAMES_OF_BOTH_NORMS} if kind in ("gemma2", "gemma3_text") else NAMES
    return f"blk.{layer}.{names[part]}.{last}"


def turned_pairwise(rows, heads):
    """A head's first and second half of rows by turns, as llama.cpp has those of Llama's queries and keys."""
    return rows.unflatten(0, (heads, 2, -1)).transpose(1, 2).flatten(0, 2)


def tensors_in_gguf(config, tensors):
    kind, made = config["model_type"], {}
    for name, tensor in tensors.items():
        values = tensor.to(torch.float32)
        if kind.startswith("gemma") and "norm" in name:
            values = values + 1
        if kind == "llama" and (".q_proj." in name or ".k_proj." in name):
            values = turned_pairwise(values, config["num_attention_heads" if ".q_proj." in name else "num_key_value_heads"])
        made[name_in_gguf(name, kind)] = values
    scaling = config.get("rope_scaling") or {}
    for length in ("short", "long"):
        if f"{length}_factor" in scaling:
            made[f"rope_factors_{length}.weight"] = torch.tensor(scaling[f"{length}_factor"], dtype=torch.float32)
    return made


def metadata_of(config):
    kind = config["model_type"]
    architecture = ARCHITECTURES.get(kind, kind)
    own = {key: number_value(config[theirs]) for theirs, key in KEYS.items() if config.get(theirs) is not None}
    head = config.get("head_dim", config["hidden_size"] // config["num_attention_heads"])
    own["rope.dimension_count"] = number_value(int(head * config.get("partial_rotary_factor", 1)))
    scaling = config.get("rope_scaling") or {}
    if scaling.get("rope_type", scaling.get("type")) == "linear":
        own["rope.scaling.type"], own["rope.scaling.factor"] = text_value("linear"), number_value(float(scaling["factor"]))
    if "original_max_position_embeddings" in scaling:
        own["rope.scaling.original_context_length"] = number_value(scaling["original_max_position_embeddings"])
    pieces = ["<unk>", "<s>", "</s>"] + [f"t{i}" for i in range(3, config["vocab_size"])]
    types = [2, 3, 3] + [1] * (len(pieces) - 3)  # unknown, control and others
    return {
        "general.architecture": text_value(architecture),
        **{f"{architecture}.{key}": value for key, value in own.items()},
        "tokenizer.ggml.model": text_value("llama"),
        "tokenizer.ggml.tokens": array_value(STRING, [string(piece) for piece in pieces]),
        "tokenizer.ggml.scores": array_value(F32, [struct.pack("<f", -i) for i in range(len(pieces))]),
        "tokenizer.ggml.token_type": array_value(I32, [struct.pack("<i", each) for each in types]),
        "tokenizer.ggml.bos_token_id": number_value(config["bos_token_id"]),
        "tokenizer.ggml.eos_token_id": number_value(config["eos_token_id"]),
    }


def write_gguf(path, config, tensors):
    written = [(name, tuple(tensor.shape), F32_TENSOR, tensor.contiguous().numpy().tobytes())
               for name, tensor in tensors_in_gguf(config, tensors).items()]
    path.write_bytes(gguf_bytes(metadata_of(config), written))
