"""Two deployments: a detector of Saccade, and one that asks it and counts what was found.

    serve run app:app                                            # beside /models/yolov8n.onnx
    curl --data-binary @street.jpg http://127.0.0.1:8000/count
"""
from collections import Counter

from ray import serve
from ray.serve.handle import DeploymentHandle
from saccade import InvalidArgumentError, InvalidFileError
from saccade.serve.ray import deployment
from starlette.requests import Request
from starlette.responses import JSONResponse


@serve.deployment
class Count:
    def __init__(self, detector: DeploymentHandle):
        self.detector = detector

    async def __call__(self, request: Request) -> JSONResponse:
        try:
            fields = await self.detector.predict.remote(await request.body())
        except (InvalidArgumentError, InvalidFileError) as error:
            return JSONResponse({"error": str(error.cause)}, 400)
        return JSONResponse(Counter(fields["class_name"]))


app = Count.bind(deployment("/models/yolov8n.onnx", num_cpus=2, max_replicas=4, confidence=0.4))
