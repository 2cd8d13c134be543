"""A whole module of PyTorch in the engine."""
from __future__ import annotations

import inspect
import tempfile
import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import torch  # type: ignore[import-not-found,unused-ignore]
# PyTorch has no public module for structures of tensors; this one is what its own documentation names.
from torch.utils import _pytree as pytree  # type: ignore[import-not-found,unused-ignore]

from . import _torch_engine as engine
from . import _torch_tensors as tensors
from ._errors import InvalidArgumentError, UnsupportedError
from ._torch_export import CannotRun, apart, is_input, is_random, operator_name, to_onnx

MOST_SHAPES = 8


class _Outputs:
    """Where the tensors are in what a module returned when it was traced: the class in the place of each."""

    places: list[Any]
    structure: Any

    def note(self, returned: Any) -> list[Any]:
        """Returns the tensors in RETURNED."""
        leaves, self.structure = pytree.tree_flatten(returned)
        self.places = [torch.Tensor if isinstance(each, torch.Tensor) else each for each in leaves]
        return [each for each in leaves if isinstance(each, torch.Tensor)]

    def check(self) -> None:
        """Raises UnsupportedError for numbers that a run would have to compute."""
        if any(isinstance(each, (torch.SymInt, torch.SymFloat, torch.SymBool)) for each in self.places):
            raise UnsupportedError("the module returns numbers that depend on its inputs: return tensors")
        if torch.Tensor not in self.places:
            raise UnsupportedError("the module returns no tensor")

    def filled(self, given: Iterable[Any]) -> Any:
        """What the module returns with the tensors GIVEN."""
        following = iter(given)
        return pytree.tree_unflatten([next(following) if each is torch.Tensor else each for each in self.places],
                                     self.structure)


class _Flat(torch.nn.Module):  # type: ignore[misc,unused-ignore]
    """The module on flat lists of tensors."""

    def __init__(self, module: Any, arguments: Arguments, outputs: _Outputs) -> None:
        super().__init__()
        self.module, self.arguments, self.outputs = module, arguments, outputs

    def forward(self, *given: Any) -> tuple[Any, ...]:
        args, kwargs = self.arguments.rebuilt(given)
        return tuple(self.outputs.note(self.module(*args, **kwargs)))


class Arguments:
    """The arguments of a module: their names, their structure, and what is constant in them."""

    def __init__(self, module: Any, example_inputs: Any) -> None:
        self._signature = inspect.signature(module.forward)
        if isinstance(example_inputs, torch.Tensor):
            example_inputs = (example_inputs,)
        if isinstance(example_inputs, Mapping):
            bound = self._signature.bind(**example_inputs)
        elif isinstance(example_inputs, (tuple, list)):
            bound = self._signature.bind(*example_inputs)
        else:
            raise TypeError(f"example_inputs is a tuple, a list, a dict or a tensor, not {type(example_inputs).__name__}")
        self.by_name = dict(bound.arguments)
        paths, self._structure = pytree.tree_flatten_with_path(self.by_name)
        self.names = [str(getattr(path[0], "key")) + pytree.keystr(path[1:]) for path, _ in paths]
        self.examples = [each for _, each in paths]

    def flatten(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[torch.Tensor]:
        """The tensors of a call. Raises TypeError or ValueError where they differ from the examples."""
        given, structure = pytree.tree_flatten(dict(self._signature.bind(*args, **kwargs).arguments))
        if structure != self._structure:
            raise TypeError(f"the arguments have another structure than example_inputs, which has "
                            f"{', '.join(self.names) or 'none'}")
        return [each for name, each, example in zip(self.names, given, self.examples) if self._checked(name, each, example)]

    @staticmethod
    def _checked(name: str, given: Any, example: Any) -> bool:
        """Whether GIVEN is a tensor."""
        if not isinstance(example, torch.Tensor):
            if isinstance(given, torch.Tensor) or type(given) is not type(example) or given != example:
                raise ValueError(f"the input '{name}' is the constant {example!r} of the example, not {given!r}")
            return False
        if not isinstance(given, torch.Tensor):
            raise TypeError(f"the input '{name}' is {type(given).__name__}, not a tensor")
        if given.device != example.device:
            raise ValueError(f"the input '{name}' is on {given.device}, not on {example.device}")
        if given.dtype != example.dtype:
            raise TypeError(f"the input '{name}' is {given.dtype}, not {example.dtype}")
        if reason := tensors.refusal(given):
            raise ValueError(f"the input '{name}': {reason}")
        return True

    def rebuilt(self, given: Iterable[Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments of a call with the tensors GIVEN."""
        following = iter(given)
        leaves = [next(following) if isinstance(each, torch.Tensor) else each for each in self.examples]
        arguments = OrderedDict(pytree.tree_unflatten(leaves, self._structure))
        bound = inspect.BoundArguments(self._signature, arguments)
        return bound.args, bound.kwargs

    def flat_shapes(self, dynamic_shapes: Any) -> tuple[Any, ...] | None:
        """DYNAMIC_SHAPES, by argument or in the arguments' order, for a flat list of tensors."""
        if dynamic_shapes is None:
            return None
        if not isinstance(dynamic_shapes, Mapping):
            if len(dynamic_shapes) > len(self.by_name):
                raise ValueError(f"dynamic_shapes has {len(dynamic_shapes)} entries for the arguments "
                                 f"{', '.join(self.by_name)}")
            dynamic_shapes = dict(zip(self.by_name, dynamic_shapes))
        return tuple(_specs(self.by_name, dynamic_shapes))


def _specs(value: Any, spec: Any) -> Iterable[Any]:
    """The specification of each tensor in VALUE, which has the structure of SPEC; None: of fixed shape."""
    if isinstance(value, torch.Tensor):
        yield spec
    elif isinstance(value, Mapping):
        if unknown := [key for key in spec or () if key not in value]:
            raise ValueError(f"dynamic_shapes names {unknown[0]!r}, which is not one of {', '.join(map(str, value))}")
        for key, each in value.items():
            yield from _specs(each, spec.get(key) if spec else None)
    elif isinstance(value, (tuple, list)):
        if spec and len(spec) != len(value):
            raise ValueError(f"dynamic_shapes has {len(spec)} entries for a {type(value).__name__} of {len(value)}")
        for at, each in enumerate(value):
            yield from _specs(each, spec[at] if spec else None)
    else:
        yield from (None for leaf in pytree.tree_leaves(value) if isinstance(leaf, torch.Tensor))


class TorchModule:
    """What from_torch() returns: a module of PyTorch that the engine runs. Any number of threads may call it."""

    def __init__(self, program: Any, arguments: Arguments, outputs: _Outputs, options: dict[str, Any]) -> None:
        """PROGRAM: the exported ONNX program. Raises saccade.Error."""
        self._arguments, self._outputs, self._options = arguments, outputs, options
        signature = program.exported_program.graph_signature
        values = {node.name: node.meta["val"] for node in program.exported_program.graph.nodes if is_input(node)}
        self._shapes = [tuple(values[name].shape) for name in signature.user_inputs]
        self._ranges = {str(symbol): (range_.lower, range_.upper)
                        for symbol, range_ in program.exported_program.range_constraints.items()}
        self._names = [name for name, each in zip(self._arguments.names, self._arguments.examples)
                       if isinstance(each, torch.Tensor)]
        self._engines: OrderedDict[tuple[Any, ...], engine.Engine] = OrderedDict()
        self._loading = threading.Lock()
        if all(isinstance(size, int) for shape in self._shapes for size in shape):
            self._fixed: engine.Engine | None = engine.load(program, **options)
        else:
            self._fixed = None
            self._inputs = [value.name for value in program.model.graph.inputs]
            # Each set of sizes is loaded from it; removed with the object.
            self._folder = tempfile.TemporaryDirectory(prefix="saccade-")
            self._path = engine.write(program, self._folder.name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The module's outputs for tensors of the example's types and shapes: new tensors on the same device, without gradients.
        Raises TypeError or ValueError naming an input that differs, and saccade.Error if a run fails."""
        given = self._arguments.flatten(args, kwargs)
        shapes = tuple(tuple(each.shape) for each in given)
        self._check(shapes)
        run = self._fixed or self._engine(shapes)
        return self._outputs.filled(run(given))

    def _check(self, shapes: tuple[tuple[int, ...], ...]) -> None:
        sizes: dict[str, int] = {}
        for name, given, shape in zip(self._names, shapes, self._shapes):
            if len(given) != len(shape) or not all(self._fits(size, expected, sizes) for size, expected in zip(given, shape)):
                wanted = ", ".join(self._wanted(size, sizes) for size in shape)
                raise ValueError(f"the input '{name}' has the shape ({', '.join(map(str, given))}), not ({wanted})")

    def _fits(self, size: int, expected: Any, sizes: dict[str, int]) -> bool:
        """Notes in SIZES the size that a symbol has in this call. What is computed from symbols the engine checks."""
        symbol = str(expected)
        if isinstance(expected, int) or not symbol.isidentifier():
            return not isinstance(expected, int) or size == expected
        lower, upper = self._ranges.get(symbol, (0, size))
        return bool(lower <= size <= upper) and sizes.setdefault(symbol, size) == size

    def _wanted(self, expected: Any, sizes: dict[str, int]) -> str:
        if str(expected) in sizes or str(expected) not in self._ranges:
            return str(sizes.get(str(expected), expected))
        return "{}..{}".format(*self._ranges[str(expected)]).replace("int_oo", "")

    def _engine(self, shapes: tuple[tuple[int, ...], ...]) -> engine.Engine:
        with self._loading:
            if shapes not in self._engines:
                given: dict[str, Sequence[int]] = {name: shape or (1,) for name, shape in zip(self._inputs, shapes)}
                self._engines[shapes] = engine.Engine(self._path, shapes=given, **self._options)
            self._engines.move_to_end(shapes)
            if len(self._engines) > MOST_SHAPES:
                self._engines.popitem(last=False)
            return self._engines[shapes]


def convert(module: Any, example_inputs: Any, *, dynamic_shapes: Any, device: str, precision: str,
            threads: int) -> TorchModule:
    """See saccade.from_torch()."""
    if not isinstance(module, torch.nn.Module):
        raise TypeError(f"from_torch() takes a torch.nn.Module, not {type(module).__name__}")
    arguments = Arguments(module, example_inputs)
    for name, example in zip(arguments.names, arguments.examples):
        if isinstance(example, torch.Tensor) and (reason := tensors.refusal(example)):
            raise ValueError(f"the input '{name}': {reason}")
    weights = (*module.parameters(), *module.buffers())
    tensors_on = tensors.device_of(arguments.examples)
    named = [(f"the input '{name}'", each) for name, each in zip(arguments.names, arguments.examples)]
    for name, each in (*named, *(("a weight of the module", each) for each in weights)):
        if isinstance(each, torch.Tensor) and each.device != tensors_on:
            raise ValueError(f"the tensors are on several devices: {name} is on {each.device}, others are on {tensors_on}")
    device = tensors.engine_device(device, tensors_on)
    outputs = _Outputs()
    flat = _Flat(module, arguments, outputs)
    examples = tuple(each for each in arguments.examples if isinstance(each, torch.Tensor))
    shapes = arguments.flat_shapes(dynamic_shapes)
    try:
        program = apart(lambda: to_onnx(_exported(flat, examples, shapes)))
        _check_is_function(program.exported_program)
        outputs.check()
        options = {"device": device, "precision": tensors.engine_precision(precision, weights), "threads": threads,
                   "tensors_on": tensors_on}
        return TorchModule(program, arguments, outputs, options)
    except CannotRun as error:
        raise UnsupportedError(f"{error}; torch.compile with the backend saccade runs the rest of the module") from error


def _exported(flat: _Flat, examples: tuple[torch.Tensor, ...], shapes: tuple[Any, ...] | None) -> Any:
    try:
        return torch.export.export(flat, examples, dynamic_shapes=None if shapes is None else (shapes,), strict=False)
    except InvalidArgumentError:
        raise
    except Exception as error:  # tracing may raise whatever a module does
        line = str(error).strip().splitlines()
        raise UnsupportedError(f"torch.export can't trace the module: {type(error).__name__}"
                               f"{': ' + line[0] if line else ''}") from error


def _check_is_function(exported: Any) -> None:
    """An inference has no state: it may neither draw random numbers nor change what it is given."""
    signature = exported.graph_signature
    if signature.user_inputs_to_mutate:
        raise UnsupportedError("the module changes its input: give it a copy, or use torch.compile")
    for name in signature.buffers_to_mutate.values():
        raise UnsupportedError(f"the module changes its buffer '{name.removeprefix('module.')}': call eval(), or use "
                               "torch.compile")
    for node in exported.graph.nodes:
        if node.op == "call_function" and is_random(node):
            raise UnsupportedError(f"{operator_name(node.target)} draws random numbers: call eval(), or use torch.compile")
