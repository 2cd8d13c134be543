"""Quantised operators: integers are stored as exact values in float tensors."""
import torch

from torch_peer.layers import conv
from torch_peer.table import Unsupported, op


def per_axis(graph, v, x, axis):
    """A scale or zero point as a float, shaped to meet dimension axis of x."""
    v = graph.emit(f"{v}.to(FT)")
    if v.meta.numel() == 1:
        return graph.literal(v)
    return graph.emit(f"{v}.reshape({tuple(-1 if i == axis % x.rank else 1 for i in range(x.rank))})").code


@op("DequantizeLinear")
def dequantize(graph, node, x, scale, zero=None, axis=None):
    axis = node.get("axis", 1) if axis is None else axis
    if node.get("block_size", 0):
        raise Unsupported("blocked quantization")
    x = graph.emit(f"{x}.to(FT)") if not x.is_float or x.data is not None else x
    less = f"({x} - {per_axis(graph, zero, x, axis)})" if zero is not None else f"{x}"
    return f"{less} * {per_axis(graph, scale, x, axis)}"


@op("QuantizeLinear")
def quantize(graph, node, x, scale, zero=None):
    kind = zero.data.dtype if zero is not None and zero.data is not None else torch.uint8
    low, high = torch.iinfo(kind).min, torch.iinfo(kind).max
    shift = f" + {per_axis(graph, zero, x, node.get('axis', 1))}" if zero is not None else ""
    return f"torch.clamp(torch.round({x} / {per_axis(graph, scale, x, node.get('axis', 1))}){shift}, {low}, {high})"


@op("DynamicQuantizeLinear")
def dynamic_quantize(graph, node, x):
    low, high = graph.emit(f"torch.clamp({x}.amin(), max=0.0)"), graph.emit(f"torch.clamp({x}.amax(), min=0.0)")
    scale = graph.emit(f"({high} - {low}) / 255.0")
    zero = graph.emit(f"torch.round(torch.clamp(-{low} / {scale}, 0.0, 255.0))")
    return [graph.emit(f"torch.clamp(torch.round({x} / {scale}) + {zero}, 0.0, 255.0)"), scale, zero]


@op("ConvInteger", "MatMulInteger")
def integer_product(graph, node, x, w, xz=None, wz=None):
    if graph.is_half:
        raise Unsupported("integer sums exceed half precision")
    def shifted(t, zero):
        return graph.emit(f"{t}.to(FT)" + (f" - {per_axis(graph, zero, t, 0)}" if zero is not None else ""))
    x, w = shifted(x, xz), shifted(w, wz)
    return conv(graph, node, x, w) if node.op == "ConvInteger" else f"torch.matmul({x}, {w})"


@op("QLinearConv")
def qlinear_conv(graph, node, x, xs, xz, w, ws, wz, ys, yz, b=None):
    x, w = graph.emit(dequantize(graph, node, x, xs, xz)), graph.emit(dequantize(graph, node, w, ws, wz, 0))
    b = b and graph.emit(f"{b}.to(FT) * ({xs} * {ws}).to(FT)")
    return quantize(graph, node, conv(graph, node, x, w, b), ys, yz)


@op("QLinearMatMul", "QLinearAdd", "QLinearMul")
def qlinear_binary(graph, node, a, as_, az, b, bs, bz, ys, yz):
    a, b = graph.emit(dequantize(graph, node, a, as_, az)), graph.emit(dequantize(graph, node, b, bs, bz))
    out = {"QLinearMatMul": f"torch.matmul({a}, {b})", "QLinearAdd": f"{a} + {b}", "QLinearMul": f"{a} * {b}"}[node.op]
    return quantize(graph, node, graph.emit(out), ys, yz)
