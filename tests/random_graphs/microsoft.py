"""Rules that draw ONNX Runtime's own operators, as its optimiser and its quantiser write them."""
import numpy as np

from products import SMALL, UINT8, bytes_like, constant_or_not, small_scale, zero_point

FLOAT32 = np.dtype("float32")


def quick_gelu(d):
    return d.node([d.pick(FLOAT32, within=(-30, 30))], **d.attributes())


def fast_gelu(d):
    x = d.pick(FLOAT32, least=1, within=(-30, 30), fits=lambda s: 0 not in s)
    return d.node([x, d.pick(FLOAT32, d.dims(x)[-1:], within=SMALL) if d.chance(0.5) else ""])


def bias_gelu(d):
    x = d.pick(FLOAT32, least=2, within=(-30, 30), fits=lambda s: 0 not in s)
    return d.node([x, d.pick(FLOAT32, d.dims(x)[-1:], within=SMALL)])


def fused_matmul(d):
    attributes = d.attributes()
    m, k, n = d.integer(1, 9), d.integer(1, 17), d.integer(1, 9)
    lead = tuple(d.integer(1, 3) for _ in range(d.integer(0, 2)))
    a = d.pick(FLOAT32, (*lead, k, m) if attributes.get("transA") else (*lead, m, k), within=SMALL)
    shape = (n, k) if attributes.get("transB") else (k, n)
    b = d.pick(FLOAT32, shape if d.chance(0.5) else (*lead, *shape), within=SMALL, role=constant_or_not(d))
    return d.node([a, b], **attributes)


def skip_layer_norm(d):
    dims = (d.integer(1, 2), d.integer(1, 5), d.choose((4, 8, 16)))
    x, skip = (d.pick(FLOAT32, dims, within=(-30, 30)) for _ in range(2))
    gamma, beta, bias = (d.pick(FLOAT32, dims[-1:], within=(-2, 2), role="initializer") for _ in range(3))
    inputs = [x, skip, gamma, beta, bias]
    return d.node(inputs[:d.choose((3, 4, 5))], **d.attributes())


def quantised_pair(d):
    """QLinearAdd and QLinearMul: uint8 on both sides, shapes that broadcast."""
    shape = d.shape(least=1, most=4)
    other = tuple(n if d.chance(0.7) else 1 for n in shape)
    a, b = bytes_like(d, UINT8, shape, "input"), bytes_like(d, UINT8, other, d.choose(("input", "initializer")))
    scale = d.leaf(np.float32(d.rng.uniform(0.05, 0.3)), "initializer")
    return d.node([a, small_scale(d), zero_point(d, UINT8), b, small_scale(d), zero_point(d, UINT8), scale,
                   zero_point(d, UINT8)])
