"""PyTorch: the backend "saccade" of torch.compile.

    compiled = torch.compile(model.eval(), backend="saccade")
    with torch.no_grad():
        output = compiled(images)
    print(saccade.torch.explain(compiled))

PyTorch finds the backend of an installed package by itself; importing this module registers it, too. What the engine
can't run stays in PyTorch. docs/python.md describes what is compiled.
"""
from __future__ import annotations

from typing import Any

from torch._dynamo import list_backends, register_backend  # type: ignore[import-not-found,unused-ignore]

from . import _torch_report as _reports
from ._torch_backend import Settings as _Settings
from ._torch_backend import compile_graph as backend
from ._torch_module import TorchModule
from ._torch_report import Graph, Report

__all__ = ["Graph", "Report", "TorchModule", "backend", "explain", "options"]


def explain(model: Any = None) -> Report:
    """What runs in the engine and what stayed in PyTorch, and why: of the graphs of MODEL, a compiled or the original
    torch.nn.Module, or without it of the last 64. A graph is built at its first call. Raises TypeError for another
    object, ValueError for a module without weights, by which graphs are found."""
    return _reports.report(model)


def options(*, max_shapes: int = 8, device: str = "auto", precision: str = "auto", threads: int = 0) -> dict[str, Any]:
    """For torch.compile(..., options=...). MAX_SHAPES: builds for different shapes, layouts and numbers per compiled
    function; further ones run in PyTorch. DEVICE: "auto" is that of the tensors. PRECISION and THREADS as of saccade.Model. Raises ValueError or
    TypeError."""
    chosen = {"max_shapes": max_shapes, "device": device, "precision": precision, "threads": threads}
    _Settings.of(chosen)
    return chosen


if "saccade" not in list_backends():
    register_backend(compiler_fn=backend, name="saccade")
