"""Llama 2 and 3 (Touvron et al. 2023; Dubey et al. 2024), Mistral, Phi 3, Qwen 2 and 3, Gemma 1 to 3, and GPT-NeoX (Black et al. 2022), in float64,
from the papers' equations; parameters are named as Hugging Face names them."""

import math

import torch

from case_folder import CaseFolder, Weights, beam, greedy, random_ids
from gguf_file import write_gguf

VOCABULARY = 67


def gelu_tanh(x):
    return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def frequencies(width, base, scaling):
    """Of each pair of features, and what cosines and sines are multiplied by."""
    plain = base ** -(torch.arange(0, width, 2) / width)
    kind = (scaling or {}).get("rope_type") or (scaling or {}).get("type", "default")
    if kind == "default":
        return plain, 1.0
    if kind == "longrope":  # Ding et al. 2024; of texts of the original length
        times, length = scaling["factor"], scaling["original_max_position_embeddings"]
        return plain / torch.tensor(scaling["short_factor"], dtype=plain.dtype), math.sqrt(1 + math.log(times) / math.log(length))
    factor = scaling["factor"]
    if kind == "linear":
        return plain / factor, 1.0
    length = scaling["original_max_position_embeddings"]
    if kind == "llama3":  # Llama 3.1: by the length of the wave, with a smooth passage between the two
        low, high = scaling["low_freq_factor"], scaling["high_freq_factor"]
        smooth = ((length * plain / (2 * math.pi) - low) / (high - low)).clamp(0, 1)
        return (1 - smooth) * plain / factor + smooth * plain, 1.0
    assert kind == "yarn"  # Peng et al. 2023, with a ramp over the pairs, as in the authors' code

    def pair_of(turns):
        return width * math.log(length / (turns * 2 * math.pi)) / (2 * math.log(base))

    low = max(math.floor(pair_of(scaling.get("beta_fast", 32))), 0)
    high = min(math.ceil(pair_of(scaling.get("beta_slow", 1))), width - 1)
    ramp = ((torch.arange(width // 2) - low) / max(high - low, 0.001)).clamp(0, 1)
    return plain / factor * ramp + plain * (1 - ramp), scaling.get("attention_factor", 0.1 * math.log(factor) + 1)


def turned(x, width, base, scaling):
    """x [heads, tokens, head width]; the first `width` features turn."""
    rates, factor = frequencies(width, base, scaling)
    angles = torch.arange(x.shape[1])[:, None] * rates
    cos, sin = angles.cos() * factor, angles.sin() * factor
    a, b = x[..., :width // 2], x[..., width // 2:width]
    return torch.cat([a * cos - b * sin, b * cos + a * sin, x[..., width:]], -1)


def attention(q, k, v, scale, window=None, cap=None, bias=0.0):
    """q [heads, tokens, width], k and v of as many heads or fewer; `window` keys are seen, the query's own among them. `bias` is added to
    what is scaled."""
    k, v = (t.repeat_interleave(len(q) // len(t), 0) for t in (k, v))
    scores = q @ k.transpose(1, 2) * scale + bias
    if cap:
        scores = cap * torch.tanh(scores / cap)
    rows, columns = torch.arange(scores.shape[1])[:, None], torch.arange(scores.shape[2])
    hidden = columns > rows
    if window:
        hidden = hidden | (rows - columns >= window)
    return (scores.masked_fill(hidden, -math.inf).softmax(-1) @ v).transpose(0, 1).flatten(1)


# --- Llama and its like ----------------------------------------------------------------------------------------------------------------------

LLAMA = {"vocab_size": VOCABULARY, "hidden_size": 32, "num_attention_heads": 4, "num_key_value_heads": 2, "num_hidden_layers": 3,
         "intermediate_size": 44, "hidden_act": "silu", "rms_norm_eps": 1e-5, "rope_theta": 10000.0, "max_position_embeddings": 96,
         "tie_word_embeddings": False, "bos_token_id": 1, "eos_token_id": 2}


def llama_features(w, config, ids):
    """What the output projection reads."""
    return llama_states(w, config, ids)[-1]


def llama_states(w, config, ids):
    """What each layer reads, and what the output projection reads."""
    kind = config["model_type"]
    gemma, both_norms = kind in ("gemma", "gemma2", "gemma3_text"), kind in ("gemma2", "gemma3_text")
    heads, kv_heads = config["num_attention_heads"], config["num_key_value_heads"]
    width, head = config["hidden_size"], config.get("head_dim", config["hidden_size"] // heads)
    scaling, base = config.get("rope_scaling"), config["rope_theta"]
    scale = config["query_pre_attn_scalar"] ** -0.5 if both_norms else head**-0.5
    activation = gelu_tanh if gemma else torch.nn.functional.silu

    def norm(x, name):
        return w.rms_norm(x, name, config["rms_norm_eps"], one_plus=gemma)

    def attend(x, at, layer):
        biased = kind == "qwen2" or config.get("attention_bias", False)
        if kind == "phi3":  # all in one
            parts = w.linear(x, f"{at}.qkv_proj", (heads + 2 * kv_heads) * head, False).split([c * head for c in (heads, kv_heads, kv_heads)], -1)
        else:
            parts = (w.linear(x, f"{at}.{part}_proj", count * head, biased) for part, count in (("q", heads), ("k", kv_heads), ("v", kv_heads)))
        q, k, v = (part.view(len(ids), -1, head).transpose(0, 1) for part in parts)
        if kind in ("qwen3", "gemma3_text"):
            q, k = norm(q, f"{at}.q_norm"), norm(k, f"{at}.k_norm")
        is_local = kind == "gemma3_text" and (layer + 1) % config["sliding_window_pattern"] != 0
        turning = int(head * config.get("partial_rotary_factor", 1))
        q, k = (turned(t, turning, *((config["rope_local_base_freq"], None) if is_local else (base, scaling))) for t in (q, k))
        has_window = kind in ("mistral", "phi3") or (kind == "gemma2" and layer % 2 == 0) or is_local
        if kind == "qwen2" and config.get("use_sliding_window"):
            has_window = layer >= config["max_window_layers"]
        window = config.get("sliding_window") if has_window else None
        x = attention(q, k, v, scale, window, config.get("attn_logit_softcapping"))
        return w.linear(x, f"{at}.o_proj", width, config.get("attention_bias", False))

    def network(x, at):
        biased = config.get("mlp_bias", False)
        if kind == "phi3":
            gate, up = w.linear(x, f"{at}.gate_up_proj", 2 * config["intermediate_size"], False).chunk(2, -1)
        else:
            gate, up = (w.linear(x, f"{at}.{part}_proj", config["intermediate_size"], biased) for part in ("gate", "up"))
        return w.linear(activation(gate) * up, f"{at}.down_proj", width, biased)

    table = w("model.embed_tokens.weight", VOCABULARY, width)
    x = table[ids] * (width**0.5 if gemma else 1)
    states = []
    for i in range(config["num_hidden_layers"]):
        states.append(x)
        at = f"model.layers.{i}"
        h = attend(norm(x, f"{at}.input_layernorm"), f"{at}.self_attn", i)
        if both_norms:
            x = x + norm(h, f"{at}.post_attention_layernorm")
            x = x + norm(network(norm(x, f"{at}.pre_feedforward_layernorm"), f"{at}.mlp"), f"{at}.post_feedforward_layernorm")
        else:
            x = x + h
            x = x + network(norm(x, f"{at}.post_attention_layernorm"), f"{at}.mlp")
    return [*states, norm(x, "model.norm")]


def llama(w, config, ids):
    x = llama_features(w, config, ids)
    table = w("model.embed_tokens.weight", VOCABULARY, x.shape[-1])
    logits = x @ (table if config["tie_word_embeddings"] else w("lm_head.weight", VOCABULARY, x.shape[-1])).T
    cap = config.get("final_logit_softcapping")
    return cap * torch.tanh(logits / cap) if cap else logits


def gpt_neox(w, config, ids):
    heads, width = config["num_attention_heads"], config["hidden_size"]
    head = width // heads

    def norm(x, name):
        return w.layer_norm(x, name, config["layer_norm_eps"])

    def attend(x, at):
        q, k, v = w.linear(x, f"{at}.query_key_value", 3 * width).view(len(ids), heads, 3, head).permute(2, 1, 0, 3)
        q, k = (turned(t, int(head * config["rotary_pct"]), config["rotary_emb_base"], None) for t in (q, k))
        return w.linear(attention(q, k, v, head**-0.5), f"{at}.dense", width)

    def network(x, at):
        h = torch.nn.functional.gelu(w.linear(x, f"{at}.dense_h_to_4h", config["intermediate_size"]))
        return w.linear(h, f"{at}.dense_4h_to_h", width)

    x = w("gpt_neox.embed_in.weight", VOCABULARY, width)[ids]
    for i in range(config["num_hidden_layers"]):
        at = f"gpt_neox.layers.{i}"
        attended = attend(norm(x, f"{at}.input_layernorm"), f"{at}.attention")
        read = x if config["use_parallel_residual"] else x + attended
        x = x + attended + network(norm(read, f"{at}.post_attention_layernorm"), f"{at}.mlp")
    return norm(x, "gpt_neox.final_layer_norm") @ w("embed_out.weight", VOCABULARY, width).T


# --- Cases -----------------------------------------------------------------------------------------------------------------------------------


def write(path, config, seed, forward=llama, store="F32", gguf=False, **options):
    """With `gguf`, a file of the same model beside it, which the same cases hold."""
    w = Weights(seed, store)
    folder = CaseFolder(path, config, w, **options)
    text = random_ids(seed, 40, VOCABULARY)
    for count in (40, 1):
        folder.add(f"logits of {count}", {"input_ids": text[:count]}, {"logits": forward(w, config, text[:count])})
    prompt = text[:9]
    made = greedy(lambda ids: forward(w, config, ids)[-1], prompt, most=12, end=config["eos_token_id"])
    folder.add("greedy", {"input_ids": prompt, "generate": {"method": "greedy", "max_new": len(made)}}, new_ids=made, ids=prompt + made)
    folder.write()
    if gguf:
        write_gguf(path / "model.gguf", config, w.tensors)


def write_searches(path, config, seed):
    """Beam searches of all kinds, with several tokens that end a text and come often."""
    w = Weights(seed)
    folder = CaseFolder(path, config, w)
    ends = config["eos_token_id"]

    def next_logits(ids):
        return llama(w, config, ids)[-1].clone()

    for number, (beams, how) in enumerate([(1, {}), (2, {}), (3, {"early_stopping": True}), (3, {"length_penalty": 2.0}), (4, {"length_penalty": 0.0}),
                                           (4, {"length_penalty": -1.0}), (2, {"repetition_penalty": 1.5}),
                                           (3, {"repetition_penalty": 0.7, "length_penalty": 0.5}),
                                           (3, {"repetition_penalty": 0.5, "no_repeat_ngram_size": 2}), (2, {"no_repeat_ngram_size": 1, "min_new": 5})]):
        for length in (1, 4):
            prompt = random_ids(seed + number, length, VOCABULARY)
            made = beam(next_logits, prompt, 7, beams, ends, **how)
            folder.add(f"beam {beams} {how} after {length}", {"input_ids": prompt, "generate": {"method": "beam", "num_beams": beams, "max_new": 7, **how}},
                       ids=prompt + made, new_ids=made, ends_with_eos=made[-1] in ends)
    folder.write()


def write_outputs(path, config, seed, outputs, before=(0,), **options):
    """outputs(w, config, ids) gives arrays by name; `before` are the numbers of tokens of padding before a text."""
    w = Weights(seed)
    folder = CaseFolder(path, config, w, **options)
    ids = random_ids(seed, 11, VOCABULARY)
    for count in before:
        inputs = {"input_ids": [0] * count + ids}
        if count:
            inputs.update(attention_mask=[0] * count + [1] * len(ids), positions=list(range(count, count + len(ids))))
        folder.add(f"behind {count}", inputs, outputs(w, config, ids))
    folder.write()


def config_of(model_type, architecture, **others):
    return {**LLAMA, "model_type": model_type, "architectures": [architecture], **others}


def make(path):
    def llama_config(**others):
        return config_of("llama", "LlamaForCausalLM", **others)

    write(path / "llama-plain", llama_config(), 41, gguf=True)
    write(path / "llama-biases", llama_config(attention_bias=True, mlp_bias=True), 42)
    write(path / "llama-tied-without-prefix", llama_config(tie_word_embeddings=True), 43, rename=lambda name: name.removeprefix("model."))
    write(path / "llama-wide-heads", llama_config(head_dim=12), 44, gguf=True)
    write(path / "llama-linear", llama_config(rope_scaling={"type": "linear", "factor": 3.0}), 45, gguf=True)
    llama3 = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 24}
    write(path / "llama-llama3", llama_config(rope_scaling=llama3, rope_theta=500.0), 46)
    yarn = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 64, "beta_fast": 4.0, "beta_slow": 1.0}
    write(path / "llama-yarn", llama_config(rope_scaling=yarn, hidden_size=64, rope_theta=100.0), 47)
    write(path / "llama-sharded", llama_config(), 48, shards=3)
    write(path / "llama-table-under-the-outputs-name", llama_config(tie_word_embeddings=True), 59,
          rename=lambda name: name.replace("model.embed_tokens", "lm_head"))
    write_outputs(path / "llama-without-output", config_of("llama", "LlamaModel"), 60,
                  lambda *a: {"last_hidden_state": llama_features(*a), "hidden_states": torch.stack(llama_states(*a))},
                  before=(0, 3), rename=lambda name: name.removeprefix("model."))
    write_outputs(path / "llama-sequence", config_of("llama", "LlamaForSequenceClassification", num_labels=3), 61,
                  lambda w, *a: {"logits": w.linear(llama_features(w, *a)[-1:], "score", 3, bias=False)})
    write_outputs(path / "llama-tokens", config_of("llama", "LlamaForTokenClassification", num_labels=3), 62,
                  lambda w, *a: {"logits": w.linear(llama_features(w, *a), "score", 3)})
    write_outputs(path / "llama-spans", config_of("llama", "LlamaForQuestionAnswering"), 65, lambda w, *a: {
        "start_logits": w.linear(llama_features(w, *a), "qa_outputs", 2)[None, :, 0]}, rename=lambda name: name.replace("model.", "transformer."))
    write(path / "llama-f16", llama_config(), 49, store="F16")
    write(path / "llama-bf16-sharded", llama_config(), 50, store="BF16", shards=2)
    for few, seed in ((3, 91), (12, 92), (25, 93)):
        write_searches(path / f"llama-searches-{few}-ends", llama_config(eos_token_id=list(range(5, 5 + few))), seed)
    write(path / "mistral-window", config_of("mistral", "MistralForCausalLM", sliding_window=5), 51)
    write(path / "mistral-without-window", config_of("mistral", "MistralForCausalLM", sliding_window=None), 52)
    write(path / "phi3", config_of("phi3", "Phi3ForCausalLM", sliding_window=6), 66, gguf=True)
    longrope = {"type": "longrope", "short_factor": [1.0, 1.25, 3.5], "long_factor": [2.0, 8.0, 40.0], "factor": 2.0,
                "original_max_position_embeddings": 48}
    write(path / "phi3-longrope", config_of("phi3", "Phi3ForCausalLM", sliding_window=None, rope_scaling=longrope, partial_rotary_factor=0.75), 67, gguf=True)
    write(path / "qwen2", config_of("qwen2", "Qwen2ForCausalLM", use_sliding_window=False, sliding_window=8, tie_word_embeddings=True), 53, gguf=True)
    write(path / "qwen2-later-windows", config_of("qwen2", "Qwen2ForCausalLM", use_sliding_window=True, sliding_window=4, max_window_layers=1), 63)
    write(path / "qwen3", config_of("qwen3", "Qwen3ForCausalLM", head_dim=12, attention_bias=False), 54, gguf=True)
    write(path / "gemma", config_of("gemma", "GemmaForCausalLM", head_dim=12, hidden_act="gelu", hidden_activation="gelu_pytorch_tanh",
                                    num_key_value_heads=1, tie_word_embeddings=True), 55, gguf=True)
    write(path / "gemma2", config_of("gemma2", "Gemma2ForCausalLM", head_dim=12, hidden_activation="gelu_pytorch_tanh", hidden_act="gelu_pytorch_tanh",
                                     query_pre_attn_scalar=10, sliding_window=6, attn_logit_softcapping=2.0, final_logit_softcapping=3.0,
                                     num_hidden_layers=4, tie_word_embeddings=True), 56)
    gemma3 = config_of("gemma3_text", "Gemma3ForCausalLM", head_dim=12, hidden_activation="gelu_pytorch_tanh", query_pre_attn_scalar=10,
                       sliding_window=6, sliding_window_pattern=3, rope_theta=500.0, rope_local_base_freq=50.0, num_hidden_layers=4,
                       rope_scaling={"rope_type": "linear", "factor": 2.0}, tie_word_embeddings=True)
    write(path / "gemma3", gemma3, 64)
    # Of what their classes have, a file says less.
    write(path / "gemma2-file", config_of("gemma2", "Gemma2ForCausalLM", head_dim=12, hidden_activation="gelu_pytorch_tanh", query_pre_attn_scalar=12,
                                          sliding_window=6, attn_logit_softcapping=2.0, final_logit_softcapping=3.0, tie_word_embeddings=True), 68,
          gguf=True)
    write(path / "gemma3-file", {**gemma3, "query_pre_attn_scalar": 12, "sliding_window_pattern": 6, "num_hidden_layers": 7}, 69, gguf=True)
    neox = {"model_type": "gpt_neox", "architectures": ["GPTNeoXForCausalLM"], "vocab_size": VOCABULARY, "hidden_size": 32,
            "num_attention_heads": 4, "num_hidden_layers": 3, "intermediate_size": 80, "hidden_act": "gelu", "layer_norm_eps": 1e-5,
            "rotary_pct": 0.5, "rotary_emb_base": 10000, "max_position_embeddings": 64, "use_parallel_residual": True,
            "tie_word_embeddings": False, "bos_token_id": 0, "eos_token_id": 0}
    write(path / "gpt-neox-parallel", neox, 57, gpt_neox)
    write(path / "gpt-neox-in-sequence", {**neox, "use_parallel_residual": False}, 58, gpt_neox)
