"""Rules that generate element-wise nodes."""
import numpy as np
import onnx

from case import BFLOAT16, BOOL, FLOATS, is_float
from draft import Impossible
from schemas import types_of

ANY = (-1e9, 1e9)
MODERATE = (-30, 30)
POSITIVE = (0.05, 30)


def unary(within=MODERATE, apart=0.0):
    def rule(d):
        x = d.pick(d.element_type(), within=within, apart=apart)
        return d.node([x], **d.attributes())
    return rule


def with_specials(d):
    """A new input with NaN and infinities."""
    array = d.draw(d.element_type(among=FLOATS), d.shape(least=1))
    specials = np.asarray([np.nan, np.inf, -np.inf], array.dtype)
    array = np.where(d.rng.random(array.shape) < 0.5, d.rng.choice(specials, array.shape), array).astype(array.dtype)
    return d.node([d.leaf(array, "input")], **d.attributes())


def pair(d, dtype, other=None, within=MODERATE, within_other=None, apart=0.0):
    """Two values whose shapes broadcast."""
    a = d.pick(dtype, within=within)
    shape = d.same_shape_or_broadcast(d.dims(a))
    bounds = within_other or within
    if d.chance(0.5):
        try:
            b = d.pick(other or dtype, within=bounds, apart=apart, fresh=0.0, most=len(d.dims(a)),
                       fits=lambda s: all(x in (1, y) for x, y in zip(s[::-1], d.dims(a)[::-1])) and s != ())
        except Impossible:
            b = d.pick(other or dtype, shape, within=bounds, apart=apart)
    else:
        b = d.pick(other or dtype, shape, within=bounds, apart=apart)
    return a, b


def binary(within=(-1e3, 1e3), within_other=None, apart=0.0, swap=True):
    def rule(d):
        inputs = list(pair(d, d.element_type(), within=within, within_other=within_other, apart=apart))
        if swap and within_other is None and not apart and d.chance(0.5):
            inputs.reverse()
        return d.node(inputs, **d.attributes())
    return rule


def modulo(d):
    dtype = d.element_type()
    fmod = 1 if is_float(dtype) else d.choose((None, 0, 1))
    d.note("fmod", "absent" if fmod is None else fmod)
    a, b = pair(d, dtype, within=(-100, 100), within_other=(-20, 20), apart=0.5 if is_float(dtype) else 1)
    return d.node([a, b], **d.attributes(fmod=fmod))


def power(d):
    dtype = d.element_type()
    among = [t for t in types_of(d.schema, 1) if t == dtype or not is_float(t) or (is_float(dtype) and t.itemsize > 2)]
    # Version 13 has bases of bfloat16, but no such exponents.
    of_another_type = d.opset >= 12 and (dtype not in among or d.want or d.chance(0.4))
    other = d.type_for(1, among) if of_another_type else dtype
    if is_float(dtype):
        a, b = pair(d, dtype, other, (0.1, 4), (0, 3) if other.kind == "u" else (-2, 3))
    else:
        a, b = pair(d, dtype, other, (0, 5), (0, 3))
    return d.node([a, b])


def shift(d):
    dtype = d.element_type()
    a, b = pair(d, dtype, within=(0, 255), within_other=(0, 8 * dtype.itemsize - 1))
    return d.node([a, b], **d.attributes())


def compared(d):
    dtype = d.element_type()
    return d.node(list(pair(d, dtype)), **d.attributes())


def slope(d):
    x = d.pick(d.element_type(), least=1)
    dims = tuple(n if d.chance(0.6) else 1 for n in d.dims(x))[d.integer(0, len(d.dims(x))):]
    return d.node([x, d.pick(d.dtype(x), dims, role="initializer" if d.chance(0.5) else None)])


def variadic(d):
    dtype = d.element_type()
    first = d.pick(dtype, within=(-1e3, 1e3))
    inputs = [first]
    for _ in range(d.integer(0, 3)):
        dims = tuple(n if d.chance(0.7) else 1 for n in d.dims(first))[d.choose((0, 0, 0, len(d.dims(first)))):]
        dims = dims if d.opset >= 8 else d.dims(first)  # these broadcast since version 8
        inputs.append(d.pick(dtype, dims, within=(-1e3, 1e3)))
    return d.node([inputs[i] for i in d.rng.permutation(len(inputs))])


def where(d):
    dtype = d.element_type(1)
    a, b = pair(d, dtype, within=ANY)
    return d.node([d.pick(BOOL, d.same_shape_or_broadcast(d.dims(a))), a, b])


def clip(d):
    dtype = d.element_type()
    x = d.pick(dtype, within=ANY)
    unsigned = dtype.kind == "u"
    low, high = (1, 5) if not is_float(dtype) else (d.choose((-1.0, 0.0, -0.5)), d.choose((0.75, 1.0, 6.0)))
    low = low if unsigned or is_float(dtype) else -2
    given = [d.chance(0.75), d.chance(0.75)]
    for name, is_given in zip(("min", "max"), given):
        d.note(name, "given" if is_given else "absent")
    if d.has_attribute("min"):
        return d.node([x], **d.attributes(min=float(low) if given[0] else None, max=float(high) if given[1] else None))
    bounds = [d.leaf(np.asarray(value, dtype), d.choose(("initializer", "constant", "input"))) if is_given else ""
              for value, is_given in zip((low, high), given)]
    return d.node([x, *bounds])


def cast(d):
    """To every type, within its range."""
    source = d.element_type()
    to = d.type_for(0, is_output=True)
    low, high = (-100, 100)
    if not is_float(to) and to != BOOL:
        low = max(low, np.iinfo(to).min)
    x = d.pick(source, within=(low, high))
    d.note("to", to.name)
    if d.row.op == "CastLike" and source != to and BFLOAT16 in (source, to):
        raise Impossible("the oracle computes it as floats, and could not tell which type was meant")
    if d.row.op == "CastLike":
        return d.node([x, d.pick(to)], **d.attributes())
    return d.node([x], **d.attributes(to=onnx.helper.np_dtype_to_tensor_dtype(to)))


def bit_cast(d):
    source = d.element_type()
    among = [t for t in types_of(d.schema, 0, is_output=True) if t.itemsize == source.itemsize]
    to = d.type_for(0, among, is_output=True)
    d.note("to", to.name)
    array = d.draw(source, d.shape())
    x = d.leaf(np.abs(array) % 2 if to == BOOL and source != BOOL else array, "input")
    return d.node([x], **d.attributes(to=onnx.helper.np_dtype_to_tensor_dtype(to)))


def identity(d):
    return d.node([d.pick(d.element_type(), within=ANY)])


def dropout(d):
    """In inference mode, as exporters leave it: an identity."""
    x = d.pick(d.element_type(), within=ANY)
    outputs = d.choose((1, 2)) if d.opset >= 12 else 1  # older versions do not define the mask in inference mode
    if d.opset < 12:
        return d.node([x], outputs, **d.attributes())
    ratio = d.leaf(np.asarray(0.3, d.type_for(1)), "initializer") if d.chance(0.5) else ""
    training = d.leaf(np.asarray(False), "initializer") if d.chance(0.5) else ""
    return d.node([x, ratio, training], outputs, **d.attributes())


def bitwise(d):
    dtype = d.element_type()
    return d.node(list(pair(d, dtype, within=(-128, 255))))



def swiglu(d):
    x = d.pick(d.element_type())
    return d.node([x, d.pick(d.dtype(x), d.dims(x))], **d.attributes())
