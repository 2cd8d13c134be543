"""A graph of fixed shapes with weights, built: parts in the engine, the rest in PyTorch."""
from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import torch  # type: ignore[import-not-found,unused-ignore]

from . import _torch_engine as engine
from . import _torch_partition as partitions
from . import _torch_tensors as tensors
from ._torch_decompositions import unfuse_attention
from ._torch_export import NO_FUNCTION, CannotRun, cannot_run, is_input, operator_name, to_onnx
from ._torch_partition import name_of
from ._torch_report import Graph

MOST_ATTEMPTS = 24
"""Exports per graph for parts that fail and the search for their nodes; what then fails stays in PyTorch."""

# Operators without any ONNX form: other graphs need not try them. Every process learns them again.
_unexportable: set[Any] = set()


class Builder:
    """Builds one graph. LOAD makes an engine of an ONNX program."""

    def __init__(self, graph: Any, weights: Mapping[str, torch.Tensor], device: torch.device,
                 load: Callable[[Any], engine.Engine]) -> None:
        """GRAPH: a functional torch.fx.GraphModule. WEIGHTS: the inputs, by name, whose tensors become constants
        of the engine. DEVICE: of the tensors in the engine's parts."""
        self._graph, self._weights, self._device, self._load = graph, weights, device, load
        self._banned: dict[str, str] = {}
        self._engines: dict[tuple[str, ...], engine.Engine] = {}
        self._attempts = 0

    def build(self, entry: Graph) -> Callable[..., Any]:
        """A function of the graph's inputs. Notes in ENTRY what runs where."""
        for node in self._operators(self._graph.graph):
            if reason := partitions.refusal(node, self._device):
                self._banned[node.name] = reason
            elif node.target in _unexportable:
                self._banned[node.name] = NO_FUNCTION
        while True:
            fused = partitions.partition(self._graph, self._banned)
            if all([self._has_engine(fused, call) for call in _calls(fused)]):
                break
        self._note(entry, fused)
        for call in _calls(fused):
            self._link(fused, call)
        fused.graph.eliminate_dead_code()
        fused.recompile()
        return fused.forward  # type: ignore[no-any-return,unused-ignore]

    @staticmethod
    def _operators(graph: Any) -> list[Any]:
        return [node for node in graph.nodes if node.op == "call_function" and node.target is not operator.getitem]

    def _has_engine(self, fused: Any, call: Any) -> bool:
        """Makes the engine of the part that CALL calls. If that fails, bans the nodes at fault."""
        part = getattr(fused, call.target)
        nodes = self._operators(part.graph)
        key = tuple(map(name_of, nodes))
        if key in self._engines:
            return True
        try:
            self._engines[key] = self._make(fused, call, part)
            self._attempts -= 1  # it did not fail
            return True
        except CannotRun as error:
            at_fault = self._at_fault(fused, call, part, error) or nodes
            if error.target is not None:
                _unexportable.add(error.target)
                at_fault = [node for node in nodes if node.target is error.target] or at_fault
            self._banned.update((name_of(node), _reason(error)) for node in at_fault)
            return False

    def _make(self, fused: Any, call: Any, part: Any) -> engine.Engine:
        if self._attempts >= MOST_ATTEMPTS:
            raise cannot_run(f"{MOST_ATTEMPTS} attempts to build parts of its graph failed")
        self._attempts += 1
        baked, examples = self._baked(fused, call, part)
        try:
            exported = torch.export.export(baked, examples, strict=False)
        except Exception as error:  # tracing may raise whatever an operator does
            raise cannot_run(f"torch.export can't trace it: {type(error).__name__}") from error
        traced = exported.graph
        try:
            program = to_onnx(exported)
            traced = program.exported_program.graph
            return self._load(program)
        except CannotRun as error:
            error.nodes = tuple(name_of(node) for node in partitions.blamed(part, traced, error.nodes))
            raise

    def _at_fault(self, fused: Any, call: Any, part: Any, error: CannotRun) -> list[Any]:
        """The nodes of PART at which it failed; searched if ERROR does not name one."""
        named = [node for node in part.graph.nodes if name_of(node) in error.nodes]
        if named or self._attempts >= MOST_ATTEMPTS:
            return named

        def fails(beginning: Any) -> bool:
            try:
                self._make(fused, call, beginning)
            except CannotRun:
                return True
            return False

        last = partitions.last_of_smallest_failing(part, fails, MOST_ATTEMPTS - self._attempts)
        return [last] if last is not None else []

    def _baked(self, fused: Any, call: Any, part: Any) -> tuple[Any, tuple[torch.Tensor, ...]]:
        """PART with its weights as attributes, and examples of its other inputs."""
        given = dict(zip((node for node in part.graph.nodes if is_input(node)), call.args))
        root = torch.nn.Module()
        graph = torch.fx.Graph()
        copies: dict[Any, Any] = {}
        examples = []
        for node in part.graph.nodes:
            weight = self._weight(fused, given[node]) if node in given else None
            if weight is not None:
                name = f"weight_{len(copies)}"
                root.register_buffer(name, weight.detach())
                copies[node] = graph.get_attr(name)
                continue
            if node in given:
                examples.append(tensors.example_of(node.meta["val"]))
            copies[node] = graph.node_copy(node, lambda source: copies[source])
        unfuse_attention(graph)
        return torch.fx.GraphModule(root, graph), tuple(examples)

    def _weight(self, fused: Any, source: Any) -> torch.Tensor | None:
        if source.op == "get_attr":
            attribute: torch.Tensor = operator.attrgetter(source.target)(fused)
            return attribute
        return self._weights.get(name_of(source)) if is_input(source) else None

    def _link(self, fused: Any, call: Any) -> None:
        """Replaces CALL by a call of the part's engine with the inputs that are not weights."""
        part = getattr(fused, call.target)
        (outputs,) = (node.args[0] for node in part.graph.nodes if node.op == "output")
        single = isinstance(outputs, torch.fx.Node)
        strides = [tensors.strides_to_keep(node.meta["val"]) for node in ([outputs] if single else outputs)]
        run = self._engines[tuple(map(name_of, self._operators(part.graph)))]

        def saccade_part(*given: torch.Tensor) -> Any:
            results = [tensors.with_strides(tensor, kept) for tensor, kept in zip(run(given), strides)]
            return results[0] if single else tuple(results)

        with fused.graph.inserting_before(call):
            inputs = tuple(each for each in call.args if self._weight(fused, each) is None)
            call.replace_all_uses_with(fused.graph.call_function(saccade_part, inputs))
        fused.graph.erase_node(call)
        fused.delete_submodule(call.target)

    def _note(self, entry: Graph, fused: Any) -> None:
        nodes = self._operators(self._graph.graph)
        parts = _calls(fused)
        entry.parts = len(parts)
        entry.compiled = sum(len(self._operators(getattr(fused, call.target).graph)) for call in parts)
        entry.fallbacks = dict(Counter((operator_name(node.target), self._banned[node.name]) for node in nodes
                                       if node.name in self._banned))
        # Views that are returned are made in PyTorch, cost nothing, and do not count.
        entry.nodes = entry.compiled + sum(entry.fallbacks.values())


def _calls(fused: Any) -> list[Any]:
    return [node for node in fused.graph.nodes if node.op == "call_module"]


def _reason(error: CannotRun) -> str:
    return NO_FUNCTION if error.target is not None else str(error)
