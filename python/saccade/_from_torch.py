"""saccade.from_torch, without importing PyTorch before it is called."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._torch_module import TorchModule


def from_torch(module: Any, example_inputs: Any, *, dynamic_shapes: Any = None, device: str = "auto",
               precision: str = "auto", threads: int = 0) -> TorchModule:
    """MODULE, a torch.nn.Module in evaluation mode, as a function that the engine runs: it takes and returns tensors on the
    device of the examples, in the structures of the module's own. On a GPU it works in PyTorch's current stream.

    EXAMPLE_INPUTS: the positional arguments as a tuple or list, the arguments by name as a dict, or a single tensor.
    They determine types and shapes; numbers that are not tensors become constants. DYNAMIC_SHAPES: the dimensions that
    vary, as torch.export.export takes them; each new set of sizes compiles again at its first call, and the last eight
    are kept. DEVICE: "auto" is that of the examples; "cuda" takes tensors on the CPU, too. PRECISION, THREADS: as of
    saccade.Model.

    The weights are copied: later changes of the module have no effect. Any thread may call the result.

    Raises UnsupportedError with the operator and the reason if PyTorch's exporter or the engine can't run the module as
    a whole (torch.compile runs it in parts), and ImportError without PyTorch and onnxscript. A call raises TypeError for
    an input of another dtype or structure, ValueError for one of another shape or device; the message names it."""
    try:
        from ._torch_module import convert
    except ModuleNotFoundError as error:
        raise ImportError("saccade.from_torch needs PyTorch with its ONNX exporter: pip install torch onnx onnxscript",
                          name=error.name) from error
    return convert(module, example_inputs, dynamic_shapes=dynamic_shapes, device=device, precision=precision,
                   threads=threads)
