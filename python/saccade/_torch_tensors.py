"""PyTorch's tensors as arrays of the engine, and back."""
from __future__ import annotations

import ctypes
from collections.abc import Iterable, Sequence
from typing import Any

import torch  # type: ignore[import-not-found,unused-ignore]

from ._saccade import Session, TensorInfo

DTYPES = frozenset((torch.float32, torch.float16, torch.float64, torch.int8, torch.int16, torch.int32, torch.int64,
                    torch.uint8, torch.uint16, torch.uint32, torch.uint64, torch.bool))
SAMPLE_BYTES = 64


def refusal(tensor: torch.Tensor) -> str | None:
    """Why the engine can't take TENSOR (a fake one, too), or None."""
    if tensor.device.type not in ("cpu", "cuda"):
        return f"tensors on the device {tensor.device.type} are not supported"
    if tensor.layout != torch.strided or tensor.is_quantized:
        return "sparse and quantized tensors are not supported"
    return None if tensor.dtype in DTYPES else f"{tensor.dtype} is not supported"


def device_of(tensors: Iterable[Any]) -> torch.device:
    """Where a network of these tensors runs: on the first of them that is on a GPU, else on the CPU."""
    on_gpu = (each.device for each in tensors if isinstance(each, torch.Tensor) and each.device.type == "cuda")
    return next(on_gpu, torch.device("cpu"))


def engine_device(device: str, tensors_on: torch.device) -> str:
    """The engine's name for the DEVICE of an option; "auto": that of the tensors. Raises ValueError if it can't be their
    device."""
    if tensors_on.type != "cuda":
        return "cpu" if device == "auto" else device
    name = f"cuda:{tensors_on.index or 0}"
    if device not in ("auto", name) and not (device == "cuda" and name == "cuda:0"):
        raise ValueError(f"the tensors are on {name}, so the device can't be {device}")
    return name


def engine_precision(precision: str, tensors: Iterable[Any]) -> str:
    """PRECISION; "auto": fp16 for tensors of float16 on a GPU."""
    halves = (each.is_cuda and each.dtype == torch.float16 for each in tensors
              if isinstance(each, torch.Tensor) and each.is_floating_point())
    return "fp16" if precision == "auto" and next(halves, False) else precision


def _dense(tensor: torch.Tensor) -> torch.Tensor:
    """A scalar has one dimension: the engine's session takes no array without."""
    dense = tensor.detach().resolve_neg().contiguous()
    return dense if dense.ndim > 0 else dense.reshape(1)


def run(session: Session, inputs: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """The outputs of a run on the host. Contiguous tensors share their memory with the engine."""
    outputs = session.run({name: _dense(tensor).numpy() for name, tensor in inputs.items()})
    return {name: torch.from_numpy(array) for name, array in outputs.items()}


def run_on_gpu(session: Session, inputs: dict[str, torch.Tensor], outputs: Sequence[TensorInfo],
               device: torch.device) -> dict[str, torch.Tensor]:
    """OUTPUTS on DEVICE of a run that is enqueued in its current stream."""
    made = {each.name: torch.empty(each.shape, dtype=getattr(torch, each.dtype), device=device)
            for each in outputs}
    session.enqueue({name: _dense(tensor) for name, tensor in inputs.items()}, made,
                    torch.cuda.current_stream(device).cuda_stream)
    return made


def sample_of(tensor: torch.Tensor) -> Any:
    """Some bytes in the middle of TENSOR, on the CPU, as a ctypes array that does not keep its memory."""
    size = tensor.numel() * tensor.element_size()
    if tuple(torch.empty_like(tensor).stride()) != tuple(tensor.stride()):
        size = min(size, tensor.element_size())  # what is between its numbers is not its own
    start = size // 2 if size > SAMPLE_BYTES else 0
    return (ctypes.c_char * min(SAMPLE_BYTES, size - start)).from_address(tensor.data_ptr() + start)


def middle_of(tensor: torch.Tensor) -> torch.Tensor:
    """The bytes of a number in the middle of TENSOR, as a view of its memory."""
    at = sum((size // 2) * stride for size, stride in zip(tensor.shape, tensor.stride()))
    return tensor.detach().as_strided((1,), (1,), tensor.storage_offset() + at).view(torch.uint8)


def strides_to_keep(like: torch.Tensor) -> tuple[int, ...] | None:
    """The strides of LIKE if they are dense and not those of a contiguous tensor. Operators that follow were traced with
    them: a view may be impossible with others."""
    if like.is_contiguous():
        return None
    strides = tuple(like.stride())
    return strides if tuple(torch.empty_like(like).stride()) == strides else None


def with_strides(tensor: torch.Tensor, strides: tuple[int, ...] | None) -> torch.Tensor:
    """TENSOR, copied if it needs other strides."""
    if strides is None:
        return tensor
    return torch.empty_strided(tensor.shape, strides, dtype=tensor.dtype, device=tensor.device).copy_(tensor)


def example_of(like: torch.Tensor) -> torch.Tensor:
    """Zeros with the type, shape and strides of LIKE."""
    elements = 1 + sum((size - 1) * stride for size, stride in zip(like.shape, like.stride())) if like.numel() else 0
    return torch.zeros(elements, dtype=like.dtype, device=like.device).as_strided(tuple(like.shape), tuple(like.stride()))
