"""Small models that are recognised by a card or by their outputs, and raw ones. Each runs in milliseconds."""
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

SIDE = 64
CELLS = sum((SIDE // stride)**2 for stride in (8, 16, 32))


def constant(name, array):
    return numpy_helper.from_array(np.ascontiguousarray(array), name)


def floats(name, shape):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


def model(nodes, inputs, outputs, constants=(), opset=17, **more):
    graph = helper.make_graph(nodes, "g", inputs, outputs, list(constants))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8, **more)


def weights(*shape, seed=7, scale=0.3):
    return np.random.default_rng(seed).normal(0, scale, shape).astype(np.float32)


def detector():
    """YOLOv8's layout: 4 rows of boxes and 2 of scores, cells of strides 8, 16 and 32."""
    cells = [(x * s + s / 2, y * s + s / 2) for s in (8, 16, 32) for y in range(SIDE // s) for x in range(SIDE // s)]
    boxes = np.asarray([(x, y, 12 + i % 7, 9 + i % 5) for i, (x, y) in enumerate(cells)], np.float32).T[None]
    nodes, parts = [], []
    for s in (8, 16, 32):
        nodes += [
            helper.make_node("AveragePool", ["images"], [f"p{s}"], kernel_shape=[s, s], strides=[s, s]),
            helper.make_node("Reshape", [f"p{s}", "flat"], [f"f{s}"])
        ]
        parts.append(f"f{s}")
    nodes += [
        helper.make_node("Concat", parts, ["cells"], axis=2),
        helper.make_node("MatMul", ["w", "cells"], ["logits"]),
        helper.make_node("Sigmoid", ["logits"], ["scores"]),
        helper.make_node("Concat", ["boxes", "scores"], ["output0"], axis=1)
    ]
    return model(nodes, [floats("images", [1, 3, SIDE, SIDE])], [floats("output0", [1, 6, CELLS])], [
        constant("flat", np.asarray([1, 3, -1], np.int64)),
        constant("w", weights(2, 3, scale=2)),
        constant("boxes", boxes)
    ])


def classifier(classes=4):
    nodes = [
        helper.make_node("Conv", ["images", "k"], ["c"], strides=[4, 4]),
        helper.make_node("Relu", ["c"], ["r"]),
        helper.make_node("GlobalAveragePool", ["r"], ["g"]),
        helper.make_node("Flatten", ["g"], ["f"]),
        helper.make_node("Gemm", ["f", "w"], ["logits"])
    ]
    return model(
        nodes, [floats("images", [1, 3, SIDE, SIDE])], [floats("logits", [1, classes])],
        [constant("k", weights(8, 3, 4, 4)), constant("w", weights(8, classes))])


def per_pixel(channels, output):
    nodes = [helper.make_node("Conv", ["images", "k"], [output], pads=[1, 1, 1, 1])]
    return model(nodes, [floats("images", [1, 3, SIDE, SIDE])], [floats(output, [1, channels, SIDE, SIDE])],
                 [constant("k", weights(channels, 3, 3, 3))])


def tensors():
    """Two inputs and two outputs without images."""
    nodes = [
        helper.make_node("Add", ["a", "b"], ["sum"]),
        helper.make_node("MatMul", ["sum", "w"], ["product"]),
        helper.make_node("Relu", ["product"], ["output"])
    ]
    return model(nodes, [floats("a", [2, 3]), floats("b", [2, 3])],
                 [floats("output", [2, 5]), floats("sum", [2, 3])], [constant("w", weights(3, 5))])


def external(folder, name="external.onnx"):
    """The raw model with its weights in a file beside it."""
    proto = tensors()
    onnx.save(proto, folder / name, save_as_external_data=True, location="external.weights", size_threshold=0)


CARDS = {
    "detector": '[output]\ndecoder = "yolov8"\nlabels = ["ball", "crate"]\nconf = 0.01\n',
    "classifier": '[output]\ndecoder = "classify"\nlabels = "labels.txt"\n',
    "semantic": '[output]\ndecoder = "semantic"\nlabels = ["a", "b", "c", "d", "e"]\n',
    "depth": '[output]\ndecoder = "depth"\ndepth = "relative"\n',
}
MAKERS = {
    "detector": detector, "classifier": classifier, "semantic": lambda: per_pixel(5, "classes"),
    "depth": lambda: per_pixel(1, "depth"), "tensors": tensors
}


def write(folder, name):
    """NAME.onnx, and its card and labels, into FOLDER."""
    onnx.save(MAKERS[name](), folder / f"{name}.onnx")
    if name in CARDS:
        (folder / f"{name}.toml").write_text(CARDS[name])
    if name == "classifier":
        (folder / "labels.txt").write_text("cat\ndog\nbird\nfish\n")
