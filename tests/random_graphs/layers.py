"""Rules that generate normalizations and image sampling."""
import numpy as np

from case import is_float
from draft import Impossible
from movement import axis_of
from products import constant_or_not, image

FLOAT32 = np.dtype("float32")


def per_channel(d, dtype, n, within=(-2, 2)):
    return d.pick(dtype, (n,), within=within, role=constant_or_not(d))


def batch_norm(d):
    dtype = d.element_type()
    x = image(d, dtype, within=(-30, 30)) if d.chance(0.8) else d.pick(dtype, rank=2, within=(-30, 30),
                                                                        fits=lambda s: 0 not in s)
    n = d.dims(x)[1]
    variance = d.leaf(d.draw(dtype, (n,), (0.2, 3)), "initializer")
    is_training = d.has_attribute("training_mode") and d.chance(0.2)
    if d.has_attribute("training_mode"):
        d.note("training_mode", int(is_training))
    inputs = [x, *(per_channel(d, dtype, n) for _ in range(3)), variance]
    if is_training:
        return d.node(inputs, 3, training_mode=1, **d.attributes())
    return d.node(inputs, **d.attributes())


def instance_norm(d):
    dtype = d.element_type()
    x = image(d, dtype, within=(-30, 30))
    n = d.dims(x)[1]
    return d.node([x, per_channel(d, dtype, n), per_channel(d, dtype, n)], **d.attributes())


def group_norm(d):
    dtype = d.element_type()
    x = image(d, dtype, within=(-30, 30))
    n = d.dims(x)[1]
    groups = d.choose(g for g in range(1, n + 1) if n % g == 0)
    d.note("num_groups", "one" if groups == 1 else "all" if groups == n else "some")
    size = n if d.opset >= 21 else groups
    return d.node([x, per_channel(d, dtype, size), per_channel(d, dtype, size)], **d.attributes(num_groups=groups))


def layer_norm(d):
    dtype = d.element_type()
    x = d.pick(dtype, least=1, within=(-30, 30), fits=lambda s: 0 not in s)
    axis, given = axis_of(d, len(d.dims(x)), default=-1)
    dims = d.dims(x)[axis:]
    bias = d.pick(dtype, dims, within=(-2, 2)) if d.row.op == "LayerNormalization" and d.chance(0.6) else ""
    outputs = d.choose((1, 1, 3)) if d.row.op == "LayerNormalization" else 1
    # RMSNormalization's scale may have another type, but the checker assumes the input's.
    return d.node([x, d.pick(dtype, dims, within=(-2, 2), role=constant_or_not(d)), bias], outputs, **d.attributes(),
                  **({} if given is None else {"axis": given}))


def lrn(d):
    return d.node([image(d, d.element_type(), rank=2, within=(-30, 30))], **d.attributes())


def lp_norm(d):
    x = d.pick(d.element_type(), least=1, within=(-30, 30), apart=0.01, fits=lambda s: 0 not in s)
    _, given = axis_of(d, len(d.dims(x)), default=-1)
    return d.node([x], **d.attributes(), **({} if given is None else {"axis": given}))


def mean_variance(d):
    x = image(d, d.element_type(), rank=2, within=(-30, 30))
    d.note("axes", "given" if (given := d.chance(0.5)) else "absent")
    return d.node([x], **({"axes": d.choose(([0, 2, 3], [2, 3], [1, 2, 3], [0, 1, 2, 3]))} if given else {}))


def resize(d):
    dtype = d.element_type()
    version = d.schema.since_version
    x = image(d, dtype, rank=d.choose((1, 2, 2, 2)), within=(-100, 100))
    dims = d.dims(x)
    attributes = d.attributes()
    mode = attributes.get("mode", "nearest")
    if mode != "nearest" and not is_float(dtype):
        raise Impossible("the standard does not define how integers are rounded, and engines differ")
    transform = attributes.get("coordinate_transformation_mode")
    if transform == "tf_half_pixel_for_nn" and not (version == 11 and mode == "nearest"):
        raise Impossible("it is gone since version 13, and about nearest neighbours")
    if transform == "tf_half_pixel_for_nn":
        attributes["nearest_mode"] = "floor"
    if transform == "half_pixel_symmetric" and version < 19:
        raise Impossible("it came with version 19")
    spatial = list(range(2, len(dims)))
    scales = [1.0, 1.0] + [d.choose((0.5, 0.618, 1.0, 1.5, 2.0, 2.0, 3.0)) for _ in spatial]
    sizes = [*dims[:2], *[max(1, d.integer(n // 2, 2 * n + 1)) for n in dims[2:]]]
    if any(int(n * s) < 1 for n, s in zip(dims, scales)):
        raise Impossible("nothing would be left")
    if mode != "nearest":
        attributes.pop("nearest_mode", None)
    if mode != "cubic":
        attributes.pop("cubic_coeff_a", None)
        attributes.pop("exclude_outside", None)
    if version == 10:
        return d.node([x, d.leaf(np.asarray(scales, FLOAT32), "initializer")], **attributes)
    by_sizes = d.chance(0.4)
    d.note("by", "sizes" if by_sizes else "scales")
    crops = attributes.get("coordinate_transformation_mode") == "tf_crop_and_resize"
    # Crop bounds never hit an element, because rounding would decide its side.
    roi = d.leaf(np.asarray([0, 0] + [0.1013] * len(spatial) + [1, 1] + [0.8037] * len(spatial), d.type_for(1)),
                 "initializer") \
        if crops else "" if version >= 13 else d.leaf(np.zeros(0, FLOAT32), "initializer")
    if attributes.get("antialias") and mode == "nearest":
        attributes.pop("antialias")
    axes = None
    if version >= 18 and not crops and d.chance(0.3):
        axes = spatial
        scales, sizes = scales[2:], sizes[2:]
    d.note("axes", "given" if axes else "absent")
    if axes:
        attributes["axes"] = axes
    if not by_sizes:
        attributes.pop("keep_aspect_ratio_policy", None)
        return d.node([x, roi, d.leaf(np.asarray(scales, FLOAT32), "initializer")], **attributes)
    if attributes.get("keep_aspect_ratio_policy", "stretch") != "stretch" and not axes:
        attributes.pop("keep_aspect_ratio_policy")
    empty = "" if version >= 13 else d.leaf(np.zeros(0, FLOAT32), "initializer")
    return d.node([x, roi, empty, d.integers(sizes)], **attributes)


def upsample(d):
    attributes, dtype = d.attributes(), d.element_type()
    if attributes.get("mode") == "linear" and not is_float(dtype):
        raise Impossible("the standard does not define how integers are rounded, and engines differ")
    x = image(d, dtype, rank=2, within=(-100, 100))
    scales = [1.0, 1.0, d.choose((1.0, 1.5, 2.0, 3.0)), d.choose((1.0, 2.0, 2.5))]
    if d.has_attribute("scales"):
        return d.node([x], scales=scales, **attributes)
    return d.node([x, d.leaf(np.asarray(scales, FLOAT32), "initializer")], **attributes)


def grid_sample(d):
    dtype = d.element_type()
    rank = 3 if d.opset >= 20 and d.chance(0.3) else 2
    x = image(d, dtype, rank=rank, within=(-30, 30))
    out = [d.integer(1, 5) for _ in range(rank)]
    kind = d.type_for(1) if d.want and d.want[0] == "type T2" else dtype if is_float(dtype) else FLOAT32
    grid = d.leaf(d.rng.uniform(-1.3, 1.3, (d.dims(x)[0], *out, rank)).astype(kind), d.choose(("input", "initializer")))
    attributes = d.attributes()
    if rank == 3 and attributes.get("mode") in ("cubic", "bicubic"):
        raise Impossible("cubic is for images")
    if d.opset < 20:
        attributes["mode"] = {"linear": "bilinear", "cubic": "bicubic"}.get(attributes.get("mode"),
                                                                            attributes.get("mode"))
    elif "mode" in attributes:
        attributes["mode"] = {"bilinear": "linear", "bicubic": "cubic"}.get(attributes["mode"], attributes["mode"])
    return d.node([x, grid], **{k: v for k, v in attributes.items() if v is not None})


def affine_grid(d):
    dtype = d.element_type()
    n, rank = d.integer(1, 2), d.choose((2, 3))
    theta = d.leaf(d.draw(dtype, (n, rank, rank + 1), (-1, 1)), d.choose(("input", "initializer")))
    return d.node([theta, d.integers([n, 2, *[d.integer(2, 5) for _ in range(rank)]])], **d.attributes())


def col2im(d):
    spatial = [d.integer(3, 7), d.integer(3, 7)]
    block = [d.integer(1, 3), d.integer(1, 3)]
    strides, dilations, pads = [d.choose((1, 2))] * 2, [1, 1], [d.integer(0, 1)] * 4
    if d.chance(0.3):
        dilations = [1, 2]
    counts = [(n + 2 * p - l * (k - 1) - 1) // s + 1 for n, p, l, k, s in zip(spatial, pads, dilations, block, strides)]
    if min(counts) < 1:
        raise Impossible("the block is larger than the image")
    dims = (d.integer(1, 2), d.integer(1, 3) * block[0] * block[1], counts[0] * counts[1])
    x = d.pick(d.element_type(), dims, within=(-30, 30))
    attributes = {"strides": strides, "dilations": dilations, "pads": pads}
    defaults = {"strides": [1, 1], "dilations": [1, 1], "pads": [0] * 4}
    return d.node([x, d.integers(spatial), d.integers(block)], **without_some(d, attributes, defaults))


def without_some(d, attributes, defaults):
    """ATTRIBUTES, randomly without those that have their default."""
    return {name: value for name, value in attributes.items() if value != defaults.get(name) or d.chance(0.5)}


def boxes(d, count, dtype, height, width, scale=1.0):
    corners = d.rng.uniform(0, 1, (count, 4))
    low, high = np.minimum(corners[:, :2], corners[:, 2:]), np.maximum(corners[:, :2], corners[:, 2:]) + 0.3
    size = np.asarray([width, height]) * scale
    return np.concatenate([low * size, high * size], 1).astype(dtype)


def roi_align(d):
    dtype = d.element_type()
    x = image(d, dtype, rank=2, within=(-30, 30))
    n, _, height, width = d.dims(x)
    count = d.integer(1, 4)
    rois = d.leaf(boxes(d, count, dtype, height, width), "input")
    batch = d.leaf(d.rng.integers(0, n, count).astype("int64"), d.choose(("input", "initializer")))
    return d.node([x, rois, batch], **d.attributes())


def max_roi_pool(d):
    dtype = d.element_type()
    x = image(d, dtype, rank=2, within=(-30, 30))
    n, _, height, width = d.dims(x)
    count = d.integer(1, 4)
    places = np.round(boxes(d, count, np.float64, height - 1, width - 1))
    rois = np.concatenate([d.rng.integers(0, n, (count, 1)), places], 1).astype(dtype)
    return d.node([x, d.leaf(rois, "input")], **d.attributes())


def non_max_suppression(d):
    n, count, classes = d.integer(1, 2), d.integer(1, 12), d.integer(1, 3)
    places = np.stack([boxes(d, count, FLOAT32, 10, 10) for _ in range(n)])
    scores = d.rng.permuted(np.linspace(0.05, 0.95, count * classes * n).astype(FLOAT32)).reshape(n, classes, count)
    # Shape inputs: both become constants of the plan.
    inputs = [d.leaf(places, "input"), d.leaf(scores, "input"),
              d.leaf(np.asarray([d.integer(1, 6)], "int64"), "initializer"),
              d.leaf(np.asarray([d.choose((0.3, 0.5, 0.7))], FLOAT32), "initializer"),
              d.leaf(np.asarray([d.choose((0.0, 0.2, 0.5))], FLOAT32), "initializer")]
    if d.chance(0.15):
        inputs[2] = ""  # none at all, then
    return d.node(inputs[:d.choose((3, 4, 5))], **d.attributes())


def det(d):
    n = d.integer(1, 4)
    lead = tuple(d.integer(1, 3) for _ in range(d.integer(0, 2)))
    dtype = d.element_type()
    return d.node([d.leaf((d.draw(dtype, (*lead, n, n)) + 4 * np.eye(n)).astype(dtype), "input")])


def deform_conv(d):
    dtype = d.element_type()
    group, offset_group = d.choose((1, 1, 2)), d.choose((1, 1, 2))
    channels, kernel = 2 * d.integer(1, 2), [d.integer(1, 3), d.integer(1, 3)]
    n, height, width = d.integer(1, 2), d.integer(3, 7), d.integer(3, 7)
    strides, pads = [d.choose((1, 2)), d.choose((1, 2))], [d.integer(0, 1) for _ in range(4)]
    dilations = [d.choose((1, 1, 2)), 1]
    out = [(size + a + b - (k - 1) * l - 1) // s + 1
           for size, a, b, k, l, s in zip((height, width), pads, pads[2:], kernel, dilations, strides)]
    if min(out) < 1:
        raise Impossible("the window is larger than the image")
    d.note("groups", f"{group}/{offset_group}")
    x = d.pick(dtype, (n, channels, height, width), within=(-4, 4))
    outputs = group * d.integer(1, 3)
    weights = d.pick(dtype, (outputs, channels // group, *kernel), within=(-1, 1), role=constant_or_not(d))
    places = offset_group * kernel[0] * kernel[1]
    offset = d.leaf(d.rng.uniform(-1.5, 1.5, (n, 2 * places, *out)).astype(dtype), "input")
    bias = d.pick(dtype, (outputs,), within=(-4, 4)) if d.chance(0.5) else ""
    mask = d.leaf(d.rng.uniform(0, 1, (n, places, *out)).astype(dtype), "input") if d.chance(0.5) else ""
    attributes = {"kernel_shape": kernel, "strides": strides, "pads": pads, "dilations": dilations, "group": group,
                  "offset_group": offset_group}
    defaults = {"kernel_shape": kernel, "strides": [1, 1], "pads": [0] * 4, "dilations": [1, 1], "group": 1,
                "offset_group": 1}
    return d.node([x, weights, offset, bias, mask], **without_some(d, attributes, defaults))


def rotary_embedding(d):
    dtype = d.element_type()
    n, heads, length, half, most = d.integer(1, 2), d.integer(1, 3), d.integer(1, 4), d.integer(1, 4), 6
    by_position = d.chance(0.6)
    d.note("position_ids", "given" if by_position else "absent")
    partial = d.chance(0.3)
    d.note("rotary_embedding_dim", "given" if partial else "absent")
    size = 2 * half + (2 if partial else 0)
    is_flat = d.chance(0.3)
    x = d.pick(dtype, (n, length, heads * size) if is_flat else (n, heads, length, size), within=(-30, 30))
    caches = (most, half) if by_position else (n, length, half)
    angles = d.rng.uniform(-3, 3, caches)
    cosines, sines = (d.leaf(f(angles).astype(dtype), "initializer") for f in (np.cos, np.sin))
    inputs = [x, cosines, sines,
              d.leaf(d.rng.integers(0, most, (n, length)), "input") if by_position else ""]
    flat = {"num_heads": heads} if is_flat else {}
    return d.node(inputs, **d.attributes(), **flat, **({"rotary_embedding_dim": 2 * half} if partial else {}))


def attention(d):
    dtype = d.element_type()
    n, groups, kv_heads, size = d.integer(1, 2), d.choose((1, 1, 2)), d.integer(1, 2), d.choose((2, 4, 8))
    heads, length, total = groups * kv_heads, d.integer(1, 5), d.integer(1, 6)
    v_size, is_flat = d.choose((size, 3)), d.chance(0.3)
    attributes = d.attributes()
    d.note("kv heads", "all" if groups == 1 else "fewer")

    def pick(count, rows, width):
        dims = (n, rows, count * width) if is_flat else (n, count, rows, width)
        return d.pick(dtype, dims, within=(-3, 3))
    if is_flat:
        attributes |= {"q_num_heads": heads, "kv_num_heads": kv_heads}
    inputs = [pick(heads, length, size), pick(kv_heads, total, size), pick(kv_heads, total, v_size)]
    past = d.integer(1, 3) if d.chance(0.2) else 0
    mask = ""
    if d.chance(0.4) and not attributes.get("is_causal"):
        dims = d.choose(((length, total + past), (1, 1, length, total + past), (n, heads, length, total + past)))
        mask = d.pick(dtype, dims, within=(-3, 3)) if d.chance(0.6) else d.leaf(some_keys(d, dims), "input")
    d.note("attn_mask", "given" if mask else "absent")
    if past:
        before = [d.pick(dtype, (n, kv_heads, past, width), within=(-3, 3)) for width in (size, v_size)]
        return d.node([*inputs, mask, *before], d.choose((3, 4)), **attributes)
    lengths = ""
    if len(d.schema.inputs) > 6 and d.chance(0.2):
        lengths = d.leaf(d.rng.integers(1, total + 1, n), "input")
    return d.node([*inputs, mask, "", "", lengths], d.choose((1, 1, (True, False, False, True))), **attributes)


def some_keys(d, dims):
    """The keys that a mask keeps; the first always is."""
    counts = d.rng.random(dims) < 0.7
    counts[..., 0] = True
    return counts


def max_unpool(d):
    """Distinct indices, as a pool without overlaps gives them."""
    n, channels, height, width = d.integer(1, 2), d.integer(1, 3), d.integer(1, 4), d.integer(1, 4)
    x = d.pick(d.element_type(), (n, channels, height, width), within=(-30, 30))
    blocks = np.arange(n * channels * 4 * height * width).reshape(n, channels, height, 2, width, 2)
    at = d.rng.integers(0, 2, (2, n, channels, height, width))
    index = np.ix_(*[range(size) for size in (n, channels, height, width)])
    places = d.leaf(blocks[index[0], index[1], index[2], at[0], index[3], at[1]], "input")
    way = d.choose(("strides", "output_shape", "windows of one"))
    if way == "windows of one":
        order = d.leaf(np.arange(d.array(x).size).reshape(d.dims(x))[..., ::-1], "input")
        return d.node([x, order], kernel_shape=[1, 1], **({"pads": [0] * 4} if d.chance(0.5) else {}))
    shape = d.integers([n, channels, 2 * height, 2 * width]) if way == "output_shape" else ""
    return d.node([x, places, shape], kernel_shape=[2, 2], strides=[2, 2],
                  **({"pads": [0] * 4} if d.chance(0.3) else {}))


def tensor_scatter(d):
    dtype = d.element_type()
    n, heads, most, size = d.integer(1, 3), d.integer(1, 2), d.integer(2, 6), d.integer(1, 4)
    length = d.integer(1, most)
    attributes = d.attributes()
    last = most - 1 if attributes.get("mode") == "circular" else most - length
    past, update = d.pick(dtype, (n, heads, most, size)), d.pick(dtype, (n, heads, length, size))
    given = d.chance(0.7)
    d.note("write_indices", "given" if given else "absent")
    at = d.leaf(d.rng.integers(0, last + 1, n), d.choose(("input", "initializer"))) if given else ""
    # The axis counts the dimensions before the last two of (batch, heads, length, size).
    return d.node([past, update, at], **attributes, **({"axis": d.choose((-2, 2))} if d.chance(0.5) else {}))
