"""GPT-2 (Radford et al. 2019), BLOOM (Le Scao et al. 2022), GPT-Neo (Black et al. 2021), GPT-J (Wang and Komatsuzaki 2021), OPT (Zhang et al. 2022) and Phi (Gunasekar et al. 2023), in float64, from the
papers' equations; parameters are named as Hugging Face names them."""

import torch

from decoders import VOCABULARY, attention, gelu_tanh, turned, write

WIDTH, HEADS, NETWORK, LAYERS, POSITIONS = 32, 4, 44, 3, 64
HEAD = WIDTH // HEADS


def norm(w, x, name):
    return w.layer_norm(x, name, 1e-5)


def heads_of(w, x, names, bias):
    return (w.linear(x, name, WIDTH, bias).view(len(x), HEADS, HEAD).transpose(0, 1) for name in names)


def neighbours_turned(x, width):
    """GPT-J turns features 0 and 1, 2 and 3, ... together."""
    order = torch.cat([torch.arange(0, width, 2), torch.arange(1, width, 2)])
    y = x.clone()
    y[..., order] = turned(x[..., order], width, 10000.0, None)
    return y


def gpt2(w, config, ids):
    def turned_linear(x, name, outputs):  # as its Conv1D has them
        return x @ w(f"{name}.weight", x.shape[-1], outputs, deviation=x.shape[-1] ** -0.5) + w(f"{name}.bias", outputs, deviation=0.2)

    x = w("transformer.wte.weight", VOCABULARY, WIDTH)[ids] + w("transformer.wpe.weight", POSITIONS, WIDTH)[:len(ids)]
    for i in range(LAYERS):
        at = f"transformer.h.{i}"
        q, k, v = turned_linear(norm(w, x, f"{at}.ln_1"), f"{at}.attn.c_attn", 3 * WIDTH).view(len(ids), 3, HEADS, HEAD).permute(1, 2, 0, 3)
        scale = HEAD**-0.5 / (i + 1 if config["scale_attn_by_inverse_layer_idx"] else 1)
        x = x + turned_linear(attention(q, k, v, scale), f"{at}.attn.c_proj", WIDTH)
        h = gelu_tanh(turned_linear(norm(w, x, f"{at}.ln_2"), f"{at}.mlp.c_fc", NETWORK))
        x = x + turned_linear(h, f"{at}.mlp.c_proj", WIDTH)
    return norm(w, x, "transformer.ln_f") @ w("transformer.wte.weight", VOCABULARY, WIDTH).T


def bloom(w, config, ids):
    slopes = torch.tensor([2 ** (-8 * (head + 1) / HEADS) for head in range(HEADS)], dtype=torch.float64)
    bias = slopes[:, None, None] * torch.arange(len(ids))

    def residual(x, name, layer):
        h = norm(w, x, name)
        return layer(h) + (h if config["apply_residual_connection_post_layernorm"] else x)

    x = norm(w, w("transformer.word_embeddings.weight", VOCABULARY, WIDTH)[ids], "transformer.word_embeddings_layernorm")
    for i in range(LAYERS):
        at = f"transformer.h.{i}"

        def attend(h):
            q, k, v = w.linear(h, f"{at}.self_attention.query_key_value", 3 * WIDTH).view(len(ids), HEADS, 3, HEAD).permute(2, 1, 0, 3)
            return w.linear(attention(q, k, v, HEAD**-0.5, bias=bias), f"{at}.self_attention.dense", WIDTH)

        x = residual(x, f"{at}.input_layernorm", attend)
        x = residual(x, f"{at}.post_attention_layernorm",
                     lambda h: w.linear(gelu_tanh(w.linear(h, f"{at}.mlp.dense_h_to_4h", 4 * WIDTH)), f"{at}.mlp.dense_4h_to_h", WIDTH))
    return norm(w, x, "transformer.ln_f") @ w("transformer.word_embeddings.weight", VOCABULARY, WIDTH).T


def gpt_neo(w, config, ids):
    x = w("transformer.wte.weight", VOCABULARY, WIDTH)[ids] + w("transformer.wpe.weight", POSITIONS, WIDTH)[:len(ids)]
    kinds = [kind for kinds, times in config["attention_types"] for kind in kinds * times]
    for i, kind in enumerate(kinds):
        at = f"transformer.h.{i}"
        q, k, v = heads_of(w, norm(w, x, f"{at}.ln_1"), [f"{at}.attn.attention.{part}_proj" for part in "qkv"], False)
        h = attention(q, k, v, 1.0, config["window_size"] if kind == "local" else None)
        x = x + w.linear(h, f"{at}.attn.attention.out_proj", WIDTH)
        x = x + w.linear(gelu_tanh(w.linear(norm(w, x, f"{at}.ln_2"), f"{at}.mlp.c_fc", NETWORK)), f"{at}.mlp.c_proj", WIDTH)
    return norm(w, x, "transformer.ln_f") @ w("transformer.wte.weight", VOCABULARY, WIDTH).T


def gptj(w, config, ids):
    x = w("transformer.wte.weight", VOCABULARY, WIDTH)[ids]
    for i in range(LAYERS):
        at = f"transformer.h.{i}"
        h = norm(w, x, f"{at}.ln_1")
        q, k, v = heads_of(w, h, [f"{at}.attn.{part}_proj" for part in "qkv"], False)
        q, k = (neighbours_turned(t, config["rotary_dim"]) for t in (q, k))
        attended = w.linear(attention(q, k, v, HEAD**-0.5), f"{at}.attn.out_proj", WIDTH, False)
        x = x + attended + w.linear(gelu_tanh(w.linear(h, f"{at}.mlp.fc_in", NETWORK)), f"{at}.mlp.fc_out", WIDTH)
    return w.linear(norm(w, x, "transformer.ln_f"), "lm_head", VOCABULARY)


def opt(w, config, ids):
    at = "model.decoder"
    table = w(f"{at}.embed_tokens.weight", VOCABULARY, config["word_embed_proj_dim"])
    projects = config["word_embed_proj_dim"] != WIDTH
    x = w.linear(table[ids], f"{at}.project_in", WIDTH, False) if projects else table[ids]
    x = x + w(f"{at}.embed_positions.weight", POSITIONS + 2, WIDTH)[2:len(ids) + 2]
    first = config["do_layer_norm_before"]

    def residual(x, name, layer):
        return x + layer(norm(w, x, name)) if first else norm(w, x + layer(x), name)

    for i in range(LAYERS):
        layer = f"{at}.layers.{i}"

        def attend(h):
            q, k, v = heads_of(w, h, [f"{layer}.self_attn.{part}_proj" for part in "qkv"], True)
            return w.linear(attention(q, k, v, HEAD**-0.5), f"{layer}.self_attn.out_proj", WIDTH)

        x = residual(x, f"{layer}.self_attn_layer_norm", attend)
        x = residual(x, f"{layer}.final_layer_norm", lambda h: w.linear(torch.relu(w.linear(h, f"{layer}.fc1", NETWORK)), f"{layer}.fc2", WIDTH))
    x = norm(w, x, f"{at}.final_layer_norm") if first and not config.get("_remove_final_layer_norm") else x
    x = w.linear(x, f"{at}.project_out", config["word_embed_proj_dim"], False) if projects else x
    return x @ table.T


def phi(w, config, ids):
    x = w("model.embed_tokens.weight", VOCABULARY, WIDTH)[ids]
    for i in range(LAYERS):
        at = f"model.layers.{i}"
        h = norm(w, x, f"{at}.input_layernorm")
        q, k, v = heads_of(w, h, [f"{at}.self_attn.{part}_proj" for part in "qkv"], True)
        if config.get("qk_layernorm"):
            q, k = (norm(w, t, f"{at}.self_attn.{part}_layernorm") for t, part in ((q, "q"), (k, "k")))
        q, k = (turned(t, int(HEAD * config["partial_rotary_factor"]), config["rope_theta"], None) for t in (q, k))
        attended = w.linear(attention(q, k, v, HEAD**-0.5), f"{at}.self_attn.dense", WIDTH)
        x = x + attended + w.linear(gelu_tanh(w.linear(h, f"{at}.mlp.fc1", NETWORK)), f"{at}.mlp.fc2", WIDTH)
    return w.linear(norm(w, x, "model.final_layernorm"), "lm_head", VOCABULARY)


def make(path):
    def config(model_type, architecture, **others):
        return {"model_type": model_type, "architectures": [architecture], "vocab_size": VOCABULARY, "hidden_size": WIDTH,
                "max_position_embeddings": POSITIONS, "bos_token_id": 1, "eos_token_id": 2, **others}

    write(path / "gpt2-by-layer", config("gpt2", "GPT2LMHeadModel", n_embd=WIDTH, n_layer=LAYERS, n_head=HEADS, n_inner=NETWORK, n_positions=POSITIONS,
                                         activation_function="gelu_new", scale_attn_by_inverse_layer_idx=True), 88, gpt2)
    write(path / "bloom-residuals-normed", config("bloom", "BloomForCausalLM", n_layer=LAYERS, n_head=HEADS,
                                                  apply_residual_connection_post_layernorm=True), 89, bloom)
    neo = config("gpt_neo", "GPTNeoForCausalLM", num_layers=4, num_heads=HEADS, intermediate_size=NETWORK, window_size=5,
                 attention_types=[[["global", "local"], 2]], activation_function="gelu_new", layer_norm_epsilon=1e-5)
    write(path / "gpt-neo", neo, 81, gpt_neo)
    write(path / "gpt-neo-local-last", {**neo, "attention_types": [[["global"], 2], [["local"], 2]]}, 82, gpt_neo)
    write(path / "gptj", config("gptj", "GPTJForCausalLM", n_embd=WIDTH, n_layer=LAYERS, n_head=HEADS, n_inner=NETWORK, rotary_dim=4,
                                n_positions=POSITIONS, activation_function="gelu_new", tie_word_embeddings=False), 83, gptj)
    facebooks = config("opt", "OPTForCausalLM", num_hidden_layers=LAYERS, num_attention_heads=HEADS, ffn_dim=NETWORK, word_embed_proj_dim=WIDTH,
                       activation_function="relu", do_layer_norm_before=True)
    write(path / "opt", facebooks, 84, opt)
    write(path / "opt-norms-behind", {**facebooks, "do_layer_norm_before": False}, 85, opt, rename=lambda name: name.removeprefix("model."))
    write(path / "opt-projected", {**facebooks, "do_layer_norm_before": False, "word_embed_proj_dim": 20}, 87, opt)
    write(path / "opt-without-final-norm", {**facebooks, "_remove_final_layer_norm": True}, 90, opt)
    microsofts = config("phi", "PhiForCausalLM", num_hidden_layers=LAYERS, num_attention_heads=HEADS, intermediate_size=NETWORK,
                               partial_rotary_factor=0.5, rope_theta=10000.0, hidden_act="gelu_new", layer_norm_eps=1e-5,
                               tie_word_embeddings=False)
    write(path / "phi", microsofts, 86, phi)
    write(path / "phi-normed-heads", {**microsofts, "qk_layernorm": True}, 91, phi)
