"""A model on images, and what it predicts."""
import ctypes
import gc
import multiprocessing
import os
import threading

import numpy
import pytest
from conftest import SCENE_MODEL, shared
from networks import write_rows
from PIL import Image

import saccade


def test_predicts_what_the_command_does(detector, image, command):
    line = command("run", SCENE_MODEL, "--device", "cpu", "--source", image, "--jsonl", "-", "--quiet")[0]
    result = detector(image)
    assert len(result) == len(line["detections"]) >= 4
    assert (result.boxes == numpy.array([d["box"] for d in line["detections"]], numpy.float32)).all()
    assert (result.confidence == numpy.array([d["confidence"] for d in line["detections"]], numpy.float32)).all()
    assert result.class_id.tolist() == [d["class_id"] for d in line["detections"]]
    assert result.class_name == [d["class"] for d in line["detections"]]
    assert (result.width, result.height, result.task) == (line["width"], line["height"], line["task"])


def test_an_image_may_be_a_path_an_array_or_of_pil(detector, image):
    expected = detector(image).boxes
    rgb = numpy.asarray(Image.open(image))
    wide = numpy.zeros((rgb.shape[0], rgb.shape[1] + 5, 3), numpy.uint8)
    wide[:, :-5] = rgb
    for result in (detector(rgb, color="rgb"), detector(rgb[:, :, ::-1].copy(), "bgr"), detector(Image.open(image)),
                   detector(wide[:, :-5], color="rgb"), detector(saccade.load_image(image), color="bgr"),
                   detector(saccade.load_image(image, color="rgb"), color="rgb")):
        assert (result.boxes == expected).all()
    assert detector(rgb[:, :, 0].copy()).width == rgb.shape[1]


class Foreign:
    """An array of a library that has DLPack alone."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def test_an_array_is_not_copied(detector, image):
    rgb = saccade.load_image(image, color="rgb")
    result = detector(Foreign(rgb), color="rgb")
    assert (result.boxes == detector(image).boxes).all() and (result.pixels() == rgb).all()
    rgb[:] = 7
    assert (result.pixels() == 7).all()


def test_arrays_share_the_memory_of_the_result(detector, image):
    result = detector(image)
    boxes, confidence = result.boxes, result.confidence
    assert boxes.dtype == numpy.float32 and boxes.shape == (len(result), 4)
    assert boxes.ctypes.data == result.boxes.ctypes.data
    copies = boxes.copy(), confidence.copy()
    del result
    gc.collect()
    detector(image)
    assert (boxes == copies[0]).all() and (confidence == copies[1]).all()
    boxes[0] = 7  # a result belongs to whoever has it
    assert ctypes.c_float.from_address(boxes.ctypes.data).value == 7


def test_nothing_found_is_no_error(detector):
    result = detector(numpy.zeros((48, 64, 3), numpy.uint8), color="rgb")
    assert result.boxes.shape == (0, 4) and result.confidence.shape == (0,) and result.class_name == []
    assert result.to_coco(1) == [] and result


def test_drawings_have_the_order_of_the_image(detector, image):
    rgb = numpy.asarray(Image.open(image))
    result = detector(rgb, color="rgb")
    assert result.plot().shape == rgb.shape and (result.plot() != rgb).any()
    assert (result.plot("bgr") == result.plot()[:, :, ::-1]).all()
    assert (result.pixels() == rgb).all() and (result.pixels("bgr") == rgb[:, :, ::-1]).all()
    assert result._repr_jpeg_()[:2] == b"\xff\xd8"


def test_a_drawing_is_saved(detector, image, tmp_path):
    result = detector(image)
    result.save(str(tmp_path / "drawn.png"))
    assert (numpy.asarray(Image.open(tmp_path / "drawn.png")) == result.plot("rgb")).all()


def test_options_reach_the_model(image):
    strict = saccade.Model(SCENE_MODEL, device="cpu", confidence=0.6)
    assert (strict(image).confidence >= 0.6).all()
    names = set(strict(image).class_name)
    one = saccade.Model(SCENE_MODEL, device="cpu", classes=[min(names)])
    assert set(one(image).class_name) == {min(names)}
    assert len(saccade.Model(SCENE_MODEL, device="cpu", max_detections=2)(image)) == 2
    left = saccade.Model(SCENE_MODEL, device="cpu", roi=(0, 0, 320, 480))(image)
    assert len(left) > 0 and (left.boxes[:, 2] <= 321).all()
    with pytest.raises(ValueError, match="NMS"):
        saccade.Model(SCENE_MODEL, nms="some")


def test_threads_share_a_model(detector, image):
    rgb = numpy.asarray(Image.open(image))
    images = [rgb, rgb[::-1].copy(), rgb[:, ::-1].copy(), rgb[:, 60:].copy()]
    expected = [detector(each, color="rgb").boxes.tolist() for each in images]
    assert all(expected) and len({str(boxes) for boxes in expected}) == len(images)
    found = [[] for _ in images]

    def work(at):
        for _ in range(4):
            found[at].append(detector(images[at], color="rgb").boxes.tolist())

    threads = [threading.Thread(target=work, args=(at,)) for at in range(len(images))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [[boxes] * 4 for boxes in expected]


def test_other_threads_run_while_a_model_does(image):
    model = saccade.Model(SCENE_MODEL, device="reference")  # slow
    done = threading.Event()
    turns = 0

    def work():
        model(image)
        done.set()

    thread = threading.Thread(target=work)
    thread.start()
    while not done.wait(0.001):
        turns += 1
    thread.join()
    assert turns > 10


def _spawned(path, found):
    found.put(saccade.Model(SCENE_MODEL, device="cpu")(path).boxes.tolist())


def test_a_process_may_be_spawned_but_not_forked(detector, image):
    context = multiprocessing.get_context("spawn")
    found = context.Queue()
    process = context.Process(target=_spawned, args=(image, found))
    process.start()
    assert numpy.allclose(found.get(timeout=120), detector(image).boxes, atol=1e-3)
    process.join()
    child = os.fork()
    if child == 0:
        try:
            detector(image)
        except saccade.UnsupportedError as error:
            os._exit(0 if "spawn" in str(error) else 2)
        os._exit(1)
    assert os.waitpid(child, 0)[1] == 0


def test_masks():
    model = saccade.Model(shared("models/real/yolov8n-seg_640.onnx"), device="cpu")
    result = model(shared("images/bus.jpg"))
    bitmaps = result.masks.bitmaps
    assert bitmaps.shape == (len(result), result.height, result.width) and bitmaps.dtype == bool
    assert bitmaps.sum((1, 2)).tolist() == result.masks.areas and len(result.masks) == len(result) > 3
    for i, polygons in enumerate(result.masks.polygons):
        areas = []
        for x, y in (ring.T.astype(int) for rings in polygons for ring in rings):
            areas.append(int((x * numpy.roll(y, -1) - numpy.roll(x, -1) * y).sum()) // 2)
        assert sum(areas) == result.masks.areas[i]  # holes count negative
    pytest.importorskip("supervision", reason="needs supervision")
    assert (result.to_supervision().mask == bitmaps).all()


def test_classes_outlive_their_result():
    model = saccade.Model(shared("models/real/mobilenetv2_v1_224.onnx"), device="cpu", top_k=3)
    classes = model(shared("images/dog.jpg")).classes
    gc.collect()
    assert len(classes) == 3 and classes[0].class_name == "malamute"
    assert classes[0].confidence >= classes[1].confidence and model.task == "classify"


def test_keypoints(tmp_path):
    rows = [[8, 16, 40, 48, 0.9, 0, 10, 20, 0.75, 30, 40, 0.5], [1, 2, 63, 62, 0.6, 0, 5, 6, 0.25, 7, 8, 1]]
    path = write_rows(tmp_path / "pose.onnx", rows, '[output]\ndecoder = "yolo-e2e-pose"\nkeypoints = 2\nlabels = ["cat"]\n')
    result = saccade.Model(path, device="cpu")(numpy.zeros((64, 64, 3), numpy.uint8), color="rgb")
    assert result.task == "pose" and result.class_name == ["cat", "cat"]
    assert numpy.allclose(result.boxes, numpy.array(rows)[:, :4], atol=1e-3)
    assert numpy.allclose(result.keypoints, numpy.array(rows)[:, 6:].reshape(2, 2, 3), atol=1e-3)
    assert result.to_coco(1)[0]["keypoints"] == pytest.approx([10, 20, 2, 30, 40, 2], abs=1e-3)


def test_oriented_boxes(tmp_path):
    rows = [[32, 24, 20, 10, 0.9, 1, 0.5], [40, 40, 30, 12, 0.7, 0, -0.25]]
    path = write_rows(tmp_path / "obb.onnx", rows, '[output]\ndecoder = "yolo-e2e-obb"\nlabels = ["ship", "plane"]\n')
    result = saccade.Model(path, device="cpu")(numpy.zeros((64, 64, 3), numpy.uint8), color="rgb")
    assert result.task == "obb" and result.class_name == ["plane", "ship"]
    expected = numpy.array(rows)[:, [0, 1, 2, 3, 6]] % (1000, 1000, 1000, 1000, numpy.pi)
    assert numpy.allclose(result.obb, expected, atol=1e-3)
    assert numpy.allclose((result.boxes[:, :2] + result.boxes[:, 2:]) / 2, numpy.array(rows)[:, :2], atol=1e-2)


def test_depth():
    model = saccade.Model(shared("models/real/pydnetpp_448x640.onnx"), device="cpu")
    depth = model(shared("images/dog.jpg")).depth
    assert depth.cells.shape == (448, 640) and depth.pixels().shape == (576, 768)
    finite = depth.pixels()[numpy.isfinite(depth.pixels())]
    assert depth.min <= finite.min() and finite.max() <= depth.max and depth.kind == "relative"


def test_class_map():
    result = saccade.Model(shared("models/real/deeplabv3_mnv2_dm05_257.onnx"), device="cpu")(shared("images/dog.jpg"))
    pixels = result.class_map.pixels()
    assert pixels.shape == (result.height, result.width)
    for segment in result.segments:
        assert (pixels == segment.class_id).sum() == segment.pixels
    assert "background" in [segment.class_name for segment in result.segments]
