"""GPT-Neo (Black et al. 2021), GPT-J (Wang and Komatsuzaki 2021), OPT (Zhang et al. 2022) and Phi (Gunasekar et al. 2023), in float64, from the
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
    x = w(f"{at}.embed_tokens.weight", VOCABULARY, WIDTH)[ids] + w(f"{at}.embed_positions.weight", POSITIONS + 2, WIDTH)[2:len(ids) + 2]
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
    x = norm(w, x, f"{at}.final_layer_norm") if first else x
    return x @ w(f"{at}.embed_tokens.weight", VOCABULARY, WIDTH).T


def phi(w, config, ids):
    x = w("model.embed_tokens.weight", VOCABULARY, WIDTH)[ids]
    for i in range(LAYERS):
        at = f"model.layers.{i}"
        h = norm(w, x, f"{at}.input_layernorm")
        q, k, v = heads_of(w, h, [f"{at}.self_attn.{part}_proj" for part in "qkv"], True)
        q, k = (turned(t, int(HEAD * config["partial_rotary_factor"]), config["rope_theta"], None) for t in (q, k))
        attended = w.linear(attention(q, k, v, HEAD**-0.5), f"{at}.self_attn.dense", WIDTH)
        x = x + attended + w.linear(gelu_tanh(w.linear(h, f"{at}.mlp.fc1", NETWORK)), f"{at}.mlp.fc2", WIDTH)
    return w.linear(norm(w, x, "model.final_layernorm"), "lm_head", VOCABULARY)


def make(path):
    def config(model_type, architecture, **others):
        return {"model_type": model_type, "architectures": [architecture], "vocab_size": VOCABULARY, "hidden_size": WIDTH,
                "max_position_embeddings": POSITIONS, "bos_token_id": 1, "eos_token_id": 2, **others}

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
    write(path / "phi", config("phi", "PhiForCausalLM", num_hidden_layers=LAYERS, num_attention_heads=HEADS, intermediate_size=NETWORK,
                               partial_rotary_factor=0.5, rope_theta=10000.0, hidden_act="gelu_new", layer_norm_eps=1e-5,
                               tie_word_embeddings=False), 86, phi)
