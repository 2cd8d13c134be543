"""What is refused of arguments, and by which error."""
import os
import pathlib
import shutil

import numpy
import pytest
from conftest import SCENE_MODEL

import saccade

SCENE = "synthetic:?size=64x48&frames=1"
SAMPLES = numpy.zeros((8, 8, 3), numpy.uint8)


@pytest.mark.parametrize("bad, kind, message", [
    (SAMPLES, saccade.InvalidArgumentError, "order of the image's colours is unknown"),
    (SAMPLES.astype(numpy.float32), ValueError, "float32 on the device cpu: it must be uint8"),
    (SAMPLES.astype(">u2"), ValueError, ">u2"),
    (SAMPLES.astype(object), ValueError, "object"),
    (memoryview(SAMPLES.astype(numpy.int16)), ValueError, "of another type"),
    (numpy.zeros((8, 8, 4), numpy.uint8), ValueError, r"\(8, 8, 4\)"),
    (numpy.zeros((0, 8, 3), numpy.uint8), ValueError, "no pixels"),
    (numpy.zeros((8, 16, 3), numpy.uint8)[:, ::2], ValueError, "ascontiguousarray"),
    (numpy.lib.stride_tricks.as_strided(SAMPLES, (2, 8, 3), (2**32 + 24, 3, 1)), ValueError, "4294967320 bytes apart"),
    ("missing.png", FileNotFoundError, "missing.png"),
    ("zero\0byte.png", ValueError, r"zero byte: 'zero\\x00byte.png'"),
    (os.fsdecode(b"\xff.png"), FileNotFoundError, "\udcff.png"),
    (__file__, saccade.InvalidFileError, "is no image"),
    (3, TypeError, "not int"),
    (None, TypeError, "not NoneType"),
])
def test_what_is_no_image_is_refused(detector, bad, kind, message):
    color = None if "colours" in message else "rgb"
    with pytest.raises(kind, match=message):
        detector(bad, color=color)


def test_wrong_options_are_refused(tmp_path):
    with pytest.raises(saccade.NotFoundError, match="nowhere.onnx"):
        saccade.Model("nowhere.onnx")
    with pytest.raises(ValueError, match="device") as caught:
        saccade.Model(SCENE_MODEL, device="tpu")
    assert caught.value.code == "invalid argument" and caught.value.card is None
    with pytest.raises(ValueError, match="precision"):
        saccade.Model(SCENE_MODEL, precision="fp7")
    with pytest.raises(TypeError):
        saccade.Model(SCENE_MODEL, confidance=0.5)
    (tmp_path / "broken.onnx").write_bytes(b"no model")
    with pytest.raises(saccade.InvalidFileError, match="broken.onnx"):
        saccade.Model(tmp_path / "broken.onnx")


@pytest.mark.parametrize("path, kind, message", [
    (b"nowhere.onnx", FileNotFoundError, "nowhere.onnx"),
    (pathlib.Path("nowhere.onnx"), FileNotFoundError, "nowhere.onnx"),
    (os.fsdecode(b"\xff.onnx"), FileNotFoundError, "\udcff.onnx"),
    ("zero\0byte.onnx", ValueError, "path has a zero byte"),
    (3, TypeError, "path is a str or os.PathLike, not int"),
])
def test_names_of_models(path, kind, message):
    with pytest.raises(kind, match=message):
        saccade.Model(path)


@pytest.mark.parametrize("roi", [(0, 0, 0, 10), (-1, 0, 10, 10), (0, 0, 10, 2_000_000)])
def test_a_wrong_roi_is_refused_at_once(roi):
    with pytest.raises(saccade.InvalidArgumentError, match="roi is x, y, width, height"):
        saccade.Model(SCENE_MODEL, roi=roi)


def test_names_of_files_need_not_be_utf8(tmp_path, image, detector):
    folder = tmp_path / os.fsdecode(b"\xff")
    folder.mkdir()
    name = os.fsdecode(b"\xfe.png")
    shutil.copy(image, folder / name)
    result, = saccade.Pipeline(folder, detector)
    assert result.name == name and result.source.endswith(folder.name)
    assert saccade.load_image(folder / name).shape == (result.height, result.width, 3)
    for ending in (".onnx", ".toml"):
        shutil.copy(SCENE_MODEL.replace(".onnx", ending), folder / os.fsdecode(b"\xfd" + ending.encode()))
    model = saccade.Model(folder / os.fsdecode(b"\xfd.onnx"), device="cpu")
    assert model.name == "\udcfd" and "\udcfd" in repr(model) and model(folder / name).model == model.name


def test_classes_are_names_or_numbers(detector, image):
    found = detector(image)
    number = int(found.class_id[0])
    for key in (number, numpy.int64(number), str(number), found.class_name[0]):
        kept = saccade.Model(SCENE_MODEL, device="cpu", classes=[key])(image)
        assert len(kept) > 0 and set(kept.class_id.tolist()) == {number}
    with pytest.raises(ValueError, match="no class '99'"):
        saccade.Model(SCENE_MODEL, device="cpu", classes=[99])(image)


def test_paths_are_objects_too(tmp_path, image):
    card = tmp_path / "card.toml"
    card.write_text(pathlib.Path(SCENE_MODEL).with_suffix(".toml").read_text())
    result = saccade.Model(pathlib.Path(SCENE_MODEL), device="cpu", card=card)(pathlib.Path(image))
    result.save(tmp_path / "drawn.png")
    assert saccade.load_image(tmp_path / "drawn.png").shape == result.plot().shape
    with pytest.raises(TypeError, match="card is a str or os.PathLike, not int"):
        saccade.Model(SCENE_MODEL, card=3)


@pytest.mark.parametrize("source, model, message", [
    (3, None, "source is a str or os.PathLike, not int"),
    ([SCENE, 3], None, "source is a str or os.PathLike, not int"),
    (SCENE, "yolov8n.onnx", "model is a saccade.Model or several, not str"),
    (SCENE, [3], "model is a saccade.Model or several, not int"),
    (SCENE, 3, "model is a saccade.Model or several, not int"),
])
def test_what_a_pipeline_does_not_take(detector, source, model, message):
    with pytest.raises(TypeError, match=message):
        saccade.Pipeline(source, detector if model is None else model)


@pytest.mark.parametrize("seconds", [float("nan"), float("inf"), 1e300, -1.0])
@pytest.mark.parametrize("keyword", ["duration", "batch_wait"])
def test_times_are_finite(detector, keyword, seconds):
    with pytest.raises(saccade.InvalidArgumentError, match=f"{keyword} is seconds, from 0 to 9.2e9, not "):
        saccade.Pipeline(SCENE, detector, **{keyword: seconds})


@pytest.mark.parametrize("given, message", [
    (numpy.zeros(1, ">f4"), "is float32, not >f4"),
    (numpy.zeros(1, object), "is float32, not object"),
    (numpy.zeros(1, "M8[s]"), r"is float32, not datetime64\[s\]"),
    (numpy.zeros(1, numpy.longdouble), "is float32, not float128"),
    (numpy.zeros(1, numpy.complex64), "is float32, not complex64"),
    (numpy.zeros(1, numpy.float64), "is float32, not float64"),
    ("abc", "is float32, not <U3"),
    (None, "is float32, not object"),
    ([[1.0], [1.0, 2.0]], "can't become an array: "),
])
def test_other_types_of_tensors_are_named(detector, given, message):
    name = detector.inputs[0].name
    with pytest.raises(saccade.InvalidArgumentError, match=f"the input '{name}' {message}"):
        saccade.Session(detector).run({name: given})


def test_an_interrupt_is_not_lost_in_an_error(monkeypatch):
    """As Python raises it in the first code that runs after the signal."""
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("saccade._errors.make", interrupted)
    with pytest.raises(KeyboardInterrupt):
        saccade.Model("nowhere.onnx")
