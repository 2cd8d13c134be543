"""Writes small ONNX models node by node, with their expected outputs."""
import copy
import dataclasses
import json

import numpy as np
import onnx
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator


class Net:
    """A model under construction. Values are referred to by name. A node's outputs are named after it unless `to` names
    them."""

    def __init__(self, opset, ir=8, imports=(), functions=()):
        self.opset, self.ir, self.imports, self.functions = opset, ir, imports, functions
        self.inputs, self.outputs, self.nodes, self.initializers = [], [], [], []
        self.random = np.random.default_rng(7)
        self.feeds = []

    def input(self, name, shape, feed, dtype=np.float32):
        """SHAPE may hold symbols. FEED is the test's shape or array."""
        self.inputs.append(helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), shape))
        array = feed if isinstance(feed, np.ndarray) else self.random.standard_normal(feed).astype(dtype)
        self.feeds.append(array)
        return name

    def output(self, *names):
        # No output shapes are written, because exporters often write wrong ones.
        self.outputs += [helper.make_empty_tensor_value_info(name) for name in names]
        return self

    def const(self, name, value, dtype=None):
        array = np.asarray(value) if dtype is None else np.asarray(value, dtype)
        self.initializers.append(numpy_helper.from_array(array, name))
        return name

    def weights(self, name, *shape, dtype=np.float32):
        return self.const(name, self.random.standard_normal(shape) * 0.5, dtype)

    def ints(self, name, *values):
        return self.const(name, list(values), np.int64)

    def constant_node(self, name, value, dtype=None):
        """The same as a Constant node, as TorchScript and Paddle write every number."""
        array = np.asarray(value) if dtype is None else np.asarray(value, dtype)
        self.nodes.append(helper.make_node("Constant", [], [name], value=numpy_helper.from_array(array)))
        return name

    def node(self, op, *inputs, to=None, name="", domain="", **attributes):
        outputs = [to] if isinstance(to, str) else list(to or [f"{op.lower()}_{len(self.nodes)}"])
        self.nodes.append(helper.make_node(op, list(inputs), outputs, name=name, domain=domain, **attributes))
        return outputs[0] if len(outputs) == 1 else outputs

    def at_opset(self, opset):
        """The same nodes in another opset."""
        net = copy.copy(self)
        net.opset = opset
        return net

    def model(self):
        graph = helper.make_graph(self.nodes, "net", self.inputs, self.outputs, self.initializers)
        opsets = [helper.make_opsetid(*versions) for versions in (("", self.opset), *self.imports)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=self.ir, functions=list(self.functions))


@dataclasses.dataclass
class Form:
    """One form in which an exporter writes a network."""
    net: Net
    gone: tuple = ()   # operators that must not be left in the plan
    tolerance: float = 1e-3
    plain: Net = None  # an equivalent model for onnx's reference implementation, where that is wrong about this one

    def save(self, folder):
        """Writes the form as a test folder."""
        model = self.net.model()
        names = [i.name for i in self.net.inputs]
        reference = ReferenceEvaluator((self.plain or self.net).model())
        want = reference.run(None, dict(zip(names, self.net.feeds)))
        data = folder / "test_data_set_0"
        data.mkdir(parents=True)
        onnx.save(model, folder / "model.onnx")
        (folder / "data.json").write_text(json.dumps({"rtol": self.tolerance}))
        for what, arrays in (("input", self.net.feeds), ("output", want)):
            for i, array in enumerate(arrays):
                (data / f"{what}_{i}.pb").write_bytes(numpy_helper.from_array(np.asarray(array)).SerializeToString())
