"""Rules that generate data movement and index operators."""
import math

import numpy as np
import onnx
from onnx import numpy_helper

from case import BOOL, FLOATS
from draft import Impossible
from elements import ANY

INT64 = np.dtype("int64")


def any_value(d, **limits):
    return d.pick(d.element_type(), within=ANY, **limits)


def axis_of(d, rank, name="axis", can_be_negative=True, default=None):
    """An axis, counted from either end, or omitted if it has a default."""
    if default is not None and d.chance(0.25) and -rank <= default < rank:
        d.note(name, "absent")
        return default % rank, None
    axis = d.integer(0, rank - 1)
    negative = can_be_negative and d.chance(0.4)
    d.note(name, "negative" if negative else "positive")
    return axis, axis - rank if negative else axis


def axes_argument(d, x, axes, attributes, at=1, others=()):
    """A node with AXES in the form of the opset: an attribute, or input AT (None: omitted)."""
    if d.has_attribute("axes"):
        if axes is not None:
            attributes["axes"] = [int(a) for a in axes]
        return d.node([x, *others], **attributes)
    inputs = [x, *others] + [""] * (at - 1 - len(others))
    return d.node(inputs + ([d.integers(axes)] if axes is not None else []), **attributes)


def some_axes(d, rank, least=1):
    axes = d.some_of(range(rank), least)
    return [a - rank if d.opset >= 11 and d.chance(0.4) else a for a in axes]


def transpose(d):
    x = any_value(d)
    if d.chance(0.15):
        d.note("perm", "absent")
        return d.node([x])
    perm = [int(i) for i in d.rng.permutation(len(d.dims(x)))]
    if len(perm) == 4 and d.chance(0.4):
        perm = d.choose(([0, 2, 3, 1], [0, 3, 1, 2]))
    d.note("perm", "given")
    return d.node([x], perm=perm) if perm else d.node([x])


def factorised(d, count):
    dims = [1] * d.integer(1, 4)
    for prime in (2, 3, 5, 7, 11, 13, 17):
        while count % prime == 0 and count > 1:
            dims[d.integer(0, len(dims) - 1)] *= prime
            count //= prime
    dims[-1] *= count
    return dims


def reshape(d):
    x = any_value(d)
    count = math.prod(d.dims(x))
    allowzero = d.choose((None, 0, 1)) if d.has_attribute("allowzero") else None
    d.note("allowzero", "absent" if allowzero is None else allowzero)
    if count == 0:
        target = [0, *d.dims(x)] if allowzero else list(d.dims(x))
    else:
        target = factorised(d, count)
        if d.chance(0.5):
            target[d.integer(0, len(target) - 1)] = -1
        elif not allowzero and d.chance(0.4):
            target = [0 if i < len(d.dims(x)) and t == d.dims(x)[i] else t for i, t in enumerate(target)]
    return d.node([x, d.integers(target)], **d.attributes(allowzero=allowzero))


def flatten(d):
    x = any_value(d)
    rank = len(d.dims(x))
    if d.chance(0.3):
        d.note("axis", "absent")
        return d.node([x]) if rank >= 1 or d.opset >= 11 else d.node([x], axis=0)
    axis = d.integer(-rank if d.opset >= 11 else 0, rank)
    d.note("axis", "negative" if axis < 0 else "positive")
    return d.node([x], axis=axis)


def squeeze(d):
    x = any_value(d, fits=lambda s: 1 in s)
    ones = [i for i, n in enumerate(d.dims(x)) if n == 1]
    rank = len(d.dims(x))
    given = d.chance(0.7)
    d.note("axes", "given" if given else "absent")
    some = d.some_of(ones, 1)
    if d.has_attribute("axes"):
        some.sort()  # in another order the checker infers another shape
    axes = [a - rank if d.opset >= 11 and d.chance(0.4) else a for a in some] if given else None
    return axes_argument(d, x, axes, {})


def unsqueeze(d):
    x = any_value(d, most=4)
    rank = len(d.dims(x))
    count = d.integer(1, 2)
    axes = d.some_of(range(rank + count), count, count)
    axes = [a - rank - count if d.opset >= 11 and d.chance(0.4) else a for a in axes]
    d.note("axes", "negative" if min(axes) < 0 else "positive")
    return axes_argument(d, x, axes, {})


def concat(d):
    dtype = d.element_type()
    first = d.pick(dtype, within=ANY, least=1)
    axis, given = axis_of(d, len(d.dims(first)), can_be_negative=d.opset >= 11)
    inputs = [first]
    for _ in range(d.integer(0, 3)):
        dims = list(d.dims(first))
        like = lambda s: len(s) == len(dims) and all(i == axis or a == b for i,
                                                     (a, b) in enumerate(zip(s, dims)))  # noqa: E731
        try:
            inputs.append(d.pick(dtype, within=ANY, fits=like, fresh=0.0))
        except Impossible:
            dims[axis] = d.integer(1, 5)
            inputs.append(d.pick(dtype, dims, within=ANY))
    return d.node([inputs[i] for i in d.rng.permutation(len(inputs))], axis=given)


def split(d):
    x = any_value(d, least=1)
    axis, given = axis_of(d, len(d.dims(x)), can_be_negative=d.opset >= 11, default=0)
    size = d.dims(x)[axis]
    attributes = {} if given is None else {"axis": given}
    parts = d.integer(1, min(4, max(1, size)))
    if d.chance(0.5):
        d.note("split", "given")
        cuts = sorted(d.integer(0, size) for _ in range(parts - 1))
        sizes = [b - a for a, b in zip([0, *cuts], [*cuts, size])]
        if d.has_attribute("split"):
            return d.node([x], parts, split=sizes, **attributes)
        return d.node([x, d.integers(sizes)], parts, **attributes)
    d.note("split", "absent")
    if d.has_attribute("num_outputs"):
        d.note("num_outputs", "even" if size % parts == 0 else "uneven")
        if math.ceil(size / parts) * (parts - 1) >= size:
            raise Impossible("an empty last part")
        return d.node([x], parts, num_outputs=parts, **attributes)
    parts = d.choose(n for n in range(1, 5) if size % n == 0)
    return d.node([x], parts, **attributes)


def slice_(d):
    x = any_value(d, least=1)
    dims = d.dims(x)
    axes = d.some_of(range(len(dims)), 1)
    starts, ends, steps = [], [], []
    for axis in axes:
        size = dims[axis]
        step = d.choose((1, 1, 1, 2, 3, -1, -2)) if d.opset >= 10 else 1
        start, end = sorted((d.integer(0, size), d.integer(0, size)))
        if step < 0:
            start, end = end, start - 1
        if d.chance(0.3):
            end = np.iinfo("int64").max if step > 0 else -np.iinfo("int64").max
        elif end >= 0 and d.chance(0.3):
            end -= size
            end = end - 1 if end == 0 else end
        if 0 < start < size and d.chance(0.3):
            start -= size
        starts, ends, steps = [*starts, start], [*ends, end], [*steps, step]
    d.note("steps", "negative" if min(steps) < 0 else "one" if set(steps) == {1} else "positive")
    leave_axes = axes == list(range(len(axes))) and d.chance(0.5)
    d.note("axes", "absent" if leave_axes else "given")
    if d.has_attribute("starts"):
        attributes = {} if leave_axes else {"axes": axes}
        return d.node([x], starts=starts, ends=ends, **attributes)
    axes = [a - len(dims) if d.chance(0.3) else a for a in axes]
    dtype = d.choose(("int64", "int64", "int32")) if all(abs(e) < 2**31 for e in ends) else "int64"
    inputs = [x, d.integers(starts, dtype), d.integers(ends, dtype)]
    has_steps = set(steps) != {1} or d.chance(0.4)
    inputs.append("" if leave_axes else d.integers(axes, dtype))
    inputs.append(d.integers(steps, dtype) if has_steps else "")
    return d.node(inputs)


def indices(d, shape, size, can_be_negative):
    low = -size if can_be_negative else 0
    dtype = d.choose((np.dtype("int64"), np.dtype("int64"), np.dtype("int32")))
    if size == 0:
        raise Impossible("nothing to take")
    return d.leaf(d.rng.integers(low, size, shape).astype(dtype), d.choose(("initializer", "input")))


def gather(d):
    x = any_value(d, least=1)
    axis, given = axis_of(d, len(d.dims(x)), default=0)
    at = indices(d, d.shape(least=0, most=2), d.dims(x)[axis], d.opset >= 11)
    return d.node([x, at], **({} if given is None else {"axis": given}))


def gather_elements(d):
    x = any_value(d, least=1)
    axis, given = axis_of(d, len(d.dims(x)), default=0)
    shape = [d.integer(1, n + 2) if i == axis else d.integer(1, max(1, n)) for i, n in enumerate(d.dims(x))]
    at = indices(d, shape, d.dims(x)[axis], True)
    return d.node([x, at], **({} if given is None else {"axis": given}))


def index_tuples(d, dims, shape, dtype="int64"):
    """SHAPE + (len(DIMS),) indices into DIMS, from either end."""
    if 0 in dims:
        raise Impossible("nothing to take")
    columns = [d.rng.integers(-n, n, shape) for n in dims]
    return np.stack(columns, -1).astype(dtype)


def gather_nd(d):
    x = any_value(d, least=1, most=4)
    rank = len(d.dims(x))
    batch = d.integer(0, rank - 1) if d.has_attribute("batch_dims") and d.chance(0.4) else 0
    d.note("batch_dims", batch if batch < 2 else "more")
    depth = d.integer(1, rank - batch)
    lead = d.dims(x)[:batch] + tuple(d.integer(1, 4) for _ in range(d.integer(0, 2)))
    at = index_tuples(d, d.dims(x)[batch:batch + depth], lead)
    return d.node([x, d.leaf(at, d.choose(("initializer", "input")))], **({"batch_dims": batch} if batch else {}))


def scatter_elements(d):
    dtype = d.element_type()
    reduction = d.choose(("none", "add", "mul", "max", "min")) if d.has_attribute("reduction") else None
    if reduction in ("max", "min") and d.schema.since_version < 18 or (dtype == BOOL and reduction != "none"):
        reduction = d.choose(("none", "add", "mul")) if dtype != BOOL else None
    x = d.pick(dtype, within=(-100, 100), least=1, fits=lambda s: 0 not in s)
    dims = d.dims(x)
    axis, given = axis_of(d, len(dims), default=0)
    shape = [d.integer(1, n) for n in dims]
    # Without a reduction, indices must be unique.
    at = np.moveaxis(np.argsort(d.rng.random([dims[axis], *[s for i, s in enumerate(shape) if i != axis]]), 0), 0, axis)
    at = np.take(at, range(shape[axis]), axis)
    if reduction not in (None, "none"):
        at = d.rng.integers(0, dims[axis], shape)
    at = np.where(d.rng.random(at.shape) < 0.3, at - dims[axis], at) if d.opset >= 11 else at
    d.note("reduction", reduction or "absent")
    attributes = {} if given is None else {"axis": given}
    updates = d.pick(dtype, shape, within=(-3, 3))
    at = d.leaf(at.astype(d.choose(("int64", "int32"))), d.choose(("initializer", "input")))
    return d.node([x, at, updates], **attributes, **d.attributes(reduction=reduction))


def scatter_nd(d):
    dtype = d.element_type()
    reduction = d.choose(("none", "add", "mul", "max", "min")) if d.has_attribute("reduction") else None
    if reduction in ("max", "min") and d.schema.since_version < 18 or (dtype == BOOL and reduction != "none"):
        reduction = d.choose(("none", "add", "mul")) if dtype != BOOL else None
    x = d.pick(dtype, within=(-100, 100), least=1, most=4, fits=lambda s: 0 not in s)
    dims = d.dims(x)
    depth = d.integer(1, len(dims))
    count = d.integer(1, 5)
    at = index_tuples(d, dims[:depth], (count,))
    if reduction in (None, "none"):
        _, first = np.unique(np.where(at < 0, at + np.asarray(dims[:depth]), at), axis=0, return_index=True)
        at = at[np.sort(first)]
    d.note("reduction", reduction or "absent")
    updates = d.pick(dtype, (len(at), *dims[depth:]), within=(-3, 3))
    return d.node([x, d.leaf(at, d.choose(("initializer", "input"))), updates], **d.attributes(reduction=reduction))


def shape_of(d):
    x = any_value(d)
    rank = len(d.dims(x))
    attributes = {}
    for name in ("start", "end"):
        if d.has_attribute(name) and d.chance(0.5):
            attributes[name] = d.integer(-rank - 1, rank + 1)
            d.note(name, "negative" if attributes[name] < 0 else "positive")
        else:
            d.note(name, "absent")
    return d.node([x], **attributes)


def size(d):
    return d.node([any_value(d)])


def expand(d):
    x = any_value(d)
    return d.node([x, d.integers(d.same_shape_or_broadcast(d.dims(x)) or (1,))])


def tile(d):
    x = any_value(d, least=1)
    repeats = [d.choose((1, 1, 2, 3)) for _ in d.dims(x)]
    return d.node([x, d.integers(repeats)])


def pad(d):
    x = any_value(d, least=1, most=4, fits=lambda s: 0 not in s)
    dims = d.dims(x)
    mode = d.choose((None, "constant", "edge", "reflect") + (("wrap",) if d.schema.since_version >= 19 else ()))
    if d.dtype(x) == BOOL and mode not in (None, "constant"):
        mode = "constant"
    d.note("mode", mode or "absent")
    has_axes = len(d.schema.inputs) > 3 and d.chance(0.4)
    axes = d.some_of(range(len(dims)), 1) if has_axes else list(range(len(dims)))
    most = {"reflect": lambda n: n - 1, "wrap": lambda n: n}.get(mode, lambda n: 3)
    pads = [d.integer(0, max(0, min(3, most(dims[a])))) for a in axes + axes]
    if mode in (None, "constant", "edge") and d.chance(0.3):
        pads = [-1 if dims[a] > 3 and d.chance(0.3) else p for p, a in zip(pads, axes + axes)]
    d.note("pads", "negative" if min(pads) < 0 else "positive")
    d.note("axes", "given" if has_axes else "absent")
    has_value = mode in (None, "constant") and d.chance(0.6)
    attributes = {} if mode is None else {"mode": mode}
    if d.has_attribute("pads"):
        return d.node([x], pads=pads, **attributes, **({"value": 1.5} if has_value else {}))
    value = d.leaf(d.draw(d.dtype(x), ()), d.choose(("initializer", "input"))) if has_value else ""
    at = ""
    if has_axes:
        dtype = d.type_for(3)
        axes = np.asarray([a - len(dims) if d.chance(0.3) else a for a in axes], dtype)
        # The checker assumes that constants are int64.
        at = d.leaf(axes, "input") if dtype != INT64 else d.integers(axes)
    return d.node([x, d.integers(pads), value, at], **attributes)


def depth_to_space(d):
    n, block = d.integer(1, 2), d.choose((1, 2, 3))
    x = any_value(d, fits=lambda s: len(s) == 4 and s[1] % (block * block) == 0, fresh=0.0) if d.chance(0.3) else \
        d.pick(d.element_type(), (n, block * block * d.integer(1, 3), d.integer(1, 4), d.integer(1, 4)), within=ANY)
    d.note("blocksize", block)
    return d.node([x], **d.attributes(blocksize=block))


def space_to_depth(d):
    n, block = d.integer(1, 2), d.choose((1, 2, 3))
    x = d.pick(d.element_type(), (n, d.integer(1, 3), block * d.integer(1, 4), block * d.integer(1, 4)), within=ANY)
    d.note("blocksize", block)
    return d.node([x], **d.attributes(blocksize=block))


def trilu(d):
    x = any_value(d, least=2)
    given = d.chance(0.6)
    d.note("k", "given" if given else "absent")
    return d.node([x, d.integers(d.integer(-3, 3)) if given else ""], **d.attributes())


def reverse_sequence(d):
    x = any_value(d, least=2, fits=lambda s: 0 not in s)
    batch = d.choose((0, 1))
    d.note("batch_axis", batch)
    attributes = {"batch_axis": batch, "time_axis": 1 - batch}
    if batch == 1 and d.chance(0.5):
        del attributes["time_axis"]
    lengths = [d.integer(1, d.dims(x)[1 - batch]) for _ in range(d.dims(x)[batch])]
    return d.node([x, d.leaf(np.asarray(lengths), d.choose(("initializer", "input")))], **attributes)


def center_crop_pad(d):
    x = any_value(d, least=1, most=4, fits=lambda s: 0 not in s)
    dims = d.dims(x)
    given = d.chance(0.6)
    axes = d.some_of(range(len(dims)), 1) if given else list(range(len(dims)))
    d.note("axes", "given" if given else "absent")
    target = [d.integer(1, dims[a] + 3) for a in axes]
    axes = [a - len(dims) if d.chance(0.4) else a for a in axes]
    return d.node([x, d.integers(target, d.type_for(1))], **({"axes": axes} if given else {}))


def constant_of_shape(d):
    dtype = d.type_for(0, is_output=True)
    given = dtype != np.dtype("float32") or d.chance(0.5)
    d.note("value", dtype.name if given else "absent")
    value = numpy_helper.from_array(d.draw(dtype, (1,)), "value")
    return d.node([d.integers(d.shape(least=0, most=3))], **({"value": value} if given else {}))


def range_(d):
    dtype = d.element_type()
    step = d.choose((1, 2, 3, -1, -2) if dtype.kind == "i" else (1, 2) if dtype.kind == "u" else (0.5, 1.25, -0.75, 2))
    start = d.integer(0, 5)
    limit = start + step * d.integer(0, 12)
    numbers = [d.leaf(np.asarray(n, dtype), d.choose(("initializer", "constant"))) for n in (start, limit, step)]
    return d.node(numbers, **d.attributes())


def eye_like(d):
    x = d.pick(d.element_type(), rank=2, within=ANY)
    to = d.type_for(0, is_output=True) if d.chance(0.8) else None
    d.note("dtype", to.name if to is not None else "absent")
    number = {} if to is None else {"dtype": onnx.helper.np_dtype_to_tensor_dtype(to)}
    return d.node([x], **d.attributes(), **number)


def one_hot(d):
    depth = d.integer(1, 6)
    index, dtype = d.type_for(0), d.element_type(2)
    shape = d.shape(least=1, most=3)
    low, high = (-depth - 1, depth + 1) if d.opset >= 11 and index.kind != "u" else (0, depth)
    at = d.leaf(d.rng.integers(low, high, shape).astype(index), "input")
    _, given = axis_of(d, len(shape) + 1, default=-1)
    values = d.leaf(d.draw(dtype, (2,)), d.choose(("initializer", "input")))
    return d.node([at, d.leaf(np.asarray(depth, d.type_for(1)), "initializer"), values],
                  **({} if given is None else {"axis": given}))


def non_zero(d):
    x = d.leaf(d.draw(d.element_type(), d.shape(least=1, most=3), (-2, 2) if d.chance(0.5) else (-4, 4)), "input")
    return d.node([x])


def compress(d):
    x = d.leaf(d.draw(d.element_type(), d.shape(least=1, most=3)), "input")
    given = None
    length = math.prod(d.dims(x))
    if d.chance(0.6):
        axis, given = axis_of(d, len(d.dims(x)), can_be_negative=d.opset >= 11)
        length = d.dims(x)[axis]
    else:
        d.note("axis", "absent")
    chosen = d.leaf(d.rng.random(d.integer(1, max(1, length))) < 0.5, d.choose(("initializer", "input")))
    return d.node([x, chosen], **({} if given is None else {"axis": given}))


def unique(d):
    dtype = d.element_type()
    array = d.rng.integers(0, 4, d.shape(least=1, most=3)).astype(dtype)
    given = {}
    if d.chance(0.5):
        axis, at = axis_of(d, array.ndim)
        given = {"axis": at}
    else:
        d.note("axis", "absent")
    return d.node([d.leaf(array, "input")], d.choose((1, 4)), **d.attributes(), **given)


def top_k(d):
    dtype = d.element_type()
    x = d.pick(dtype, within=ANY, least=1, fits=lambda s: 0 not in s)
    axis, given = axis_of(d, len(d.dims(x)), can_be_negative=d.opset >= 11, default=-1)
    k = d.integer(1, d.dims(x)[axis])
    attributes = d.attributes(**({} if given is None else {"axis": given}))
    # The order of ties is defined only for sorted results.
    if d.has_attribute("k"):
        return d.node([x], 2, k=k, **attributes)
    return d.node([x, d.leaf(np.asarray([k], "int64"), d.choose(("initializer", "input")))], 2, **attributes)


def constant(d):
    form = d.choose([name for name in ("value", "sparse_value", "value_float", "value_floats", "value_int",
                                       "value_ints") if d.has_attribute(name)])
    d.note("form", form)
    if form == "value":
        array = d.draw(d.type_for(0, is_output=True), d.shape())
        return d.node([], value=numpy_helper.from_array(array, "value"))
    if form == "sparse_value":
        places = sorted(d.some_of(range(12), 1))
        array = d.draw(d.type_for(0, among=FLOATS[:1], is_output=True), (len(places),), apart=0.5)
        return d.node([], sparse_value=onnx.helper.make_sparse_tensor(
            numpy_helper.from_array(array, "value"), numpy_helper.from_array(np.asarray(places), "at"), [3, 4]))
    numbers = d.draw(np.dtype("float32"), (3,)) if "float" in form else d.draw(INT64, (3,))
    values = [n.item() for n in numbers]
    return d.node([], **{form: values if form.endswith("s") else values[0]})

