"""Minimises a case that differs."""
import copy

import numpy as np

from case import Case, Leaf, Value, check
from oracle import expected_outputs


def recompute(case, rows):
    """CASE with recomputed values; None if the oracle rejects a node."""
    rng = np.random.default_rng(0)
    values = {name: Value(leaf.array, np.zeros(leaf.array.shape)) for name, leaf in case.leaves.items()}
    try:
        for node in case.nodes:
            inputs = [values[name] if name else None for name in node.inputs]
            expected = expected_outputs(rows[node.domain, node.op], node, inputs, case.opset, rng)
            for name, (array, error) in zip(node.outputs, expected):
                if name:
                    values[name] = Value(array, error)
        case.values = values
        check(case.model())
    except Exception:  # a smaller case that raises any exception is no case
        return None
    return case


def only(case, nodes, outputs):
    """CASE with these nodes alone. Outputs of removed nodes become inputs."""
    made = {name for node in nodes for name in node.outputs}
    read = [name for node in nodes for name in node.inputs if name and name not in made]
    leaves = {name: case.leaves.get(name) or Leaf(case.values[name].array, "input") for name in read}
    values = {name: case.values[name] for name in [*leaves, *[n for n in made if n]]}
    for name in leaves:
        values[name] = Value(values[name].array, np.zeros(values[name].array.shape))
    return Case(case.opset, leaves, nodes, outputs, values)


def with_fewer_nodes(case):
    for output in case.outputs:
        needed, nodes = {output}, []
        for node in reversed(case.nodes):
            if needed & set(node.outputs):
                nodes.insert(0, node)
                needed |= set(node.inputs)
        if len(nodes) < len(case.nodes) or len(case.outputs) > 1:
            yield only(case, nodes, [output])
    for i, node in enumerate(case.nodes):
        made = [name for name in node.outputs if name]
        if len(case.nodes) > 1:
            yield only(case, [node], made)
    for i, node in enumerate(case.nodes):
        rest = case.nodes[:i] + case.nodes[i + 1:]
        read = {name for other in rest for name in other.inputs}
        outputs = [name for name in case.outputs if name not in node.outputs]
        outputs += [name for other in rest for name in other.outputs if name and name not in {*read, *outputs}]
        if rest and outputs:
            yield only(case, rest, outputs)


def with_smaller_shapes(case):
    sizes = sorted({n for leaf in case.leaves.values() for n in leaf.array.shape if n > 1}, reverse=True)
    for size in sizes:
        for smaller in dict.fromkeys((1, size // 2, size - 1)):
            if 0 < smaller < size:
                yield _cut(case, size, smaller, None)
                for name in case.leaves if len(case.leaves) > 1 else ():
                    yield _cut(case, size, smaller, name)


def _cut(case, size, smaller, name):
    """Every dimension SIZE of leaf NAME, or of all leaves, reduced to SMALLER."""
    cut = copy.deepcopy(case)
    for own, leaf in cut.leaves.items():
        if name in (None, own):
            leaf.array = leaf.array[tuple(slice(smaller) if n == size else slice(None) for n in leaf.array.shape)]
    return cut


def with_plainer_attributes(case):
    for i, node in enumerate(case.nodes):
        for name in node.attributes:
            plain = copy.deepcopy(case)
            del plain.nodes[i].attributes[name]
            yield plain
    for i, node in enumerate(case.nodes):
        if len(node.inputs) > 1:
            fewer = copy.deepcopy(case)
            fewer.nodes[i].inputs = node.inputs[:-1]
            yield only(fewer, fewer.nodes, fewer.outputs)


def with_plainer_numbers(case):
    for name, leaf in case.leaves.items():
        if leaf.array.size and leaf.array.dtype.kind == "f":
            for plain in (np.zeros_like(leaf.array), np.ones_like(leaf.array), np.round(leaf.array)):
                if not np.array_equal(plain, leaf.array):
                    other = copy.deepcopy(case)
                    other.leaves[name].array = plain
                    yield other


def shrink(case, rows, differing):
    """The smallest case found. DIFFERING returns which of a list of cases differ."""
    for _ in range(40):
        for ways in (with_fewer_nodes, with_smaller_shapes, with_plainer_attributes, with_plainer_numbers):
            candidates = [c for c in (recompute(copy.deepcopy(c), rows) for c in ways(case)) if c is not None]
            found = [c for c, differs in zip(candidates, differing(candidates)) if differs] if candidates else []
            if found:
                case = min(found, key=lambda c: (len(c.nodes), sum(leaf.array.size for leaf in c.leaves.values())))
                break
        else:
            return case
    return case
