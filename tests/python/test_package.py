"""The package as its users' tools see it."""
import os
import subprocess
import sys

import pytest
from conftest import BUILD, ROOT, SCENE_MODEL

import saccade

TYPED = '''
import numpy
import saccade

model = saccade.Model("model.onnx", device="cpu")
result: saccade.Result = model(numpy.zeros((4, 4, 3), numpy.uint8), color="rgb")
boxes: numpy.typing.NDArray[numpy.float32] = result.boxes
for tracked in saccade.Pipeline("video.mp4", model, track="bytetrack"):
    names: list[str] = tracked.class_name
    if tracked.masks is not None:
        areas: list[int] = tracked.masks.areas
'''


def test_types_are_checked(tmp_path):
    pytest.importorskip("mypy", reason="needs mypy")
    (tmp_path / "typed.py").write_text(TYPED)
    (tmp_path / "wrong.py").write_text(TYPED + 'model(3, colour="rgb")\n')
    environment = os.environ | {"MYPYPATH": str(BUILD / "python")}

    def check(path):
        command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", "--cache-dir", str(tmp_path), path]
        return subprocess.run(command, capture_output=True, text=True, env=environment, cwd=tmp_path, check=False)

    assert (done := check("typed.py")).returncode == 0, done.stdout
    assert "colour" in check("wrong.py").stdout


def test_public_names_have_docstrings():
    for name in saccade.__all__:
        value = getattr(saccade, name)
        assert name == "__version__" or value.__doc__, name


def test_the_command_is_in_it():
    environment = os.environ | {"PYTHONPATH": str(BUILD / "python")}
    done = subprocess.run([sys.executable, "-m", "saccade", "--version"], capture_output=True, text=True, env=environment,
                          check=True)
    assert done.stdout == f"saccade {saccade.__version__}\n"
    assert saccade.__version__ in (ROOT / "CMakeLists.txt").read_text()


def test_the_commands_verbs_are_functions(tmp_path):
    plan = tmp_path / "scene.plan"
    report = saccade.compile(SCENE_MODEL, plan, device="cpu", precision="fp32", no_tune=True)
    assert report and saccade.Model(plan).task == saccade.Model(SCENE_MODEL).task
    measured = saccade.bench(plan, device="cpu", runs=3, loads=1, duration=0.1)
    assert measured["models"][0]["latency_ms"]["p50"] > 0
    with pytest.raises(saccade.Error, match="missing.onnx"):
        saccade.bench("missing.onnx")
    with pytest.raises(saccade.Error, match="--no-such-flag"):
        saccade.bench(plan, no_such_flag=1)
