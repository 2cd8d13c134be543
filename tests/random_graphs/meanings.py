"""Definitions of ONNX Runtime's own operators in the standard's operators, from its documentation; BatchNormalization
in training mode, and GroupNormalization with exact statistics.

Each function returns the nodes that define a node, from its input arrays. i0, i1, ... are its inputs and o0, o1, ...
its outputs.
"""
import numpy as np

from case import Node


class Steps:
    def __init__(self, node, arrays):
        self.node, self.arrays = node, arrays
        self.nodes, self.constants = [], {}

    def has(self, i):
        return i < len(self.arrays) and self.arrays[i] is not None

    def attribute(self, name, default=None):
        return self.node.attributes.get(name, default)

    def like_first(self, value):
        """A constant of the first input's type with an attribute's precision: a float."""
        return self.constant(np.asarray(np.float32(value), self.arrays[0].dtype))

    def constant(self, array):
        name = f"c{len(self.constants)}"
        self.constants[name] = np.asarray(array)
        return name

    def add(self, op, *inputs, made=None, **attributes):
        made = made or [f"s{len(self.nodes)}"]
        attributes = {name: value for name, value in attributes.items() if value is not None}
        self.nodes.append(Node(op, list(inputs), made, attributes))
        return made[0]

    def done(self, *values):
        for i, value in enumerate(values):
            self.add("Identity", value, made=[f"o{i}"])
        return self.nodes, self.constants


def gelu(approximate):
    def meaning(node, arrays):
        s = Steps(node, arrays)
        x = s.add("Add", "i0", "i1") if s.has(1) else "i0"
        return s.done(s.add("Gelu", x, approximate=approximate))
    return meaning


def quick_gelu(node, arrays):
    s = Steps(node, arrays)
    scaled = s.add("Mul", "i0", s.like_first(s.attribute("alpha", 1.702)))
    return s.done(s.add("Mul", "i0", s.add("Sigmoid", scaled)))


def fused_matmul(node, arrays):
    s = Steps(node, arrays)
    operands = []
    for i, side in enumerate("AB"):
        rank = arrays[i].ndim
        order = list(range(rank))
        if s.attribute(f"transBatch{side}"):
            order = [*order[1:-1], 0, order[-1]]
        if s.attribute(f"trans{side}"):
            order[-2:] = order[:-3:-1]
        operands.append(s.add("Transpose", f"i{i}", perm=order))
    product = s.add("MatMul", *operands)
    return s.done(s.add("Mul", product, s.like_first(s.attribute("alpha", 1.0))))


def group_norm(node, arrays):
    """An InstanceNormalization of groups of channels, and a scale and a bias."""
    s = Steps(node, arrays)
    n, channels, *places = arrays[0].shape
    groups = s.attribute("num_groups")
    one, zero = (s.constant(np.full(groups, value, arrays[0].dtype)) for value in (1, 0))
    members = s.add("Reshape", "i0", s.constant([n, groups, -1]))
    members = s.add("InstanceNormalization", members, one, zero, epsilon=s.attribute("epsilon"))
    y = s.add("Reshape", members, s.constant([n, -1, channels // arrays[1].size, *places]))
    spread = s.constant([-1] + [1] * (len(places) + 1))
    y = s.add("Mul", y, s.add("Reshape", "i1", spread))
    y = s.add("Add", y, s.add("Reshape", "i2", spread))
    return s.done(s.add("Reshape", y, s.constant(arrays[0].shape)))


def skip_norm(norm, bias):
    """NORM of the sum of input, skip and bias (input number BIAS), and that sum as output 3."""
    def meaning(node, arrays):
        s = Steps(node, arrays)
        total = s.add("Add", "i0", "i1")
        total = s.add("Add", total, f"i{bias}") if s.has(bias) else total
        parameters = [f"i{i}" if s.has(i) else "" for i in range(2, bias)]
        s.add(norm, total, *parameters, made=["o0"], epsilon=s.attribute("epsilon", 1e-12), axis=-1)
        s.add("Identity", total, made=["o3"])
        return s.nodes, s.constants
    return meaning


def simplified_norm(node, arrays):
    s = Steps(node, arrays)
    return s.done(s.add("RMSNormalization", "i0", "i1", epsilon=s.attribute("epsilon"), axis=s.attribute("axis"),
                        stash_type=s.attribute("stash_type")))


def activated(s, value):
    name, parameters = s.attribute("activation"), s.attribute("activation_params", [])
    if name is None:
        return value
    if name == "Clip":
        return s.add("Clip", value, *(s.like_first(limit) for limit in parameters))
    return s.add(name, value, **dict(zip(("alpha", "beta"), parameters)))


def conv(channels_last):
    """activation(Conv(X, W, B) + Z)"""
    def meaning(node, arrays):
        s = Steps(node, arrays)
        x = s.add("Transpose", "i0", perm=[0, 3, 1, 2]) if channels_last else "i0"
        window = {name: value for name, value in node.attributes.items() if not name.startswith("activation")}
        value = s.add("Conv", x, "i1", "i2" if s.has(2) else "", **window)
        if s.has(3):
            value = s.add("Add", value, s.add("Transpose", "i3", perm=[0, 3, 1, 2]) if channels_last else "i3")
        value = activated(s, value)
        return s.done(s.add("Transpose", value, perm=[0, 2, 3, 1]) if channels_last else value)
    return meaning


def _projections(s):
    """Queries, keys and values as (batch, length, heads * size), each with its part of the bias."""
    def unpacked(i, part):
        n, length, heads, _, size = s.arrays[i].shape
        return s.add("Reshape", s.add("Gather", f"i{i}", s.constant(part), axis=3),
                     s.constant([n, length, heads * size]))

    def flat(i):
        n, heads, length, size = s.arrays[i].shape
        return s.add("Reshape", s.add("Transpose", f"i{i}", perm=[0, 2, 1, 3]),
                     s.constant([n, length, heads * size]))
    if s.arrays[0].ndim == 5:
        return [unpacked(0, part) for part in range(3)], 3
    if s.arrays[1].ndim == 5:
        return ["i0", unpacked(1, 0), unpacked(1, 1)], 3
    if s.arrays[1].ndim == 4:
        return ["i0", flat(1), flat(2)], 1
    return ["i0", "i1", "i2"], 3


def multi_head_attention(node, arrays):
    s = Steps(node, arrays)
    parts, biased = _projections(s)
    if s.has(3):
        size = arrays[0].shape[-1] * (s.attribute("num_heads") if arrays[0].ndim == 5 else 1)
        cuts = [0, size, 2 * size, arrays[3].size]
        for i in range(biased):
            bias = s.add("Slice", "i3", s.constant([cuts[i]]), s.constant([cuts[i + 1]]))
            parts[i] = s.add("Add", parts[i], bias)
    mask = "i5" if s.has(5) else ""
    if s.has(4):
        counts = s.constant(arrays[4][:, None, None, :] != 0)
        padding = s.add("Where", counts, s.like_first(0), s.like_first(s.attribute("mask_filter_value", -10000.0)))
        mask = s.add("Add", padding, mask) if mask else padding
    heads = s.attribute("num_heads")
    past = ["i6", "i7"] if s.has(6) else []
    s.add("Attention", *parts, mask, *past, made=[f"o{i}" for i in range(len(node.outputs))], q_num_heads=heads,
          kv_num_heads=heads, is_causal=s.attribute("unidirectional"), scale=s.attribute("scale") or None)
    return s.nodes, s.constants


def real(s, i):
    """The dequantised input I; its scale and zero point follow it."""
    return s.add("DequantizeLinear", f"i{i}", f"i{i + 1}", f"i{i + 2}" if s.has(i + 2) else "")


def quantised(op, operands):
    """QuantizeLinear(OP(dequantised operands)); the output's scale and zero point follow them."""
    def meaning(node, arrays):
        s = Steps(node, arrays)
        turns = s.attribute("channels_last")
        rank = arrays[0].ndim
        attributes = {name: value for name, value in node.attributes.items() if name != "channels_last"}
        values = [real(s, 3 * i) for i in range(operands)]
        if turns:
            values = [s.add("Transpose", value, perm=[0, rank - 1, *range(1, rank - 1)]) for value in values]
        value = s.add(op, *values, **attributes)
        if turns:
            value = s.add("Transpose", value, perm=[0, *range(2, rank), 1])
        scale = 3 * operands
        return s.done(s.add("QuantizeLinear", value, f"i{scale}", f"i{scale + 1}"))
    return meaning


def quantised_concat(node, arrays):
    s = Steps(node, arrays)
    values = [real(s, i) for i in range(2, len(arrays), 3)]
    return s.done(s.add("QuantizeLinear", s.add("Concat", *values, axis=s.attribute("axis")), "i0", "i1"))


def quantised_softmax(node, arrays):
    """Before opset 13, Softmax normalized over all dimensions from its axis on."""
    s = Steps(node, arrays)
    shape, axis = arrays[0].shape, s.attribute("axis", -1)
    value = real(s, 0)
    if s.attribute("opset") < 13:
        rows = int(np.prod(shape[:axis % len(shape)]))
        value = s.add("Reshape", value, s.constant([rows, arrays[0].size // rows]))
        value = s.add("Reshape", s.add("Softmax", value, axis=1), s.constant(np.asarray(shape, "int64")))
    else:
        value = s.add("Softmax", value, axis=axis)
    return s.done(s.add("QuantizeLinear", value, "i3", "i4"))


def quantised_gemm(node, arrays):
    s = Steps(node, arrays)
    a, b = (s.add("Transpose", f"i{i}", perm=[1, 0]) if s.attribute(name) else f"i{i}"
            for i, name in ((0, "transA"), (3, "transB")))
    total = s.add("MatMulInteger", a, b, "i2", "i5")
    total = s.add("Add", total, "i6") if s.has(6) else total
    scale = s.add("Mul", s.add("Mul", "i1", "i4"), s.constant(np.float32(s.attribute("alpha", 1.0))))
    value = s.add("Mul", s.add("Cast", total, to=1), scale)
    return s.done(s.add("QuantizeLinear", value, "i7", "i8") if s.has(7) else value)


def channels_last(op):
    """OP of channels-last tensors, always or if the node's attribute is set."""
    def meaning(node, arrays):
        s = Steps(node, arrays)
        attributes = {name: value for name, value in node.attributes.items() if name != "channels_last"}
        others = [f"i{i}" if s.has(i) else "" for i in range(1, len(arrays))]
        if not s.attribute("channels_last", 1 if op == "MaxPool" else 0):
            return s.done(s.add(op, "i0", *others, **attributes))
        value = s.add(op, s.add("Transpose", "i0", perm=[0, 3, 1, 2]), *others, **attributes)
        return s.done(s.add("Transpose", value, perm=[0, 2, 3, 1]))
    return meaning


def batch_norm(node, arrays):
    """The batch's statistics and the running ones, in training mode; else None."""
    if not node.attributes.get("training_mode"):
        return None
    s = Steps(node, arrays)
    x, scale, bias, mean, variance = arrays
    axes = s.constant([axis for axis in range(x.ndim) if axis != 1])
    spread = s.constant([1, -1] + [1] * (x.ndim - 2))
    now = s.add("ReduceMean", "i0", axes)
    apart = s.add("Sub", "i0", now)
    around = s.add("ReduceMean", s.add("Mul", apart, apart), axes)
    deviation = s.add("Sqrt", s.add("Add", around, s.like_first(s.attribute("epsilon", 1e-5))))
    scaled = s.add("Mul", s.add("Div", apart, deviation), s.add("Reshape", "i1", spread))
    y = s.add("Add", scaled, s.add("Reshape", "i2", spread))
    momentum = np.float32(s.attribute("momentum", 0.9))
    running = []
    for i, (old, current) in enumerate(((mean, now), (variance, around)), 3):
        kept = s.add("Mul", f"i{i}", s.constant(np.asarray(momentum, old.dtype)))
        added = s.add("Mul", s.add("Reshape", current, s.constant([-1])),
                      s.constant(np.asarray(1 - momentum, old.dtype)))
        running.append(s.add("Add", kept, added))
    return s.done(y, *running)
