"""What torch.compile's backend did: which nodes run in the engine, what stayed in PyTorch, and why."""
from __future__ import annotations

import collections
import dataclasses
import logging
import threading
import weakref
from typing import Any

_log = logging.getLogger("saccade.torch")
_said: set[str] = set()
_lock = threading.Lock()
_MOST_GRAPHS = 64


@dataclasses.dataclass
class Graph:
    """One graph that torch.compile captured, for one set of shapes."""

    shapes: tuple[tuple[int, ...], ...] = ()
    """Of the tensors given to it, without weights."""
    nodes: int = 0
    """Its operators."""
    compiled: int = 0
    """Those that run in Saccade."""
    parts: int = 0
    """Calls of Saccade per call of the graph."""
    fallbacks: dict[tuple[str, str], int] = dataclasses.field(default_factory=dict)
    """How many operators stay in PyTorch, by (operator, reason)."""
    reason: str = ""
    """Why the whole graph runs in PyTorch; empty if it does not."""
    weights: list[weakref.ref[Any]] = dataclasses.field(default_factory=list, repr=False)

    def __str__(self) -> str:
        shapes = ", ".join("x".join(map(str, shape)) or "scalar" for shape in self.shapes)
        if self.reason:
            return f"graph of {shapes or 'no tensors'}: in PyTorch, because {self.reason}"
        lines = [f"graph of {shapes or 'no tensors'}: {self.compiled} of {self.nodes} operators in Saccade, "
                 f"in {self.parts} part{'' if self.parts == 1 else 's'}"]
        lines += [f"  {count} x {name} in PyTorch: {why}" for (name, why), count in self.fallbacks.items()]
        return "\n".join(lines)


@dataclasses.dataclass
class Report:
    """The graphs of a compiled model, or all of the last ones; str() is a text for people."""

    graphs: list[Graph]

    @property
    def fallbacks(self) -> dict[tuple[str, str], int]:
        """How many operators stay in PyTorch, by (operator, reason), in all graphs. A graph that stays there as a whole
        has the operator "" and counts once."""
        total: collections.Counter[tuple[str, str]] = collections.Counter()
        for graph in self.graphs:
            total.update(graph.fallbacks)
            if graph.reason:
                total["", graph.reason] += 1
        return dict(total)

    def __str__(self) -> str:
        return "\n".join(map(str, self.graphs)) or "no graph was compiled"


_graphs: collections.deque[Graph] = collections.deque(maxlen=_MOST_GRAPHS)


def add(graph: Graph) -> None:
    """Adds a finished GRAPH to the report, and logs each of its reasons that was not logged before."""
    _graphs.append(graph)
    if graph.reason:
        say(f"a graph runs in PyTorch: {graph.reason}", graph.reason)
    for name, why in graph.fallbacks:
        say(f"{name} runs in PyTorch: {why}", why)


def add_once(graph: Graph) -> None:
    """As add(), unless the report has an equal graph: of calls that stay in PyTorch each comes here."""
    if not any(graph.reason == each.reason and graph.shapes == each.shapes for each in list(_graphs)):
        add(graph)


def say(message: str, reason: str = "") -> None:
    """Logs the warning MESSAGE, once per REASON."""
    with _lock:
        if (reason or message) in _said:
            return
        _said.add(reason or message)
    _log.warning("%s", message)


def report(module: Any = None) -> Report:
    if module is None:
        return Report(list(_graphs))
    if not callable(getattr(module, "parameters", None)):
        raise TypeError(f"explain() takes a torch.nn.Module or nothing, not {type(module).__name__}")
    own = {id(tensor) for tensor in (*module.parameters(), *module.buffers())}
    if not own:
        raise ValueError("the module has no weights by which its graphs are known: call explain() without it")
    return Report([graph for graph in list(_graphs) if any(id(weight()) in own for weight in graph.weights)])


def forget() -> None:
    _graphs.clear()
    with _lock:
        _said.clear()
