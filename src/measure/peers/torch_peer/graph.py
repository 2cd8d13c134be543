"""Converts an ONNX graph into a torch module whose forward() is a straight line of ordinary calls.

The graph is traversed once with static shapes. Values that do not depend on the inputs (shapes, ranges, weights behind
a DequantizeLinear) are constant-folded. Every other node becomes one expression with literal shapes, so that
torch.compile sees no graph break and a CUDA graph can capture it. BatchNormalization folds into the preceding Conv.
Patterns with a faster call (silu, gelu, linear, scaled_dot_product_attention) are fused.
"""
import linecache
import math
import re

import numpy as np
import onnx
import torch
import torch.nn.functional as F
from onnx import TensorProto, numpy_helper

from torch_peer.table import OPERATORS, Unsupported

NAME = re.compile(r"\b[vc]\d+\b")  # in expressions: v12 depends on the inputs, c12 is constant
# FT and FD are the float types of the module; torch computes with few unsigned types.
DTYPES = {TensorProto.FLOAT: "FT", TensorProto.FLOAT16: "FT", TensorProto.BFLOAT16: "FT", TensorProto.DOUBLE: "FD",
          TensorProto.INT64: "torch.int64", TensorProto.INT32: "torch.int32", TensorProto.INT16: "torch.int16",
          TensorProto.INT8: "torch.int8", TensorProto.UINT8: "torch.uint8", TensorProto.BOOL: "torch.bool",
          TensorProto.UINT16: "torch.int32", TensorProto.UINT32: "torch.int64", TensorProto.UINT64: "torch.int64"}
# Operators that stay float32 in a half-precision module: long sums, and sampling positions.
WIDE = {"Pow", "Exp", "Log", "CumSum", "ReduceL2", "ReduceSumSquare", "ReduceLogSumExp", "GridSample"}


class Value:
    """A value of the graph: its name in the code, shape and type (a meta tensor), contents if it is constant, and its
    producer for the fusions."""

    def __init__(self, code, meta, data=None):
        self.code, self.meta, self.data = code, meta, data
        self.op, self.inputs = None, ()
        self.is_read_once = None
        self.redo = None  # emits it again with a bias or a scale
        self.line = ""  # its expression

    shape = property(lambda self: tuple(self.meta.shape))
    rank = property(lambda self: self.meta.ndim)
    is_float = property(lambda self: self.meta.dtype.is_floating_point)
    __str__ = __format__ = lambda self, spec="": self.code

    def scalar(self):
        """The Python number of a constant with one element."""
        return self.data.reshape(()).item() if self.data is not None and self.data.numel() == 1 else None


class Node:
    def __init__(self, proto):
        self.proto, self.op = proto, proto.op_type
        self.attributes = {a.name: onnx.helper.get_attribute_value(a) for a in proto.attribute}

    def get(self, name, default=None):
        value = self.attributes.get(name, default)
        return value.decode() if isinstance(value, bytes) else value


def to_torch(tensor):
    array = numpy_helper.to_array(tensor)
    if array.dtype in (np.uint16, np.uint32, np.uint64):
        array = array.astype(np.int64)
    if array.dtype.kind not in "fiub":  # bfloat16 and narrower
        array = array.astype(np.float32)
    return torch.from_numpy(np.array(array))


def rows(t):
    """Attention kernels require a dense last dimension. Otherwise they fall back to float32 GEMMs."""
    return t if t.stride(-1) == 1 else t.contiguous()


class Converter:
    """The graph of a model with inputs of SHAPES, by name, and floats of FTYPE."""

    def __init__(self, model, shapes, ftype):
        self.ftype, self.is_half = ftype, ftype != torch.float32
        self.opset = max([o.version for o in model.opset_import if o.domain in ("", "ai.onnx")] or [1])
        calls = {"torch": torch, "F": F, "rows": rows, "inf": math.inf}
        self.constants = {**calls, "FT": torch.float32, "FD": torch.float64}
        self.metas = {**calls, "FT": ftype, "FD": ftype}
        self.values, self.lines, self.count = {}, [], 0
        self.channels_last = set()  # weights that convolutions read
        self.reads = {}
        for name in [i for n in model.graph.node for i in n.input] + [o.name for o in model.graph.output]:
            self.reads[name] = self.reads.get(name, 0) + 1
        weights = {t.name: t for t in model.graph.initializer}
        self.inputs = []
        for i in model.graph.input:
            if i.name not in weights:
                dtype = self.dtype_of(DTYPES[i.type.tensor_type.elem_type])
                self.values[i.name] = self.new("v", torch.empty(shapes[i.name], dtype=dtype, device="meta"))
                self.inputs.append((i.name, self.values[i.name]))
        for name, tensor in weights.items():
            self.values[name] = self.constant(to_torch(tensor))
        for proto in model.graph.node:
            self.convert(proto)
        self.outputs = [self.values[o.name] for o in model.graph.output]

    def dtype_of(self, text):
        return eval(text, self.metas)

    def new(self, letter, meta, data=None):
        self.count += 1
        code = f"{letter}{self.count}"
        self.metas[code] = meta
        if data is not None:
            self.constants[code] = data
        return Value(code, meta, data)

    def constant(self, tensor):
        tensor = tensor if isinstance(tensor, torch.Tensor) else torch.tensor(tensor)
        tensor = tensor.float() if tensor.dtype in (torch.float16, torch.bfloat16) else tensor
        dtype = self.ftype if tensor.is_floating_point() else tensor.dtype
        return self.new("c", torch.empty(tensor.shape, dtype=dtype, device="meta"), tensor)

    def emit(self, expression, outputs=1):
        """Adds a line of code, or computes it at once if all operands are constant. Returns its value or values."""
        if not any(name[0] == "v" for name in NAME.findall(expression)):
            made = eval(expression, self.constants)
            return self.constant(made.contiguous()) if outputs == 1 else [self.constant(m.contiguous()) for m in made]
        metas = eval(expression, self.metas)
        made = [self.new("v", meta) for meta in ([metas] if outputs == 1 else list(metas))]
        for value in made:
            value.line = expression
        self.lines.append(([value.code for value in made], expression))
        return made[0] if outputs == 1 else made

    def convert(self, proto):
        node = Node(proto)
        function = OPERATORS.get(node.op) if proto.domain in ("", "ai.onnx", "com.microsoft") else None
        where = f"{node.op} (node '{proto.name or proto.output[0]}', opset {self.opset})"
        if function is None:
            raise Unsupported(f"operator {proto.domain + '::' if proto.domain else ''}{where} is not supported")
        inputs = [self.values[i] if i else None for i in proto.input]
        try:
            if self.is_half:
                inputs = self.promote(node.op, inputs)
            made = function(self, node, *inputs)
            made = self.emit(made) if isinstance(made, str) else made
        except Exception as error:
            shapes = [value and value.shape for value in inputs]
            reason = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise Unsupported(f"{where}: {reason}; inputs {shapes}") from error
        if isinstance(made, Value) and made.is_read_once is None:
            made.op, made.inputs = made.op or node.op, made.inputs or inputs
            made.is_read_once = self.reads.get(proto.output[0], 0) == 1
        for name, value in zip(proto.output, made if isinstance(made, (list, tuple)) else [made]):
            self.values[name] = value

    def promote(self, op, inputs):
        """Casts in a half-precision module: to float32 where half precision would overflow, else to one float type per
        operator."""
        floats = [v for v in inputs if v is not None and v.is_float]
        running = [v for v in floats if v.data is None]
        if op in WIDE:
            changed = {v: self.emit(f"{v}.float()") for v in running if v.meta.dtype != torch.float32}
        elif len({v.meta.dtype for v in floats if v.scalar() is None}) > 1:
            changed = {v: self.emit(f"{v}.to(FT)") for v in running if v.meta.dtype == torch.float32}
        else:
            return inputs
        for value, narrow in changed.items():
            narrow.op, narrow.inputs, narrow.is_read_once = "Widen", [value], False
        return [changed.get(v, v) for v in inputs]

    def ints(self, value):
        """The integers in a constant value."""
        if value.data is None:
            raise Unsupported("a shape, axis or size depends on the input's data")
        return [int(i) for i in value.data.reshape(-1).tolist()]

    def literal(self, value, other=None):
        """A constant of one element as a Python number, if that does not change the other operand's shape."""
        number = value.scalar()
        if number is None or (other is not None and (other.data is not None or value.rank > other.rank)):
            return value.code
        if self.ftype == torch.float16 and isinstance(number, float):
            number = max(-65504.0, min(65504.0, number))
        return repr(number)

    def module(self):
        """Removes dead code, frees each value after its last use, and compiles forward()."""
        live, body = {v.code for v in self.outputs}, []
        for made, expression in reversed(self.lines):
            if live & set(made):
                names = set(NAME.findall(expression))
                last = sorted(n for n in names - live if n[0] == "v")
                body.append(f"    {', '.join(made)} = {expression}" + (f"; {' = '.join(last)} = None" if last else ""))
                live |= names
        head = f"def forward(self, {', '.join(v.code for _, v in self.inputs)}):"
        text = "\n".join([head, *reversed(body), f"    return ({', '.join(v.code for v in self.outputs)},)"]) + "\n"
        text = re.sub(r"\b(c\d+)\b", r"self.\1", re.sub(r"\bF[TD]\b", str(self.ftype), text))
        file = f"<onnx {id(self)}>"  # where inductor looks up the source
        linecache.cache[file] = (len(text), None, text.splitlines(True), file)
        scope = {"torch": torch, "F": F, "rows": rows, "inf": math.inf}
        exec(compile(text, file, "exec"), scope)
        module = type("OnnxModule", (torch.nn.Module,), {"forward": scope["forward"]})()
        for name in sorted(set(re.findall(r"self\.(c\d+)", text))):
            module.register_buffer(name, self.narrowed(self.constants[name]))
        return module.eval()

    def narrowed(self, tensor):
        if not tensor.is_floating_point():
            return tensor.clone()
        top = 65504.0 if self.ftype == torch.float16 else math.inf
        return tensor.clamp(-top, top).to(self.ftype).clone()

    def to_channels_last(self, module):
        for name in self.channels_last & set(dict(module.named_buffers())):
            setattr(module, name, getattr(module, name).contiguous(memory_format=torch.channels_last))
        return module
