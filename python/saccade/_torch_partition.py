"""Which nodes of a graph run in the engine: the largest connected parts that it can run.

A graph is functional and has fixed shapes; its values carry fake tensors as `meta["val"]`. What the exporter or the engine
can't do shows only when a part is built. Its node is then banned, and the graph is partitioned again. If an error names no
node, the smallest failing beginning of the part is searched, whose last node is at fault."""
from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any

import torch  # type: ignore[import-not-found,unused-ignore]
from torch.fx.passes.infra.partitioner import (  # type: ignore[import-not-found,unused-ignore]
    CapabilityBasedPartitioner)
from torch.fx.passes.operator_support import OperatorSupportBase  # type: ignore[import-not-found,unused-ignore]

from . import _torch_tensors as tensors
from ._torch_export import is_input, is_random, operator_name

# A part costs seconds to export, and a call of the engine as much as several small operators of PyTorch. A part needs this
# many operators, or one of the heavy ones.
FEWEST_NODES = 16
_HEAVY = ("convolution", "mm", "bmm", "addmm", "attention", "pool", "upsample", "grid_sampler", "layer_norm", "softmax")
# They address the storage of a view, of which the engine has only the view's numbers.
_STRIDED = ("aten::as_strided", "aten::as_strided_copy", "aten::as_strided_scatter")

_NAME = "saccade_name"
_RETURNED = "saccade_returned_view"


def name_of(node: Any) -> str:
    """The name of NODE in the graph that was partitioned."""
    return str(node.meta.get(_NAME, node.name))


def values_of(node: Any) -> list[Any]:
    """The fake tensors, and other values, that NODE computes; of several only those that are used."""
    value = node.meta.get("val")
    if not isinstance(value, (tuple, list)):
        return [value]
    used = {user.args[1] for user in node.users if user.target is operator.getitem and user.users}
    return [each for at, each in enumerate(value) if at in used]


def refusal(node: Any, device: torch.device) -> str | None:
    """Why NODE stays in PyTorch whatever the exporter can do, or None. DEVICE: that of the parts in the engine."""
    if node.target is operator.getitem:
        return refusal(node.args[0], device)
    # An operator's class and its schema have no public names; PyTorch's guide to custom operators describes both.
    if not isinstance(node.target, torch._ops.OpOverload):
        return "it is not a tensor operator"
    if node.target._schema.is_mutable:
        return "it changes its argument"
    # The exporter drops an assertion.
    if not node.target._schema.returns:
        return "it returns nothing"
    if is_random(node):
        return "it draws random numbers"
    if node.kwargs.get("training") is True or _trains(node):
        return "batch normalization in training changes its statistics"
    for value in [each for source in (node, *node.all_input_nodes) for each in values_of(source)]:
        if value is None:
            continue
        if not isinstance(value, torch.Tensor):
            return "it takes or gives numbers that are not tensors"
        if not all(isinstance(size, int) for size in value.shape):
            return "sizes depend on the data"
        if value.numel() == 0:
            return "empty tensors are not supported"
        if reason := tensors.refusal(value):
            return reason
        if value.device != device:
            return f"a tensor is on {value.device}, others are on {device}"
    return "it depends on the layout in memory" if _needs_memory(node) else None


def _needs_memory(node: Any) -> bool:
    """Whether NODE may read memory that is not its argument's, or is a view of which a later node does."""
    if operator_name(node.target) in _STRIDED:
        given = node.args[0]
        return given.op != "call_function" or _is_view(given) or not given.meta["val"].is_contiguous()
    return _is_view(node) and any(user.args[0] is node and _needs_memory(user) for user in node.users)


def _trains(node: Any) -> bool:
    names = [argument.name for argument in node.target._schema.arguments]
    at = names.index("training") if "training" in names else len(node.args)
    return at < len(node.args) and node.args[at] is True


class _Support(OperatorSupportBase):  # type: ignore[misc,unused-ignore]
    """What CapabilityBasedPartitioner asks."""

    def __init__(self, banned: Mapping[str, str]) -> None:
        super().__init__()
        self._banned = banned

    def is_node_supported(self, submodules: Mapping[str, Any], node: Any) -> bool:
        if node.op != "call_function":
            return False
        made_by = node.args[0] if node.target is operator.getitem else node
        return _RETURNED not in node.meta and name_of(made_by) not in self._banned


def partition(graph: Any, banned: dict[str, str]) -> Any:
    """A copy of the GraphModule GRAPH whose modules fused_0, fused_1, ... are the parts for the engine, without the nodes
    BANNED. Parts that are too small are added to BANNED."""
    nodes = torch.fx.Graph()
    copies: dict[Any, Any] = {}
    for node in graph.graph.nodes:
        copies[node] = nodes.node_copy(node, lambda source: copies[source])
        copies[node].meta[_NAME] = node.name
    _make_returned_views(nodes)
    copy = torch.fx.GraphModule(graph, nodes)
    partitioner = CapabilityBasedPartitioner(copy, _Support(banned), allows_single_node_partition=True)
    parts = []
    for part in partitioner.propose_partitions():
        if _is_worth_a_call(list(part.nodes)):
            parts.append(part)
        else:
            banned.update((name_of(node), "the part around it is too small for a call of the engine") for node in part.nodes)
    fused = partitioner.fuse_partitions(parts)
    fused.recompile()
    return fused


def _make_returned_views(graph: Any) -> None:
    """Views that GRAPH returns are made in PyTorch, of copies of their nodes: they share memory with what they are views of,
    which may be returned, too, and then be written."""
    (output,) = (node for node in graph.nodes if node.op == "output")
    views: dict[Any, Any] = {}

    def view_of(node: Any) -> Any:
        if node.op != "call_function" or not _is_view(node):
            return node
        if node not in views:
            source = view_of(node.args[0])
            with graph.inserting_before(output):
                views[node] = graph.node_copy(node, lambda given: source if given is node.args[0] else given)
            views[node].meta[_RETURNED] = True
        return views[node]

    output.args = torch.fx.map_arg(output.args, view_of)
    for node in reversed(list(graph.nodes)):
        if node in views and not node.users:
            graph.erase_node(node)


def _is_view(node: Any) -> bool:
    if node.target is operator.getitem:
        return _is_view(node.args[0])
    returns = getattr(getattr(node.target, "_schema", None), "returns", ())
    return any(each.alias_info is not None and not each.alias_info.is_write for each in returns)


def _is_worth_a_call(nodes: list[Any]) -> bool:
    names = [operator_name(node.target) for node in nodes]
    return len(nodes) >= FEWEST_NODES or any(heavy in name for heavy in _HEAVY for name in names)


def blamed(part: Any, decomposed: Any, names: tuple[str, ...]) -> list[Any]:
    """The nodes of PART, a GraphModule, from which the nodes NAMES of the graph DECOMPOSED stem. The exporter traces a part
    again, which gives new names; the order of the calls of an operator stays."""
    ours, theirs = _by_target(part.graph), _by_target(decomposed)
    found = []
    for nodes in theirs.values():
        for at, node in enumerate(nodes):
            if node.name in names:
                same = ours.get(node.target, [])
                found += [same[at]] if len(same) == len(nodes) else same
    return found


def _by_target(graph: Any) -> dict[Any, list[Any]]:
    table: dict[Any, list[Any]] = {}
    for node in graph.nodes:
        if node.op == "call_function" and node.target is not operator.getitem:
            table.setdefault(node.target, []).append(node)
    return table


def last_of_smallest_failing(part: Any, fails: Callable[[Any], bool], attempts: int) -> Any:
    """The node of PART at which its beginning starts to fail; None if ATTEMPTS do not suffice."""
    nodes = [node for node in part.graph.nodes if node.op == "call_function" and node.target is not operator.getitem]
    works, broken = 0, len(nodes)
    while broken - works > 1 and attempts > 0:
        middle = (works + broken) // 2
        attempts -= 1
        if fails(_beginning(part, nodes[:middle])):
            broken = middle
        else:
            works = middle
    return nodes[broken - 1] if broken - works == 1 else None


def _beginning(part: Any, nodes: list[Any]) -> Any:
    """PART up to NODES; it returns the tensors that the rest would read."""
    kept = set(nodes) | {node for node in part.graph.nodes if node.target is operator.getitem and node.args[0] in nodes}
    graph = torch.fx.Graph()
    copies: dict[Any, Any] = {}
    for node in part.graph.nodes:
        if is_input(node) or node.op == "get_attr" or node in kept:
            copies[node] = graph.node_copy(node, lambda source: copies[source])
    ends = [node for node in kept if isinstance(node.meta.get("val"), torch.Tensor)
            and any(user not in kept for user in node.users)]
    graph.output(tuple(copies[node] for node in ends))
    return torch.fx.GraphModule(part, graph)
