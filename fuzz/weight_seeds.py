"""Small files of weights, in each of the formats that heed reads but safetensors, as fuzzing begins with them."""

import pathlib
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests/pretrained"))

from gguf_bytes import F32, F32_TENSOR, STRING, U32, array_value, gguf_bytes, number_value, string, text_value

# Types of tensors that heed reads, by GGUF's numbers: the numbers of a block and its bytes.
GGUF_TYPES = {0: (1, 4), 1: (1, 2), 2: (32, 18), 3: (32, 20), 6: (32, 22), 7: (32, 24), 8: (32, 34), 10: (256, 84), 11: (256, 110), 12: (256, 144),
              13: (256, 176), 14: (256, 210), 20: (32, 18), 23: (256, 136), 24: (1, 1), 25: (1, 2), 26: (1, 4), 27: (1, 8), 28: (1, 8), 30: (1, 2)}


def small_gguf():
    """A file with a value of every kind and a tensor of every type of numbers that heed reads."""
    kinds = [(0, b"\1"), (1, b"\1"), (2, b"\1\0"), (3, b"\1\0"), (U32, b"\1\0\0\0"), (5, b"\1\0\0\0"), (F32, struct.pack("<f", 1e-5)),
             (7, b"\1"), text_value("llama"), (10, struct.pack("<Q", 1)), (11, struct.pack("<q", -1)), (12, struct.pack("<d", 0.1)),
             array_value(STRING, [string("a"), string("b")]), array_value(F32, [struct.pack("<f", each) for each in (1, 2)]),
             array_value(9, [struct.pack("<IQBB", 0, 2, 1, 2)])]
    values = {**{f"k{i}": value for i, value in enumerate(kinds)}, "general.alignment": number_value(32)}
    return gguf_bytes(values, [(f"t{kind}", (1, elements), kind, bytes(i * 7 % 64 for i in range(size)))
                               for kind, (elements, size) in GGUF_TYPES.items()])


def described_gguf(architecture, floats, *tensors):
    """A file that says what a model of an architecture is, with some of its tensors, of two numbers each, and no others."""
    numbers = {"embedding_length": 8, "feed_forward_length": 8, "block_count": 2, "attention.head_count": 2, "attention.head_count_kv": 1,
               "attention.key_length": 4, "rope.dimension_count": 4, "context_length": 16, "attention.sliding_window": 4,
               "rope.scaling.original_context_length": 8, "attention.layer_norm_rms_epsilon": 1e-5, "rope.freq_base": 5e5, **floats}
    values = {"general.architecture": text_value(architecture), "tokenizer.ggml.tokens": array_value(STRING, [string("a"), string("b")]),
              **{f"{architecture}.{key}": number_value(value) for key, value in numbers.items()}}
    return gguf_bytes(values, [(name, (2,), F32_TENSOR, struct.pack("<ff", 1, 2)) for name in tensors])


def small_ctranslate2(version):
    def string(text):
        return struct.pack("<H", len(text) + 1) + text + b"\0"

    def variable(name, shape, kind, data):
        size = len(data) if version >= 4 else len(data) // kind
        return string(name) + struct.pack("<B", len(shape)) + struct.pack(f"<{len(shape)}I", *shape) + struct.pack("<BI", kind, size) + data

    typed = version >= 4
    numbers = struct.pack("<2f", 1, 2)
    variables = [variable(b"a/weight", (2, 3), 1, b"\1\2\3\4\5\6"), variable(b"a/weight_scale", (2,), 0 if typed else 4, numbers),
                 variable(b"b/weight", (1, 2), 2, b"\1\0\2\0"), variable(b"bias", (2,), 0 if typed else 4, numbers)]
    if typed:
        variables += [variable(b"half", (1,), 4, b"\0\1"), variable(b"brain", (1,), 5, b"\0\1"), variable(b"ids", (), 3, b"\1\0\0\0")]
    head = struct.pack("<I", version) + (string(b"TransformerSpec") + struct.pack("<I", 7) if version >= 2 else b"")
    aliases = struct.pack("<I", 1) + string(b"c/weight") + string(b"a/weight") if version >= 3 else b""
    return head + struct.pack("<I", len(variables)) + b"".join(variables) + aliases


def small_llama2c(version):
    """dim 2, hidden_dim 2, a layer, a head, 2 pieces, 1 position."""
    extents = struct.pack("<7i", 2, 2, 1, 1, 1, -2 if version == 0 else 2, 1)
    if version == 0:
        return extents + bytes(4 * (4 + 2 + 16 + 2 + 12 + 2 + 2 + 4))
    head = (struct.pack("<Ii", 0x616B3432, version) + extents + b"\1" + struct.pack("<i", 2)).ljust(256, b"\0")
    matrices = 8 * (4 * 4 if version == 1 else 4 + 4 * 2)
    return head + bytes(4 * 6 + matrices)


def add_weights(seeds):
    seeds.add("gguf", small_gguf())
    for architecture in ("llama", "qwen2", "qwen3", "gemma", "gemma2", "gemma3"):
        seeds.add("gguf", described_gguf(architecture, {"rope.scaling.factor": 2.0, "final_logit_softcapping": 30.0}, "blk.0.attn_q.bias"))
    seeds.add("gguf", described_gguf("phi3", {"rope.scaling.attn_factor": 1.2}, "rope_factors_short.weight"))
    seeds.add("gguf", described_gguf("gpt2", {"attention.layer_norm_epsilon": 1e-5}))
    for version in range(1, 7):
        seeds.add("ctranslate2", small_ctranslate2(version))
    for version in range(3):
        seeds.add("llama2c", small_llama2c(version))
    pieces = (b"<unk>", b"\n<s>\n", b" a")
    seeds.add("llama2c", struct.pack("<i", 5) + b"".join(struct.pack("<fi", -1, len(piece)) + piece for piece in pieces))
    seeds.add("safetensors_index", b'{"metadata":{"total_size":12},"weight_map":{"a":"1","b":"2","c":"2"}}')
