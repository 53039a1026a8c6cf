"""BART (Lewis et al. 2020), Marian (Junczys-Dowmunt et al. 2018) and T5 1.0 and 1.1 (Raffel et al. 2020), in float64, from the papers'
equations; parameters are named as Hugging Face names them."""

import math

import torch

from case_folder import CaseFolder, Weights, greedy, random_ids

VOCABULARY, WIDTH, HEADS, NETWORK, LAYERS = 59, 24, 3, 40, 2


def attend(q, k, v, scale, hidden, bias=0.0):
    """q, k, v [tokens, heads, head width]; `hidden` [queries, keys] are not seen, and `bias` [heads, queries, keys] is added."""
    q, k, v = (t.transpose(0, 1) for t in (q, k, v))
    scores = (q @ k.transpose(1, 2) * scale + bias).masked_fill(hidden, -math.inf)
    return (scores.softmax(-1) @ v).transpose(0, 1).flatten(1)


def padding_of(queries, keys, length):
    return (torch.arange(keys) >= length).expand(queries, keys)


def later(tokens):
    return torch.arange(tokens) > torch.arange(tokens)[:, None]


# --- BART and Marian -------------------------------------------------------------------------------------------------------------------------


def bart_attention(w, x, memory, at, hidden):
    head = WIDTH // HEADS
    q, k, v = (w.linear(t, f"{at}.{part}_proj", WIDTH).view(len(t), HEADS, head) for part, t in (("q", x), ("k", memory), ("v", memory)))
    return w.linear(attend(q, k, v, head**-0.5, hidden), f"{at}.out_proj", WIDTH)


def bart_table(w, config, side):
    apart = config.get("share_encoder_decoder_embeddings") is False
    return w(f"model.{side}.embed_tokens.weight" if apart else "model.shared.weight", VOCABULARY, WIDTH)


def bart_stack(w, config, side, ids, hidden, memory=None, memory_hidden=None):
    kind = config["model_type"]
    sinusoids, first = kind in ("marian", "pegasus", "m2m_100"), kind in ("mbart", "pegasus", "m2m_100")
    activation = torch.nn.functional.silu if kind == "marian" else torch.nn.functional.gelu
    at = f"model.{side}"
    x = bart_table(w, config, side)[ids] * (WIDTH**0.5 if config["scale_embedding"] else 1)
    if sinusoids:  # sines of all frequencies, then cosines
        rates, places = 10000.0 ** (-torch.arange(0, WIDTH, 2) / WIDTH), torch.arange(len(ids))
        if kind == "m2m_100":
            rates, places = torch.exp(-math.log(10000) / (WIDTH // 2 - 1) * torch.arange(WIDTH // 2)), places + 2
        angles = places[:, None] * rates
        x = x + torch.cat([angles.sin(), angles.cos()], -1)
    else:
        x = x + w(f"{at}.embed_positions.weight", config["max_position_embeddings"] + 2, WIDTH)[2:len(ids) + 2]
        x = w.layer_norm(x, f"{at}.layernorm_embedding", 1e-5)

    def residual(x, norm, layer):
        """mBART's norms are before its layers, the others' behind the sum."""
        if first:
            return x + layer(w.layer_norm(x, norm, 1e-5))
        return w.layer_norm(x + layer(x), norm, 1e-5)

    for i in range(LAYERS):
        layer = f"{at}.layers.{i}"
        x = residual(x, f"{layer}.self_attn_layer_norm", lambda h: bart_attention(w, h, h, f"{layer}.self_attn", hidden))
        if memory is not None:
            x = residual(x, f"{layer}.encoder_attn_layer_norm", lambda h: bart_attention(w, h, memory, f"{layer}.encoder_attn", memory_hidden))
        x = residual(x, f"{layer}.final_layer_norm", lambda h: w.linear(activation(w.linear(h, f"{layer}.fc1", NETWORK)), f"{layer}.fc2", WIDTH))
    return w.layer_norm(x, f"{at}.layer_norm", 1e-5) if first else x


def bart_features(w, config, source, length, target):
    """The encoder's output, and what the output projection reads."""
    encoded = bart_stack(w, config, "encoder", source, padding_of(len(source), len(source), length))
    x = bart_stack(w, config, "decoder", target, later(len(target)), encoded, padding_of(len(target), len(source), length))
    return encoded, x


def bart(w, config, source, length, target):
    """The encoder's output, and the logits."""
    encoded, x = bart_features(w, config, source, length, target)
    logits = x @ bart_table(w, config, "decoder").T
    return encoded, logits if config["model_type"] == "m2m_100" else logits + w("final_logits_bias", 1, VOCABULARY)[0]


# --- T5 --------------------------------------------------------------------------------------------------------------------------------------

T5_HEAD, BUCKETS, FARTHEST = 10, 8, 20  # heads wider than the model's share


def buckets(queries, keys, both_ways):
    """Of each distance: half of them for one token each, the others ever wider."""
    distance = torch.arange(keys) - torch.arange(queries)[:, None]
    count, first = BUCKETS, torch.zeros_like(distance)
    if both_ways:
        count //= 2
        first = (distance > 0) * count
        distance = distance.abs()
    else:
        distance = -distance.clamp(max=0)
    exact = count // 2
    wide = exact + (torch.log(distance.clamp(min=1) / exact) / math.log(FARTHEST / exact) * (count - exact) + 1e-9).long()
    return first + torch.where(distance < exact, distance, wide.clamp(max=count - 1))


def t5_attention(w, x, memory, at, hidden, bias=0.0):
    q, k, v = (w.linear(t, f"{at}.{part}", HEADS * T5_HEAD, False).view(len(t), HEADS, T5_HEAD) for part, t in (("q", x), ("k", memory), ("v", memory)))
    return w.linear(attend(q, k, v, 1.0, hidden, bias), f"{at}.o", WIDTH, False)


def t5_stack(w, config, side, ids, hidden, memory=None, memory_hidden=None):
    gated = config.get("feed_forward_proj", "gated-gelu") == "gated-gelu"
    x = w("shared.weight", VOCABULARY, WIDTH)[ids]
    for i in range(config["num_layers" if side == "encoder" else "num_decoder_layers"]):
        own = i if config["model_type"] == "umt5" else 0  # the layer that the table of distances is of
        table = w(f"{side}.block.{own}.layer.0.SelfAttention.relative_attention_bias.weight", BUCKETS, HEADS, deviation=1.0)
        bias = table[buckets(len(ids), len(ids), memory is None)].permute(2, 0, 1)

        def norm(x, layer):
            return w.rms_norm(x, f"{side}.block.{i}.layer.{layer}.layer_norm", 1e-6)

        at, last = f"{side}.block.{i}.layer", 1 if memory is None else 2
        h = norm(x, 0)
        x = x + t5_attention(w, h, h, f"{at}.0.SelfAttention", hidden, bias)
        if memory is not None:
            x = x + t5_attention(w, norm(x, 1), memory, f"{at}.1.EncDecAttention", memory_hidden)
        h, network = norm(x, last), f"{at}.{last}.DenseReluDense"
        if gated:
            gate = torch.nn.functional.gelu(w.linear(h, f"{network}.wi_0", NETWORK, False), approximate="tanh")
            h = gate * w.linear(h, f"{network}.wi_1", NETWORK, False)
        else:
            h = torch.relu(w.linear(h, f"{network}.wi", NETWORK, False))
        x = x + w.linear(h, f"{network}.wo", WIDTH, False)
    return w.rms_norm(x, f"{side}.final_layer_norm", 1e-6)


def t5_features(w, config, source, length, target):
    encoded = t5_stack(w, config, "encoder", source, padding_of(len(source), len(source), length))
    return encoded, t5_stack(w, config, "decoder", target, later(len(target)), encoded, padding_of(len(target), len(source), length))


def t5(w, config, source, length, target):
    encoded, x = t5_features(w, config, source, length, target)
    if config.get("tie_word_embeddings", True):
        return encoded, x * WIDTH**-0.5 @ w("shared.weight", VOCABULARY, WIDTH).T
    return encoded, x @ w("lm_head.weight", VOCABULARY, WIDTH).T


# --- Cases -----------------------------------------------------------------------------------------------------------------------------------


FORCED_END = {"bart": 2, "mbart": 2, "marian": 0, "pegasus": 1}  # forced_eos_token_id of the classes, where there is room for one more


def write(path, config, seed, forward, **options):
    w = Weights(seed)
    folder = CaseFolder(path, config, w, **options)
    source, target = random_ids(seed, 13, VOCABULARY), random_ids(seed + 100, 9, VOCABULARY)
    start, end, pad = config["decoder_start_token_id"], config["eos_token_id"], config["pad_token_id"]
    target[0] = start
    for name, padding in (("alone", 0), ("padded", 3)):
        inputs = {"input_ids": source + [pad] * padding, "decoder_input_ids": target, "positions": list(range(len(source)))}
        if padding:
            inputs["attention_mask"] = [1] * len(source) + [0] * padding
        encoded, logits = forward(w, config, inputs["input_ids"], len(source), target)
        folder.add(name, inputs, {"encoder_hidden": encoded[:len(source)], "logits": logits})
    made = greedy(lambda ids: forward(w, config, source, len(source), ids)[1][-1], [start], most=10, end=end)
    if config["model_type"] in FORCED_END:
        made[-1] = FORCED_END[config["model_type"]]
    folder.add("greedy", {"input_ids": source, "generate": {"method": "greedy", "max_new": len(made), "decoder_start": start}}, new_ids=made,
               ids=[start] + made)
    folder.write()


def write_features(path, config, seed, features, **options):
    """A model without its output projection."""
    w = Weights(seed)
    folder = CaseFolder(path, config, w, **options)
    source, target = random_ids(seed, 13, VOCABULARY), random_ids(seed + 100, 9, VOCABULARY)
    encoded, x = features(w, config, source, len(source), target)
    folder.add("features", {"input_ids": source, "decoder_input_ids": target}, {"encoder_last_hidden_state": encoded, "last_hidden_state": x})
    folder.write()


def of_sequence(w, x):
    return {"logits": w.linear(torch.tanh(w.linear(x[-1:], "classification_head.dense", WIDTH)), "classification_head.out_proj", 3)}


def of_spans(w, x):
    logits = w.linear(x, "qa_outputs", 2)
    return {"start_logits": logits[None, :, 0], "end_logits": logits[None, :, 1]}


def write_classes(path, config, seed, features, outputs, **options):
    """Classifiers read the decoder, which reads the source behind the begin token."""
    w = Weights(seed)
    folder = CaseFolder(path, config, w, **options)
    source = random_ids(seed, 12, VOCABULARY) + [config["eos_token_id"]]
    for name, padding in (("alone", 0), ("padded", 4)):
        inputs = {"input_ids": source + [config["pad_token_id"]] * padding, "attention_mask": [1] * len(source) + [0] * padding}
        x = features(w, config, inputs["input_ids"], len(source), [config["decoder_start_token_id"]] + source[:-1])[1]
        folder.add(name, inputs, outputs(w, x))
    folder.write()


def write_tokens(path, config, seed):
    """T5's classifier of tokens is its encoder alone."""
    w = Weights(seed)
    folder = CaseFolder(path, config, w, rename=lambda name: name if name.startswith("classifier") else f"transformer.{name}")
    source = random_ids(seed, 13, VOCABULARY)
    encoded = t5_stack(w, config, "encoder", source, padding_of(len(source), len(source), len(source)))
    folder.add("tokens", {"input_ids": source}, {"logits": w.linear(encoded, "classifier", 3)})
    folder.write()


def make(path):
    both = {"vocab_size": VOCABULARY, "d_model": WIDTH, "encoder_layers": LAYERS, "decoder_layers": LAYERS, "encoder_attention_heads": HEADS,
            "decoder_attention_heads": HEADS, "encoder_ffn_dim": NETWORK, "decoder_ffn_dim": NETWORK, "max_position_embeddings": 40,
            "normalize_before": False, "eos_token_id": 2, "pad_token_id": 1}
    config = {**both, "model_type": "bart", "architectures": ["BartForConditionalGeneration"], "activation_function": "gelu",
              "scale_embedding": False, "normalize_embedding": True, "decoder_start_token_id": 2, "bos_token_id": 0}
    write(path / "bart", config, 61, bart)
    write(path / "bart-scaled", {**config, "scale_embedding": True}, 62, bart, shards=2)
    write_features(path / "bart-without-output", {**config, "architectures": ["BartModel"]}, 66, bart_features,
                   rename=lambda name: name.removeprefix("model.").replace("shared", "encoder.embed_tokens"))
    write_classes(path / "bart-sequence", {**config, "architectures": ["BartForSequenceClassification"], "num_labels": 3}, 67, bart_features, of_sequence)
    write_classes(path / "bart-spans", {**config, "architectures": ["BartForQuestionAnswering"]}, 68, bart_features, of_spans)
    write(path / "mbart", {**config, "model_type": "mbart", "architectures": ["MBartForConditionalGeneration"], "scale_embedding": True}, 74, bart)
    config = {**both, "model_type": "marian", "architectures": ["MarianMTModel"], "activation_function": "swish", "scale_embedding": True,
              "normalize_embedding": False, "decoder_start_token_id": 1, "static_position_embeddings": True}
    write(path / "marian", config, 63, bart)
    write(path / "marian-two-tables", {**config, "share_encoder_decoder_embeddings": False}, 74, bart)
    write(path / "pegasus", {**config, "model_type": "pegasus", "architectures": ["PegasusForConditionalGeneration"], "activation_function": "gelu",
                             "decoder_start_token_id": 0}, 75, bart)
    write(path / "m2m-100", {**config, "model_type": "m2m_100", "architectures": ["M2M100ForConditionalGeneration"], "activation_function": "gelu",
                             "decoder_start_token_id": 2}, 77, bart)
    config = {"model_type": "t5", "architectures": ["T5ForConditionalGeneration"], "vocab_size": VOCABULARY, "d_model": WIDTH, "d_kv": T5_HEAD,
              "d_ff": NETWORK, "num_heads": HEADS, "num_layers": LAYERS, "num_decoder_layers": LAYERS, "feed_forward_proj": "relu",
              "relative_attention_num_buckets": BUCKETS, "relative_attention_max_distance": FARTHEST, "layer_norm_epsilon": 1e-6,
              "tie_word_embeddings": True, "decoder_start_token_id": 0, "pad_token_id": 0, "eos_token_id": 1}
    write(path / "t5", config, 64, t5)
    write(path / "t5-1.1", {**config, "feed_forward_proj": "gated-gelu", "tie_word_embeddings": False}, 65, t5)
    write(path / "byt5", {**config, "feed_forward_proj": "gated-gelu", "tie_word_embeddings": False, "num_layers": LAYERS + 1, "num_decoder_layers": 1}, 80, t5)
    write(path / "umt5", {**config, "model_type": "umt5", "architectures": ["UMT5ForConditionalGeneration"], "feed_forward_proj": "gated-gelu",
                          "tie_word_embeddings": False}, 76, t5)
    as_its_class = {name: value for name, value in config.items() if name not in ("tie_word_embeddings", "feed_forward_proj")}
    write(path / "umt5-as-its-class", {**as_its_class, "model_type": "umt5", "architectures": ["UMT5ForConditionalGeneration"]}, 79, t5)
    write_features(path / "t5-without-output", {**config, "architectures": ["T5Model"]}, 70, t5_features)
    write_classes(path / "t5-sequence", {**config, "architectures": ["T5ForSequenceClassification"], "num_labels": 3}, 72, t5_features, of_sequence,
                  rename=lambda name: name if name.startswith("classification_head") else f"transformer.{name}")
    write_classes(path / "t5-spans", {**config, "architectures": ["T5ForQuestionAnswering"]}, 73, t5_features, of_spans)
    write_tokens(path / "t5-tokens", {**config, "architectures": ["T5ForTokenClassification"], "num_labels": 3}, 78)
    encoder_alone = {**config, "architectures": ["T5EncoderModel"]}
    write_features(path / "t5-encoder", encoder_alone, 71, lambda w, c, source, length, target: (
        t5_stack(w, c, "encoder", source, padding_of(len(source), len(source), length)),) * 2, rename=lambda name: name.replace("shared", "encoder.embed_tokens"))
