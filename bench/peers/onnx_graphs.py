#!/usr/bin/env python3
"""onnx_graphs.py FOLDER: writes, for each problem that standard input holds (problems.py, as a JSON list), the ONNX graphs that compute it,
as FOLDER/ROW-NUMBER.OPERATOR.onnx. Only the forward passes of f32 have any."""

import json
import pathlib
import sys

import onnx
from onnx import TensorProto, helper

MICROSOFT = "com.microsoft"  # the domain of ONNX Runtime's own operators
OPSETS = [helper.make_opsetid("", 23), helper.make_opsetid(MICROSOFT, 1)]
IR_VERSION = 10  # that of opset 23


def value(name, shape, kind=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def graph(nodes, inputs, outputs, constants=()):
    model = helper.make_model(helper.make_graph(nodes, "attention", inputs, outputs, constants), opset_imports=OPSETS)
    model.ir_version = IR_VERSION
    return model


def packed(of):
    """q, k and v as [B, L, H D]."""
    keys = [of["batch"], of["keys"], of["key_heads"] * of["width"]]
    return [value("q", [of["batch"], of["queries"], of["heads"] * of["width"]]), value("k", keys), value("v", keys)]


def by_heads(of):
    """q, k and v as [B, H, L, D]."""
    keys = [of["batch"], of["key_heads"], of["keys"], of["width"]]
    return [value("q", [of["batch"], of["heads"], of["queries"], of["width"]]), value("k", keys), value("v", keys)]


def multi_head_attention(of):
    inputs = packed(of)
    node = helper.make_node("MultiHeadAttention", ["q", "k", "v"], ["out"], domain=MICROSOFT, num_heads=of["heads"],
                            unidirectional=int(of["causal"]))
    return graph([node], inputs, [value("out", [of["batch"], of["queries"], of["heads"] * of["width"]])])


def group_query_attention(of):
    """Always causal. One query goes on with a cache, whose last place its key and value take; more queries begin with none."""
    past = of["keys"] if of["queries"] == 1 else 0
    step = dict(of, keys=of["queries"])
    cache = [of["batch"], of["key_heads"], past, of["width"]]
    present = [of["batch"], of["key_heads"], of["keys"], of["width"]]
    inputs = packed(step) + [value("past_key", cache), value("past_value", cache),
                             value("last", [of["batch"]], TensorProto.INT32), value("total", [], TensorProto.INT32)]
    outputs = [value("out", [of["batch"], of["queries"], of["heads"] * of["width"]]), value("present_key", present),
               value("present_value", present)]
    node = helper.make_node("GroupQueryAttention", [each.name for each in inputs], [each.name for each in outputs], domain=MICROSOFT,
                            num_heads=of["heads"], kv_num_heads=of["key_heads"])
    return graph([node], inputs, outputs)


def attention(of):
    inputs = by_heads(of)
    node = helper.make_node("Attention", ["q", "k", "v"], ["out"], is_causal=int(of["causal"]))
    return graph([node], inputs, [value("out", [of["batch"], of["heads"], of["queries"], of["width"]])])


def products(of):
    """The definition, with the keys transposed beforehand."""
    q, k, v = by_heads(of)
    k = value("k", [of["batch"], of["key_heads"], of["width"], of["keys"]])
    nodes = [helper.make_node("MatMul", ["q", "k"], ["scores"]), helper.make_node("Mul", ["scores", "scale"], ["scaled"]),
             helper.make_node("Softmax", ["scaled"], ["weights"], axis=-1), helper.make_node("MatMul", ["weights", "v"], ["out"])]
    scale = helper.make_tensor("scale", TensorProto.FLOAT, [], [of["width"] ** -0.5])
    return graph(nodes, [q, k, v], [value("out", [of["batch"], of["heads"], of["queries"], of["width"]])], [scale])


def graphs_of(of):
    if of["score"] != "softmax" or of["pass"] != "forward" or of["dtype"] != "f32":
        return {}
    grouped, decoding = of["heads"] != of["key_heads"], of["queries"] == 1
    long = of["batch"] * of["heads"] * of["queries"] * of["keys"] * 4 > 1 << 30  # the scores, which these two write
    graphs = {}
    if not grouped:
        graphs["MultiHeadAttention"] = multi_head_attention
    if of["causal"] or decoding:
        graphs["GroupQueryAttention"] = group_query_attention
    if not long:
        graphs["Attention"] = attention
    if not long and not grouped and not of["causal"]:
        graphs["MatMul and Softmax"] = products
    return graphs


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for number, of in enumerate(json.load(sys.stdin)):
        for name, make in graphs_of(of).items():
            onnx.save(make(of), str(folder / f"{number}.{name}.onnx"))


if __name__ == "__main__":
    main()
