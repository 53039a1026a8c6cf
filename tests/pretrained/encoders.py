"""BERT (Devlin et al. 2019), RoBERTa (Liu et al. 2019), ELECTRA (Clark et al. 2020), MPNet (Song et al. 2020), DistilBERT (Sanh et al. 2019) and ALBERT (Lan et al. 2020) with their heads, in
float64, from the papers' equations; parameters are named as Hugging Face names them."""

import math

import torch

from case_folder import CaseFolder, Weights, random_ids

gelu = torch.nn.functional.gelu
VOCABULARY, WIDTH, HEADS, NETWORK, LAYERS, POSITIONS = 61, 24, 3, 40, 3, 48


def gelu_tanh(x):
    return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


MAPS = []  # of all layers so far, [heads, queries, keys]


def self_attention(w, x, length, names, output, bias=0.0):
    """Over the first `length` keys; `bias` is added to scores."""
    q, k, v = (w.linear(x, name, WIDTH).view(len(x), HEADS, -1).transpose(0, 1) for name in names)
    scores = q @ k.transpose(1, 2) / math.sqrt(q.shape[-1]) + bias
    scores[:, :, length:] = -math.inf
    MAPS.append(scores.softmax(-1))
    return w.linear((MAPS[-1] @ v).transpose(0, 1).reshape(len(x), WIDTH), output, WIDTH)


def bert_layer(w, x, length, at, activation=gelu):
    names = [f"{at}.attention.self.{part}" for part in ("query", "key", "value")]
    x = w.layer_norm(x + self_attention(w, x, length, names, f"{at}.attention.output.dense"), f"{at}.attention.output.LayerNorm", 1e-12)
    h = w.linear(activation(w.linear(x, f"{at}.intermediate.dense", NETWORK)), f"{at}.output.dense", WIDTH)
    return w.layer_norm(x + h, f"{at}.output.LayerNorm", 1e-12)


def bert_hidden(*arguments, **options):
    return bert_states(*arguments, **options)[-1]


def bert_states(w, ids, types, length, name="bert", padding=None, type_count=2, width=WIDTH, activation=gelu):
    """What each layer reads, and what the last one gives. Where there is a `padding`, its position is its id, and those of the other tokens follow that. `width` is the embeddings'."""
    at = f"{name}.embeddings"
    x = w(f"{at}.word_embeddings.weight", VOCABULARY, width)[ids]
    places, first = list(range(len(ids))), 0
    if padding is not None:
        first = padding + 1
        places = [padding + (sum(i != padding for i in ids[:at + 1]) if token != padding else 0) for at, token in enumerate(ids)]
    x = x + w(f"{at}.position_embeddings.weight", POSITIONS + first, width)[places]
    x = x + w(f"{at}.token_type_embeddings.weight", type_count, width)[types]
    x = w.layer_norm(x, f"{at}.LayerNorm", 1e-12)
    if width != WIDTH:
        x = w.linear(x, f"{name}.embeddings_project", WIDTH)
    states = [x]
    for i in range(LAYERS):
        states.append(bert_layer(w, states[-1], length, f"{name}.encoder.layer.{i}", activation))
    return states


def distilbert_hidden(w, ids, length):
    at = "distilbert.embeddings"
    x = w(f"{at}.word_embeddings.weight", VOCABULARY, WIDTH)[ids] + w(f"{at}.position_embeddings.weight", POSITIONS, WIDTH)[:len(ids)]
    x = w.layer_norm(x, f"{at}.LayerNorm", 1e-12)
    for i in range(LAYERS):
        at = f"distilbert.transformer.layer.{i}"
        names = [f"{at}.attention.{part}_lin" for part in "qkv"]
        x = w.layer_norm(x + self_attention(w, x, length, names, f"{at}.attention.out_lin"), f"{at}.sa_layer_norm", 1e-12)
        h = w.linear(gelu(w.linear(x, f"{at}.ffn.lin1", NETWORK)), f"{at}.ffn.lin2", WIDTH)
        x = w.layer_norm(x + h, f"{at}.output_layer_norm", 1e-12)
    return x


EMBEDDING = 10  # ALBERT's width of embeddings


def albert_hidden(w, ids, types, length, groups, layers=4, inner=1):
    at = "albert.embeddings"
    x = w(f"{at}.word_embeddings.weight", VOCABULARY, EMBEDDING)[ids] + w(f"{at}.position_embeddings.weight", POSITIONS, EMBEDDING)[:len(ids)]
    x = w.layer_norm(x + w(f"{at}.token_type_embeddings.weight", 2, EMBEDDING)[types], f"{at}.LayerNorm", 1e-12)
    x = w.linear(x, "albert.encoder.embedding_hidden_mapping_in", WIDTH)
    for i in range(layers):
        for j in range(inner):
            at = f"albert.encoder.albert_layer_groups.{int(i / (layers / groups))}.albert_layers.{j}"
            names = [f"{at}.attention.{part}" for part in ("query", "key", "value")]
            x = w.layer_norm(x + self_attention(w, x, length, names, f"{at}.attention.dense"), f"{at}.attention.LayerNorm", 1e-12)
            h = w.linear(gelu_tanh(w.linear(x, f"{at}.ffn", NETWORK)), f"{at}.ffn_output", WIDTH)
            x = w.layer_norm(x + h, f"{at}.full_layer_layer_norm", 1e-12)
    return x


def masked_words(w, x, table, dense, norm, bias, activation=gelu, output=None):
    table = w(table, *w.tensors[table].shape)
    width = table.shape[1]
    x = w.layer_norm(activation(w.linear(x, dense, width)), norm, 1e-12)
    return x @ (w(output, VOCABULARY, width) if output else table).T + w(bias, VOCABULARY, deviation=0.2)


def inputs(with_types):
    """Two texts with padding behind them, and without."""
    ids = random_ids(7, 11, VOCABULARY)
    types = [0] * 5 + [1] * 6
    for name, padding in (("alone", 0), ("padded", 4)):
        case = {"input_ids": ids + [1] * padding, "positions": list(range(len(ids)))}
        if with_types:
            case["token_type_ids"] = types + [0] * padding
        if padding:
            case["attention_mask"] = [1] * len(ids) + [0] * padding
        yield name, case, len(ids)


def write(path, config, seed, forward, with_types=True, **options):
    """forward(w, ids, types, length) gives the outputs by name; those that have a row for each token lose the rows of padding."""
    w = Weights(seed, options.pop("store", "F32"))
    folder = CaseFolder(path, config, w, **options)
    for name, case, length in inputs(with_types):
        types = case.get("token_type_ids", [0] * len(case["input_ids"]))
        arrays = forward(w, case["input_ids"], types, length)
        whole = ("start_logits", "end_logits")
        if not all(output in whole for output in arrays):
            arrays = {output: a[:length] if len(a) == len(case["input_ids"]) and output not in whole else a for output, a in arrays.items()}
        elif length < len(case["input_ids"]):
            continue  # spans have no rows to choose
        folder.add(name, case, arrays)
    folder.write()


def bert_config(architecture, **others):
    config = {"model_type": "bert", "vocab_size": VOCABULARY, "hidden_size": WIDTH, "num_attention_heads": HEADS, "num_hidden_layers": LAYERS,
              "intermediate_size": NETWORK, "hidden_act": "gelu", "max_position_embeddings": POSITIONS, "type_vocab_size": 2,
              "layer_norm_eps": 1e-12, "pad_token_id": 0, **others}
    return {**config, "architectures": [architecture]} if architecture else config


THREE = {"0": "no", "1": "perhaps", "2": "yes"}


def pooled(w, x, name):
    return torch.tanh(w.linear(x[:1], name, WIDTH))


def spans(w, x):
    both = w.linear(x, "qa_outputs", 2)
    return {"start_logits": both[:, 0], "end_logits": both[:, 1]}


def make_bert(path):
    hidden = bert_hidden

    def words(w, x, output=None):
        at = "cls.predictions"
        return masked_words(w, x, "bert.embeddings.word_embeddings.weight", f"{at}.transform.dense", f"{at}.transform.LayerNorm", f"{at}.bias",
                            output=output)

    def old_names(name):
        return name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta")

    def body(w, *a):
        MAPS.clear()
        states = bert_states(w, *a)
        x = states[-1]
        return {"last_hidden_state": x, "pooler_output": pooled(w, x, "bert.pooler.dense")[0], "attentions": torch.stack(MAPS),
                "hidden_states": torch.stack(states)[:, :a[-1]]}

    def sequence(w, *a):
        return {"logits": w.linear(pooled(w, hidden(w, *a), "bert.pooler.dense"), "classifier", 3)}

    def pretraining(w, *a):
        x = hidden(w, *a)
        return {"prediction_logits": words(w, x),
                "seq_relationship_logits": w.linear(pooled(w, x, "bert.pooler.dense"), "cls.seq_relationship", 2)[0]}

    write(path / "bert-body-without-prefix", bert_config("BertModel"), 1, body, rename=lambda name: name.removeprefix("bert."))
    write(path / "bert-sequence", bert_config("BertForSequenceClassification", id2label=THREE), 2, sequence)
    write(path / "bert-sequence-unnamed", bert_config(None, id2label=THREE), 3, sequence)
    write(path / "bert-masked-old-norms", bert_config("BertForMaskedLM"), 4, lambda w, *a: {"logits": words(w, hidden(w, *a))},
          rename=old_names)
    write(path / "bert-masked-untied", bert_config("BertForMaskedLM", tie_word_embeddings=False), 5,
          lambda w, *a: {"logits": words(w, hidden(w, *a), "cls.predictions.decoder.weight")})
    unnamed = {name: value for name, value in bert_config("BertForMaskedLM").items() if name not in ("model_type", "architectures")}
    write(path / "bert-without-model-type", unnamed, 9, lambda w, *a: {"logits": words(w, hidden(w, *a))})
    write(path / "bert-pretraining", bert_config("BertForPreTraining"), 6, pretraining)
    write(path / "bert-tokens", bert_config("BertForTokenClassification", id2label=THREE), 7,
          lambda w, *a: {"logits": w.linear(hidden(w, *a), "classifier", 3)})
    write(path / "bert-choice", bert_config("BertForMultipleChoice", id2label=THREE), 10,
          lambda w, *a: {"logits": w.linear(pooled(w, hidden(w, *a), "bert.pooler.dense"), "classifier", 1)})
    write(path / "bert-spans", bert_config("BertForQuestionAnswering"), 8, lambda w, *a: spans(w, hidden(w, *a)))


def make_roberta(path):
    def config(architecture, **others):
        return bert_config(architecture, model_type="roberta", pad_token_id=1, type_vocab_size=1, max_position_embeddings=POSITIONS + 2, **others)

    def hidden(w, ids, types, length, activation=gelu):
        return bert_hidden(w, ids, types, length, "roberta", padding=1, type_count=1, activation=activation)

    def padding_within(path):
        w = Weights(15)
        folder = CaseFolder(path, config("RobertaModel"), w)
        for name, ids, count in (("padding within", [5, 1, 7, 1, 1, 9, 4], 7), ("rows of padding", [5, 8, 7, 1, 1], 3)):
            mask = [1] * count + [0] * (len(ids) - count)
            folder.add(name, {"input_ids": ids, "attention_mask": mask}, {"last_hidden_state": hidden(w, ids, [0] * len(ids), count)})
        folder.write()

    def sequence(w, *a):
        return {"logits": w.linear(pooled(w, hidden(w, *a), "classifier.dense"), "classifier.out_proj", 3)}

    def masked(w, *a, activation=gelu):
        return {"logits": masked_words(w, hidden(w, *a, activation), "roberta.embeddings.word_embeddings.weight", "lm_head.dense", "lm_head.layer_norm",
                                       "lm_head.bias")}

    def body(w, *a):
        x = hidden(w, *a)
        return {"last_hidden_state": x, "pooler_output": pooled(w, x, "roberta.pooler.dense")[0]}

    write(path / "roberta-sequence", config("RobertaForSequenceClassification", id2label=THREE), 11, sequence, with_types=False)
    write(path / "roberta-masked", config("RobertaForMaskedLM"), 12, masked, with_types=False)
    write(path / "roberta-masked-relu", config("RobertaForMaskedLM", hidden_act="relu"), 19, lambda w, *a: masked(w, *a, activation=torch.relu),
          with_types=False)
    write(path / "roberta-choice", config("RobertaForMultipleChoice"), 25,
          lambda w, *a: {"logits": w.linear(pooled(w, hidden(w, *a), "roberta.pooler.dense"), "classifier", 1)}, with_types=False)
    write(path / "roberta-body-without-prefix", config("RobertaModel"), 13, body, with_types=False,
          rename=lambda name: name.removeprefix("roberta."))
    write(path / "roberta-tokens", config("RobertaForTokenClassification", num_labels=4), 14,
          lambda w, *a: {"logits": w.linear(hidden(w, *a), "classifier", 4)}, with_types=False)
    padding_within(path / "roberta-padding")


def make_electra(path):
    def config(architecture, width):
        return bert_config(architecture, model_type="electra", embedding_size=width, id2label=THREE)

    def hidden(w, ids, types, length, width=EMBEDDING):
        return bert_hidden(w, ids, types, length, "electra", width=width)

    def masked(w, *a):
        return {"logits": masked_words(w, hidden(w, *a), "electra.embeddings.word_embeddings.weight", "generator_predictions.dense",
                                       "generator_predictions.LayerNorm", "generator_lm_head.bias")}

    def sequence(w, *a):
        first = gelu(w.linear(hidden(w, *a, WIDTH)[:1], "classifier.dense", WIDTH))
        return {"logits": w.linear(first, "classifier.out_proj", 3)}

    def choice(w, *a):
        first = gelu(w.linear(hidden(w, *a, WIDTH)[:1], "sequence_summary.summary", WIDTH))
        return {"logits": w.linear(first, "classifier", 1)}

    def discriminator(w, *a):
        x = hidden(w, *a)
        w.linear(w.linear(x, "discriminator_predictions.dense", WIDTH), "discriminator_predictions.dense_prediction", 1)  # in the file, and passed over
        return {"last_hidden_state": x}

    write(path / "electra-masked", config("ElectraForMaskedLM", EMBEDDING), 16, masked)
    write(path / "electra-discriminator", config("ElectraForPreTraining", EMBEDDING), 20, discriminator)
    write(path / "electra-choice", config("ElectraForMultipleChoice", WIDTH), 27, choice)
    write(path / "electra-sequence", config("ElectraForSequenceClassification", WIDTH), 17, sequence)


def mpnet_hidden(w, ids, types, length):
    at = "mpnet.embeddings"
    places = [1 + (sum(i != 1 for i in ids[:at + 1]) if token != 1 else 0) for at, token in enumerate(ids)]
    x = w(f"{at}.word_embeddings.weight", VOCABULARY, WIDTH)[ids] + w(f"{at}.position_embeddings.weight", POSITIONS + 2, WIDTH)[places]
    x = w.layer_norm(x, f"{at}.LayerNorm", 1e-12)
    distance = torch.arange(len(ids)) - torch.arange(len(ids))[:, None]
    far = distance.abs().clamp(min=1)
    wide = (8 + (torch.log(far / 8) / math.log(128 / 8) * 8 + 1e-9).long()).clamp(max=15)  # of 32 buckets 16 are for each way, and 8 of these exact
    table = w("mpnet.encoder.relative_attention_bias.weight", 40, HEADS, deviation=1.0)  # of which 32 rows are read, whatever the configuration says
    bias = table[(distance > 0) * 16 + torch.where(distance.abs() < 8, distance.abs(), wide)].permute(2, 0, 1)
    for i in range(LAYERS):
        at = f"mpnet.encoder.layer.{i}"
        names = [f"{at}.attention.attn.{part}" for part in "qkv"]
        h = self_attention(w, x, length, names, f"{at}.attention.attn.o", bias)
        x = w.layer_norm(x + h, f"{at}.attention.LayerNorm", 1e-12)
        h = w.linear(gelu(w.linear(x, f"{at}.intermediate.dense", NETWORK)), f"{at}.output.dense", WIDTH)
        x = w.layer_norm(x + h, f"{at}.output.LayerNorm", 1e-12)
    return x


def make_mpnet(path):
    def body(w, *a):
        x = mpnet_hidden(w, *a)
        return {"last_hidden_state": x, "pooler_output": pooled(w, x, "mpnet.pooler.dense")[0]}

    # Positions do not go by the configuration's padding, but by 1.
    config = bert_config("MPNetModel", model_type="mpnet", pad_token_id=0, max_position_embeddings=POSITIONS + 2, relative_attention_num_buckets=40)
    write(path / "mpnet", config, 18, body, with_types=False, rename=lambda name: name.removeprefix("mpnet."))


def make_distilbert(path):
    def config(architecture, **others):
        return {"model_type": "distilbert", "architectures": [architecture], "vocab_size": VOCABULARY, "dim": WIDTH, "n_heads": HEADS,
                "n_layers": LAYERS, "hidden_dim": NETWORK, "activation": "gelu", "max_position_embeddings": POSITIONS, "pad_token_id": 0,
                "sinusoidal_pos_embds": False, **others}

    def hidden(w, ids, types, length):
        return distilbert_hidden(w, ids, length)

    def sequence(w, *a):
        first = torch.relu(w.linear(hidden(w, *a)[:1], "pre_classifier", WIDTH))
        return {"logits": w.linear(first, "classifier", 2)}

    def masked(w, *a):
        return {"logits": masked_words(w, hidden(w, *a), "distilbert.embeddings.word_embeddings.weight", "vocab_transform", "vocab_layer_norm",
                                       "vocab_projector.bias")}

    write(path / "distilbert-sequence", config("DistilBertForSequenceClassification"), 21, sequence, with_types=False)
    def choice(w, *a):
        first = torch.relu(w.linear(hidden(w, *a)[:1], "pre_classifier", WIDTH))
        return {"logits": w.linear(first, "classifier", 1)}

    write(path / "distilbert-choice", config("DistilBertForMultipleChoice"), 26, choice, with_types=False)
    write(path / "distilbert-masked", config("DistilBertForMaskedLM"), 22, masked, with_types=False)
    write(path / "distilbert-body", config("DistilBertModel"), 23, lambda w, *a: {"last_hidden_state": hidden(w, *a)}, with_types=False)
    write(path / "distilbert-spans", config("DistilBertForQuestionAnswering"), 24, lambda w, *a: spans(w, hidden(w, *a)), with_types=False)


def make_albert(path):
    def config(architecture, **others):
        return bert_config(architecture, model_type="albert", embedding_size=EMBEDDING, num_hidden_layers=4, hidden_act="gelu_new", **others)

    def masked(w, ids, types, length):
        x = albert_hidden(w, ids, types, length, groups=1)
        return {"logits": masked_words(w, x, "albert.embeddings.word_embeddings.weight", "predictions.dense", "predictions.LayerNorm",
                                       "predictions.bias", gelu_tanh)}

    def sequence(w, ids, types, length):
        x = albert_hidden(w, ids, types, length, groups=2)
        return {"logits": w.linear(pooled(w, x, "albert.pooler"), "classifier", 3)}

    def inner(w, ids, types, length):
        return {"last_hidden_state": albert_hidden(w, ids, types, length, groups=2, inner=2)}

    def many_groups(w, ids, types, length):
        return {"last_hidden_state": albert_hidden(w, ids, types, length, groups=8)}

    write(path / "albert-masked", config("AlbertForMaskedLM"), 31, masked)
    write(path / "albert-more-groups-than-layers", config("AlbertModel", num_hidden_groups=8), 34, many_groups)
    write(path / "albert-sequence-two-groups", config("AlbertForSequenceClassification", num_hidden_groups=2, id2label=THREE), 32, sequence)
    write(path / "albert-inner-layers", config("AlbertModel", num_hidden_groups=2, inner_group_num=2), 33, inner)


def make(path):
    make_bert(path)
    make_roberta(path)
    make_electra(path)
    make_mpnet(path)
    make_distilbert(path)
    make_albert(path)
