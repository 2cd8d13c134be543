"""The package as its users' tools see it."""
import os
import pathlib
import signal
import subprocess
import sys
import time
import types

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


def test_a_verdict_has_its_report(tmp_path, monkeypatch):
    command = tmp_path / "saccade"
    command.write_text("#!/bin/sh\necho 'saccade: warning: they differ' >&2\necho '{\"agrees\": false}'\nexit $CODE\n")
    command.chmod(0o755)
    monkeypatch.setattr("saccade._verbs.path", lambda: str(command))
    monkeypatch.setenv("CODE", "3")
    assert saccade.validate(SCENE_MODEL, "coco:none") == {"agrees": False}
    monkeypatch.setenv("CODE", "1")
    with pytest.raises(saccade.Error, match="they differ"):
        saccade.validate(SCENE_MODEL, "coco:none")


class Bar:
    """In the place of tqdm's."""
    shown = []

    def __init__(self, **options):
        assert options["total"] == 1 and options["disable"] is None
        self.n = 0.0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def set_description_str(self, text, refresh):
        self.shown.append(text)

    def update(self, more):
        assert more >= -1 and 0 <= self.n + more <= 1
        self.n += more


def test_progress_is_shown_by_tqdm(monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm", types.ModuleType("tqdm"))
    auto = types.ModuleType("tqdm.auto")
    auto.tqdm = Bar
    monkeypatch.setitem(sys.modules, "tqdm.auto", auto)
    saccade.bench(SCENE_MODEL, device="cpu", precision="fp32", loads=2, duration=0.5)
    assert any("scene_model" in text for text in Bar.shown), Bar.shown


def test_an_interrupt_ends_the_command(tmp_path):
    code = f"import saccade; saccade.bench({str(SCENE_MODEL)!r}, device='cpu', loads=1, duration=60)"
    environment = os.environ | {"PYTHONPATH": str(BUILD / "python")}
    with subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True, env=environment) as process:
        children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children")
        child = ""
        while not child:
            time.sleep(0.05)
            assert process.poll() is None
            child = children.read_text().strip()
        process.send_signal(signal.SIGINT)
        assert "KeyboardInterrupt" in process.communicate(timeout=60)[1]
    assert not pathlib.Path("/proc", child).exists()
