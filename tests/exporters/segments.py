"""A quantised network, cut where only 8-bit tensors are live.

Where two engines round one value differently, the difference grows from layer to layer. ONNX Runtime's own output
drifts by 0.05 to 0.5 when one pixel moves by a step. A segment starts from identical bytes, so the difference stays
small.
"""
import pathlib
import tempfile

import numpy as np
import onnx
from engines import ours, session
from onnx import helper

QUANTISE = ("QuantizeLinear", "QLinear")  # name prefixes of operators with an 8-bit output
MIN_NODES = 12  # of a segment: fused nodes stay together


def cuts(graph):
    """The tensors between segments, in order: the image, 8-bit tensors that all further nodes depend on, the
    outputs."""
    last_use = {name: i for i, node in enumerate(graph.node) for name in node.input}
    last_use |= {output.name: len(graph.node) for output in graph.output}
    bytes_only = {name for node in graph.node if node.op_type.startswith(QUANTISE) for name in node.output}
    # A tensor that is only dequantised again is live in 8 bits.
    floats = {node.output[0]: node.input[0] for node in graph.node
              if node.op_type == "DequantizeLinear" and node.input[0] in bytes_only}
    for name, of in floats.items():
        last_use[of] = max(last_use[of], last_use.get(name, -1))
    live = {i.name for i in graph.input} - {initializer.name for initializer in graph.initializer}
    yield sorted(live)
    begin = 0
    for i, node in enumerate(graph.node):
        if live.isdisjoint(floats.get(name, name) for name in node.input):
            continue  # of constants alone
        live = {name for name in live | set(node.output) if name not in floats and last_use.get(name, -1) > i}
        if live <= bytes_only and i - begin >= MIN_NODES:
            begin = i
            yield sorted(live)
    yield [output.name for output in graph.output]


def segment(model, begin, end):
    """The model that computes END from BEGIN; both are arrays by name."""
    made_by = {name: node for node in model.graph.node for name in node.output}
    wanted, nodes = list(end), set()
    while wanted:
        name = wanted.pop()
        if name in made_by and name not in begin and id(made_by[name]) not in nodes:
            nodes.add(id(made_by[name]))
            wanted += made_by[name].input
    kept = [node for node in model.graph.node if id(node) in nodes]
    used = {name for node in kept for name in node.input}
    inputs = [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
              for name, array in begin.items()]
    graph = helper.make_graph(kept, "segment", inputs, [helper.make_empty_tensor_value_info(name) for name in end],
                              [i for i in model.graph.initializer if i.name in used])
    return helper.make_model(graph, opset_imports=model.opset_import, ir_version=model.ir_version)


def largest_step(binary, path, image):
    """The root mean square difference of saccade's segments from ONNX Runtime's, in quantisation steps, of the worst
    segment."""
    model = onnx.load(path)
    (first, *_), *places = cuts(model.graph)
    begin, worst = {first: image}, 0
    with tempfile.TemporaryDirectory() as folder:
        part = str(pathlib.Path(folder) / "segment.onnx")
        for end in places:
            onnx.save(segment(model, begin, end), part)
            want = session(part, optimised=False).run(end, begin)
            for got, wanted in zip(ours(binary, part, begin, end), want):
                step = 1 if wanted.dtype in (np.uint8, np.int8) else np.ptp(wanted) / 255
                apart = got.astype(np.float64) - wanted
                worst = max(worst, float(np.sqrt(np.mean(apart**2)) / max(step, 1e-12)))
            begin = dict(zip(end, want))
    return worst
