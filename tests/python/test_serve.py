"""A replica of saccade.serve.ray without Ray: its responses, its plan, its health."""
import asyncio
import io
import json
import multiprocessing
import pathlib
import re
import shutil
import struct
import threading
import time

import numpy
import pytest
from conftest import SCENE_MODEL

import saccade
from saccade.serve import _plans
from saccade.serve._http import respond
from saccade.serve._images import _size_of as size_of
from saccade.serve._images import decoded, image_in
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


def ask(replica, method, path, body=b"", type="", query=""):
    made = asyncio.run(respond(replica, method, path, query, type, body))
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
    status, body, made = ask(replica, *POST, file, "", "draw=1")
    assert (status, made.type, body[:2]) == (200, "image/jpeg", b"\xff\xd8")
    assert ask(replica, *POST, file, "", "&draw=%30&draw=1")[2].type == "application/json", "the first counts"
    for query in ("draw=2", "draw", "draw=", "draw=1%"):
        assert error(replica, *POST, file, "", query)[1].endswith("neither 0 nor 1"), query
    for query in ("conf=0.9", "draw=0&Draw=1", "draw=2&x"):
        assert error(replica, *POST, file, "", query)[1].startswith("there is no parameter"), query


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


def form(*dispositions):
    parts = [b"--xy\r\n%s\r\n\r\n%d\r\n" % (each.encode(), i) for i, each in enumerate(dispositions)]
    return b"".join(parts) + b"--xy--\r\n"


def test_forms_are_those_of_the_server():
    note = 'Content-Disposition: form-data; name="filename="'
    file = 'Content-Disposition: form-data; filename="a;\\"b"'
    for type in ("Multipart/Form-Data; Boundary=xy", 'multipart/form-data;boundary="xy"',
                 "multipart/form-data; boundary=xy ; a=b", 'multipart/form-data; a="; boundary=z"; boundary=xy'):
        assert image_in(form(note, file), type) == b"1", type
    type = "multipart/form-data; boundary=xy"
    for each in ("CONTENT-DISPOSITION: Form-Data; FileName=b", "Content-Disposition: form-data; filename*=utf-8''x",
                 'Content-Disposition: form-data; name=a;\r\n filename="b"'):
        assert image_in(form(note, each, note), type) == b"1", each
    assert image_in(form(file), "image/png") == form(file)
    for body, of, named in ((form(note), type, "has no file"), (form(file, note, file), type, "several files"),
                            (form(file), type.replace("xy", "x" * 71), "no valid boundary"),
                            (form(file), type.replace("xy", '"xy'), "no valid boundary")):
        with pytest.raises(saccade.InvalidArgumentError, match=named):
            image_in(body, of)


def jpeg_header(width, height, before=b""):
    return b"\xff\xd8" + before + b"\xff\xff\xc2\0\x11\x08" + struct.pack(">HH", height, width) + bytes(20)


def test_large_images_are_refused_by_their_header(detector, image, file):
    height, width, _ = saccade.load_image(image).shape
    replica = Replica(detector, 1, 60, max_pixels=width * height)
    assert ask(replica, *POST, file)[0] == 200
    replica.close()
    replica = Replica(detector, 1, 60, max_pixels=width * height - 1)
    sentence = f"the image declares {width}x{height} pixels, more than the limit of {width * height - 1}"
    assert error(replica, *POST, file) == (400, sentence)
    # A frame in the thumbnail of a segment is not the image's; neither is what lies between segments.
    thumbnail = b"\xff\xe1" + struct.pack(">H", 2 + 32) + jpeg_header(16, 16)[:32]
    for before in (b"", b"\xff\xe0\0\x04ab", thumbnail, b"\xff\0ab\xff\x01\xff\xd0", b"\xff\xc4\0\2" * 9000):
        assert "declares 65000x65001 pixels" in error(replica, *POST, jpeg_header(65000, 65001, before))[1]
    png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + struct.pack(">II", 1 << 31, 1)
    assert f"declares {1 << 31}x1 pixels" in error(replica, *POST, png)[1]
    for bad in (png[:20], jpeg_header(16, 16)[:7], b"\xff\xd8", b"\xff\xd8\xff\xe0",
                jpeg_header(16, 16, b"\xff\xc4\0\2" * 10000)):
        assert error(replica, *POST, bad) == (400, "the image is damaged: its header has no size")
    with pytest.raises(saccade.InvalidFileError, match="more than the limit"):
        asyncio.run(replica.predict(file))
    replica.close()


def test_a_jpeg_has_the_size_that_it_is_decoded_to(replica, image):
    pillow = pytest.importorskip("PIL.Image")
    for options in ({}, {"progressive": True}, {"exif": b"Exif\0\0MM\0*\0\0\0\x08" + bytes(60000)},
                    {"icc_profile": bytes(200000)}):
        content = io.BytesIO()
        pillow.open(image).resize((333, 77)).save(content, "JPEG", **options)
        assert size_of(content.getvalue()) == decoded(content.getvalue(), 333 * 77).shape[1::-1] == (333, 77)


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


def test_a_model_that_is_replaced_meanwhile_is_compiled_again(tmp_path, monkeypatch):
    model = tmp_path / "sum.onnx"
    model.write_bytes(SUM)
    wider = SUM.replace(b"\x08\x03", b"\x08\x04")
    compiled = []

    def compile(path, plan, **flags):
        compiled.append(plan)
        if len(compiled) == 1:  # it is read after its key was made
            model.write_bytes(wider)
        return saccade.compile(path, plan, no_tune=True, **flags)

    monkeypatch.setattr(_plans, "compile", compile)
    opened = open_model(str(model), "cpu", str(tmp_path / "plans"), {"precision": "fp32"})
    assert opened.name == "sum" and tuple(opened.inputs[0].shape) == (2, 4) and len(compiled) == 2
    assert len(list((tmp_path / "plans").rglob("*.plan"))) == 1, "none under the key of the first"
    # That has a plan of its own when it is back.
    model.write_bytes(SUM)
    opened = open_model(str(model), "cpu", str(tmp_path / "plans"), {"precision": "fp32"})
    assert tuple(opened.inputs[0].shape) == (2, 3)
    assert len(compiled) == 3


def test_options_of_a_plan_are_flags_of_compile():
    options = {"precision": "fp16", "threads": 2, "card": "a.toml", "fallback": True, "max_memory": 1 << 30,
               "shapes": {"images": [1, 3, 320, 320], "mask": (1, 4)}, "dimensions": {"batch": 2}}
    assert set(options) == set(OF_PLAN)
    assert _plans._flags(options) == {
        "precision": "fp16", "threads": 2, "card": "a.toml", "fallback": "cpu", "max_model_memory": 1 << 30,
        "shape": ["images=1x3x320x320", "mask=1x4", "batch=2"]
    }
    assert _plans._flags({"fallback": False, "max_memory": 0}) == {"shape": []}


def test_a_plan_is_compiled_with_its_options(tmp_path, monkeypatch):
    """The command takes these flags."""
    options = {"precision": "fp32", "threads": 1, "card": SCENE_MODEL.replace(".onnx", ".toml"), "fallback": True,
               "max_memory": 1 << 30, "shapes": {"images": [1, 3, 480, 640]}}
    plan = _plans.shared_plan(pathlib.Path(SCENE_MODEL), tmp_path, "cpu", options)
    assert tuple(saccade.Model(plan, device="cpu", threads=1).inputs[0].shape) == (1, 3, 480, 640)
    assert {each.name for each in plan.parent.iterdir()} == {"lock", "scene_model.plan"}


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
