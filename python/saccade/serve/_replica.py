"""A model that is called by many clients at once: what a replica of a deployment runs."""
from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import numpy

from .._errors import Error, InvalidArgumentError, InvalidFileError, UnsupportedError
from .._saccade import Model, Result, Session
from ._images import decoded
from ._plans import cache_folder, has_second, shared_plan

T = TypeVar("T")

LOG = logging.getLogger("saccade.serve")
OF_REQUEST = (InvalidArgumentError, InvalidFileError, UnsupportedError)
"""Errors that are the client's."""
MAX_PIXELS = 64_000_000
"""Of an image file, as of `saccade serve`."""

# Options of saccade.Model that are a part of the plan, and those that are given when it is opened.
OF_PLAN = ("precision", "threads", "card", "shapes", "dimensions", "fallback", "max_memory")
AFTER_PLAN = ("confidence", "iou", "agnostic", "multi_label", "max_detections", "top_k", "classes", "nms", "roi",
              "target", "tiles")
# Those of a plan that it is opened with, too.
OF_BOTH = ("threads", "fallback", "max_memory")


def open_model(path: str, device: str, plans: str | None, options: Mapping[str, Any]) -> Model:
    """The model at PATH, from the plan that replicas share in the folder PLANS (None: in the cache; empty: none)."""
    folder = cache_folder() if plans is None else Path(plans) if plans else None
    if folder is None or path.endswith(".plan") or has_second(Path(path), options.get("card", "")):
        return Model(path, device=device, **options)
    of_plan = {name: value for name, value in options.items() if name in OF_PLAN}
    plan = shared_plan(Path(path), folder if plans else folder / "plans", device, of_plan)
    later = {name: value for name, value in options.items() if name not in OF_PLAN or name in OF_BOTH}
    return Model(plan, device=device, **later)


class Replica:
    """Runs MODEL, EXECUTIONS times at once at most. Other threads decode images meanwhile, of MAX_PIXELS at most. Its
    coroutines belong to one event loop."""

    def __init__(self, model: Model, executions: int, longest_run: float, max_pixels: int = MAX_PIXELS) -> None:
        self.model = model
        self._longest_run = longest_run
        self._max_pixels = max_pixels
        self._runs = ThreadPoolExecutor(executions, "saccade-run")
        self._others = ThreadPoolExecutor(2, "saccade-image")
        self._own = threading.local()
        self._began: dict[int, float] = {}
        self._is_suspect = False
        self.predicts = True
        """Whether it takes images: else raw tensors alone."""
        # Each execution takes its memory before the first request.
        together = threading.Barrier(executions)
        for warm in [self._runs.submit(self._warm_up, together) for _ in range(executions)]:
            warm.result()

    async def predict(self, image: Any, color: str | None = None) -> Result:
        """The predictions for IMAGE: the bytes of a JPEG or PNG file, a uint8 array with the COLOR "rgb" or "bgr", or a
        PIL image. Raises saccade.Error."""
        if not self.predicts:
            raise InvalidArgumentError(f"'{self.model.name}' makes no predictions: its input is no image, or it has no "
                                       "card")
        if isinstance(image, (bytes, bytearray, memoryview)):
            image, color = await self.beside(decoded, bytes(image), self._max_pixels), "rgb"
        elif isinstance(image, (str, Path)):
            raise InvalidArgumentError("an image is an array, a PIL image or the bytes of a file: send the file's "
                                       "bytes, not its path")
        return await self._run(lambda: self.model(image, color))

    async def infer(self, inputs: dict[str, Any]) -> dict[str, Any]:
        """The model's outputs for INPUTS, raw tensors by name. Raises saccade.Error."""
        return await self._run(lambda: self._session().run(inputs))

    async def beside(self, function: Callable[..., T], *arguments: Any) -> T:
        """FUNCTION's result, from a thread that runs no model."""
        return await asyncio.get_running_loop().run_in_executor(self._others, function, *arguments)

    async def check_health(self) -> None:
        """Raises an error if a run hangs, or if the model can't be run any more."""
        now = time.monotonic()
        if any(now - began > self._longest_run for began in list(self._began.values())):
            raise RuntimeError(f"{self.model.name} has not finished a run for {self._longest_run:g} s")
        if self._is_suspect:
            await asyncio.get_running_loop().run_in_executor(self._runs, self._warm_up)

    def close(self) -> None:
        """Ends the threads; requests that have not begun are dropped."""
        self._runs.shutdown(wait=False, cancel_futures=True)
        self._others.shutdown(wait=False, cancel_futures=True)

    async def _run(self, call: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._runs, self._counted, call)

    def _counted(self, call: Callable[[], T]) -> T:
        thread = threading.get_ident()
        self._began[thread] = time.monotonic()
        try:
            return call()
        except Error as error:
            # Of the machine: the next check of its health runs the model.
            self._is_suspect = self._is_suspect or not isinstance(error, OF_REQUEST)
            raise
        finally:
            del self._began[thread]

    def _warm_up(self, together: threading.Barrier | None = None) -> None:
        """Runs the model on a black image, or makes its session. Raises saccade.Error."""
        if together is not None:
            together.wait()
        try:
            self.model.task
        except UnsupportedError:  # not recognised, or its input is no image
            self.predicts = False
            self._session()
        else:
            self._predict_black()
        self._is_suspect = False

    def _predict_black(self) -> None:
        try:
            self.model(numpy.zeros((64, 64, 3), numpy.uint8), "rgb")
        except InvalidArgumentError:
            # Its region of interest may lie outside of so small an image.
            self.model(numpy.zeros((4320, 7680, 3), numpy.uint8), "rgb")

    def _session(self) -> Session:
        if not hasattr(self._own, "session"):
            self._own.session = Session(self.model)
        session: Session = self._own.session
        return session


def fields_of(result: Result) -> dict[str, Any]:
    """RESULT as arrays, numbers and lists, which need no Saccade to be read. What the model lacks is absent."""
    fields: dict[str, Any] = {
        "model": result.model, "task": result.task, "width": result.width, "height": result.height,
        "latency_ms": result.latency_ms, "faults": result.faults, "boxes": result.boxes,
        "confidence": result.confidence, "class_id": result.class_id, "class_name": result.class_name,
        "category_id": result.category_id,
        "classes": [{"class_id": each.class_id, "class": each.class_name, "confidence": each.confidence}
                    for each in result.classes],
        "segments": [{"class_id": each.class_id, "class": each.class_name, "pixels": each.pixels}
                     for each in result.segments],
    }
    masks, class_map, depth = result.masks, result.class_map, result.depth
    optional = {
        "keypoints": result.keypoints, "obb": result.obb, "embedding": result.embedding, "image": result.image,
        "text": result.text, "masks": None if masks is None else masks.rle,
        "class_map": None if class_map is None else class_map.pixels(),
        "depth": None if depth is None else depth.pixels(),
    }
    return fields | {name: value for name, value in optional.items() if value is not None}
