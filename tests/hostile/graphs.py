"""Graphs with inconsistent sizes, types, edges, names, versions and files, and damaged files."""
import os

import numpy as np
import onnx
from onnx import TensorProto, helper

import odd_graphs
from attempt import Attempt
from hostile_nodes import attributes
from models import constant, floats, model

NAMES = [
    "\x1b[31mred", "a\nb", "=1+1", "a/b", "../../x", "..", "", " ", "x" * 3000, "é", "a,b", "\x7f\x08", "%s%n",
    "con\r\n", "a\"b\\", "\u202e", "CON", "-rf", "*"
]


def raw(rng, dims=None, **more):
    """A graph of one node whose input has these dimensions."""
    return model([helper.make_node("Relu", ["x"], ["y"])], [floats("x", dims or [2, 3])], [floats("y", None)], **more)


def dims(rng):
    dims = rng.choice([[2**31, 2**31], [2**62, 4], [2**63 - 1], [-1, 3], [-5], [0, 3], [1] * 200, [2**20, 2**20],
                       [0, 2**62], [2**33], [], [65536] * 5, [10**9]])
    return f"dimensions {str(dims)[:40]}", raw(rng, dims)


def initializer_lies(rng):
    tensor = TensorProto(name="w", data_type=rng.choice([1, 1, 7, 10, 11, 16, 8, 99, -1, 0, 21, 22]),
                         dims=rng.choice([[2, 3], [2**31, 2**31], [-2, -3], [2**62, 4], [0], [], [10**6]]))
    tensor.raw_data = rng.choice([b"", b"abc", bytes(24), bytes(1000)])
    if rng.random() < 0.2:
        tensor.float_data.extend([1.0] * 6)
    if rng.random() < 0.2:
        tensor.string_data.extend([b"a\xff"] * 6)
    return f"a constant of type {tensor.data_type}, {list(tensor.dims)}, {len(tensor.raw_data)} bytes", model(
        [helper.make_node("Add", ["x", "w"], ["y"])], [floats("x", [2, 3])], [floats("y", None)], [tensor])


def cyclic(rng):
    kind = rng.choice([
        "cycle", "self", "not sorted", "missing", "doubled", "no outputs", "no nodes", "output unknown",
        "input is output"
    ])
    nodes = {
        "cycle": [("Add", "x b", "a"), ("Relu", "a", "b"),
                  ("Relu", "b", "y")], "self": [("Add", "x y", "y")], "not sorted": [("Relu", "a", "y"),
                                                                                     ("Relu", "x", "a")],
        "missing": [("Add", "x absent", "y")], "doubled": [("Relu", "x", "y"),
                                                           ("Neg", "x", "y")], "no outputs": [("Relu", "x", "")],
        "no nodes": [], "output unknown": [("Relu", "x", "z")], "input is output": [("Relu", "y", "x")]
    }[kind]
    return f"wired: {kind}", model([helper.make_node(op, a.split(), b.split()) for op, a, b in nodes],
                                   [floats("x", [2, 3])], [floats("y", [2, 3])])


def nested(rng):
    """Nested If nodes. The onnx package's parser stops at thirty levels; deep_bytes goes deeper."""
    depth = rng.choice([3, 10, 28])
    body = helper.make_graph([helper.make_node("Relu", ["x"], ["y0"])], "b", [], [floats("y0", None)])
    for i in range(1, depth):
        node = helper.make_node("If", ["c"], [f"y{i}"], then_branch=body)
        if i < 4:
            node.attribute.add().CopyFrom(helper.make_attribute("else_branch", body))
        body = helper.make_graph([node], f"b{i}", [], [floats(f"y{i}", None)])
    body.input.extend([floats("x", [2, 3])])
    body.initializer.extend([constant("c", np.asarray(True))])
    return f"{depth} bodies", helper.make_model(body, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def deep_bytes(rng):
    """A message nested deeper than any parser accepts."""
    data, depth = b"", rng.choice([101, 300, 5000])
    for _ in range(depth):  # node.attribute.g, in GraphProto, field numbers 1, 5 and 6
        for tag in (0x32, 0x2a, 0x0a):
            data = bytes([tag]) + varint(len(data)) + data
    data = b"\x3a" + varint(len(data)) + data
    return f"nested {depth} deep", b"\x08\x08" + data


def varint(value):
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def names(rng):
    a, b, c = rng.choice(NAMES), rng.choice(NAMES), rng.choice(NAMES)
    node = helper.make_node("Relu", [a or "x"], [b or "y"], name=c, domain=rng.choice(["", "", "\x1b[31m"]),
                            doc_string=c)
    proto = model([node], [floats(a or "x", [2, 3])], [floats(b or "y", [2, 3])], producer_name=c)
    proto.graph.name, proto.doc_string = rng.choice(NAMES), rng.choice(NAMES)
    return f"names {a[:10]!r} {b[:10]!r} {c[:10]!r}", proto


def bytes_in_names(rng):
    """Names that are invalid UTF-8 or contain NUL, which protobuf's own setters refuse."""
    data = raw(rng).SerializeToString()
    data = data.replace(b"\x01x", b"\x01" + rng.choice([b"\xff", b"\0", b"\x1b", b"\n", b"\x80"]))
    return "bytes in names", data


def versions(rng):
    proto = raw(rng)
    kind = rng.choice(["opset", "ir", "domain", "no opset", "twice", "negative"])
    if kind == "opset":
        proto.opset_import[0].version = rng.choice([99, 2**62, 27, 29, 1, 6])
    elif kind == "negative":
        proto.opset_import[0].version = -5
    elif kind == "ir":
        proto.ir_version = rng.choice([99, 0, -1, 2**62])
    elif kind == "domain":
        proto.opset_import.extend([helper.make_opsetid("evil\x1b[31m", 2**40)])
    elif kind == "no opset":
        del proto.opset_import[:]
    else:
        proto.opset_import.extend([helper.make_opsetid("", 7)])
    return f"versions: {kind}", proto


def types(rng):
    kind = rng.choice([
        TensorProto.STRING, TensorProto.COMPLEX64, TensorProto.UINT64, TensorProto.BOOL, TensorProto.INT8, 99, 0,
        TensorProto.FLOAT8E4M3FN, TensorProto.INT4, TensorProto.DOUBLE
    ])
    proto = raw(rng)
    proto.graph.input[0].type.tensor_type.elem_type = kind
    if rng.random() < 0.3:
        proto.graph.input[0].ClearField("type")
    return f"an input of type {kind}", proto


def doubled(rng):
    proto = raw(rng)
    what = rng.choice(["input", "output", "initializer", "metadata"])
    if what == "metadata":
        for key in ("names", "names", "task", "stride", "imgsz"):
            proto.metadata_props.add(
                key=key,
                value=rng.choice(["{0: '\x1b[31m'}", "{99999999999: 'a'}", "detect", "[" * 3000, "-1", "", "{0:"]))
    elif what == "initializer":
        proto.graph.initializer.extend(
            [constant("x", np.ones((2, 3), np.float32)),
             constant("x", np.ones((9, ), np.float32))])
    else:
        getattr(proto.graph, what).append(getattr(proto.graph, what)[0])
    return f"{what} twice", proto


def symbolic(rng):
    dims = [rng.choice(["batch", "\x1b[31m", "a\nb", "", "N" * 2000, "-1", "a+b"]) for _ in range(2)]
    return f"symbols {str(dims)[:30]}", raw(rng, dims)


def grows(rng):
    """Small files that require much memory."""
    nodes, before = [], "x"
    for i in range(rng.choice([20, 40, 64])):
        nodes.append(helper.make_node("Concat", [before, before], [f"t{i}"], axis=0))
        before = f"t{i}"
    return "doubles again and again", model(nodes, [floats("x", [2, 3])], [floats(before, None)])


def damaged(rng, good):
    data = bytearray(good)
    for _ in range(rng.choice([1, 1, 3, 10])):
        at = rng.randrange(len(data))
        how = rng.randrange(4)
        if how == 0:
            data[at] ^= 1 << rng.randrange(8)
        elif how == 1:
            data[at] = rng.choice([0, 255, 127, 128])
        elif how == 2:
            del data[at:at + rng.randrange(1, 9)]
        else:
            data[at:at] = data[rng.randrange(len(data)):][:rng.randrange(1, 30)]
        if not data:
            data = bytearray(b"\0")
    return "damaged", bytes(data if rng.random() < 0.7 else data[:rng.randrange(len(data))])


def external(place, rng):
    """Weights in files outside the model's folder."""
    where = rng.choice([
        "/etc/passwd", "../../../../etc/passwd", "/dev/zero", "none.bin", "", ".", "fifo", "loop", "link", "a\0b",
        "x" * 5000, "e.onnx", "external.weights", "images", "\x1b[31m.bin", "./external.weights",
        "way/external.weights"
    ])
    os.mkfifo(place.folder / "fifo")
    os.symlink("loop", place.folder / "loop")
    os.symlink("/etc/passwd", place.folder / "link")
    os.symlink("..", place.folder / "way")
    tensor = TensorProto(name="w", data_type=1, dims=rng.choice([[3, 5], [3, 5], [10**9, 1], [0, 5]]),
                         data_location=TensorProto.EXTERNAL)
    keys = {"location": where}
    for key in ("offset", "length"):
        if rng.random() < 0.6:
            keys[key] = rng.choice(
                ["0", "-1", "60", "99999999999999999999", "abc", "", "0x10", "1e3", "18446744073709551615", "4"])
    for key, value in keys.items():
        tensor.external_data.add(key=key, value=value)
    return f"external data {where[:20]!r} {keys.get('offset')} {keys.get('length')}", model(
        [helper.make_node("MatMul", ["x", "w"], ["y"])], [floats("x", [2, 3])], [floats("y", None)], [tensor])


DRAWS = [
    dims, initializer_lies, cyclic, nested, attributes, attributes, attributes, names, names, versions, types, doubled,
    symbolic, bytes_in_names, deep_bytes, grows
]


def draw_hostile(place, rng, number):
    kind = number % 4
    if kind == 0:
        what, proto = damaged(
            rng, place.read(rng.choice(["detector.onnx", "tensors.onnx", "classifier.onnx", "external.onnx"])))
    elif kind == 1 and rng.random() < 0.4:
        what, proto = external(place, rng)
    else:
        what, proto = rng.choice(DRAWS)(rng)
    place.write("e.onnx", proto if isinstance(proto, bytes) else proto.SerializeToString())
    command, outputs = rng.choice([(["infer", "e.onnx", "--output", "o"], {"o": "folder"}),
                                   (["infer", "e.onnx", "--output", "o", "--json"], {"o": "folder"}),
                                   (["inspect", "e.onnx"], {}), (["inspect", "e.onnx", "--json"], {}),
                                   (["inspect", "e.onnx", "--dump"], {}),
                                   (["inspect", "e.onnx", "--graphviz", "v"], {"v": "folder"}),
                                   (["compile", "e.onnx", "-o", "e.plan", "--device", "cpu"], {"e.plan": "some"}),
                                   (["run", "e.onnx", "--source", "one.png", "--jsonl", "o.jsonl", "--csv",
                                     "o.csv"], {"o.jsonl": "jsonl", "o.csv": "csv"}), ])
    return Attempt(what, [*command, "--max-model-memory", "256M"], outputs)


def draw(place, number):
    if number % 3 == 0:
        return odd_graphs.draw(place, place.rng)
    return draw_hostile(place, place.rng, number)
