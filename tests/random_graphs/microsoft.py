"""Rules that generate ONNX Runtime's own operators in the forms of its optimiser and its quantiser."""
import numpy as np

from layers import per_channel, some_keys
from movement import axis_of
from products import (INT8, SMALL, bytes_like, constant_or_not, convolution_weights, group_attribute, image,
                      drop_ceil_mode_beyond, small_scale, window, window_output, zero_point)

FLOAT32 = np.dtype("float32")
GELU = (-30, 30)


def quick_gelu(d):
    return d.node([d.pick(d.element_type(), within=GELU)], **d.attributes())


def fast_gelu(d):
    dtype = d.element_type()
    x = d.pick(dtype, least=1, within=GELU, fits=lambda s: 0 not in s)
    return d.node([x, d.pick(dtype, d.dims(x)[-1:], within=SMALL) if d.chance(0.5) else ""])


def bias_gelu(d):
    dtype = d.element_type()
    x = d.pick(dtype, least=2, within=GELU, fits=lambda s: 0 not in s)
    return d.node([x, d.pick(dtype, d.dims(x)[-1:], within=SMALL)])


def fused_matmul(d):
    dtype, attributes = d.element_type(), d.attributes()
    m, k, n = d.integer(1, 9), d.integer(1, 17), d.integer(1, 9)
    lead = tuple(d.integer(1, 3) for _ in range(d.integer(1, 2)))
    turns = [bool(attributes.get(f"transBatch{side}")) for side in "AB"]
    if not any(turns) and d.chance(0.5):
        lead = ()

    def shape(rows, columns, is_turned, has_turned_batch):
        matrix = (columns, rows) if is_turned else (rows, columns)
        return (*lead[1:], matrix[0], lead[0], matrix[1]) if has_turned_batch else (*lead, *matrix)
    a = d.pick(dtype, shape(m, k, attributes.get("transA"), turns[0]), within=SMALL)
    b = shape(k, n, attributes.get("transB"), turns[1])
    b = d.pick(dtype, b if turns[1] or d.chance(0.5) else b[-2:], within=SMALL, role=constant_or_not(d))
    return d.node([a, b], **attributes)


def skip_layer_norm(d):
    dtype = d.element_type()
    dims = (d.integer(1, 2), d.integer(1, 5), d.choose((4, 8, 16)))
    inputs = [d.pick(dtype, dims, within=GELU) for _ in range(2)]
    has_beta = d.row.op == "SkipLayerNormalization"
    for _ in range(3 if has_beta else 2):
        inputs.append(d.pick(dtype, dims[-1:], within=(-2, 2), role="initializer"))
    for i in range(3, len(inputs)):
        inputs[i] = inputs[i] if d.chance(0.6) else ""
    return d.node(inputs, d.choose((1, (True, False, False, True))), **d.attributes())


def simplified_layer_norm(d):
    dtype = d.element_type()
    x = d.pick(dtype, least=1, within=GELU, fits=lambda s: 0 not in s)
    axis, given = axis_of(d, len(d.dims(x)), default=-1)
    return d.node([x, d.pick(dtype, d.dims(x)[axis:], within=(-2, 2), role=constant_or_not(d))], **d.attributes(),
                  **({} if given is None else {"axis": given}))


def activation(d):
    """The attributes of a fused activation."""
    name = d.choose((None, "Relu", "Tanh", "Sigmoid", "LeakyRelu", "Clip", "HardSigmoid"))
    d.note("activation", name or "absent")
    parameters = {"LeakyRelu": [0.2], "Clip": [-0.5, 1.5], "HardSigmoid": [0.3, 0.4]}.get(name)
    attributes = {} if name is None else {"activation": name}
    return attributes | ({} if parameters is None else {"activation_params": parameters})


def convolved(d, channels_last):
    dtype = d.element_type()
    x = image(d, dtype, rank=2)
    weights, group, kernel, outputs = convolution_weights(d, x, dtype)
    n, _, *spatial = d.dims(x)
    attributes = window(d, spatial, kernel) | {"kernel_shape": kernel}
    sizes = [outputs, *window_output(attributes, spatial, kernel)]
    if channels_last:
        x = d.leaf(np.moveaxis(d.array(x), 1, -1), "input")
        sizes = [*sizes[1:], sizes[0]]
    if d.chance(0.3):
        del attributes["kernel_shape"]
    d.note("kernel_shape", "given" if "kernel_shape" in attributes else "absent")
    bias = per_channel(d, dtype, outputs) if d.chance(0.7) else ""
    return [x, weights, bias], attributes | group_attribute(d, group), (n, *sizes)


def fused_conv(channels_last):
    def rule(d):
        inputs, attributes, shape = convolved(d, channels_last)
        added = d.pick(d.dtype(inputs[0]), shape, within=SMALL) if d.chance(0.4) else ""
        return d.node([*inputs, added], **attributes, **activation(d))
    return rule


def nhwc_conv(d):
    inputs, attributes, _ = convolved(d, True)
    return d.node(inputs, **attributes)


def multi_head_attention(d):
    dtype, attributes = d.element_type(), d.attributes()
    n, heads, size = d.integer(1, 2), d.integer(1, 3), d.choose((2, 4, 8))
    length = d.integer(1, 5)
    # The alignment of keys and queries is defined only for equal numbers of both.
    form = d.choose(("apart", "apart", "packed", "keys and values packed", "keys and values done"))
    total = length if form == "packed" or attributes.get("unidirectional") else d.integer(1, 6)
    v_size = d.choose((size, 3)) if form == "apart" else size
    d.note("form", form)

    def pick(*shape):
        return d.pick(dtype, shape, within=(-3, 3))
    inputs = {"apart": lambda: [pick(n, length, heads * size), pick(n, total, heads * size),
                                pick(n, total, heads * v_size)],
              "packed": lambda: [pick(n, length, heads, 3, size), "", ""],
              "keys and values packed": lambda: [pick(n, length, heads * size), pick(n, total, heads, 2, size), ""],
              "keys and values done": lambda: [pick(n, length, heads * size), pick(n, heads, total, size),
                                               pick(n, heads, total, size)]}[form]()
    bias = pick(heads * (2 * size + v_size)) if d.chance(0.4) else ""
    past = d.integer(1, 3) if form == "apart" and d.chance(0.25) else 0
    every = total + past
    padding = d.leaf(some_keys(d, (n, every)).astype("int32"), "input") if d.chance(0.3) else ""
    added = pick(d.choose((1, n)), d.choose((1, heads)), length, every) if d.chance(0.3) else ""
    before = [pick(n, heads, past, size), pick(n, heads, past, v_size)] if past else []
    outputs = (True, True, True) if past and d.chance(0.7) else 1
    return d.node([*inputs, bias, padding, added, *before], outputs, num_heads=heads, **attributes)


# Quantised tensors

def points(d, dtype, may_be_absent=True):
    """(scale, zero point).  ONNX Runtime's process aborts if a node's last one is absent."""
    return small_scale(d), "" if may_be_absent and d.chance(0.2) else zero_point(d, dtype)


def quantised_pair(d):
    """QLinearAdd and QLinearMul: shapes that broadcast."""
    dtype = d.element_type()
    shape = d.shape(least=1, most=4)
    other = tuple(n if d.chance(0.7) else 1 for n in shape)
    a, b = bytes_like(d, dtype, shape, "input"), bytes_like(d, dtype, other, d.choose(("input", "initializer")))
    scale = d.leaf(np.float32(d.rng.uniform(0.05, 0.3)), "initializer")
    return d.node([a, *points(d, dtype), b, *points(d, dtype), scale, zero_point(d, dtype)])


def quantised_unary(d):
    dtype = d.element_type()
    return d.node([bytes_like(d, dtype, d.shape(least=1), "input"), *points(d, dtype),
                   *points(d, dtype, False)], **d.attributes())


def quantised_concat(d):
    dtype = d.type_for(1)
    dims = list(d.shape(least=1, most=4))
    axis, given = axis_of(d, len(dims))
    inputs = [*points(d, dtype, False)]
    for _ in range(d.integer(1, 4)):
        dims[axis] = d.integer(1, 5)
        inputs += [bytes_like(d, dtype, dims), *points(d, dtype, False)]
    return d.node(inputs, axis=given)


def laid_out(d, dtype, attributes, rank=2):
    """(a quantised image, its spatial sizes), channels where channels_last says."""
    channels, spatial = d.choose((1, 2, 3, 8)), [d.integer(3, 8) for _ in range(rank)]
    dims = (*spatial, channels) if attributes.get("channels_last") else (channels, *spatial)
    return bytes_like(d, dtype, (d.integer(1, 2), *dims), "input"), spatial


def quantised_pool(d):
    dtype, attributes = d.element_type(), d.attributes()
    x, spatial = laid_out(d, dtype, attributes)
    kernel = [d.integer(1, min(3, n)) for n in spatial]
    attributes |= window(d, spatial, kernel, has_dilations=False) | {"kernel_shape": kernel}
    drop_ceil_mode_beyond(d, attributes, spatial, kernel)
    return d.node([x, *points(d, dtype), *points(d, dtype, False)], **attributes)


def quantised_global_pool(d):
    dtype, attributes = d.element_type(), d.attributes()
    x, _ = laid_out(d, dtype, attributes, rank=d.choose((1, 2, 2, 3)))
    return d.node([x, *points(d, dtype, False), *points(d, dtype, False)], **attributes)


def quantised_softmax(d):
    dtype, attributes = d.element_type(), d.attributes()
    x = bytes_like(d, dtype, [max(n, 1) for n in d.shape(least=1, most=4)], "input")
    _, given = axis_of(d, len(d.dims(x)), default=-1)
    # As the quantiser chooses them, and others, from the least number on.
    scale = d.leaf(np.float32(d.choose((1 / 256, 1 / 256, 1 / 128, 0.01))), "initializer")
    least = d.leaf(np.asarray(np.iinfo(dtype).min, dtype), "initializer")
    return d.node([x, *points(d, dtype), scale, least], **attributes,
                  **({} if given is None else {"axis": given}))


def quantised_gemm(d):
    a_type, attributes = d.element_type(), d.attributes()
    b_type = INT8 if a_type == INT8 else d.type_for(3)
    m, k, n = d.integer(1, 7), d.integer(1, 17), d.integer(1, 9)
    columns = (n,) if d.chance(0.3) else ()
    a = bytes_like(d, a_type, (k, m) if attributes.get("transA") else (m, k), "input")
    b = bytes_like(d, b_type, (n, k) if attributes.get("transB") else (k, n), "initializer")
    c = d.leaf(d.rng.integers(-500, 500, d.choose(((n,), (1, n), (m, n)))).astype("int32"), "initializer")
    inputs = [a, small_scale(d), zero_point(d, a_type), b, small_scale(d, columns), zero_point(d, b_type, columns)]
    inputs.append(c if d.chance(0.6) else "")
    if d.type_for(0, among=[FLOAT32, a_type], is_output=True) == a_type:
        inputs += [d.leaf(np.float32(d.rng.uniform(0.5, 2)), "initializer"), zero_point(d, a_type)]
    return d.node(inputs, **attributes)


def nhwc_max_pool(d):
    dtype, attributes = d.element_type(), d.attributes()
    x, spatial = laid_out(d, dtype, {"channels_last": 1})
    kernel = [d.integer(1, min(3, n)) for n in spatial]
    attributes |= window(d, spatial, kernel) | {"kernel_shape": kernel}
    drop_ceil_mode_beyond(d, attributes, spatial, kernel)
    return d.node([x], **attributes)
