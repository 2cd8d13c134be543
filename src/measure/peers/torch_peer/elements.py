"""Element-wise operators and reductions as torch calls. Decomposed activations such as Silu and Gelu become one
call."""
import torch

from torch_peer.graph import DTYPES
from torch_peer.shapes import axes_of, prod
from torch_peer.table import OPERATORS, Unsupported, op, unary

unary({"Abs": "torch.abs({})", "Sqrt": "torch.sqrt({})", "Exp": "torch.exp({})", "Log": "torch.log({})",
       "Sin": "torch.sin({})", "Cos": "torch.cos({})", "Tanh": "torch.tanh({})", "Erf": "torch.erf({})",
       "Neg": "torch.neg({})", "Floor": "torch.floor({})", "Ceil": "torch.ceil({})", "Round": "torch.round({})",
       "Sign": "torch.sign({})", "Not": "torch.logical_not({})", "Reciprocal": "torch.reciprocal({})",
       "Relu": "F.relu({})", "Sigmoid": "torch.sigmoid({})", "HardSwish": "F.hardswish({})", "Mish": "F.mish({})",
       "Softplus": "F.softplus({})", "Softsign": "F.softsign({})", "Atan": "torch.atan({})", "IsNaN": "torch.isnan({})",
       "GlobalMaxPool": "{0}.amax(tuple(range(2, {0}.ndim)), True)"})

OPERATORS["Identity"] = lambda graph, node, x: x
OPERATORS["Dropout"] = lambda graph, node, x, *rest: [x, x]
OPERATORS["Gelu"] = lambda graph, node, x: f"F.gelu({x}, approximate={node.get('approximate', 'none')!r})"
OPERATORS["LeakyRelu"] = lambda graph, node, x: f"F.leaky_relu({x}, {node.get('alpha', 0.01)!r})"
OPERATORS["Elu"] = lambda graph, node, x: f"F.elu({x}, {node.get('alpha', 1.0)!r})"
OPERATORS["PRelu"] = lambda graph, node, x, w: f"torch.where({x} >= 0, {x}, {x} * {graph.literal(w, x)})"
OPERATORS["Einsum"] = lambda graph, node, *xs: f"torch.einsum({node.get('equation')!r}, {', '.join(map(str, xs))})"
OPERATORS["GlobalAveragePool"] = lambda graph, node, x: f"{x}.mean({tuple(range(2, x.rank))}, True)"


@op("HardSigmoid")
def hard_sigmoid(graph, node, x):
    a, b = node.get("alpha", 0.2), node.get("beta", 0.5)
    exact = abs(a - 1 / 6) < 1e-6 and b == 0.5
    return f"F.hardsigmoid({x})" if exact else f"torch.clamp({x} * {a!r} + {b!r}, 0.0, 1.0)"


def gelu_input(gate):
    """x, if gate is 1 + erf(x / sqrt(2))."""
    if gate.op == "Add" and 1.0 in [v.scalar() for v in gate.inputs]:
        erf = next((v for v in gate.inputs if v.op == "Erf"), None)
        inner = erf.inputs[0] if erf else None
        if inner and inner.op in ("Div", "Mul") and inner.inputs[1].scalar() is not None:
            if abs(inner.inputs[1].scalar() - (2 ** 0.5 if inner.op == "Div" else 0.5 ** 0.5)) < 1e-5:
                return inner.inputs[0]
    return None


def fused_product(graph, a, b):
    """Fuses silu, hardswish and gelu that are decomposed into multiplications."""
    for x, y in ((a, b), (b, a)):
        if y.op == "Sigmoid" and y.inputs[0] is x:
            return f"F.silu({x})"
        if y.op == "HardSigmoid" and y.inputs[0] is x and "hardsigmoid" in y.line:
            return f"F.hardswish({x})"
        if y.scalar() == 0.5 and x.op == "Mul" and len(x.inputs) == 2:  # (x * gate) * 0.5
            for p, q in (x.inputs, x.inputs[::-1]):
                if gelu_input(q) is p:
                    return f"F.gelu({p})"
        p = gelu_input(y)
        if p is not None and x.op == "Mul" and p in x.inputs and 0.5 in [v.scalar() for v in x.inputs]:
            return f"F.gelu({p})"  # (x * 0.5) * gate
        if y.op == "Mul" and 0.5 in [v.scalar() for v in y.inputs] and x in [gelu_input(v) for v in y.inputs]:
            return f"F.gelu({x})"  # x * (0.5 * gate)
    return None


def spelled_softmax(graph, a, b):
    """Fuses a / b into softmax, if that is exp(x - max x) over its sum."""
    sub = a.inputs[0] if a.op == "Exp" and b.op == "ReduceSum" and b.inputs[0] is a else None
    sub = sub.inputs[0] if sub is not None and sub.op == "Widen" else sub
    if sub is None or sub.op != "Sub":
        return None
    x, top = sub.inputs
    if top.op != "ReduceMax" or top.inputs[0] is not x:
        return None
    dims = [i for i in range(a.rank) if b.rank == a.rank and b.shape[i] != a.shape[i]]
    if len(dims) != 1 or top.shape != b.shape:
        return None
    out = graph.emit(f"torch.softmax({x}, {dims[0]})")
    out.op, out.inputs = "Softmax", [x]
    return out


BINARY = {"Add": "{} + {}", "Sub": "{} - {}", "Mul": "{} * {}", "Div": "{} / {}", "Pow": "torch.pow({}, {})",
          "Equal": "{} == {}", "Greater": "{} > {}", "Less": "{} < {}", "GreaterOrEqual": "{} >= {}",
          "LessOrEqual": "{} <= {}", "And": "torch.logical_and({}, {})", "Or": "torch.logical_or({}, {})",
          "Xor": "torch.logical_xor({}, {})", "Mod": "torch.remainder({}, {})"}


@op(*BINARY)
def binary(graph, node, a, b):
    if node.op == "Mul":
        fused = fused_product(graph, a, b)
        if fused:
            return fused
    if node.op == "Add":
        for x, bias in ((a, b), (b, a)):
            if x.redo and x.op == "MatMul" and x.is_read_once and bias.data is not None and bias.shape == x.shape[-1:]:
                return x.redo(bias)
    if node.op == "Div" and a.op == "Exp":
        fused = spelled_softmax(graph, a, b)
        if fused:
            return fused
    if node.op == "Pow" and b.scalar() in (2.0, 0.5):
        return f"{a} * {a}" if b.scalar() == 2.0 else f"torch.sqrt({a})"
    pattern = BINARY[node.op]
    if node.op == "Div" and not a.is_float:
        pattern = "torch.div({}, {}, rounding_mode='trunc')"
    if node.op == "Mod" and node.get("fmod", 0):
        pattern = "torch.fmod({}, {})"
    logical = node.op in ("And", "Or", "Xor")
    return pattern.format(a if logical else graph.literal(a, b), b if logical else graph.literal(b, a))


@op("Min", "Max", "Sum", "Mean")
def variadic(graph, node, *xs):
    out = xs[0]
    for x in xs[1:]:
        f = {"Min": "torch.minimum({}, {})", "Max": "torch.maximum({}, {})"}.get(node.op, "{} + {}")
        out = graph.emit(f.format(out, x))
    return graph.emit(f"{out} / {len(xs)}") if node.op == "Mean" else out


@op("Where")
def where(graph, node, c, a, b):
    return f"torch.where({c}, {a}, {b})"  # not as literals: torch would copy them to the GPU in every run


@op("Clip")
def clip(graph, node, x, lo=None, hi=None):
    lo = graph.literal(lo) if lo else node.get("min")
    hi = graph.literal(hi) if hi else node.get("max")
    return f"torch.clamp({x}, {lo}, {hi})" if lo is not None or hi is not None else x


@op("Cast", "CastLike")
def cast(graph, node, x, like=None):
    to = DTYPES.get(node.get("to")) if like is None else ("FT" if like.is_float else str(like.meta.dtype))
    if to is None:
        raise Unsupported(f"cast to type {node.get('to')}")
    if to in ("FT", "FD") and graph.is_half and x.data is None and not x.is_float and x.meta.dtype != torch.bool:
        to = "torch.float32"  # indices and sizes exceed half precision
    return x if x.data is None and x.meta.dtype == graph.dtype_of(to) else f"{x}.to({to})"


@op("ArgMax", "ArgMin")
def argmax(graph, node, x):
    return f"torch.{node.op.lower()}({x}, {node.get('axis', 0)}, {bool(node.get('keepdims', 1))})"


REDUCE = {"ReduceMean": "{x}.mean({d}, {k})", "ReduceSum": "{x}.sum({d}, {k})", "ReduceMax": "{x}.amax({d}, {k})",
          "ReduceMin": "{x}.amin({d}, {k})", "ReduceL2": "torch.linalg.vector_norm({x}, 2, {d}, {k})",
          "ReduceL1": "{x}.abs().sum({d}, {k})", "ReduceSumSquare": "({x} * {x}).sum({d}, {k})",
          "ReduceLogSumExp": "torch.logsumexp({x}, {d}, {k})"}


@op(*REDUCE, "ReduceProd")
def reduce(graph, node, x, axes=None):
    got, keep = axes_of(graph, node, axes, x.rank), bool(node.get("keepdims", 1))
    if not got:
        if node.get("noop_with_empty_axes", 0):
            return x
        got = list(range(x.rank))
    if node.op == "ReduceProd":
        return str(x) + "".join(f".prod({a}, {keep})" for a in sorted(got, reverse=True))
    return REDUCE[node.op].format(x=x, d=tuple(got), k=keep)


@op("Softmax", "LogSoftmax")
def softmax(graph, node, x):
    f = "torch.softmax" if node.op == "Softmax" else "torch.log_softmax"
    axis = node.get("axis", -1 if graph.opset >= 13 else 1) % x.rank
    if graph.opset < 13 and prod(x.shape[axis + 1:]) != 1:
        return f"{f}({x}.flatten({axis}), -1).reshape({x.shape})"
    return f"{f}({x}, {axis})"
