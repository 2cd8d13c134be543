"""Saccade: computer-vision models on live video, at the limit of the hardware.

    model = saccade.Model("yolov8n.onnx")
    result = model("street.jpg")
    print(result.boxes, result.class_name)
    result.save("drawn.jpg")

    for result in saccade.Pipeline("rtsp://camera/stream", model, track="bytetrack"):
        print(result.frame, result.track_id)
"""
from typing import TYPE_CHECKING as _TYPE_CHECKING

from ._errors import (ConflictError, DeviceError, Error, InternalError, InvalidArgumentError, InvalidFileError, IoError,
                      NotFoundError, UnsupportedError)
from ._from_torch import from_torch
from ._saccade import (Classification, ClassMap, DepthMap, Masks, Model, Pipeline, Result, Segment, Session, TensorInfo,
                       load_image)
from ._saccade import version as __version__
from ._verbs import bench, compile, validate

__all__ = [
    "ClassMap", "Classification", "ConflictError", "DepthMap", "DeviceError", "Error", "InternalError",
    "InvalidArgumentError", "InvalidFileError", "IoError", "Masks", "Model", "NotFoundError", "Pipeline", "Result",
    "Segment", "Session", "TensorInfo", "UnsupportedError", "__version__", "bench", "compile", "from_torch", "load_image",
    "validate"
]

if _TYPE_CHECKING:
    from . import torch as torch
else:

    def __getattr__(name: str) -> object:
        """saccade.torch is imported when it is first used, because it imports PyTorch."""
        if name == "torch":
            import importlib

            return importlib.import_module(".torch", __name__)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
