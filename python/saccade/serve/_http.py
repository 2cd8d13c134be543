"""The paths of `saccade serve` for one model: images in, predictions out."""
from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple
from urllib.parse import unquote

from .._errors import Error, InvalidArgumentError
from .._saccade import TensorInfo, version
from ._images import drawn, image_in
from ._replica import LOG, OF_REQUEST, Replica

_DATATYPES = {"float32": "FP32", "float64": "FP64", "float16": "FP16", "bfloat16": "BF16", "bool": "BOOL"}


class Response(NamedTuple):
    status: int
    type: str = ""
    body: bytes = b""
    headers: Mapping[str, str] = {}


def refusal(status: int, sentence: str, **headers: str) -> Response:
    return Response(status, "application/json", json.dumps({"error": sentence}).encode(), headers)


async def respond(replica: Replica, method: str, path: str, query: str, content_type: str, body: bytes) -> Response:
    """The response to a request. PATH begins below the application's prefix; QUERY is as sent, without "?"."""
    name = replica.model.name
    gets: dict[str, Callable[[Replica], Any]] = {
        "/v2/health/live": _nothing, "/v2/health/ready": _nothing, f"/v2/models/{name}/ready": _nothing,
        "/v2": _server, f"/v2/models/{name}": _metadata,
    }
    posts = f"/predict/{name}"
    wanted = "POST" if path == posts else "GET, HEAD" if path in gets else ""
    if not wanted:
        return refusal(404, f"there is no {path[:200]}: this server has {posts} and {', '.join(gets)}")
    if method not in wanted.split(", "):
        return refusal(405, f"{path} takes {wanted}, not {method}", Allow=wanted)
    if path in gets:
        content = gets[path](replica)
        return Response(200) if content is None else Response(200, "application/json", json.dumps(content).encode())
    try:
        is_drawn = _draws(query)
        result = await replica.predict(image_in(body, content_type))
        if is_drawn:
            return Response(200, "image/jpeg", await replica.beside(drawn, result))
        return Response(200, "application/json", result.to_json().encode())
    except OF_REQUEST as error:
        return refusal(400, str(error))
    except Error as error:
        # Clients learn nothing about the machine.
        LOG.error("a request has failed: %s", error)
        return refusal(500, "the model can't be run")


def _draws(query: str) -> bool:
    """Whether QUERY wants the image. Raises saccade.InvalidArgumentError if it wants what there is not."""
    given = [each.partition("=") for each in query.split("&")]
    if other := [name for name, _, _ in given if name not in ("", "draw")]:
        raise InvalidArgumentError(f"there is no parameter '{other[0][:200]}': 'draw' is the only one")
    draw = next((unquote(value) for name, _, value in given if name), "0")
    if draw not in ("0", "1"):
        raise InvalidArgumentError(f"the parameter 'draw' is '{draw[:200]}', neither 0 nor 1")
    return draw == "1"


def _nothing(_replica: Replica) -> None:
    """Of a path whose status says all."""


def _server(_replica: Replica) -> dict[str, Any]:
    return {"name": "saccade", "version": version, "extensions": []}


def _metadata(replica: Replica) -> dict[str, Any]:
    model = replica.model

    def described(tensor: TensorInfo) -> dict[str, Any]:
        datatype = _DATATYPES.get(tensor.dtype, tensor.dtype.upper())
        return {"name": tensor.name, "datatype": datatype, "shape": list(tensor.shape)}

    metadata = {"name": model.name, "versions": ["1"], "platform": "saccade_onnx",
                "inputs": [described(each) for each in model.inputs],
                "outputs": [described(each) for each in model.outputs]}
    return metadata | ({"parameters": {"task": model.task}} if replica.predicts else {})
