"""The package as its users' tools see it."""
import ast
import os
import pathlib
import signal
import subprocess
import sys
import time
import types

import numpy
import pytest
from conftest import BUILD, ROOT, SCENE_MODEL

import saccade
from saccade import _verbs

TYPED = '''
import pathlib

import numpy
import PIL.Image
import saccade

model = saccade.Model("model.onnx", device="cpu")
result: saccade.Result = model(numpy.zeros((4, 4, 3), numpy.uint8), color="rgb")
boxes: numpy.typing.NDArray[numpy.float32] = result.boxes
for tracked in saccade.Pipeline("video.mp4", model, track="bytetrack"):
    names: list[str] = tracked.class_name
    if tracked.masks is not None:
        areas: list[int] = tracked.masks.areas
chosen = saccade.Model(pathlib.Path("model.onnx"), classes=[0, "person"], card=pathlib.Path("card.toml"))
print(chosen("image.jpg").to_coco(1)[0]["bbox"], chosen(PIL.Image.new("L", (4, 4))).to_supervision().xyxy)
chosen(pathlib.Path("image.jpg")).save(pathlib.Path("drawn.png"))
pipeline = saccade.Pipeline([pathlib.Path("a.mp4"), "b.mp4"], (model, chosen), zones=pathlib.Path("zones.toml"))
arrays = {"images": numpy.zeros((1, 3, 4, 4), numpy.float32)}
output = saccade.Session(model).run(arrays)["output0"]
report = saccade.bench("model.onnx", runs=numpy.int64(3), duration=0.5, engines=["a", "b"])
'''

WRONG = ['model("a.jpg", colour="rgb")', "model(None)", "saccade.Model(3.5)", "saccade.Pipeline(3, model)",
         'saccade.Pipeline("a.mp4", 4)', 'saccade.Model("a.onnx", classes=[0.5])', "result.save(3)"]


def test_types_are_checked(tmp_path):
    pytest.importorskip("mypy", reason="needs mypy")
    (tmp_path / "typed.py").write_text(TYPED)
    (tmp_path / "wrong.py").write_text(TYPED + "\n".join(WRONG))
    environment = os.environ | {"MYPYPATH": str(BUILD / "python")}

    def check(path):
        command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", "--cache-dir", str(tmp_path), path]
        return subprocess.run(command, capture_output=True, text=True, env=environment, cwd=tmp_path, check=False)

    assert (done := check("typed.py")).returncode == 0, done.stdout
    errors = check("wrong.py").stdout
    for line, wrong in enumerate(WRONG, 1 + TYPED.count("\n")):
        assert f"wrong.py:{line}: error" in errors, (wrong, errors)


def test_public_names_have_docstrings():
    for name in saccade.__all__:
        value = getattr(saccade, name)
        assert name == "__version__" or value.__doc__, name
    # The extension's own properties have their signature at least; the stub has what is written.
    stub = ast.parse(pathlib.Path(saccade.__file__).with_name("_saccade.pyi").read_text())
    for each in (each for each in stub.body if isinstance(each, ast.ClassDef)):
        for member in (member for member in each.body if isinstance(member, ast.FunctionDef)):
            assert member.name.startswith("_") or ast.get_docstring(member), f"{each.name}.{member.name}"


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


@pytest.mark.parametrize("function, options, kind, message", [
    (saccade.bench, {"model": "missing.onnx"}, FileNotFoundError, "missing.onnx"),
    (saccade.compile, {"model": "missing.onnx", "output": "a.plan"}, saccade.NotFoundError, "missing.onnx"),
    (saccade.validate, {"model": SCENE_MODEL, "data": "coco:nowhere"}, saccade.Error, "nowhere"),
    (saccade.bench, {"no_such_flag": 1}, ValueError, "--no-such-flag"),
    (saccade.bench, {"runs": numpy.int64(-3)}, saccade.InvalidArgumentError, "-3"),
    (saccade.bench, {"help": True}, ValueError, "prints no report with the options help"),
    (saccade.bench, {"runs": object()}, TypeError, "the option 'runs' can't be object"),
    (saccade.bench, {"device": b"cpu"}, TypeError, "the option 'device' can't be bytes"),
])
def test_errors_of_the_commands_have_classes(function, options, kind, message):
    with pytest.raises(kind, match=message):
        function(**{"model": SCENE_MODEL} | options)


def test_options_may_be_of_numpy():
    flags = _verbs._flags({"runs": numpy.int64(3), "duration": numpy.float32(0.5), "json": True, "loads": None, "tune": False,
                           "shape": ["a=1", pathlib.Path("b")]})
    assert flags == ["--runs", "3", "--duration", "0.5", "--json", "--shape", "a=1", "--shape", "b"]


def test_a_verdict_has_its_report(tmp_path, monkeypatch):
    command = tmp_path / "saccade"
    command.write_text("#!/bin/sh\necho 'saccade: warning: they differ' >&2\necho '{\"agrees\": false}'\nexit $CODE\n")
    command.chmod(0o755)
    monkeypatch.setattr("saccade._verbs.path", lambda: str(command))
    monkeypatch.setenv("CODE", "3")
    with pytest.warns(UserWarning, match="^they differ$") as warned:
        assert saccade.validate(SCENE_MODEL, "coco:none") == {"agrees": False}
    assert warned[0].filename == __file__
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
