"""GEMM, attention, convolution, pooling and normalization as torch calls."""
import torch

from torch_peer.shapes import prod
from torch_peer.table import Unsupported, op


def attention(graph, p, v, swapped):
    """softmax(q k [* scale] [+ mask]) v as scaled_dot_product_attention."""
    s, mask, scale = p.inputs[0], "None", 1.0
    if not (p.op == "Softmax" and p.is_read_once and p.rank == v.rank and p.rank in (3, 4)) or s.op is None:
        return None
    if s.op == "Add":
        s, m = (s.inputs[0], s.inputs[1]) if s.inputs[0].op in ("MatMul", "Mul", "Div") else (s.inputs[1], s.inputs[0])
        mask = m.code if m.meta.dtype == v.meta.dtype and m.rank <= p.rank else None
    if s.op in ("Mul", "Div") and len(s.inputs) == 2 and s.inputs[1].scalar() is not None:
        scale = s.inputs[1].scalar() if s.op == "Mul" else 1.0 / s.inputs[1].scalar()
        s = s.inputs[0]
    if s.op != "MatMul" or s.redo or mask is None or s.shape != p.shape:
        return None
    q, k = s.inputs
    if not (q.rank == k.rank == v.rank and q.shape[:-2] == k.shape[:-2] == v.shape[:-2]):
        return None
    if any(t.meta.dtype != q.meta.dtype for t in (k, v)):
        return None
    q, k, v = f"{q}", f"{k}.transpose(-1, -2)", f"{v}.transpose(-1, -2)" if swapped else f"{v}"
    if p.rank == 3:
        q, k, v = (f"{t}.unsqueeze(0)" for t in (q, k, v))
    out = f"F.scaled_dot_product_attention(rows({q}), rows({k}), rows({v}), {mask}, scale={scale!r})"
    return out + (".squeeze(0)" if p.rank == 3 else "") + (".transpose(-1, -2)" if swapped else "")


@op("MatMul")
def matmul(graph, node, a, b):
    if b.data is not None and b.rank == 2 and a.data is None and a.rank >= 2:
        weight = graph.constant(b.data.t().contiguous())
        out = graph.emit(f"F.linear({a}, {weight})")
        out.redo = lambda bias: graph.emit(f"F.linear({a}, {weight}, {bias})")
        return out
    if a.op == "Softmax":
        fused = attention(graph, a, b, False)
        if fused:
            return fused
    if b.op == "Transpose" and b.is_read_once and b.inputs[0].op == "Softmax":
        p = b.inputs[0]
        if b.shape == (*p.shape[:-2], p.shape[-1], p.shape[-2]) and p.rank == a.rank and p.shape[:-2] == a.shape[:-2]:
            fused = attention(graph, p, a, True) if swaps_last(b) else None
            if fused:
                return fused
    return f"torch.matmul({a}, {b})"


def swaps_last(t):
    """Whether a Transpose exchanges the last two dimensions only."""
    return t.line.endswith(f"({(*range(t.rank - 2), t.rank - 1, t.rank - 2)})")


@op("Gemm")
def gemm(graph, node, a, b, c=None):
    alpha, beta = node.get("alpha", 1.0), node.get("beta", 1.0)
    a = graph.emit(f"{a}.t()") if node.get("transA", 0) else a
    weight = graph.emit(f"{b} * {alpha!r}") if alpha != 1.0 else b
    weight = weight if node.get("transB", 0) else graph.emit(f"{weight}.t()")
    if c is None:
        return f"F.linear({a}, {weight})"
    c = graph.emit(f"{c} * {beta!r}") if beta != 1.0 else c
    is_bias = c.rank == 1 and c.shape[0] == weight.shape[0]
    return f"F.linear({a}, {weight}, {c})" if is_bias else f"F.linear({a}, {weight}) + {c}"

# ---- convolution, pooling, normalization


def window(node, x, kernel):
    """Strides, dilations and the padding before and after each spatial dimension."""
    rank = len(kernel)
    s, d = node.get("strides", [1] * rank), node.get("dilations", [1] * rank)
    auto, pads = node.get("auto_pad", "NOTSET"), node.get("pads", [0] * 2 * rank)
    begin, end = list(pads[:rank]), list(pads[rank:])
    if auto == "VALID":
        begin, end = [0] * rank, [0] * rank
    elif auto != "NOTSET":
        for i in range(rank):
            size = x.shape[2 + i]
            total = max((-(-size // s[i]) - 1) * s[i] + (kernel[i] - 1) * d[i] + 1 - size, 0)
            begin[i], end[i] = (total // 2, total - total // 2)[::1 if auto == "SAME_UPPER" else -1]
    return tuple(s), tuple(d), tuple(begin), tuple(end)


def flat_pad(begin, end):
    return [p for b, e in zip(reversed(begin), reversed(end)) for p in (b, e)]


@op("Conv")
def conv(graph, node, x, w, b=None):
    s, d, begin, end = window(node, x, w.shape[2:])
    rank, group = w.rank - 2, node.get("group", 1)
    if begin != end:
        x, begin = graph.emit(f"F.pad({x}, {flat_pad(begin, end)})"), (0,) * rank

    def build(w, b):
        if rank == 2 and w.data is not None:
            graph.channels_last.add(w.code)
        return graph.emit(f"F.conv{rank}d({x}, {w}, {b}, {s}, {begin}, {d}, {group})")
    out = build(w, b)
    if w.data is not None and (b is None or b.data is not None):
        def scaled(scale, shift):
            return build(graph.constant(w.data * scale.view(-1, *[1] * (rank + 1))),
                         graph.constant(shift + (b.data * scale if b is not None else 0)))
        out.redo = scaled
    return out


@op("ConvTranspose")
def conv_transpose(graph, node, x, w, b=None):
    kernel, rank = w.shape[2:], w.rank - 2
    s, d, begin, end = window(node, x, kernel) if node.get("auto_pad", "NOTSET") == "NOTSET" else (
        tuple(node.get("strides", [1] * rank)), tuple(node.get("dilations", [1] * rank)), (0,) * rank, (0,) * rank)
    extra = list(node.get("output_padding", [0] * rank))
    full = [(x.shape[2 + i] - 1) * s[i] + (kernel[i] - 1) * d[i] + 1 + extra[i] for i in range(rank)]
    want = node.get("output_shape")
    if want is None and node.get("auto_pad", "NOTSET") in ("SAME_UPPER", "SAME_LOWER"):
        want = [x.shape[2 + i] * s[i] for i in range(rank)]
    if want is not None:
        total = [full[i] - list(want)[-rank:][i] for i in range(rank)]
        upper = node.get("auto_pad", "NOTSET") == "SAME_UPPER"
        begin = tuple(t // 2 if upper else t - t // 2 for t in total)
        end = tuple(t - p for t, p in zip(total, begin))
    if rank == 2 and w.data is not None:
        graph.channels_last.add(w.code)
    same = begin == end and min(begin) >= 0
    pads, group = begin if same else (0,) * rank, node.get("group", 1)
    out = f"F.conv_transpose{rank}d({x}, {w}, {b}, {s}, {pads}, {tuple(extra)}, {group}, {d})"
    return out if same else f"F.pad({out}, {[-p for p in flat_pad(begin, end)]})"


@op("BatchNormalization")
def batch_norm(graph, node, x, w, b, mean, var):
    eps = node.get("epsilon", 1e-5)
    if x.op == "Conv" and x.redo and x.is_read_once and all(v.data is not None for v in (w, b, mean, var)):
        scale = w.data.double() / torch.sqrt(var.data.double() + eps)
        return x.redo(scale.float(), (b.data - mean.data * scale).float())
    return f"F.batch_norm({x}, {mean}, {var}, {w}, {b}, False, 0.0, {eps!r})"


@op("MaxPool", "AveragePool", "LpPool")
def pool(graph, node, x):
    if node.op == "LpPool" or len(node.proto.output) > 1:
        raise Unsupported("LpPool, or MaxPool indices")
    kernel = tuple(node.get("kernel_shape"))
    s, d, begin, end = window(node, x, kernel)
    rank, ceil, count = len(kernel), bool(node.get("ceil_mode", 0)), bool(node.get("count_include_pad", 0))
    name = f"F.{'max' if node.op == 'MaxPool' else 'avg'}_pool{rank}d"
    if node.op == "AveragePool" and any(i != 1 for i in d):
        raise Unsupported("dilated AveragePool")
    inside = begin == end and all(2 * p <= k for p, k in zip(begin, kernel))
    if node.op == "MaxPool":
        if not inside:
            x, begin = graph.emit(f"F.pad({x}, {flat_pad(begin, end)}, 'constant', -inf)"), (0,) * rank
        return f"{name}({x}, {kernel}, {s}, {begin}, {d}, {ceil})"
    if inside:
        return f"{name}({x}, {kernel}, {s}, {begin}, {ceil}, {count})"
    padded = f"{name}(F.pad({x}, {flat_pad(begin, end)}), {kernel}, {s}, 0, {ceil}, True)"
    if count:
        return padded
    ones = graph.constant(torch.ones(1, 1, *x.shape[2:]))
    share = graph.emit(f"{name}(F.pad({ones}, {flat_pad(begin, end)}), {kernel}, {s}, 0, {ceil}, True)")
    return f"{padded} / {share}"


@op("LayerNormalization")
def layer_norm(graph, node, x, w, b=None):
    shape = x.shape[node.get("axis", -1) % x.rank:]
    return f"F.layer_norm({x}, {shape}, {w}, {b}, {node.get('epsilon', 1e-5)!r})"


@op("InstanceNormalization")
def instance_norm(graph, node, x, w, b):
    return f"F.instance_norm({x}, None, None, {w}, {b}, True, 0.0, {node.get('epsilon', 1e-5)!r})"


@op("GroupNormalization")
def group_norm(graph, node, x, w, b):
    if w.shape[0] != x.shape[1]:
        raise Unsupported("scale per group (opset 18)")
    return f"F.group_norm({x}, {node.get('num_groups')}, {w}, {b}, {node.get('epsilon', 1e-5)!r})"


@op("LRN")
def lrn(graph, node, x):
    alpha, beta, bias = node.get("alpha", 1e-4), node.get("beta", 0.75), node.get("bias", 1.0)
    return f"F.local_response_norm({x}, {node.get('size')}, {alpha}, {beta}, {bias})"


@op("DepthToSpace", "SpaceToDepth")
def depth_space(graph, node, x):
    k, (b, c, h, w) = node.get("blocksize"), x.shape
    if node.op == "SpaceToDepth":
        parts, whole = (b, c, h // k, k, w // k, k), (b, c * k * k, h // k, w // k)
        return f"{x}.reshape({parts}).permute(0, 3, 5, 1, 2, 4).reshape({whole})"
    if node.get("mode", "DCR") == "CRD":
        return f"F.pixel_shuffle({x}, {k})"
    parts, whole = (b, k, k, c // k // k, h, w), (b, c // k // k, h * k, w * k)
    return f"{x}.reshape({parts}).permute(0, 3, 4, 1, 5, 2).reshape({whole})"


@op("GridSample")
def grid_sample(graph, node, x, grid):
    mode = node.get("mode", "bilinear")
    mode = {"linear": "bilinear", "cubic": "bicubic"}.get(mode, mode)
    padding, aligned = node.get("padding_mode", "zeros"), bool(node.get("align_corners", 0))
    return f"F.grid_sample({x}, {grid}, {mode!r}, {padding!r}, {aligned})"
