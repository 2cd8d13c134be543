"""Types of arguments, for type checkers."""
from __future__ import annotations

import os
from typing import Any, Protocol

import numpy.typing


class DLPackArray(Protocol):
    """An array of a library with DLPack, as PyTorch's tensors."""

    def __dlpack__(self, *args: Any, **kwargs: Any) -> Any: ...


class PilImage(Protocol):
    """As PIL.Image.Image."""

    @property
    def mode(self) -> str: ...

    def convert(self, *args: Any, **kwargs: Any) -> Any: ...


ImageLike = str | os.PathLike[str] | numpy.typing.NDArray[Any] | DLPackArray | PilImage
