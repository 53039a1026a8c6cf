"""The bytes of GGUF files (version 3).

    gguf_bytes({"general.architecture": text_value("llama"), "llama.block_count": number_value(2)},
               [("output_norm.weight", (8,), F32_TENSOR, data)])
"""

import struct

U32, F32, STRING, ARRAY = 4, 6, 8, 9  # GGUF's numbers of kinds of values
F32_TENSOR = 0  # and of a type of tensors
ALIGNMENT = 32


def string(text):
    raw = text.encode()
    return struct.pack("<Q", len(raw)) + raw


def number_value(value):
    """A whole number as U32, any other as F32."""
    return (U32, struct.pack("<I", value)) if isinstance(value, int) else (F32, struct.pack("<f", value))


def text_value(text):
    return STRING, string(text)


def array_value(kind, values):
    """Of values that are bytes already."""
    return ARRAY, struct.pack("<IQ", kind, len(values)) + b"".join(values)


def padded(raw):
    return raw + bytes(-len(raw) % ALIGNMENT)


def gguf_bytes(values, tensors):
    """`values`: by key, the number of a kind and the bytes; `tensors`: (name, shape with the rows first, the number of a type, bytes)."""
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(values))
    for key, (kind, raw) in values.items():
        head += string(key) + struct.pack("<I", kind) + raw
    data = b""
    for name, shape, kind, raw in tensors:
        head += string(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *reversed(shape), kind, len(data))
        data += padded(raw)
    return padded(head) + data
