"""An ONNX program of PyTorch's exporter in the engine."""
from __future__ import annotations

import atexit
import os
import tempfile
import weakref
from collections.abc import Sequence
from typing import Any

from . import _torch_tensors as tensors
from ._errors import InternalError, InvalidFileError, UnsupportedError
from ._saccade import Model, Session
from ._torch_export import cannot_run, nodes_behind, operator_name

_open: weakref.WeakSet[Engine] = weakref.WeakSet()


class Engine:
    """A loaded network. Any number of threads may call it; each uses a session of its own. On a GPU a call enqueues its
    work in PyTorch's current stream, as PyTorch's own operators do."""

    def __init__(self, path: str, *, device: str, precision: str, threads: int, tensors_on: Any,
                 shapes: dict[str, Sequence[int]] | None = None) -> None:
        """Reads the ONNX file PATH, which is not needed after that. TENSORS_ON: the torch.device of what it takes and
        returns. SHAPES: of inputs with a dimension that varies. Raises saccade.Error, and ValueError for a DEVICE that
        can't be that of the tensors."""
        self._tensors_on = tensors_on
        self.model = Model(path, device=tensors.engine_device(device, tensors_on), precision=precision, threads=threads,
                           shapes=shapes or {})
        self._inputs = [tensor.name for tensor in self.model.inputs]
        self._outputs = self.model.outputs
        self._idle = [Session(self.model)]
        _open.add(self)

    def __call__(self, given: Sequence[Any]) -> list[Any]:
        """The outputs for the tensors GIVEN, in the order of the network's inputs. Raises saccade.Error."""
        try:
            session = self._idle.pop()
        except IndexError:
            session = Session(self.model)
        inputs = dict(zip(self._inputs, given))
        if self._tensors_on.type == "cuda":
            outputs = tensors.run_on_gpu(session, inputs, self._outputs, self._tensors_on)
        else:
            outputs = tensors.run(session, inputs)
        # A session whose run fails is not used again.
        self._idle.append(session)
        return [outputs[tensor.name] for tensor in self._outputs]

    def close(self) -> None:
        self._idle.clear()
        del self.model


@atexit.register
def _close_all() -> None:
    """PyTorch keeps compiled code to the end of the process; the extension reports what is then left of it as leaks."""
    for engine in list(_open):
        engine.close()


def write(program: Any, folder: str) -> str:
    """Writes the ONNX PROGRAM into FOLDER, weights beside it: one file may not exceed 2 GB. Returns the path."""
    path = os.path.join(folder, "model.onnx")
    program.save(path, external_data=True)
    return path


def load(program: Any, **options: Any) -> Engine:
    """PROGRAM, of fixed shapes, in the engine; its files exist only during the call. OPTIONS: as of Engine. Raises
    CannotRun."""
    with tempfile.TemporaryDirectory(prefix="saccade-") as folder:
        path = write(program, folder)
        try:
            return Engine(path, **options)
        except (UnsupportedError, InvalidFileError, InternalError) as error:
            # The message without a file that the user does not know.
            message = str(error).replace(f"{path}: ", "").replace(path, "the network")
            nodes = nodes_behind(program, message)
            at_fault = {operator_name(node.target) for node in program.exported_program.graph.nodes if node.name in nodes}
            raise cannot_run(f"Saccade can't run {', '.join(sorted(at_fault)) or 'it'}: {message}", nodes) from error
