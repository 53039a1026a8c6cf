"""ViT (Dosovitskiy et al. 2021) and Whisper (Radford et al. 2022), in float64, from the papers' equations; parameters are named as Hugging Face
names them."""

import json
import math
import struct
import wave
import zlib

import numpy
import torch

from case_folder import CaseFolder, Weights, greedy, random_ids

LAYERS, HEADS, NETWORK = 2, 3, 40


def attend(w, x, memory, at, names, biases, hidden=None, maps=None):
    """`names` and `biases` of queries, keys, values and the output; `hidden` [queries, keys] are not seen. `maps` gets the weights."""
    width = x.shape[-1]
    q, k, v = (w.linear(t, f"{at}.{name}", width, bias).unflatten(-1, (HEADS, -1)).transpose(0, 1)
               for t, name, bias in zip((x, memory, memory), names, biases))
    scores = q @ k.transpose(1, 2) * (width // HEADS) ** -0.5
    if hidden is not None:
        scores = scores.masked_fill(hidden, -math.inf)
    weights = scores.softmax(-1)
    if maps is not None:
        maps.append(weights)
    joined = (weights @ v).transpose(0, 1).flatten(1)
    return w.linear(joined, f"{at}.{names[3]}", width, biases[3])


# --- Pictures --------------------------------------------------------------------------------------------------------------------------------


def drawn_picture(seed, height, width):
    """Waves of colour, with some noise: [height, width, 3] of 8 bits."""
    generator = numpy.random.default_rng(seed)
    y, x = numpy.mgrid[:height, :width] / 9
    waves = numpy.stack([numpy.sin(x + 2 * y), numpy.cos(3 * x - y), numpy.sin(x * y)], -1)
    return (127.5 + 100 * waves + generator.uniform(-27, 27, waves.shape)).clip(0, 255).astype(numpy.uint8)


def write_png(path, pixels):
    height, width, _ = pixels.shape

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"".join(b"\0" + row.tobytes() for row in pixels)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def keys(x):  # Keys 1981, a = -1/2
    x = abs(x)
    return 1.5 * x**3 - 2.5 * x**2 + 1 if x < 1 else -0.5 * x**3 + 2.5 * x**2 - 4 * x + 2 if x < 2 else 0.0


FILTERS = {2: (1, lambda x: max(1 - abs(x), 0.0)), 3: (2, keys)}


def resized(pixels, height, width, resample):
    """As the Python Imaging Library: columns, then rows, each rounded to 8 bits."""
    reach, shape = FILTERS[resample]
    for axis, size in ((1, width), (0, height)):
        old = pixels.shape[axis]
        if old == size:
            continue
        scale = old / size
        stretch = max(scale, 1.0)
        mixing = numpy.zeros((size, old))
        for i in range(size):
            centre = (i + 0.5) * scale
            for x in range(max(int(centre - reach * stretch + 0.5), 0), min(int(centre + reach * stretch + 0.5), old)):
                mixing[i, x] = shape((x + 0.5 - centre) / stretch)
            mixing[i] /= mixing[i].sum()
        fixed = numpy.round(mixing * 2**22).astype(numpy.int64)
        mixed = (numpy.moveaxis(numpy.tensordot(fixed, pixels.astype(numpy.int64), (1, axis)), 0, axis) + 2**21) >> 22
        pixels = mixed.clip(0, 255).astype(numpy.uint8)
    return pixels


def add_pictures(folder, path, resample, config, outputs, shorter=None):
    """Cases of files, with preprocessor_config.json beside the model; with `shorter`, the length of the shorter side, the centre is kept."""
    mean, deviation = [0.4, 0.5, 0.6], [0.2, 0.25, 0.3]
    height, width = pair(config["image_size"])
    settings = {"do_resize": True, "size": {"height": height, "width": width}, "resample": resample, "do_rescale": True,
                "rescale_factor": 1 / 255, "do_normalize": True, "image_mean": mean, "image_std": deviation}
    if shorter:
        settings |= {"size": {"shortest_edge": shorter}, "do_center_crop": True, "crop_size": {"height": height, "width": width}}
    (path / "preprocessor_config.json").write_text(json.dumps(settings))
    for name, shape in (("shrinks", (31, 57)), ("grows", (5, 9)), ("stays", (height, width))):
        picture = drawn_picture(len(name), *shape)
        write_png(path / f"{name}.png", picture)
        to = [int(shorter * side / min(shape)) for side in shape] if shorter else [height, width]
        top, left = ((side - kept) // 2 for side, kept in zip(to, (height, width)))
        kept = resized(picture, *to, resample)[top:top + height, left:left + width]
        seen = torch.tensor(kept).to(torch.float64) / 255
        values = ((seen - torch.tensor(mean)) / torch.tensor(deviation)).permute(2, 0, 1)
        folder.add(name, {"picture": f"{name}.png"}, {"pixel_values": values[None], **outputs(folder.weights, config, values)})


# --- ViT -------------------------------------------------------------------------------------------------------------------------------------


def pair(extent):
    return extent if isinstance(extent, list) else [extent, extent]


def vit(w, config, pixels, prefix="vit.", maps=None, states=None):
    """The vectors of a picture [channels, height, width] behind the last norm. `states` gets what layers read, and what the last one gives."""
    states = [] if states is None else states
    width, patch = config["hidden_size"], config["patch_size"]
    at = f"{prefix}embeddings"
    kernel = w(f"{at}.patch_embeddings.projection.weight", width, len(pixels), patch, patch, deviation=0.1)
    bias = w(f"{at}.patch_embeddings.projection.bias", width, deviation=0.2)
    patches = torch.nn.functional.conv2d(pixels[None], kernel, bias, stride=patch)[0].flatten(1).T
    tokens = ["cls_token", "distillation_token"] if config["model_type"] == "deit" else ["cls_token"]
    x = torch.cat([*(w(f"{at}.{token}", 1, 1, width)[0] for token in tokens), patches])
    x = x + w(f"{at}.position_embeddings", 1, len(x), width)[0]
    biased = config.get("qkv_bias", True)
    for i in range(LAYERS):
        at = f"{prefix}encoder.layer.{i}"
        states.append(x)
        h = w.layer_norm(x, f"{at}.layernorm_before", config["layer_norm_eps"])
        names = [f"attention.{part}" for part in ("query", "key", "value")] + ["output.dense"]
        x = x + attend(w, h, h, f"{at}.attention", names, [biased] * 3 + [True], maps=maps)
        h = w.layer_norm(x, f"{at}.layernorm_after", config["layer_norm_eps"])
        h = torch.nn.functional.gelu(w.linear(h, f"{at}.intermediate.dense", NETWORK))
        x = x + w.linear(h, f"{at}.output.dense", width)
    states.append(x)
    return w.layer_norm(x, f"{prefix}layernorm", config["layer_norm_eps"])


def write_vit(path, config, seed, outputs, **options):
    w = Weights(seed)
    folder = CaseFolder(path, config, w, **options)
    resample, shorter = config.pop("resample", None), config.pop("shorter", None)
    height, width = pair(config["image_size"])
    for count in range(2):
        pixels = torch.randn(config["num_channels"], height, width, generator=torch.Generator().manual_seed(seed + count))
        file = f"pixels_{count}.npy"
        numpy.save(path / file, pixels[None].to(torch.float32).numpy())
        expected = outputs(w, config, pixels.to(torch.float32).to(torch.float64))
        folder.add(f"picture {count}", {"pixel_values": file}, expected)
    if resample:
        add_pictures(folder, path, resample, config, outputs, shorter)
    folder.write()


LABELS = {"0": "cat", "1": "dog", "2": "boat", "3": "attention"}


def vit_config(architecture, **others):
    return {"model_type": "vit", "architectures": [architecture], "hidden_size": 24, "num_attention_heads": HEADS, "num_hidden_layers": LAYERS,
            "intermediate_size": NETWORK, "hidden_act": "gelu", "layer_norm_eps": 1e-12, "image_size": 12, "patch_size": 4, "num_channels": 3,
            "qkv_bias": True, **others}


def vit_classes(w, config, pixels):
    return {"logits": w.linear(vit(w, config, pixels)[:1], "classifier", len(config["id2label"]))}


def vit_classes_beside_a_pooler(w, config, pixels):
    w.linear(torch.zeros(1, 24), "vit.pooler.dense", 24)  # in the file, and passed over
    return vit_classes(w, config, pixels)


def make_vit(path):
    def body(w, config, pixels):
        states = []
        hidden = vit(w, config, pixels, prefix="", states=states)
        return {"last_hidden_state": hidden, "hidden_states": torch.stack(states), "pooler_output": torch.tanh(w.linear(hidden[:1], "pooler.dense", 24))}

    write_vit(path / "vit-classes", vit_config("ViTForImageClassification", id2label=LABELS, resample=2), 71, vit_classes)
    write_vit(path / "vit-uneven", vit_config("ViTForImageClassification", id2label=LABELS, image_size=[13, 18]), 76, vit_classes)
    write_vit(path / "vit-classes-beside-a-pooler", vit_config("ViTForImageClassification", id2label=LABELS), 75, vit_classes_beside_a_pooler)
    write_vit(path / "vit-wide-grey", vit_config("ViTForImageClassification", id2label=LABELS, image_size=[8, 20], num_channels=1, qkv_bias=False), 72,
              vit_classes)
    write_vit(path / "vit-centre", vit_config("ViTForImageClassification", id2label=LABELS, resample=3, shorter=15), 74, vit_classes)
    write_vit(path / "vit-body", vit_config("ViTModel", resample=3, image_size=[12, 16]), 73, body)


def make_deit(path):
    def config(architecture):
        return vit_config(architecture, model_type="deit", id2label=LABELS)

    def classes(w, config, pixels):
        return {"logits": w.linear(vit(w, config, pixels, "deit.")[:1], "classifier", len(LABELS))}

    def taught(w, config, pixels):
        hidden = vit(w, config, pixels, "deit.")
        return {"logits": (w.linear(hidden[:1], "cls_classifier", len(LABELS)) + w.linear(hidden[1:2], "distillation_classifier", len(LABELS))) / 2}

    write_vit(path / "deit-classes", config("DeiTForImageClassification"), 77, classes)
    write_vit(path / "deit-teacher", config("DeiTForImageClassificationWithTeacher"), 78, taught)


# --- Sound -----------------------------------------------------------------------------------------------------------------------------------

RATE, WINDOW, HOP = 16000, 400, 160


def mel_filters(bands):
    """Triangles of equal area, by Slaney's scale: [bands, bins]."""
    def hertz(mel):
        return mel * 200 / 3 if mel < 15 else 1000 * 6.4 ** ((mel - 15) / 27)

    highest = 15 + 27 * math.log(8) / math.log(6.4)
    corners = numpy.array([hertz(highest * i / (bands + 1)) for i in range(bands + 2)])
    bins = numpy.arange(WINDOW // 2 + 1) * RATE / WINDOW
    return numpy.stack([numpy.interp(bins, corners[i:i + 3], [0, 2 / (corners[i + 2] - corners[i]), 0]) for i in range(bands)])


def log_mel(samples, bands, frames):
    """[frames, bands]."""
    sound = numpy.zeros(frames * HOP)
    sound[:len(samples)] = samples[:len(sound)]
    padded = numpy.pad(sound, WINDOW // 2, mode="reflect")
    window = numpy.hanning(WINDOW + 1)[:-1]
    power = numpy.stack([numpy.abs(numpy.fft.rfft(padded[t * HOP:t * HOP + WINDOW] * window)) ** 2 for t in range(frames)])
    x = numpy.log10(numpy.maximum(power @ mel_filters(bands).T, 1e-10))
    return (numpy.maximum(x, x.max() - 8) + 4) / 4


def add_sounds(folder, path, config):
    """Cases of files: notes that rise, over noise; shorter and longer than what the model hears."""
    frames, start = 2 * config["max_source_positions"], config["decoder_start_token_id"]
    for name, seconds in (("short", 0.37 * frames * HOP / RATE), ("long", 1.4 * frames * HOP / RATE)):
        t = numpy.arange(int(seconds * RATE)) / RATE
        noise = numpy.random.default_rng(len(name)).normal(0, 0.01, len(t))
        samples = numpy.round(32767 * (0.3 * numpy.sin(2 * math.pi * (300 + 2000 * t) * t) + noise)).astype("<i2")
        with wave.open(str(path / f"{name}.wav"), "wb") as file:
            file.setparams((1, 2, RATE, 0, "NONE", ""))
            file.writeframes(samples.tobytes())
        features = torch.tensor(log_mel(samples / 32768, config["num_mel_bins"], frames))
        encoded = whisper_encoder(folder.weights, config, features.T)
        ids = [start, 5, 7]
        folder.add(name, {"wave": f"{name}.wav", "decoder_input_ids": ids},
                   {"input_features": features[None], "logits": whisper(folder.weights, config, encoded, ids)})


# --- Whisper ---------------------------------------------------------------------------------------------------------------------------------


def sinusoids(length, width):
    rates = 10000 ** (-torch.arange(width // 2) / (width // 2 - 1))
    angles = torch.arange(length)[:, None] * rates
    return torch.cat([angles.sin(), angles.cos()], 1)


def whisper_stack(w, config, side, x, hidden=None, memory=None, maps=None):
    at, names, biases = f"model.{side}", ("q_proj", "k_proj", "v_proj", "out_proj"), (True, False, True, True)
    for i in range(LAYERS):
        layer = f"{at}.layers.{i}"
        h = w.layer_norm(x, f"{layer}.self_attn_layer_norm", 1e-5)
        x = x + attend(w, h, h, f"{layer}.self_attn", names, biases, hidden)
        if memory is not None:
            h = w.layer_norm(x, f"{layer}.encoder_attn_layer_norm", 1e-5)
            x = x + attend(w, h, memory, f"{layer}.encoder_attn", names, biases, maps=maps)
        h = w.layer_norm(x, f"{layer}.final_layer_norm", 1e-5)
        h = torch.nn.functional.gelu(w.linear(h, f"{layer}.fc1", NETWORK))
        x = x + w.linear(h, f"{layer}.fc2", config["d_model"])
    return w.layer_norm(x, f"{at}.layer_norm", 1e-5)


def whisper_encoder(w, config, features):
    """features [mel bins, frames] to [frames / 2, width]."""
    width, x = config["d_model"], features[None]
    for number, stride in ((1, 1), (2, 2)):
        name = f"model.encoder.conv{number}"
        kernel = w(f"{name}.weight", width, x.shape[1], 3, deviation=0.2)
        x = torch.nn.functional.gelu(torch.nn.functional.conv1d(x, kernel, w(f"{name}.bias", width, deviation=0.2), stride=stride, padding=1))
    if "model.encoder.embed_positions.weight" not in w.tensors:
        table = sinusoids(config["max_source_positions"], width)
        w.tensors["model.encoder.embed_positions.weight"] = table.to(torch.float32)
    return whisper_stack(w, config, "encoder", x[0].T + w("model.encoder.embed_positions.weight", config["max_source_positions"], width))


def whisper(w, config, encoded, ids, maps=None):
    """Logits; `maps` gets each layer's weights of text over sound."""
    width = config["d_model"]
    table = w("model.decoder.embed_tokens.weight", config["vocab_size"], width)
    x = table[ids] + w("model.decoder.embed_positions.weight", config["max_target_positions"], width)[:len(ids)]
    later = torch.arange(len(ids)) > torch.arange(len(ids))[:, None]
    return whisper_stack(w, config, "decoder", x, later, encoded, maps) @ table.T


def whisper_config():
    return {"model_type": "whisper", "architectures": ["WhisperForConditionalGeneration"], "vocab_size": 61, "d_model": 24, "num_mel_bins": 10,
            "encoder_layers": LAYERS, "decoder_layers": LAYERS, "encoder_attention_heads": HEADS, "decoder_attention_heads": HEADS,
            "encoder_ffn_dim": NETWORK, "decoder_ffn_dim": NETWORK, "activation_function": "gelu", "max_source_positions": 25,
            "max_target_positions": 30, "scale_embedding": False, "decoder_start_token_id": 2, "eos_token_id": 1, "pad_token_id": 1}


def write_whisper(path, config, seed, **options):
    w = Weights(seed)
    folder = CaseFolder(path, config, w, **options)
    start, end = config["decoder_start_token_id"], config["eos_token_id"]
    ids = [start] + random_ids(seed, 8, config["vocab_size"])
    frames = 2 * config["max_source_positions"]
    features = torch.randn(config["num_mel_bins"], frames, generator=torch.Generator().manual_seed(seed)).to(torch.float32)
    numpy.save(path / "features.npy", features.T.contiguous()[None].numpy())
    encoded = whisper_encoder(w, config, features.to(torch.float64))
    inputs = {"input_features": "features.npy", "decoder_input_ids": ids}
    folder.add("sound", inputs, {"encoder_hidden": encoded, "logits": whisper(w, config, encoded, ids)})
    numpy.save(path / "bands.npy", features[None].numpy())
    folder.add("sound, its bands first", {**inputs, "input_features": "bands.npy"}, {"encoder_hidden": encoded})
    made = greedy(lambda ids: whisper(w, config, encoded, ids)[-1], [start], most=10, end=end)
    folder.add("greedy", {"input_features": "features.npy", "generate": {"method": "greedy", "max_new": len(made), "decoder_start": start}},
               new_ids=made, ids=[start] + made)
    add_sounds(folder, path, config)
    folder.write()


def make_whisper(path):
    write_whisper(path / "whisper", whisper_config(), 81)
    write_whisper(path / "whisper-sharded-without-prefix", whisper_config(), 82, shards=2, rename=lambda name: name.removeprefix("model."))


def make(path):
    make_vit(path)
    make_deit(path)
    make_whisper(path)
