"""Constants, shapes and data movement, as torch calls with literal shapes."""
import math

import torch

from torch_peer.graph import to_torch
from torch_peer.table import OPERATORS, Unsupported, op

OPERATORS["Size"] = lambda graph, node, x: graph.constant(x.meta.numel())
OPERATORS["Transpose"] = lambda graph, node, x: f"{x}.permute({tuple(node.get('perm', range(x.rank)[::-1]))})"
OPERATORS["ScatterND"] = lambda graph, node, x, i, u: f"{x}.index_put(tuple({i}.unbind(-1)), {u})"


@op("Constant")
def constant(graph, node):
    for key, value in node.attributes.items():
        if key == "value":
            return graph.constant(to_torch(value))
        if key.startswith("value_"):
            return graph.constant(torch.tensor(value, dtype=torch.float32 if "float" in key else torch.int64))
    raise Unsupported("constant of an unsupported kind")


@op("ConstantOfShape")
def constant_of_shape(graph, node, shape):
    value = to_torch(node.get("value")) if node.get("value") is not None else torch.zeros(1)
    return graph.constant(torch.full(graph.ints(shape), value.item(), dtype=value.dtype))


@op("Shape")
def shape_of(graph, node, x):
    return graph.constant(torch.tensor(x.shape[node.get("start", 0):node.get("end", x.rank)], dtype=torch.int64))


@op("Range")
def arange(graph, node, start, stop, step):
    if any(v.data is None for v in (start, stop, step)):
        raise Unsupported("range bounds depend on the input's data")
    return graph.constant(torch.arange(start.scalar(), stop.scalar(), step.scalar(), dtype=start.data.dtype))


def prod(dims):
    return math.prod(int(d) for d in dims)


@op("Reshape")
def reshape(graph, node, x, shape):
    dims = graph.ints(shape)
    if not node.get("allowzero", 0):
        dims = [x.shape[i] if d == 0 else d for i, d in enumerate(dims)]
    return x if tuple(dims) == x.shape else f"{x}.reshape({tuple(dims)})"


@op("Flatten")
def flatten(graph, node, x):
    axis = node.get("axis", 1) % (x.rank + 1)
    return f"{x}.reshape({prod(x.shape[:axis])}, {prod(x.shape[axis:])})"


def axes_of(graph, node, axes, rank):
    got = graph.ints(axes) if axes is not None else node.get("axes")
    return got if got is None else [a % rank for a in got]


@op("Squeeze")
def squeeze(graph, node, x, axes=None):
    got = axes_of(graph, node, axes, x.rank)
    return f"{x}.squeeze({tuple(got if got is not None else [i for i, d in enumerate(x.shape) if d == 1])})"


@op("Unsqueeze")
def unsqueeze(graph, node, x, axes=None):
    raw = graph.ints(axes) if axes is not None else node.get("axes")
    return str(x) + "".join(f".unsqueeze({a})" for a in sorted(a % (x.rank + len(raw)) for a in raw))


@op("Expand")
def expand(graph, node, x, shape):
    target = tuple(torch.broadcast_shapes(x.shape, graph.ints(shape)))
    return x if target == x.shape else f"{x}.expand({target})"


@op("Tile")
def tile(graph, node, x, reps):
    return f"{x}.repeat({tuple(graph.ints(reps))})"


@op("Concat")
def concat(graph, node, *xs):
    axis = node.get("axis") % xs[0].rank
    xs = [x for x in xs if 0 not in x.shape]
    return xs[0] if len(xs) == 1 else f"torch.cat([{', '.join(map(str, xs))}], {axis})"


@op("Split")
def split(graph, node, x, sizes=None):
    axis, outs = node.get("axis", 0) % x.rank, len(node.proto.output)
    sizes = graph.ints(sizes) if sizes is not None else node.get("split")
    if sizes is None:
        step = -(-x.shape[axis] // outs)
        sizes = [min(step, x.shape[axis] - i * step) for i in range(outs)]
    got = graph.emit(f"torch.split({x}, {list(sizes)}, {axis})", outs) if outs > 1 else [x]
    return got


@op("Slice")
def slice_(graph, node, x, starts=None, ends=None, axes=None, steps=None):
    starts = graph.ints(starts) if starts is not None else node.get("starts")
    ends = graph.ints(ends) if ends is not None else node.get("ends")
    axes = axes_of(graph, node, axes, x.rank) or list(range(len(starts)))
    steps = graph.ints(steps) if steps is not None else [1] * len(starts)
    index, flips = [":"] * x.rank, str(x)
    for a, b, e, s in zip(axes, starts, ends, steps):
        got = range(*slice(b, None if s < 0 and e < -x.shape[a] else e, s).indices(x.shape[a]))
        if s > 0:
            index[a] = f"{got.start}:{max(got.stop, got.start)}" + (f":{s}" if s > 1 else "")
        else:
            flips += f".index_select({a}, {graph.constant(torch.tensor(list(got), dtype=torch.int64))})"
    return flips if all(i == ":" for i in index) else f"{flips}[{', '.join(index)}]"


def positive(graph, index, x, axis):
    """Non-negative indices. Constant ones are normalized; others are assumed to be non-negative."""
    if index.data is None:
        return index
    return graph.constant(torch.where(index.data < 0, index.data + x.shape[axis], index.data).long())


@op("GatherElements")
def gather_elements(graph, node, x, index):
    axis = node.get("axis", 0)
    return f"torch.gather({x}, {axis}, {positive(graph, index, x, axis)})"


@op("ScatterElements")
def scatter_elements(graph, node, x, index, updates):
    axis = node.get("axis", 0)
    return f"{x}.scatter({axis}, {positive(graph, index, x, axis)}, {updates})"


@op("Gather")
def gather(graph, node, x, index):
    axis = node.get("axis", 0) % x.rank
    if index.data is None:
        return f"{x}[{':, ' * axis}{index}]"
    index = positive(graph, index, x, axis)
    where_ = index.data.reshape(-1).tolist()
    if index.rank == 0:
        return f"{x}.select({axis}, {where_[0]})"
    if index.rank == 1 and where_ == list(range(where_[0], where_[0] + len(where_))):
        return f"{x}.narrow({axis}, {where_[0]}, {len(where_)})"
    flat = graph.constant(index.data.reshape(-1))
    shape = (*x.shape[:axis], *index.shape, *x.shape[axis + 1:])
    return f"{x}.index_select({axis}, {flat})" + (f".reshape({shape})" if index.rank != 1 else "")


@op("GatherND")
def gather_nd(graph, node, x, index):
    if node.get("batch_dims", 0):
        raise Unsupported("batch_dims")
    return f"{x}[tuple({index}.unbind(-1))]"


@op("Pad")
def pad(graph, node, x, pads=None, value=None, axes=None):
    pads = graph.ints(pads) if pads is not None else node.get("pads")
    axes = axes_of(graph, node, axes, x.rank) or list(range(x.rank))
    begin, end = [0] * x.rank, [0] * x.rank
    for k, a in enumerate(axes):
        begin[a], end[a] = pads[k], pads[k + len(axes)]
    mode = node.get("mode", "constant")
    mode = {"edge": "replicate", "wrap": "circular"}.get(mode, mode)
    first = next((i for i in range(x.rank) if begin[i] or end[i]), x.rank)
    first = first if mode == "constant" else min(first, 2)
    flat = [p for i in range(x.rank - 1, first - 1, -1) for p in (begin[i], end[i])]
    fill = f", {graph.literal(value) if value else node.get('value', 0.0)}" if mode == "constant" else ""
    return f"F.pad({x}, {flat}, {mode!r}{fill})" if flat else x


@op("CumSum")
def cumsum(graph, node, x, axis):
    d = graph.ints(axis)[0]
    got = f"{x}.flip({d}).cumsum({d}).flip({d})" if node.get("reverse", 0) else f"{x}.cumsum({d})"
    return f"({got} - {x})" if node.get("exclusive", 0) else got


@op("TopK")
def topk(graph, node, x, k=None):
    k, axis = (graph.ints(k)[0] if k is not None else node.get("k")), node.get("axis", -1)
    return graph.emit(f"torch.topk({x}, {k}, {axis}, {bool(node.get('largest', 1))}, {bool(node.get('sorted', 1))})", 2)
