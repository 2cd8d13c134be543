"""PyTorch's tensors as arrays of the engine, and back. What changes when the engine takes a GPU's memory is here."""
from __future__ import annotations

import ctypes
from typing import Any

import torch  # type: ignore[import-not-found,unused-ignore]

DTYPES = frozenset((torch.float32, torch.float16, torch.float64, torch.int8, torch.int16, torch.int32, torch.int64,
                    torch.uint8, torch.uint16, torch.uint32, torch.uint64, torch.bool))
SAMPLE_BYTES = 64


def refusal(tensor: torch.Tensor) -> str | None:
    """Why the engine can't take TENSOR (a fake one, too), or None."""
    if tensor.device.type == "cuda":
        return "tensors on a GPU are not supported yet"
    if tensor.device.type != "cpu":
        return f"tensors on the device {tensor.device.type} are not supported"
    if tensor.layout != torch.strided or tensor.is_quantized:
        return "sparse and quantized tensors are not supported"
    return None if tensor.dtype in DTYPES else f"{tensor.dtype} is not supported"


def engine_device(tensors: list[torch.Tensor]) -> str:
    """The device on which a network of these tensors runs."""
    return "cpu"


def to_array(tensor: torch.Tensor) -> Any:
    """A dense array of TENSOR's numbers. It shares the memory of a contiguous tensor. A scalar has one dimension: the
    engine's session takes no array without."""
    dense = tensor.detach().resolve_neg().contiguous()
    return (dense if dense.ndim > 0 else dense.reshape(1)).numpy()


def from_array(array: Any) -> torch.Tensor:
    """A tensor that shares the memory of ARRAY."""
    return torch.from_numpy(array)


def sample_of(tensor: torch.Tensor) -> Any:
    """Some bytes in the middle of TENSOR, on the CPU, as a ctypes array that does not keep its memory."""
    size = tensor.numel() * tensor.element_size()
    if tuple(torch.empty_like(tensor).stride()) != tuple(tensor.stride()):
        size = min(size, tensor.element_size())  # what is between its numbers is not its own
    start = size // 2 if size > SAMPLE_BYTES else 0
    return (ctypes.c_char * min(SAMPLE_BYTES, size - start)).from_address(tensor.data_ptr() + start)


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
