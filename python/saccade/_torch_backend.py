"""torch.compile's backend "saccade".

PyTorch captures a graph, makes it functional, and gives it to `Compiled`, which builds it at its first call: only then are
there weights. A build is for the shapes and the weights of that call; `Compiled` keeps several and checks at every call
that the one it takes fits. Whatever can't be right runs as PyTorch's own graph."""
from __future__ import annotations

import dataclasses
import threading
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch  # type: ignore[import-not-found,unused-ignore]
from torch._dynamo.backends.common import aot_autograd  # type: ignore[import-not-found,unused-ignore]
from torch.fx.experimental.proxy_tensor import make_fx  # type: ignore[import-not-found,unused-ignore]

from . import _torch_engine as engine
from . import _torch_report as reports
from . import _torch_tensors as tensors
from ._torch_build import Builder
from ._torch_decompositions import TABLE
from ._torch_export import apart, is_input
from ._torch_weights import Weights

MOST_REFUSED = 1024
"""Shapes that a graph notes as running in PyTorch, so that their calls need not be looked at again."""
MOST_WEIGHTS = 4
"""Builds kept of one graph and shape: modules of one class share a graph, and each has weights of its own."""

# Of threads that call a graph for the first time one builds it. Two builds would take each other's processors.
_building = threading.RLock()


@dataclasses.dataclass(frozen=True)
class Settings:
    """The options of torch.compile(..., options={...})."""

    max_shapes: int = 8
    """Builds for different shapes, layouts and numbers per compiled function; further ones run in PyTorch."""
    device: str = "auto"
    """"auto": that of the tensors."""
    precision: str = "auto"
    threads: int = 0

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> Settings:
        known = {field.name: type(field.default) for field in dataclasses.fields(cls)}
        for name, value in options.items():
            if name not in known:
                raise ValueError(f"the backend saccade has no option '{name}', but {', '.join(known)}")
            if type(value) is not known[name]:
                raise TypeError(f"the option '{name}' is {known[name].__name__}, not {type(value).__name__}")
        settings = cls(**options)
        if settings.max_shapes < 1:
            raise ValueError("the option 'max_shapes' is at least 1")
        return settings


def compile_graph(module: Any, inputs: Sequence[Any], *, options: Mapping[str, Any] | None = None,
                  mode: str | None = None) -> Callable[..., Any]:
    """The backend: MODULE is the torch.fx.GraphModule that PyTorch captured, INPUTS what it is first called with, weights
    included. Returns what PyTorch calls instead. OPTIONS: see saccade.torch.options. Raises ValueError or TypeError for
    wrong options, and saccade.Error, at the first call, for a device that is missing."""
    if mode not in (None, "default"):
        raise ValueError(f"the backend saccade has no mode '{mode}'; its options are set by saccade.torch.options()")
    settings = Settings.of(options or {})
    given = [each for each in inputs if isinstance(each, torch.Tensor)]
    if reason := _outside(module, given):
        reports.add(reports.Graph(_shapes(each for each in given if not _is_weight(each)), reason=reason,
                                  weights=[weakref.ref(each) for each in given if _is_weight(each)]))
        return module  # type: ignore[no-any-return,unused-ignore]
    weights = [weakref.ref(each) for each in given if _is_weight(each)]
    budget = _budget()

    def compiler(graph: Any, _: Sequence[Any]) -> Callable[..., Any]:
        compiled = Compiled(graph, weights, settings, budget)

        def run(args: list[Any]) -> Any:
            return compiled(args)

        # PyTorch hands over the list, which is emptied, so that inputs are freed early.
        run._boxed_call = True  # type: ignore[attr-defined]
        return run

    compiled: Callable[..., Any] = aot_autograd(fw_compiler=compiler, decompositions=TABLE)(module, inputs)
    return compiled


def _outside(module: Any, given: list[torch.Tensor]) -> str | None:
    """Why the captured graph stays in PyTorch as a whole, or None."""
    # torch.enable_grad() in the captured code is a call of this function, which has no public name.
    inner_grad = any(node.target is torch._C._set_grad_enabled and node.args[0] for node in module.graph.nodes)
    if (torch.is_grad_enabled() or inner_grad) and any(each.requires_grad for each in given):
        return "gradients are needed; call it under torch.no_grad() or torch.inference_mode()"
    return next((reason for each in given if each.device.type != "cpu" and (reason := tensors.refusal(each))), None)


def _is_weight(tensor: torch.Tensor) -> bool:
    """Parameters, and the buffers of modules, which PyTorch marks because their addresses stay. There is no public form of
    the mark; without it a buffer is an input of the network, which is as correct."""
    return isinstance(tensor, torch.nn.Parameter) or getattr(tensor, "_dynamo_static_input_type", None) is not None


def _shapes(given: Any) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(each.shape) for each in given if isinstance(each, torch.Tensor))


class Budget:
    """The shapes that were built of a function."""

    def __init__(self) -> None:
        self._shapes: set[tuple[tuple[int, ...], ...]] = set()

    def allows(self, shapes: tuple[tuple[int, ...], ...], most: int) -> bool:
        """Whether SHAPES may be built. Another graph of the function may have them already: PyTorch captures one for fixed
        shapes first, and then one for all."""
        if shapes not in self._shapes and len(self._shapes) >= most:
            return False
        self._shapes.add(shapes)
        return True


_budgets: dict[int, Budget] = {}


def _budget() -> Budget:
    """That of the function being compiled. No public API names it; PyTorch's own logs do as this one does. A first
    compilation starts again: torch._dynamo.reset() gives the numbers a second time."""
    identity = torch._guards.CompileContext.current_compile_id()
    if identity is None or (frame := identity.frame_id) is None:
        return Budget()
    if identity.frame_compile_id == 0:
        _budgets[frame] = Budget()
    return _budgets.setdefault(frame, Budget())


@dataclasses.dataclass(eq=False)
class Build:
    """A function for the shapes KEY and for WEIGHTS."""

    key: tuple[Any, ...]
    weights: Weights
    run: Callable[..., Any]


class Compiled:
    """A functional graph, called with its inputs and weights in one list. Any number of threads may call it."""

    def __init__(self, graph: Any, weights: list[weakref.ref[torch.Tensor]], settings: Settings, budget: Budget) -> None:
        self._graph, self._weights, self._settings, self._budget = graph, weights, settings, budget
        values = [node.meta.get("val") for node in graph.graph.nodes if is_input(node)]
        # Otherwise PyTorch captures again when a shape changes.
        self._varies = any(not isinstance(value, torch.Tensor) or
                           any(not isinstance(size, int) for size in (*value.shape, *value.stride()))
                           for value in values)
        # Known from the first call on: the places of weights among the inputs, and the others.
        self._places: list[int] = []
        self._others: list[int] | None = None
        self._builds: tuple[Build, ...] = ()
        self._refused: set[tuple[Any, ...]] = set()
        self._changed: Weights | None = None

    def __call__(self, args: list[Any]) -> Any:
        given = list(args)
        args.clear()
        return self._function(given)(*given)

    def _function(self, given: list[Any]) -> Callable[..., Any]:
        # Threads whose build exists do not wait for one that builds.
        if self._others is not None and (run := self._known(self._key(given), given)):
            return run
        with _building:
            if self._others is None:
                self._divide(given)
            key = self._key(given)
            return self._known(key, given) or self._new(key, given)

    def _known(self, key: tuple[Any, ...], given: list[Any]) -> Callable[..., Any] | None:
        for build in self._builds:
            if build.key == key and build.weights.are_in(given):
                return build.run
        return self._graph.forward if key in self._refused else None

    def _divide(self, given: list[Any]) -> None:
        known = {id(weight) for reference in self._weights if (weight := reference()) is not None}
        self._places = [place for place, each in enumerate(given) if id(each) in known]
        self._others = [place for place, each in enumerate(given) if id(each) not in known]

    def _key(self, given: list[Any]) -> tuple[Any, ...]:
        """What a build is made for, besides weights."""
        if not self._varies:
            return ()
        return tuple((each.shape, each.stride()) if isinstance(each, torch.Tensor) else each
                     for each in map(given.__getitem__, self._others or ()))

    def _new(self, key: tuple[Any, ...], given: list[Any]) -> Callable[..., Any]:
        eager: Callable[..., Any] = self._graph.forward
        shapes = _shapes(given[place] for place in self._others or ())
        weights = [given[place] for place in self._places]
        entry = reports.Graph(shapes, weights=list(map(weakref.ref, weights)))
        is_known = any(build.key == key for build in self._builds)
        if reason := self._refusal(shapes, weights, is_known):
            if len(self._refused) < MOST_REFUSED:
                self._refused.add(key)
            entry.reason = reason
            reports.add_once(entry)
            return eager
        # Weights that change at every call are not worth a build.
        if is_known and (self._changed is None or not self._changed.are_in(given)):
            self._changed = Weights(given, self._places)
            reports.say("weights changed after compilation: a call runs in PyTorch, and the next builds again")
            return eager
        build = Build(key, Weights(given, self._places), apart(lambda: self._build(given, entry)))
        if entry.nodes:
            reports.add(entry)
        kept = [each for each in self._builds if not each.weights.are_outdated()]
        same = [each for each in kept if each.key == key]
        if len(same) >= MOST_WEIGHTS:
            kept.remove(same[0])
        self._builds = (*kept, build)
        return build.run

    def _refusal(self, shapes: tuple[tuple[int, ...], ...], weights: list[torch.Tensor], is_known: bool) -> str | None:
        """Why calls with these shapes run in PyTorch, or None."""
        if any(weight.is_inference() for weight in weights):
            return "weights made under torch.inference_mode() have no version that shows a change"
        if any(0 in shape for shape in shapes):
            return "empty tensors are not supported"
        most = self._settings.max_shapes
        if not is_known and not self._budget.allows(shapes, most):
            return f"it was compiled for {most} shapes already (max_shapes)"
        if not is_known and len({build.key for build in self._builds}) >= most:
            return f"it was compiled for {most} layouts and numbers already (max_shapes)"
        return None

    def _build(self, given: list[Any], entry: reports.Graph) -> Callable[..., Any]:
        graph = self._graph
        if self._varies:
            graph = make_fx(graph, tracing_mode="fake")(*given)
        given_names = [node.name for node in graph.graph.nodes if is_input(node)]
        weights = {given_names[place]: given[place] for place in self._places}
        settings, device = self._settings, tensors.device_of(given)
        precision = tensors.engine_precision(settings.precision, given)

        def load(program: Any) -> engine.Engine:
            return engine.load(program, device=settings.device, precision=precision, threads=settings.threads,
                               tensors_on=device)

        return Builder(graph, weights, device, load).build(entry)
