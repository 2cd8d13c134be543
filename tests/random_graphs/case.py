"""A graph with the contents of its inputs, node by node, and its conversion to an ONNX test folder."""
import dataclasses
import json
import shutil

import ml_dtypes
import numpy as np
import onnx
from onnx import helper, numpy_helper

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
FLOATS = tuple(np.dtype(name) for name in ("float32", "float64", "float16")) + (BFLOAT16,)
INTEGERS = tuple(np.dtype(name) for name in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"))
BOOL = np.dtype(bool)
# Half the distance from 1 to the next number: the relative error of one correct rounding.
UNIT = {np.dtype("float64"): 2.0**-53, np.dtype("float32"): 2.0**-24, np.dtype("float16"): 2.0**-11, BFLOAT16: 2.0**-8}


def is_float(dtype):
    return dtype in UNIT


@dataclasses.dataclass
class Node:
    op: str
    inputs: list  # names; "" is an omitted input
    outputs: list
    attributes: dict = dataclasses.field(default_factory=dict)
    domain: str = ""
    captured: int = 0  # the number of trailing inputs that only sub-graphs read
    body: object = None  # the sub-graph attributes, from the node's inputs and outputs

    def proto(self, name=""):
        own = self.inputs[:len(self.inputs) - self.captured]
        bodies = self.body(self.inputs, self.outputs) if self.body else {}
        return helper.make_node(self.op, own, self.outputs, name=name, domain=self.domain, **self.attributes, **bodies)


@dataclasses.dataclass
class Value:
    """A value's contents, and a bound of each element's rounding error."""
    array: np.ndarray
    error: np.ndarray  # float64, of the same shape


@dataclasses.dataclass
class Leaf:
    """A value that no node computes."""
    array: np.ndarray
    role: str  # "input", "initializer" or "constant", a node Constant


@dataclasses.dataclass
class Case:
    opset: int
    leaves: dict = dataclasses.field(default_factory=dict)  # by name
    nodes: list = dataclasses.field(default_factory=list)  # in topological order
    outputs: list = dataclasses.field(default_factory=list)  # names
    values: dict = dataclasses.field(default_factory=dict)  # the oracle's value of every name

    def model(self):
        inputs = [_info(name, leaf.array) for name, leaf in self.leaves.items() if leaf.role == "input"]
        initializers = [numpy_helper.from_array(leaf.array, name) for name, leaf in self.leaves.items()
                        if leaf.role == "initializer"]
        constants = [helper.make_node("Constant", [], [name], name=f"make_{name}",
                                      value=numpy_helper.from_array(leaf.array, name))
                     for name, leaf in self.leaves.items() if leaf.role == "constant"]
        nodes = [node.proto(f"{node.op}_{i}") for i, node in enumerate(self.nodes)]
        outputs = [_info(name, self.values[name].array) for name in self.outputs]
        # The checker does not know them, and aborts if EyeLike reads an unknown operator's output.
        told = [_info(name, self.values[name].array) for node in self.nodes if node.domain for name in node.outputs
                if name and name not in self.outputs]
        graph = helper.make_graph(constants + nodes, "random", inputs, outputs, initializers, value_info=told)
        return make_model(graph, self.opset, {node.domain for node in self.nodes})

    def tolerance(self):
        """(relative, absolute): the tightest pair that covers every element's own bound."""
        relative, pairs = 0.0, []
        for name in self.outputs:
            value = self.values[name]
            if not is_float(value.array.dtype):
                continue
            size = np.abs(value.array.astype(np.float64))
            known = np.isfinite(size) & (size > 0)
            if known.any():
                relative = max(relative, float(np.median(value.error[known] / size[known])))
            pairs.append((np.where(np.isfinite(size), size, 0), value.error))
        left = [float(np.max(error - relative * size, initial=0)) for size, error in pairs]
        return relative, max([0.0, *left])

    def save(self, folder):
        """Rewrites the test folder."""
        shutil.rmtree(folder, ignore_errors=True)
        data = folder / "test_data_set_0"
        data.mkdir(parents=True)
        (folder / "model.onnx").write_bytes(self.model().SerializeToString())
        inputs = [(name, leaf.array) for name, leaf in self.leaves.items() if leaf.role == "input"]
        outputs = [(name, self.values[name].array) for name in self.outputs]
        for what, named in (("input", inputs), ("output", outputs)):
            for i, (name, array) in enumerate(named):
                (data / f"{what}_{i}.pb").write_bytes(numpy_helper.from_array(array, name).SerializeToString())
        relative, absolute = self.tolerance()
        (folder / "data.json").write_text(json.dumps({"rtol": relative, "atol": absolute}))

    def readers(self, name):
        return [node for node in self.nodes if name in node.inputs]


def _info(name, array):
    return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)


def make_model(graph, opset, domains):
    """The newest IR version that ONNX Runtime reads. Domains besides ONNX's own are imported with version 1."""
    imports = [helper.make_opsetid("", opset)] + [helper.make_opsetid(domain, 1) for domain in sorted(domains - {""})]
    return helper.make_model(graph, opset_imports=imports, ir_version=10, producer_name="random_graphs")


def check(model):
    """Raises if the standard's checker or its strict shape inference rejects MODEL.

    Strict inference wrongly rejects MeanVarianceNormalization's function body and an If whose branches have different
    shapes. The checker does not know ONNX Runtime's additions to the standard's domain.
    """
    if any(node.op_type == "SimplifiedLayerNormalization" for node in model.graph.node):
        return
    strict = all(node.op_type not in ("MeanVarianceNormalization", "If") for node in model.graph.node)
    onnx.checker.check_model(model, full_check=strict)
