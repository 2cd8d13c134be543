"""Pipelines in a loop."""
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import threading
import time

import numpy
import pytest
from conftest import BUILD, SCENE_MODEL

import saccade

SCENE = "synthetic:?seed=1&size=320x240&frames="


def test_gives_a_result_per_frame(detector):
    pipeline = saccade.Pipeline(SCENE + "12", detector)
    results = list(pipeline)
    assert [result.frame for result in results] == list(range(12))
    assert all(result.width == 320 and result.source.startswith("synthetic:") for result in results)
    ledger = pipeline.summary()["ledger"]
    assert ledger["captured"] == ledger["processed"] == 12
    with pytest.raises(StopIteration):
        next(pipeline)


def test_results_outlive_the_pipeline(detector):
    results = list(saccade.Pipeline("synthetic:?seed=3&frames=6&objects=12", detector))
    boxes = [result.boxes.copy() for result in results]
    kept = [result.boxes for result in results]
    del results
    list(saccade.Pipeline("synthetic:?seed=4&frames=6&objects=12", detector))
    assert all((a == b).all() for a, b in zip(boxes, kept)) and sum(map(len, boxes)) > 0


def test_several_models_and_sources(detector):
    other = saccade.Model(SCENE_MODEL, device="cpu", confidence=0.7)
    results = list(saccade.Pipeline([SCENE + "4", SCENE + "3"], [detector, other]))
    assert sorted((result.stream, result.frame) for result in results) == sorted(
        2 * [(0, i) for i in range(4)] + 2 * [(1, i) for i in range(3)])


def test_tracks(detector):
    tracked = [
        result for result in saccade.Pipeline("synthetic:?seed=3&frames=20&objects=6&fps=10", detector, track="bytetrack")
    ]
    ids = tracked[-1].track_id
    assert ids.any() and len(set(ids[ids > 0])) == (ids > 0).sum()
    with pytest.raises(ValueError, match="bytetrack"):
        saccade.Pipeline(SCENE + "2", detector, track="deepsort")


def test_tracks_with_the_model_as_it_was_loaded(tmp_path, monkeypatch):
    for ending in (".onnx", ".toml"):
        shutil.copy(SCENE_MODEL.replace(".onnx", ending), tmp_path / f"moved{ending}")
    monkeypatch.chdir(tmp_path)
    model = saccade.Model("moved.onnx", device="cpu")
    carded = saccade.Model("moved.onnx", device="cpu", card="moved.toml")
    monkeypatch.chdir("/")
    for each in (model, carded):
        assert next(saccade.Pipeline(SCENE + "2", each, track="sort")).model == "moved"
    (tmp_path / "moved.toml").write_text("")
    with pytest.raises(ValueError, match="moved.toml has changed"):
        saccade.Pipeline(SCENE + "2", model, track="sort")
    with open(tmp_path / "moved.onnx", "ab") as file:
        file.write(b"more")
    with pytest.raises(ValueError, match="moved.onnx has changed"):
        saccade.Pipeline(SCENE + "2", carded, track="sort")
    assert next(saccade.Pipeline(SCENE + "2", model)).model == "moved"  # what is loaded needs no file


def test_pixels_are_kept_if_asked_for(detector):
    result = next(saccade.Pipeline(SCENE + "2", detector, frames=True, color="rgb"))
    bgr = next(saccade.Pipeline(SCENE + "2", detector, frames=True))
    assert (result.pixels() == bgr.pixels()[:, :, ::-1]).all() and result.plot().shape == (240, 320, 3)
    with pytest.raises(ValueError, match="frames=True"):
        next(saccade.Pipeline(SCENE + "2", detector)).plot()
    assert next(saccade.Pipeline(SCENE + "2", detector))._repr_jpeg_() is None


def test_counts_in_zones(detector, tmp_path):
    (tmp_path / "zones.toml").write_text('[[area]]\nname = "all"\nunits = "normalized"\n'
                                         'points = [[0, 0], [1, 0], [1, 1], [0, 1]]\nhold = 0\n')
    results = list(saccade.Pipeline("synthetic:?seed=3&frames=20&objects=6&fps=10", detector, track="sort",
                                    zones=tmp_path / "zones.toml"))
    state = results[-1].zones[0]
    events = [(result, event) for result in results for event in result.zone_events]
    assert state["name"] == "all" and state["in"] == sum(event["kind"] == "enter" for _, event in events) > 0
    for result, event in events:
        assert event["zone"] == "all" and event["since_ns"] <= result.timestamp_ns and event["track_id"] > 0
        if event["kind"] == "enter":
            at = result.track_id.tolist().index(event["track_id"])
            assert event["class"] in detector.labels and event["class_id"] == detector.labels.index(event["class"])
            assert result.confidence[at] > 0 and event["seconds"] == 0


@pytest.mark.parametrize("options, message", [
    ({"drop": "some"}, "drop is \"some\""),
    ({"decode": "gpu"}, "decode is \"gpu\""),
    ({"color": "cmyk", "frames": True}, "cmyk"),
    ({"devices": ["cpu", "cpu"]}, "cpu"),
])
def test_wrong_options_are_refused(detector, options, message):
    with pytest.raises(saccade.InvalidArgumentError, match=message):
        saccade.Pipeline(SCENE + "2", detector, **options)


def test_a_missing_source_is_named(detector):
    with pytest.raises(FileNotFoundError, match="nowhere.mp4"):
        saccade.Pipeline("nowhere.mp4", detector)


def test_goes_on_after_a_source_that_fails(detector, image, tmp_path):
    (tmp_path / "cut.png").write_bytes(pathlib.Path(image).read_bytes()[:2000])
    pipeline = saccade.Pipeline([tmp_path / "cut.png", image], detector)
    results, errors = [], []
    while True:
        try:
            results.append(next(pipeline))
        except StopIteration:
            break
        except saccade.DeviceError as error:
            errors.append(str(error))
    assert len(results) == 1 and len(errors) == 1 and "cut.png" in errors[0]


def test_stops_from_another_thread(detector):
    pipeline = saccade.Pipeline("synthetic:?size=320x240", detector)
    threading.Timer(0.3, pipeline.stop).start()
    frames = sum(1 for _ in pipeline)
    assert frames > 0
    summary = pipeline.finish()
    assert summary["ledger"]["unaccounted"] == 0


def test_a_context_closes_it(detector):
    with saccade.Pipeline("synthetic:?size=320x240", detector) as pipeline:
        next(pipeline)
    with pytest.raises(StopIteration):
        next(pipeline)


def test_telemetry(detector):
    pipeline = saccade.Pipeline(SCENE + "5", detector)
    list(pipeline)
    assert pipeline.telemetry()["streams"][0]["ledger"]["captured"] == 5


def test_control_c_ends_a_wait():
    code = f"""
import sys
sys.path.insert(0, {str(BUILD / "python")!r})
import saccade
model = saccade.Model({SCENE_MODEL!r}, device="cpu")
try:
    # A frame in ten seconds.
    for result in saccade.Pipeline("synthetic:?size=64x48&fps=0.1", model, realtime=True):
        print("running", flush=True)
except KeyboardInterrupt:
    print("interrupted")
"""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "running\n"
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        assert process.stdout.read() == "interrupted\n"
        assert process.wait(timeout=30) == 0


def test_raw_tensors(detector):
    session = saccade.Session(detector)
    info = detector.inputs[0]
    array = numpy.random.default_rng(1).random(info.shape, numpy.float32)
    outputs = session.run({info.name: array})
    assert list(outputs) == [output.name for output in detector.outputs]
    array.flags.writeable = False
    again = saccade.Session(detector).run({info.name: numpy.asfortranarray(array)})
    session.run({info.name: array})
    for output in detector.outputs:
        assert outputs[output.name].dtype == output.dtype
        assert (outputs[output.name] == again[output.name]).all()


def test_wrong_tensors_are_refused(detector):
    session = saccade.Session(detector)
    name, shape = detector.inputs[0].name, detector.inputs[0].shape
    good = numpy.zeros(shape, numpy.float32)
    for inputs, message in (({}, "is missing"), ({name: good, "more": good}, "no input 'more'"),
                            ({name: good.astype(numpy.float64)}, "float32, not float64"),
                            ({name: good[:, :, 1:]}, "takes float32")):
        with pytest.raises(saccade.InvalidArgumentError, match=message):
            session.run(inputs)


def test_models_may_come_from_a_generator():
    pipeline = saccade.Pipeline("synthetic:?frames=2&size=160x120", (saccade.Model(SCENE_MODEL, device="cpu") for _ in range(2)))
    assert len(list(pipeline)) == 4


FORKED = """
import os, sys
import saccade
with saccade.Pipeline("synthetic:?frames=1000&size=160x120", saccade.Model(sys.argv[1], device="cpu")) as pipeline:
    next(pipeline)
    child = os.fork()
    if child == 0:
        sys.exit(7)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
"""


def test_a_forked_process_ends_though_it_has_a_pipeline():
    environment = os.environ | {"PYTHONPATH": str(BUILD / "python")}
    subprocess.run([sys.executable, "-c", FORKED, SCENE_MODEL], env=environment, check=True, timeout=120)
