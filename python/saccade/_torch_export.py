"""From an exported program to ONNX, in memory, and what can't be exported."""
from __future__ import annotations

import logging
import re
import threading
import warnings
from collections.abc import Callable
from typing import Any, TypeVar

import torch  # type: ignore[import-not-found,unused-ignore]
from torch._dynamo.convert_frame import compile_lock  # type: ignore[import-not-found,unused-ignore]

from ._errors import UnsupportedError

Result = TypeVar("Result")

NO_FUNCTION = "ONNX has no form of it"


class CannotRun(UnsupportedError):
    """A network, or a part of one, that can't be exported or that the engine refuses. `nodes` are the names of the
    nodes of the exported graph at which it failed; it is empty if they are unknown. `target` is the operator without
    any ONNX form, if that is the reason."""

    nodes: tuple[str, ...] = ()
    target: Any = None


def cannot_run(message: str, nodes: tuple[str, ...] = (), target: Any = None) -> CannotRun:
    error = CannotRun(message)
    error.nodes, error.target = nodes, target
    return error


def apart(function: Callable[[], Result]) -> Result:
    """What FUNCTION returns. It runs in a thread of its own, which has none of the caller's modes (autocast, inference,
    default device, PyTorch's own checks of a first call): traced under them, a graph would be another, or none.

    PyTorch traces nothing else meanwhile: an export changes state of the process, as torch.nn.Module's __getattr__, by
    which torch.compile and other exports then fail. There is no public lock; Inductor takes the same."""
    results: list[Result] = []
    errors: list[BaseException] = []

    def run() -> None:
        # The exporter's warnings concern its own authors.
        log = logging.getLogger("onnx_ir")
        level = log.level
        log.setLevel(logging.ERROR)
        try:
            with compile_lock, torch.no_grad(), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                results.append(function())
        except BaseException as error:
            errors.append(error)
        finally:
            log.setLevel(level)

    thread = threading.Thread(target=run, name="saccade-export")
    thread.start()
    thread.join()
    if errors:
        raise errors[0]
    return results[0]


def operator_name(target: Any) -> str:
    """As PyTorch's documentation writes it: aten::convolution."""
    schema = getattr(target, "_schema", None)
    return str(schema.name) if schema is not None else getattr(target, "__name__", str(target))


def is_input(node: Any) -> bool:
    """Whether NODE of an FX graph is one of its inputs: all other kinds of nodes are listed."""
    return node.op not in ("call_function", "call_method", "call_module", "get_attr", "output")


def is_random(node: Any) -> bool:
    """Whether NODE draws random numbers. Dropout with a probability of 0, or of a module in evaluation, does not."""
    target = node.target
    if torch.Tag.nondeterministic_seeded not in getattr(target, "tags", ()):
        return False
    given = dict(zip((argument.name for argument in target._schema.arguments), node.args)) | node.kwargs
    if "dropout_p" in (argument.name for argument in target._schema.arguments):
        return bool(given.get("dropout_p", 0.0) != 0.0)
    return given.get("train", given.get("training", True)) is not False


def to_onnx(exported: Any) -> Any:
    """The ONNX program of the torch.export.ExportedProgram EXPORTED. Raises CannotRun."""
    try:
        program = torch.onnx.export(exported, dynamo=True, verbose=False)
    except Exception as error:  # the exporter raises any, wrapped in its own
        raise _explained(error, exported) from error
    assert program is not None  # without a file, and with dynamo
    _give_scalars_a_dimension(program.model)
    _give_outputs_their_types(program.model, exported)
    return program


def _explained(error: BaseException, exported: Any) -> CannotRun:
    """The innermost cause is the reason; the node is in the error around it."""
    causes = [error]
    while causes[-1].__cause__ is not None:
        causes.append(causes[-1].__cause__)
    named = [found for cause in causes if (found := re.search(r"translating node %(\w+)", str(cause)))]
    node = next((each for each in exported.graph.nodes if named and each.name == named[-1][1]), None)
    written = re.search(r"translating node %\w+ :.*?target=torch\.ops\.(\w+)\.(\w+)", "\n".join(map(str, causes)))
    if node is not None:
        name = operator_name(node.target)
    else:
        name = f"{written[1]}::{written[2]}" if written else ""
    lacks = "No ONNX function found" in str(causes[-1])
    reason = NO_FUNCTION if lacks else _first_line(causes[-1])
    where = f"PyTorch's ONNX exporter can't export {name or 'this network'}"
    return cannot_run(f"{where}: {reason}", (named[-1][1],) if named else (),
                      node.target if node is not None and lacks else None)


def _first_line(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__


def _give_scalars_a_dimension(model: Any) -> None:
    """Inputs without dimensions take one number in one dimension instead, as to_array() gives it."""
    import onnx_ir  # type: ignore[import-not-found,unused-ignore]

    graph = model.graph
    for at, scalar in enumerate(list(graph.inputs)):
        if scalar.shape is None or len(scalar.shape) > 0:
            continue
        name = scalar.name
        given = onnx_ir.Value(name=name, type=scalar.type, shape=onnx_ir.Shape([1]))
        scalar.name = f"{name}_scalar"
        graph.inputs[at] = given
        graph.insert_before(graph[0], onnx_ir.node("Squeeze", [given], outputs=[scalar], name=f"{name}_squeeze"))


def _give_outputs_their_types(model: Any, exported: Any) -> None:
    """PyTorch's exporter computes some operators in another type, as sums of float16, and returns that."""
    import onnx_ir  # type: ignore[import-not-found,unused-ignore]

    values = {node.name: node.meta.get("val") for node in exported.graph.nodes}
    for at, name in enumerate(exported.graph_signature.user_outputs):
        given, value = model.graph.outputs[at], values.get(name)
        if not isinstance(value, torch.Tensor):
            continue
        wanted = onnx_ir.tensor_adapters.from_torch_dtype(value.dtype)
        if given.dtype == wanted:
            continue
        made = onnx_ir.Value(name=f"{given.name}_of_type_{at}", type=onnx_ir.TensorType(wanted), shape=given.shape)
        model.graph.outputs[at] = made
        model.graph.append(onnx_ir.node("Cast", [given], {"to": wanted}, outputs=[made], name=f"{given.name}_cast_{at}"))


def nodes_behind(program: Any, message: str) -> tuple[str, ...]:
    """The nodes of the decomposed graph from which the ONNX nodes stem that the engine's MESSAGE names."""
    names = set(re.findall(r"node '([^']+)'", message)) | set(re.findall(r"e\.g\. '([^']+)'", message))
    found = []
    for node in program.model.graph:
        if node.name in names:
            origin = re.match(r"%(\w+) :", node.metadata_props.get("pkg.torch.onnx.fx_node", ""))
            if origin:
                found.append(origin[1])
    return tuple(found)
