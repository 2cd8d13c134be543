"""Rules that generate sums: GEMMs, windows, reductions, and their quantised forms."""
import math

import numpy as np
from onnx import helper

from case import FLOATS, is_float
from draft import Impossible
from movement import axes_argument, axis_of, some_axes

SMALL = (-4, 4)
AUTO_PADS = ("NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID")


def constant_or_not(d):
    return d.choose(("initializer", "initializer", "initializer", "input"))


def matmul(d):
    dtype = d.element_type()
    a = d.pick(dtype, least=1, most=4, within=SMALL, fits=lambda s: 0 not in s)
    dims = d.dims(a)
    if len(dims) == 1 or d.chance(0.1):
        shape = (dims[-1],) if d.chance(0.3) else (dims[-1], d.integer(1, 9))
    else:
        lead = [n if d.chance(0.6) else 1 for n in dims[:-2]][d.choose((0, 0, len(dims) - 2)):]
        shape = (*lead, dims[-1], d.integer(1, 17))
    return d.node([a, d.pick(dtype, shape, within=SMALL, role=constant_or_not(d))])


def gemm(d):
    dtype = d.element_type()
    a = d.pick(dtype, rank=2, within=SMALL, fits=lambda s: 0 not in s)
    attributes = d.attributes()
    if not is_float(dtype):
        attributes.pop("alpha", None)
        attributes.pop("beta", None)
    m, k = d.dims(a)[::-1] if attributes.get("transA") else d.dims(a)
    n = d.integer(1, 17)
    b = d.pick(dtype, (n, k) if attributes.get("transB") else (k, n), within=SMALL, role=constant_or_not(d))
    shapes = [(n,), (1, n), (m, n), (m, 1), (1,), ()]
    c = d.pick(dtype, d.choose(shapes), within=SMALL) if d.opset < 11 or d.chance(0.75) else ""
    return d.node([a, b, c], **attributes)


def einsum(d):
    dtype = d.element_type()
    sizes = {letter: d.integer(1, 5) for letter in "abcdeijk"}
    equation = d.choose(("ij,jk->ik", "bij,bjk->bik", "bij,bkj->bik", "ij->ji", "ij->i", "ij->", "ii->i", "ii",
                         "i,j->ij",
                         "i,i->", "bi,bi->b", "abcd,abde->abce", "ij,jk", "...ij,...jk->...ik", "bij,jk->bik",
                         "bhid,bhjd->bhij".replace("h", "e"), "ij,ij->ij", "ij,jk,ka->ia", "abc->cab"))
    d.note("equation", equation)
    names = [d.pick(dtype, tuple(sizes[c] for c in term.replace("...", "ab" if "..." in term else "")), within=(-3, 3))
             for term in equation.split("->")[0].split(",")]
    return d.node(names, equation=equation)


def window(d, spatial, kernel, has_dilations=True):
    """Attributes of a sliding window that fits into SPATIAL, and its derived sizes."""
    rank = len(spatial)
    strides = [d.choose((1, 1, 2, 3)) for _ in range(rank)]
    dilations = [d.choose((1, 1, 1, 2)) if has_dilations else 1 for _ in range(rank)]
    auto_pad = d.choose((None, None, *AUTO_PADS))
    attributes = {"strides": strides if d.chance(0.8) else None, "dilations": dilations if has_dilations else None}
    if attributes["strides"] is None:
        strides = [1] * rank
    reach = [(k - 1) * s + 1 for k, s in zip(kernel, dilations)]
    pads = [d.integer(0, k - 1) if d.chance(0.6) else 0 for k in [*kernel, *kernel]]
    if auto_pad in (None, "NOTSET"):
        if any(n + a + b < r for n, a, b, r in zip(spatial, pads, pads[rank:], reach)):
            raise Impossible("the window is larger than the image")
        attributes["pads"] = pads if d.chance(0.7) else None
        if attributes["pads"] is None and any(n < r for n, r in zip(spatial, reach)):
            raise Impossible("the window is larger than the image")
        d.note("pads", "absent" if attributes["pads"] is None else
               "symmetric" if pads[:rank] == pads[rank:] else "asymmetric")
    elif auto_pad == "VALID" and any(n < r for n, r in zip(spatial, reach)):
        raise Impossible("the window is larger than the image")
    elif auto_pad.startswith("SAME") and any((-(-n // s) - 1) * s + k < n for n, s, k in zip(spatial, strides, kernel)):
        raise Impossible("padding would be negative, of which the standard says nothing")
    elif auto_pad.startswith("SAME") and max(dilations) > 1:
        # Older versions do not define SAME with dilations.
        attributes["dilations"] = [1] * rank
    attributes["auto_pad"] = auto_pad
    d.note("auto_pad", auto_pad or "absent")
    d.note("strides", "absent" if attributes["strides"] is None else "one" if max(strides) == 1 else "more")
    d.note("dilations", "absent" if not has_dilations else "one" if max(attributes["dilations"]) == 1 else "more")
    return {name: value for name, value in attributes.items() if value is not None}


def window_output(attributes, spatial, kernel):
    """The number of window positions, axis by axis, in whole steps."""
    rank = len(spatial)
    strides, dilations = (attributes.get(name, [1] * rank) for name in ("strides", "dilations"))
    pads, auto_pad = attributes.get("pads", [0] * 2 * rank), attributes.get("auto_pad", "NOTSET")
    if auto_pad.startswith("SAME"):
        return [-(-n // s) for n, s in zip(spatial, strides)]
    return [(n + a + b - (k - 1) * l - 1) // s + 1
            for n, a, b, k, l, s in zip(spatial, pads, pads[rank:], kernel, dilations, strides)]


def drop_ceil_mode_beyond(d, attributes, spatial, kernel):
    """Only windows that start in the image or its left padding count; engines differ about others."""
    if not attributes.get("ceil_mode"):
        return
    rank = len(spatial)
    if attributes.get("auto_pad", "NOTSET") != "NOTSET":
        del attributes["ceil_mode"]
        return
    strides, dilations = (attributes.get(name, [1] * rank) for name in ("strides", "dilations"))
    pads = attributes.get("pads", [0] * 2 * rank)
    for n, k, s, l, a, b in zip(spatial, kernel, strides, dilations, pads, pads[rank:]):
        count = -(-(n + a + b - (k - 1) * l - 1) // s) + 1
        if (count - 1) * s >= n + a:
            raise Impossible("the last window lies outside")


def image(d, dtype, channels=None, rank=None, within=SMALL, **limits):
    rank = rank or d.choose((1, 2, 2, 2, 3))
    low = 2 if rank < 3 else 2

    def fits(s):
        return len(s) == rank + 2 and 0 not in s and min(s[2:]) >= low and (channels is None or s[1] == channels)
    if d.chance(0.6):
        try:
            return d.pick(dtype, within=within, fits=fits, fresh=0.0, **limits)
        except Impossible:
            pass
    sizes = (2, 3, 5, 7, 8, 9, 12, 16) if rank < 3 else (2, 3, 4, 5)
    return d.pick(dtype, (d.integer(1, 2), channels or d.choose((1, 2, 3, 4, 6, 8, 16)),
                          *[d.choose(sizes) for _ in range(rank)]), within=within, fresh=1.0, **limits)


def convolution_weights(d, x, dtype, within=(-1, 1)):
    """(weights, group, kernel, output channels)"""
    channels = d.dims(x)[1]
    kernel = [d.choose((1, 1, 2, 3, 3, 5)) if d.chance(0.5) else d.choose((1, 3)) for _ in d.dims(x)[2:]]
    group = d.choose([g for g in range(1, channels + 1) if channels % g == 0]) if d.chance(0.4) else 1
    d.note("group", "one" if group == 1 else "depthwise" if group == channels else "some")
    outputs = group * d.choose((1, 1, 2, 4) if group > 1 else (1, 2, 3, 5, 8, 16))
    weights = d.pick(dtype, (outputs, channels // group, *kernel), within=within, role=constant_or_not(d))
    return weights, group, kernel, outputs


def group_attribute(d, group):
    return {} if group == 1 and d.chance(0.5) else {"group": group}


def conv(d):
    dtype = d.element_type()
    x = image(d, dtype)
    weights, group, kernel, outputs = convolution_weights(d, x, dtype)
    attributes = window(d, d.dims(x)[2:], kernel)
    if d.chance(0.7):
        attributes["kernel_shape"] = kernel
    d.note("kernel_shape", "given" if "kernel_shape" in attributes else "absent")
    bias = d.pick(dtype, (outputs,), within=SMALL, role=constant_or_not(d)) if d.chance(0.6) else ""
    return d.node([x, weights, bias], **attributes, **group_attribute(d, group))


def conv_transpose(d):
    dtype = d.element_type()
    x = image(d, dtype)
    channels, rank = d.dims(x)[1], len(d.dims(x)) - 2
    group = d.choose([g for g in range(1, channels + 1) if channels % g == 0]) if d.chance(0.4) else 1
    d.note("group", "one" if group == 1 else "depthwise" if group == channels else "some")
    outputs = d.choose((1, 2, 3, 4))
    kernel = [d.choose((1, 2, 3, 4)) for _ in range(rank)]
    weights = d.pick(dtype, (channels, outputs, *kernel), within=(-1, 1), role=constant_or_not(d))
    strides = [d.choose((1, 2, 2, 3)) for _ in range(rank)]
    dilations = [d.choose((1, 1, 1, 2)) for _ in range(rank)]
    attributes = {"strides": strides, "dilations": dilations}
    for name in ("strides", "dilations"):
        if set(attributes[name]) == {1} and d.chance(0.6):
            del attributes[name]
    way = d.choose(("pads", "none", "SAME_UPPER", "SAME_LOWER", "VALID", "output_shape"))
    full = [s * (n - 1) + (k - 1) * l + 1 for s, n, k, l in zip(strides, d.dims(x)[2:], kernel, dilations)]
    d.note("auto_pad", way if way.isupper() else "absent")
    d.note("output_shape", "given" if way == "output_shape" else "absent")
    d.note("pads", "given" if way == "pads" else "absent")
    d.note("output_padding", "absent")
    if way == "pads":
        pads = [d.integer(0, (f - 1) // 2 if f < 5 else min(2, k)) for f, k in zip(full + full, kernel + kernel)]
        attributes["pads"] = pads
        if d.chance(0.4):
            attributes["output_padding"] = [d.integer(0, max(s, l) - 1) for s, l in zip(strides, dilations)]
            d.note("output_padding", "given")
    elif way == "output_shape":
        if d.opset < 11:
            raise Impossible("the checker takes it for the whole shape there")
        # The checker rejects an output that is smaller than its input.
        attributes["output_shape"] = [d.integer(max(n, f - 2), max(n, f)) for n, f in zip(d.dims(x)[2:], full)]
        if any(n > f for n, f in zip(attributes["output_shape"], full)):
            raise Impossible("padding would be negative")
    elif way != "none":
        attributes["auto_pad"] = way
        if way != "VALID" and any((k - 1) * l + 1 < s for k, l, s in zip(kernel, dilations, strides)):
            raise Impossible("padding would be negative")
    if d.chance(0.7):
        attributes["kernel_shape"] = kernel
    bias = d.pick(dtype, (group * outputs,), within=SMALL, role=constant_or_not(d)) if d.chance(0.5) else ""
    return d.node([x, weights, bias], **attributes, **group_attribute(d, group))


def pool(d, has_dilations=False, outputs=1, within=(-1e4, 1e4)):
    x = image(d, d.element_type(), within=within)
    spatial = d.dims(x)[2:]
    kernel = [d.integer(1, min(3, n)) for n in spatial]
    attributes = window(d, spatial, kernel, has_dilations and d.has_attribute("dilations"))
    attributes |= {"kernel_shape": kernel} | d.attributes()
    drop_ceil_mode_beyond(d, attributes, spatial, kernel)
    return d.node([x], outputs, **attributes)


def average_pool(d):
    return pool(d, has_dilations=True)


def max_pool(d):
    return pool(d, True, d.choose((1, 1, 1, 2)) if d.opset >= 8 else 1)


def lp_pool(d):
    return pool(d, has_dilations=True, within=(-30, 30))


def global_pool(d):
    return d.node([image(d, d.element_type(), within=(-100, 100))], **d.attributes())


def reduce(within=(-100, 100)):
    def rule(d):
        x = d.pick(d.element_type(), within=within, fits=lambda s: 0 not in s)
        rank = len(d.dims(x))
        attributes = d.attributes()
        way = d.choose(("absent", "given", "given", "given", "empty"))
        if d.has_attribute("axes") and (way == "empty" or rank == 0):
            way = "absent"
        d.note("axes", way)
        axes = {"absent": None, "empty": []}.get(way, some_axes(d, rank) if rank else [])
        return axes_argument(d, x, axes, attributes)
    return rule


def arg_reduce(d):
    x = d.pick(d.element_type(), least=1, within=(-1e4, 1e4), fits=lambda s: 0 not in s)
    _, given = axis_of(d, len(d.dims(x)), can_be_negative=d.opset >= 11, default=0)
    return d.node([x], **d.attributes(), **({} if given is None else {"axis": given}))


def along_axis(default, within=(-20, 20), least=1):
    def rule(d):
        x = d.pick(d.element_type(), least=least, within=within, fits=lambda s: 0 not in s)
        usual = default(d.opset) if callable(default) else default
        _, given = axis_of(d, len(d.dims(x)), can_be_negative=d.opset >= 11, default=usual)
        return d.node([x], **d.attributes(), **({} if given is None else {"axis": given}))
    return rule


def cumulate(d):
    x = d.pick(d.element_type(), least=1, within=(-4, 4), fits=lambda s: 0 not in s)
    axis = d.integer(-len(d.dims(x)), len(d.dims(x)) - 1)
    axis = d.leaf(np.asarray(axis, d.choose(("int64", "int32"))), "initializer")
    return d.node([x, axis], **d.attributes())


def terms_of_window(node, values):
    """The largest number of products in one element of a convolution."""
    return math.prod(values[1].array.shape[1:]) + 2 if node.op != "ConvTranspose" else \
        values[1].array.shape[0] * math.prod(values[1].array.shape[2:]) + 2


def terms_of_matrix(node, values):
    shape = values[1].array.shape
    return max(shape[-2:], default=1) + 2


def terms_of_scatter(node, values):
    """The number of updates per element, plus the original; 0 if they replace it."""
    if node.attributes.get("reduction", "none") not in ("add", "mul"):
        return 0
    at, shape = values[1].array.astype("int64"), values[0].array.shape
    counts = np.zeros(shape)
    if node.op == "ScatterND":
        np.add.at(counts, tuple(np.moveaxis(at, -1, 0)), 1)
    else:
        places = list(np.indices(at.shape))
        places[node.attributes.get("axis", 0)] = at
        np.add.at(counts, tuple(places), 1)
    return int(counts.max()) + 1


def terms_of_inputs(node, values):
    return len(values) + 1


def terms_of_all(node, values):
    return values[0].array.size + 2


def terms_of_kernel(node, values):
    return math.prod(node.attributes["kernel_shape"]) + 2


def terms_of_einsum(node, values):
    return math.prod(max(v.array.shape, default=1) for v in values) + len(values)


# Quantised GEMMs and convolutions

def small_scale(d, shape=(), dtype=np.dtype("float32")):
    return d.leaf(d.rng.uniform(0.01, 0.1, shape).astype(dtype), "initializer")


def zero_point(d, dtype, shape=()):
    info = np.iinfo(dtype)
    return d.leaf(d.rng.integers(info.min // 4, info.max // 2, shape).astype(dtype), "initializer")


def bytes_like(d, dtype, shape, role=None):
    info = np.iinfo(dtype)
    return d.leaf(d.rng.integers(info.min, info.max + 1, shape).astype(dtype), role)


INT8, UINT8 = np.dtype("int8"), np.dtype("uint8")


def matmul_integer(d):
    a_type, b_type = d.element_type(0), d.type_for(1)
    k = d.integer(1, 17)
    lead = tuple(d.integer(1, 3) for _ in range(d.integer(0, 2)))
    a = bytes_like(d, a_type, (*lead, d.integer(1, 7), k), "input")
    b = bytes_like(d, b_type, (k, d.integer(1, 9)), constant_or_not(d))
    points = [zero_point(d, a_type) if d.chance(0.6) else "", zero_point(d, b_type) if d.chance(0.6) else ""]
    d.note("zero_points", "both" if all(points) else "some" if any(points) else "none")
    return d.node([a, b, *points])


def conv_integer(d):
    x_type, w_type = d.element_type(0), d.type_for(1)
    x = bytes_like(d, x_type, (1, d.choose((1, 2, 3, 4)), d.integer(3, 8), d.integer(3, 8)), "input")
    channels = d.dims(x)[1]
    group = channels if d.chance(0.3) else 1
    kernel = [d.choose((1, 2, 3)), d.choose((1, 2, 3))]
    w = bytes_like(d, w_type, (group * d.integer(1, 4), channels // group, *kernel), "initializer")
    attributes = window(d, d.dims(x)[2:], kernel) | group_attribute(d, group)
    if d.chance(0.5):
        attributes["kernel_shape"] = kernel
    points = [zero_point(d, x_type) if d.chance(0.6) else "", zero_point(d, w_type) if d.chance(0.6) else ""]
    d.note("zero_points", "both" if all(points) else "some" if any(points) else "none")
    return d.node([x, w, *points], **attributes)


def qlinear_matmul(d):
    a_type = d.type_for(0)
    b_type = INT8 if a_type == INT8 else d.choose((INT8, UINT8))
    y_type = a_type
    # Since version 21 scales may have a narrower type.
    scale_type = d.type_for(1) if d.schema.inputs[1].type_str == "TS" else np.dtype("float32")
    k, n = d.integer(1, 17), d.integer(1, 9)
    per_column = (n,) if d.chance(0.3) else ()
    a = bytes_like(d, a_type, (d.integer(1, 7), k), "input")
    b = bytes_like(d, b_type, (k, n), "initializer")
    d.note("b_scale", "per column" if per_column else "one")
    y_scale = d.leaf(np.asarray(d.rng.uniform(0.5, 2), scale_type), "initializer")
    return d.node([a, small_scale(d, (), scale_type), zero_point(d, a_type), b, small_scale(d, per_column, scale_type),
                   zero_point(d, b_type, per_column), y_scale, zero_point(d, y_type)])


def qlinear_conv(d):
    x_type = d.type_for(0)
    w_type = INT8 if x_type == INT8 else d.choose((INT8, UINT8))
    attributes = d.attributes()
    channels, spatial = d.choose((1, 2, 3, 4, 16)), [d.integer(3, 8), d.integer(3, 8)]
    dims = (*spatial, channels) if attributes.get("channels_last") else (channels, *spatial)
    x = bytes_like(d, x_type, (1, *dims), "input")
    group = channels if d.chance(0.3) else 1
    outputs = group * d.choose((1, 2, 4))
    kernel = [d.choose((1, 2, 3)), d.choose((1, 2, 3))]
    w = bytes_like(d, w_type, (outputs, channels // group, *kernel), "initializer")
    attributes |= window(d, spatial, kernel) | group_attribute(d, group)
    if d.chance(0.5):
        attributes["kernel_shape"] = kernel
    per_channel = (outputs,) if d.chance(0.4) else ()
    d.note("w_scale", "per channel" if per_channel else "one")
    bias = d.leaf(d.rng.integers(-500, 500, outputs).astype("int32"), "initializer") if d.chance(0.5) else ""
    # Engines agree on weights with one zero point only: per channel it is zero.
    point = d.leaf(np.zeros(per_channel, w_type), "initializer") if per_channel else zero_point(d, w_type)
    y_scale = d.leaf(np.float32(d.rng.uniform(0.5, 2)), "initializer")
    return d.node([x, small_scale(d), zero_point(d, x_type), w, small_scale(d, per_channel), point, y_scale,
                   zero_point(d, x_type), bias], **attributes)


def quantised_axis(d, x):
    """(attributes, shape of scale and zero point)"""
    dims = d.dims(x)
    blocked = d.has_attribute("block_size") and dims and d.chance(0.25)
    if blocked:
        axis = d.integer(0, len(dims) - 1)
        block = d.choose(n for n in range(1, dims[axis] + 1) if dims[axis] % n == 0)
        d.note("granularity", "block")
        return {"axis": axis, "block_size": block}, (*dims[:axis], dims[axis] // block, *dims[axis + 1:])
    if d.has_attribute("axis") and dims and d.chance(0.4):
        axis = d.integer(-len(dims), len(dims) - 1)
        d.note("granularity", "axis")
        return {"axis": axis}, (dims[axis],)
    d.note("granularity", "tensor")
    return {}, ()


def quantize_linear(d):
    kinds = [np.dtype(n) for n in ("int8", "uint8", "int16", "uint16")]
    dtype, to = d.element_type(), d.type_for(2, among=kinds)
    if dtype == np.dtype("int32") and d.schema.inputs[0].type_str == d.schema.inputs[1].type_str:
        raise Impossible("an integer scale")
    x = d.pick(dtype, within=(-20, 20), fits=lambda s: 0 not in s)
    attributes, shape = quantised_axis(d, x)
    scale_type = dtype if is_float(dtype) else np.dtype("float32")
    if d.want and d.schema.inputs[1].type_str == "T2" != d.schema.inputs[2].type_str:
        scale_type = d.type_for(1, among=FLOATS)
    scale = d.leaf(d.rng.uniform(0.02, 0.2, shape).astype(scale_type), "initializer")
    d.note("to", to.name)
    point = zero_point(d, to, shape)
    if d.chance(0.2):
        # An attribute then selects the output type; uint8 by default.
        point = ""
        if d.has_attribute("output_dtype") and d.chance(0.8):
            attributes["output_dtype"] = helper.np_dtype_to_tensor_dtype(to)
        else:
            d.note("to", "uint8")
    if d.has_attribute("precision") and d.chance(0.2):
        attributes["precision"] = helper.np_dtype_to_tensor_dtype(scale_type)
    return d.node([x, scale, point], **attributes, **d.attributes())


def dequantize_linear(d):
    kinds = [np.dtype(n) for n in ("int8", "uint8", "int32", "int16", "uint16")]
    source = d.type_for(0, among=kinds)
    if source == np.dtype("int32"):
        x = d.pick(source, within=(-1000, 1000))
    else:
        x = d.pick(source, within=(np.iinfo(source).min, np.iinfo(source).max), fresh=0.5)
    attributes, shape = quantised_axis(d, x)
    is_fixed = d.schema.inputs[1].type_str == "tensor(float)"
    kind = np.dtype("float32") if is_fixed else d.type_for(1, among=FLOATS)
    scale = d.leaf(d.rng.uniform(0.001 if source.itemsize > 1 else 0.01, 0.1, shape).astype(kind), "initializer")
    point = zero_point(d, source, shape) if source.itemsize < 4 and d.chance(0.7) else ""
    d.note("zero_point", "given" if point else "absent")
    if d.has_attribute("output_dtype") and d.chance(0.4):
        to = d.type_for(0, among=FLOATS, is_output=True)
        attributes["output_dtype"] = helper.np_dtype_to_tensor_dtype(to)
    return d.node([x, scale, point], **attributes)


def dynamic_quantize_linear(d):
    return d.node([d.pick(d.element_type(), within=(-20, 20), least=1, fits=lambda s: 0 not in s)], 3)
