"""A replica of saccade.serve.ray without Ray: its responses, its plan, its health."""
import asyncio
import json
import multiprocessing
import re
import shutil
import threading
import time

import numpy
import pytest
from conftest import SCENE_MODEL

import saccade
from saccade.serve import _plans
from saccade.serve._http import respond
from saccade.serve._replica import AFTER_PLAN, OF_PLAN, Replica, fields_of, open_model

# An ONNX file: y = x + x, 2 x 3 numbers.
SUM = bytes.fromhex("08083a3f0a0e0a01780a01781201792203416464120373756d5a130a0178120e0a0c080112080a0208020a0208036213"
                    "0a0179120e0a0c080112080a0208020a02080342040a00100d")
POST = ("POST", "/predict/scene_model")


@pytest.fixture(scope="module")
def replica(detector):
    made = Replica(detector, 1, 60)
    yield made
    made.close()


@pytest.fixture(scope="module")
def file(image):
    with open(image, "rb") as opened:
        return opened.read()


def ask(replica, method, path, body=b"", type="", query=None):
    made = asyncio.run(respond(replica, method, path, query or {}, type, body))
    return made.status, made.body, made


def error(replica, *request):
    status, body, _ = ask(replica, *request)
    return status, json.loads(body)["error"]


def predictions(text):
    """Without what differs from run to run."""
    return {key: value for key, value in json.loads(text).items() if key not in ("latency_ms", "frame")}


def test_an_image_is_the_object_of_jsonl(replica, detector, image, file):
    status, body, _ = ask(replica, *POST, file)
    expected = predictions(detector(saccade.load_image(image, color="rgb"), "rgb").to_json())
    assert status == 200 and predictions(body) == expected and len(expected["detections"]) >= 4
    form = b'--xy\r\nContent-Disposition: form-data; name="a"; filename="b.png"\r\n\r\n' + file + b"\r\n--xy--\r\n"
    status, body, _ = ask(replica, *POST, form, "multipart/form-data; boundary=xy")
    assert status == 200 and predictions(body) == expected


def test_the_image_is_drawn(replica, file):
    status, body, made = ask(replica, *POST, file, "", {"draw": "1"})
    assert (status, made.type, body[:2]) == (200, "image/jpeg", b"\xff\xd8")


def test_health_and_metadata(replica):
    for path in ("/v2/health/live", "/v2/health/ready", "/v2/models/scene_model/ready"):
        assert ask(replica, "GET", path)[:2] == (200, b"")
    metadata = json.loads(ask(replica, "GET", "/v2/models/scene_model")[1])
    assert metadata["inputs"][0]["name"] == "images" and metadata["inputs"][0]["datatype"] == "FP32"
    assert json.loads(ask(replica, "GET", "/v2")[1])["version"] == saccade.__version__


def test_bad_requests_name_what_is_wrong(replica, file):
    assert error(replica, *POST) == (400, "the body is empty: it is the bytes of a JPEG or PNG file")
    for body in (b"hello", file[:200]):
        status, sentence = error(replica, *POST, body)
        assert status == 400 and sentence.startswith("the image") and "/tmp" not in sentence, sentence
    assert error(replica, *POST, b"x", "multipart/form-data; boundary=y")[1] == "the multipart body has no file"
    assert error(replica, *POST, b"x", "multipart/form-data")[1] == "the multipart body has no valid boundary"
    assert error(replica, "POST", "/predict/other")[0] == 404
    status, _, made = ask(replica, "GET", POST[1])
    assert (status, made.headers["Allow"]) == (405, "POST")
    with pytest.raises(saccade.InvalidArgumentError, match="not its path"):
        asyncio.run(replica.predict("/etc/passwd"))


def test_arrays_give_fields(replica, detector, image):
    pixels = saccade.load_image(image, color="bgr")
    fields = fields_of(asyncio.run(replica.predict(pixels, "bgr")))
    expected = detector(pixels, "bgr")
    numpy.testing.assert_array_equal(fields["boxes"], expected.boxes)
    assert fields["class_name"] == expected.class_name and fields["masks"] == expected.masks.rle
    numpy.testing.assert_array_equal(fields["depth"], expected.depth.pixels())
    nothing = fields_of(asyncio.run(replica.predict(numpy.zeros((64, 64, 3), numpy.uint8), "rgb")))
    assert len(nothing["boxes"]) == 0 and nothing["masks"] == [] and "embedding" not in nothing


def test_raw_tensors(replica, detector):
    inputs = {each.name: numpy.zeros(each.shape, each.dtype) for each in detector.inputs}
    for each in inputs.values():
        each.flags.writeable = False
    assert set(asyncio.run(replica.infer(inputs))) == {each.name for each in detector.outputs}
    with pytest.raises(saccade.Error, match="images"):
        asyncio.run(replica.infer({}))


def test_a_model_without_images_takes_tensors(tmp_path):
    (tmp_path / "sum.onnx").write_bytes(SUM)
    replica = Replica(saccade.Model(tmp_path / "sum.onnx", device="cpu"), 2, 60)
    outputs = asyncio.run(replica.infer({"x": numpy.ones((2, 3), numpy.float32)}))
    assert outputs["y"].tolist() == [[2, 2, 2], [2, 2, 2]]
    assert "parameters" not in json.loads(ask(replica, "GET", "/v2/models/sum")[1])
    sentence = "'sum' makes no predictions: its input is no image, or it has no card"
    assert error(replica, "POST", "/predict/sum", b"x") == (400, sentence)
    replica.close()


class Failing:
    """A model whose device fails on demand."""

    name, task = "failing", "detect"
    failure = None

    def __call__(self, _image, _color=None):
        if self.failure == "hangs":
            time.sleep(0.2)
        elif self.failure:
            raise self.failure


def test_health_follows_the_device():
    model = Failing()
    replica = Replica(model, 1, 0.05)
    pixels = numpy.zeros((4, 4, 3), numpy.uint8)
    asyncio.run(replica.check_health())
    model.failure = saccade.DeviceError("the GPU is lost")
    with pytest.raises(saccade.DeviceError):
        asyncio.run(replica.predict(pixels, "rgb"))
    with pytest.raises(saccade.DeviceError):
        asyncio.run(replica.check_health())
    model.failure = None
    asyncio.run(replica.check_health())

    async def hang():
        model.failure = "hangs"
        run = asyncio.ensure_future(replica.predict(pixels, "rgb"))
        await asyncio.sleep(0.1)
        with pytest.raises(RuntimeError, match=r"failing has not finished a run for 0\.05 s"):
            await replica.check_health()
        await run

    asyncio.run(hang())
    replica.close()


def test_a_model_of_images_that_can_not_predict_does_not_start(detector):
    model = Failing()
    model.failure = saccade.InvalidFileError("the card has no class 'persn'")
    with pytest.raises(saccade.InvalidFileError):
        Replica(model, 1, 1)


def test_a_region_of_interest_is_no_reason_to_take_no_images():
    small = saccade.Model(SCENE_MODEL, device="cpu", roi=[640, 360, 320, 180])
    replica = Replica(small, 1, 10)
    assert replica.predicts
    assert asyncio.run(replica.predict(numpy.zeros((720, 1280, 3), numpy.uint8), "rgb")).width == 1280
    replica.close()


def test_what_has_a_second_model_has_no_plan(tmp_path):
    for name in ("first", "other"):
        shutil.copy(SCENE_MODEL, tmp_path / (name + ".onnx"))
    assert not _plans.has_second(tmp_path / "first.onnx", "")
    (tmp_path / "first.toml").write_text('[second]\nmodel = "other.onnx"\n')
    assert _plans.has_second(tmp_path / "first.onnx", "")
    assert not _plans.has_second(tmp_path / "other.onnx", "") and _plans.has_second(tmp_path / "other.onnx", str(tmp_path / "first.toml"))


def test_a_plan_is_compiled_once_and_shared(tmp_path, monkeypatch):
    model = tmp_path / "scene_model.onnx"
    shutil.copy(SCENE_MODEL, model)
    shutil.copy(SCENE_MODEL.replace(".onnx", ".toml"), tmp_path)
    compiled = []

    def compile(model, plan, **flags):
        compiled.append((plan, flags))
        return saccade.compile(model, plan, no_tune=True, **flags)

    monkeypatch.setattr(_plans, "compile", compile)
    options = {"precision": "fp32", "confidence": 0.9}
    first = open_model(str(model), "cpu", str(tmp_path / "plans"), options)
    second = open_model(str(model), "cpu", str(tmp_path / "plans"), options | {"confidence": 0.1})
    assert first.name == second.name == "scene_model" and len(compiled) == 1
    assert compiled[0][1] == {"device": "cpu", "precision": "fp32", "shape": []}
    # Another card, another plan; neither compiles where there is no folder.
    with open(tmp_path / "scene_model.toml", "a") as card:
        card.write("# changed\n")
    open_model(str(model), "cpu", str(tmp_path / "plans"), options)
    assert len(compiled) == 2
    monkeypatch.setenv("SACCADE_CACHE", "")
    assert open_model(str(model), "cpu", None, {}).name == "scene_model" and len(compiled) == 2
    with pytest.raises(saccade.NotFoundError, match="is not on the machine"):
        open_model(str(tmp_path / "none.onnx"), "cpu", str(tmp_path), {})


def test_options_are_those_of_a_model():
    signature = saccade.Model.__init__.__doc__.split("*, ")[1].split(") ->")[0]
    assert {*OF_PLAN, *AFTER_PLAN, "device"} == set(re.findall(r"(\w+): ", signature))


def wait_for_the_lock(path, holding, done):
    with _plans._locked(path):
        holding.set()
        done.wait(30)


def test_others_wait_while_one_compiles(tmp_path):
    spawn = multiprocessing.get_context("spawn")
    holding, done = spawn.Event(), spawn.Event()
    other = spawn.Process(target=wait_for_the_lock, args=(tmp_path / "lock", holding, done))
    other.start()
    assert holding.wait(30)
    order = []

    def take():
        with _plans._locked(tmp_path / "lock"):
            order.append("taken")

    taker = threading.Thread(target=take)
    taker.start()
    taker.join(0.05)
    assert order == []
    # A process that is killed holds nothing.
    other.kill()
    taker.join(30)
    assert order == ["taken"]
