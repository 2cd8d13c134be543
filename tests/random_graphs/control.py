"""Rules that generate If and Loop, whose sub-graphs read outer values."""
import functools

import numpy as np
from onnx import helper

from case import BOOL, Node, is_float
from draft import Impossible
from elements import MODERATE
from schemas import schema_of, types_of

INT64 = np.dtype("int64")
LOOPED = (-2, 2)  # what grows with each iteration


def _info(name, dtype=None, shape=None):
    if dtype is None:
        return helper.make_empty_tensor_value_info(name)
    return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(dtype), shape)


def ways(d, dtype):
    """Operators that a branch may use on values of this type."""
    found = ["Identity"]
    found += [op for op in ("Add", "Sub", "Mul") if dtype in types_of(schema_of(op, "", d.opset))]
    found += ["Not", "And"] if dtype == BOOL else []
    return found + (["Sigmoid"] if is_float(dtype) and dtype in types_of(schema_of("Sigmoid", "", d.opset)) else [])


def step(op, a, b, to):
    """A node with one of the alternatives."""
    return Node(op, [a] if op in ("Identity", "Not", "Sigmoid", "Transpose") else [a, b], [to])


def _branches(then_ops, else_ops, inputs, outputs, as_floats=False):
    """Of (condition, a, b): every branch is a chain that starts at a and reads b."""
    graphs = {}
    for name, ops in (("then", then_ops), ("else", else_ops)):
        at, nodes = inputs[1], []
        for i, op in enumerate(ops):
            to = f"{outputs[0]}_{name}_{i}"
            nodes.append(step(op, at, inputs[-1], to).proto())
            at = to
        graphs[f"{name}_branch"] = helper.make_graph(nodes, f"{outputs[0]}_{name}", [], [_info(at)])
    return graphs


def meaning_of_if(node, arrays):
    ops = node.body.args[0 if arrays[0].all() else 1]
    at, steps = "i1", []
    for i, op in enumerate(ops):
        steps.append(step(op, at, "i2", f"s{i}"))
        at = f"s{i}"
    return [*steps, Node("Identity", [at], ["o0"])], {}


def if_(d):
    dtype = d.type_for(0, is_output=True)
    a = d.pick(dtype, within=MODERATE)
    b = d.pick(dtype, d.dims(a), within=MODERATE)
    truth, is_known = d.chance(0.5), d.chance(0.5)
    condition = d.leaf(np.full(d.choose(((), (1,))), truth), d.choose(("initializer", "constant")) if is_known else
                       "input")
    d.note("condition", "known" if is_known else "input")
    d.note("taken", "then" if truth else "else")
    options = ways(d, dtype)
    then_ops, else_ops = ([d.choose(options) for _ in range(d.integer(1, 3))] for _ in range(2))
    # With a constant condition, branches may differ in shape.
    differ = is_known and len(d.dims(a)) >= 2 and d.chance(0.5)
    d.note("branches", "of two shapes" if differ else "of one shape")
    if differ:
        else_ops.append("Transpose")
    return d.node([condition], captured=[a, b], body=functools.partial(_branches, then_ops, else_ops))


def _iteration(dtype, op, ends, collects, inputs, outputs, as_floats=False):
    """Of (count, condition, start, captured[, last]): start = op(start, captured), and scan outputs."""
    dtype = np.dtype("float32") if as_floats else dtype
    prefix = outputs[0] or outputs[1]
    number, goes, carried, to, on, row = (f"{prefix}_{name}" for name in ("i", "goes", "v", "to", "on", "row"))
    nodes = [step(op, carried, inputs[3], to).proto()]
    nodes.append(helper.make_node("Less", [number, inputs[4]], [on]) if ends == "number" else
                 helper.make_node("Identity", [goes], [on]))
    results = [_info(on, BOOL), _info(to, dtype)]
    if collects:
        nodes.append(helper.make_node("Identity", [to], [row]))
        results.append(_info(row, dtype))
    return {"body": helper.make_graph(nodes, f"{prefix}_body", [_info(number, INT64, ()), _info(goes, BOOL, ()),
                                                               _info(carried, dtype)], results)}


def meaning_of_loop(node, arrays):
    """The iterations in order."""
    _, op, ends, collects = node.body.args
    limit = np.inf if arrays[0] is None else int(arrays[0])
    goes = arrays[1] is None or bool(arrays[1])
    at, steps, rows, number = "i2", [], [], 0
    while goes and number < limit:
        steps.append(step(op, at, "i3", f"s{number}"))
        at = f"s{number}"
        rows.append(f"row{number}")
        steps.append(Node("Unsqueeze", [at, "front"], [rows[-1]]))
        goes = number < int(arrays[4]) if ends == "number" else goes
        number += 1
    if collects and not rows:
        raise Impossible("the shape of no rows is not known")
    stacked = [Node("Concat", rows, ["o1"], {"axis": 0})] if collects else []
    return [*steps, Node("Identity", [at], ["o0"]), *stacked], {"front": np.asarray([0])}


def loop(d):
    dtype = d.type_for(2)
    start = d.pick(dtype, within=LOOPED, most=3)
    other = d.pick(dtype, d.dims(start), within=LOOPED)
    op = d.choose(ways(d, dtype))
    ends = d.choose(("limit", "number", "condition"))
    condition_is = d.choose(("absent", "known", "input"))
    if ends == "number" and INT64 not in types_of(schema_of("Less", "", d.opset)):
        raise Impossible("Less does not take int64 yet")
    if ends == "condition" and condition_is == "absent":
        raise Impossible("it would be endless")
    # With a data-dependent end of the loop the number of rows is unknown.
    collects = condition_is != "input" and d.chance(0.5)
    # A condition that is constant false, or constant true.
    truth = ends != "condition" if condition_is == "known" else d.chance(0.7)
    if condition_is != "absent" and not truth and collects:
        raise Impossible("the shape of no rows is not known")
    d.note("ends by", ends)
    d.note("condition", condition_is)
    d.note("collects", collects)
    has_limit = ends == "limit" or d.chance(0.6) or condition_is == "input"
    count = d.leaf(np.asarray(d.integer(1 if collects else 0, 4), INT64), "initializer") if has_limit else ""
    condition = "" if condition_is == "absent" else d.leaf(
        np.asarray(truth), "input" if condition_is == "input" else d.choose(("initializer", "constant")))
    last = [d.leaf(np.asarray(d.integer(0, 3), INT64), "initializer")] if ends == "number" else []
    if ends == "number" and collects and count and d.array(count) < 1:
        raise Impossible("the shape of no rows is not known")
    captured = [other, *last]
    body = functools.partial(_iteration, dtype, op, ends, collects)
    names = [count, condition, start]
    return d.node(names, 2 if collects else 1, captured=captured, body=body)
