"""Results in the forms of other tools."""
import itertools
import json
import types
import warnings

import numpy
import pytest
from conftest import SCENE_MODEL, shared

import saccade
from saccade import _convert


def test_json_is_the_line_of_the_command(detector, image):
    result = detector(image)
    line = json.loads(result.to_json())
    assert [d["class"] for d in line["detections"]] == result.class_name
    assert (numpy.array([d["box"] for d in line["detections"]], numpy.float32) == result.boxes).all()


def test_coco_is_the_file_of_the_command(detector, image, command, tmp_path):
    command("run", SCENE_MODEL, "--device", "cpu", "--source", image, "--coco", str(tmp_path / "out.json"), "--quiet")
    rows = json.loads((tmp_path / "out.json").read_text())
    ours = detector(image).to_coco(rows[0]["image_id"])
    assert len(ours) == len(rows)
    for a, b in zip(ours, rows):
        assert a.keys() == b.keys() and a["category_id"] == b["category_id"]
        assert numpy.allclose(a["bbox"], b["bbox"], atol=1e-4) and numpy.float32(a["score"]) == numpy.float32(b["score"])


def decoded(rle):
    """The mask of COCO's compressed run lengths, read as pycocotools does."""
    counts, text = [], iter(rle["counts"].encode())
    for byte in text:
        count = shift = 0
        while True:
            count |= (byte - 48 & 31) << shift
            shift += 5
            if not byte - 48 & 32:
                break
            byte = next(text)
        if byte - 48 & 16:
            count -= 1 << shift
        counts.append(count + counts[-2] if len(counts) > 2 else count)
    values = itertools.cycle([False, True])
    columns = numpy.repeat([value for value, _ in zip(values, counts)], counts)
    return columns.reshape(rle["size"], order="F")


def test_run_lengths_are_cocos():
    assert decoded({"size": (3, 2), "counts": "122O"}).tolist() == [[False, False], [True, False], [True, True]]
    result = saccade.Model(shared("models/real/yolov8n-seg_640.onnx"), device="cpu")(shared("images/bus.jpg"))
    assert len(result) > 3
    for row, rle, bitmap in zip(result.to_coco(1), result.masks.rle, result.masks.bitmaps):
        assert row["segmentation"] == rle and rle["size"] == (result.height, result.width)
        assert (decoded(rle) == bitmap).all()


def test_supervision(detector, image):
    supervision = pytest.importorskip("supervision", reason="needs supervision")
    result = detector(image)
    detections = result.to_supervision()
    assert isinstance(detections, supervision.Detections)
    assert (detections.xyxy == result.boxes).all() and detections["class_name"].tolist() == result.class_name
    assert detections.tracker_id is None


def predictions(track_id, **more):
    """What a conversion reads of a Result."""
    objects = len(track_id)
    fields = {"boxes": numpy.zeros((objects, 4), numpy.float32), "class_name": ["person"] * objects,
              "confidence": numpy.linspace(0.9, 0.5, objects, dtype=numpy.float32), "keypoints": None, "masks": None,
              "class_id": numpy.zeros(objects, numpy.int32), "track_id": numpy.array(track_id, numpy.int64), "obb": None}
    return types.SimpleNamespace(**fields | more)


def test_an_object_without_a_track_is_unconfirmed_in_supervision():
    pytest.importorskip("supervision", reason="needs supervision")
    assert _convert.to_supervision(predictions([3, 0, 1])).tracker_id.tolist() == [3, -1, 1]


def test_poses_of_supervision():
    supervision = pytest.importorskip("supervision", reason="needs supervision")
    result = predictions([0, 4], keypoints=numpy.random.default_rng(1).random((2, 17, 3), numpy.float32))
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # what the next version removes
        poses = _convert.to_supervision(result)
    assert isinstance(poses, supervision.KeyPoints) and (poses.xy == result.keypoints[:, :, :2]).all()
    assert (poses.keypoint_confidence == result.keypoints[:, :, 2]).all()
    assert (poses.detection_confidence == result.confidence).all() and poses.data["tracker_id"].tolist() == [-1, 4]


def test_poses_of_older_versions_of_supervision():
    def key_points(xy, class_id, confidence, data):
        return xy, class_id, confidence, data

    made = _convert._key_points(key_points, xy=1, class_id=2, keypoint_confidence=3, detection_confidence=4, data=5)
    assert made == (1, 2, 3, 5)
