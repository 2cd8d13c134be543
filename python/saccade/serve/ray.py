"""Models as deployments of Ray Serve: replicas on the CPUs and GPUs of many machines.

    from ray import serve
    from saccade.serve.ray import deployment

    handle = serve.run(deployment("/models/yolov8n.onnx", num_gpus=0.5, max_replicas=8))
    fields = handle.predict.remote(image, color="rgb").result()
"""
from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from typing import Any

try:
    from ray import serve
    from starlette.requests import Request
    from starlette.responses import Response
except ImportError as missing:
    raise ImportError("saccade.serve.ray needs Ray Serve: pip install 'ray[serve]'") from missing

from .._errors import InvalidArgumentError
from ._http import refusal, respond
from ._replica import AFTER_PLAN, MAX_PIXELS, OF_PLAN, Replica, fields_of, open_model

__all__ = ["app", "deployment"]


def deployment(
    model: str | os.PathLike[str], *, device: str = "auto", num_gpus: float | None = None, num_cpus: float = 1,
    min_replicas: int = 1, max_replicas: int = 1, target_ongoing_requests: float = 2, max_ongoing_requests: int = 8,
    max_queued_requests: int = 64, executions: int = 1, plans: str | os.PathLike[str] | None = None,
    max_body: int = 64 << 20, max_pixels: int = MAX_PIXELS, longest_run: float = 60,
    graceful_shutdown_timeout_s: float = 20, options: Mapping[str, Any] | None = None, **model_options: Any
) -> serve.Application:
    """MODEL as an application for serve.run(): an ONNX file or a plan that every machine has at this path.

    DEVICE: "cpu" or "cuda"; "auto": "cuda" with NUM_GPUS, else "cpu". NUM_GPUS: a GPU or a share of one for each
    replica; 1 with device="cuda". NUM_CPUS: for each; also the threads of a run on the CPU. Ray keeps MIN_REPLICAS to
    MAX_REPLICAS, as many as leave each TARGET_ONGOING_REQUESTS; it sends a replica at most MAX_ONGOING_REQUESTS, and
    refuses requests once MAX_QUEUED_REQUESTS wait at a proxy or handle. EXECUTIONS: runs of a replica at a time. PLANS:
    the folder of the plans, which replicas share, as on a disk of all machines; None: in the cache of each machine;
    empty: no plan. MAX_BODY: bytes of a request by HTTP. MAX_PIXELS: of an image that comes as a file. LONGEST_RUN:
    seconds after which a run counts as hung, and its replica is replaced. GRACEFUL_SHUTDOWN_TIMEOUT_S: for requests in
    work when a replica is stopped. OPTIONS: more options of serve.deployment. MODEL_OPTIONS: those of saccade.Model, as
    confidence=0.4.

    By HTTP it has the paths of `saccade serve`: POST /predict/NAME. A handle has predict(image, color), which returns
    arrays, and infer(inputs) for raw tensors. Raises saccade.InvalidArgumentError."""
    device, gpus = _placement(device, num_gpus)
    _check_at_least("num_cpus", num_cpus, 0)
    _check_at_least("executions", executions, 1)
    _check_at_least("max_body", max_body, 1)
    _check_at_least("max_pixels", max_pixels, 1)
    _check_at_least("max_ongoing_requests", max_ongoing_requests, math.ceil(target_ongoing_requests))
    if not 0 <= min_replicas <= max_replicas:
        raise InvalidArgumentError(f"min_replicas={min_replicas} is not between 0 and max_replicas={max_replicas}")
    if unknown := sorted(set(model_options) - {*OF_PLAN, *AFTER_PLAN}):
        raise InvalidArgumentError(f"{', '.join(unknown)}: neither an option of deployment() nor of saccade.Model()")
    if device == "cpu":
        model_options.setdefault("threads", max(1, math.ceil(num_cpus)))
    path = os.fspath(model)
    # Workers have other current folders. A path that only they have stays as it is.
    path = os.path.abspath(path) if os.path.exists(path) else path
    if os.path.exists(card := model_options.get("card", "")):
        model_options["card"] = os.path.abspath(card)
    if plans:
        plans = os.path.abspath(plans)
    more = dict(options or {})
    actor = {"num_cpus": num_cpus, "num_gpus": gpus, **more.pop("ray_actor_options", {})}
    scaling = {"min_replicas": min_replicas, "max_replicas": max_replicas,
               "target_ongoing_requests": target_ongoing_requests, **more.pop("autoscaling_config", {})}
    settings = {"name": os.path.splitext(os.path.basename(path))[0], "ray_actor_options": actor,
                "autoscaling_config": scaling, "max_ongoing_requests": max_ongoing_requests,
                "max_queued_requests": max_queued_requests,
                "graceful_shutdown_timeout_s": graceful_shutdown_timeout_s, **more}
    return serve.deployment(SaccadeModel, **settings).bind(path, device, None if plans is None else os.fspath(plans),
                                                           executions, max_body, max_pixels, longest_run, model_options)


def app(arguments: Mapping[str, Any]) -> serve.Application:
    """deployment() with ARGUMENTS from a configuration of Ray Serve, or from a command line:
    `serve run saccade.serve.ray:app model=/models/yolov8n.onnx num_gpus=0.5`. Raises saccade.InvalidArgumentError."""
    if "model" not in arguments:
        raise InvalidArgumentError("model is missing: serve run saccade.serve.ray:app model=/models/yolov8n.onnx")
    return deployment(**{name: _parsed(value) for name, value in arguments.items()})


class SaccadeModel:
    """What a replica is. See deployment()."""

    def __init__(self, path: str, device: str, plans: str | None, executions: int, max_body: int, max_pixels: int,
                 longest_run: float, model_options: dict[str, Any]) -> None:
        self._replica = Replica(open_model(path, device, plans, model_options), executions, longest_run, max_pixels)
        self._max_body = max_body
        self._id = serve.get_replica_context().replica_id.unique_id

    async def __call__(self, request: Request) -> Response:
        """By HTTP."""
        content = bytearray()
        async for piece in request.stream():
            content += piece
            if len(content) > self._max_body:
                made = refusal(413, f"the body has more than {self._max_body} bytes")
                break
        else:
            prefix = request.scope.get("root_path", "")
            path = request.scope["path"].removeprefix(prefix)
            query = request.scope["query_string"].decode("latin-1")
            made = await respond(self._replica, request.method, path, query, request.headers.get("content-type", ""),
                                 bytes(content))
        headers = {**made.headers, "saccade-replica": self._id}
        return Response(made.body, made.status, headers, made.type or None)

    async def predict(self, image: Any, color: str | None = None) -> dict[str, Any]:
        """The predictions for IMAGE, as arrays: a uint8 array (height, width, 3) in the order COLOR ("rgb", "bgr"), a
        PIL image, or the bytes of a JPEG or PNG file. Raises saccade.Error."""
        return fields_of(await self._replica.predict(image, color))

    async def infer(self, inputs: dict[str, Any]) -> dict[str, Any]:
        """The model's outputs for INPUTS, raw tensors by name. Raises saccade.Error."""
        return await self._replica.infer(inputs)

    async def check_health(self) -> None:
        """Ray replaces a replica for which this raises an error."""
        await self._replica.check_health()

    def __del__(self) -> None:
        if hasattr(self, "_replica"):
            self._replica.close()


def _placement(device: str, gpus: float | None) -> tuple[str, float]:
    """The device of a replica, and how many GPUs Ray gives it."""
    if device not in ("auto", "cpu", "cuda"):
        raise InvalidArgumentError(f"device={device!r} is not 'auto', 'cpu' or 'cuda': Ray chooses each replica's GPU")
    if device == "auto":
        device = "cuda" if gpus else "cpu"
    if gpus is None:
        gpus = 1 if device == "cuda" else 0
    if device == "cpu" and gpus != 0:
        raise InvalidArgumentError(f"num_gpus={gpus} with device='cpu': a replica on the CPU needs no GPU")
    if device == "cuda" and not 0 < gpus <= 1:
        raise InvalidArgumentError(f"num_gpus={gpus} is not above 0 and at most 1: a replica has a GPU or a share of one")
    return device, gpus


def _parsed(value: Any) -> Any:
    """VALUE, or what the text of a command line stands for: 0.5, true, ["person"]."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except ValueError:
        return value


def _check_at_least(name: str, value: float, least: float) -> None:
    if value < least:
        raise InvalidArgumentError(f"{name}={value} is below {least}")
