"""The backend of torch.compile in the package: its options, devices, imports and entry point."""
import subprocess
import sys
import tomllib

import pytest
from conftest import BUILD, ROOT
from torch_networks import Block, assert_close, compiled, fresh, images, last, seeded  # noqa: F401

import torch
from torch import nn
from torch._dynamo.exc import BackendCompilerFailed

import saccade
import saccade.torch
from saccade import _torch_tensors as tensors


def test_tensors_on_the_cpu_are_not_copied():
    class Session:
        def run(self, inputs):
            return {"y": inputs["x"]}

    x = images(2, 3)
    assert tensors.run(Session(), {"x": x})["y"].data_ptr() == x.data_ptr()


def test_a_tensor_that_requires_gradients_is_no_input(detector):
    name, shape = detector.inputs[0].name, detector.inputs[0].shape
    session = saccade.Session(detector)
    for given, message in ((torch.zeros(shape, requires_grad=True), r"requires gradients: pass tensor.detach\(\)"),
                           (torch.zeros(shape, dtype=torch.bfloat16), "can't become an array: .*BFloat16")):
        with torch.enable_grad(), pytest.raises(ValueError, match=f"the input '{name}' {message}"):
            session.run({name: given})


def test_wrong_options_are_refused():
    # PyTorch wraps what a backend raises while it compiles.
    with pytest.raises(BackendCompilerFailed, match="ValueError: the backend saccade has no option 'max_shape'"):
        compiled(seeded(Block), max_shape=3)(images(1, 3, 8, 8))
    with pytest.raises(TypeError, match="'threads' is int"):
        saccade.torch.options(threads="2")
    with pytest.raises(ValueError, match="at least 1"):
        saccade.torch.options(max_shapes=0)
    with pytest.raises(BackendCompilerFailed, match="ValueError: the backend saccade has no mode"):
        torch.compile(seeded(Block), backend="saccade", mode="max-autotune")(images(1, 3, 8, 8))
    with pytest.raises(saccade.InvalidArgumentError, match="tpu"):
        compiled(seeded(Block), device="tpu")(images(1, 3, 8, 8))
    with pytest.raises(TypeError, match="not int"):
        saccade.torch.explain(3)
    with pytest.raises(ValueError, match="no weights"):
        saccade.torch.explain(nn.ReLU())


def test_tensors_elsewhere_run_in_pytorch():
    module = seeded(Block).to("meta")
    assert compiled(module)(torch.empty(1, 3, 8, 8, device="meta")).shape == (1, 5)
    assert "device meta" in last().reason


def test_pytorch_is_not_imported_before_it_is_used():
    program = ("import sys, saccade; assert 'torch' not in sys.modules; "
               "assert 'saccade' in saccade.torch._reports.__name__ and 'torch' in sys.modules; import torch; "
               "assert 'saccade' in torch._dynamo.list_backends()")
    done = subprocess.run([sys.executable, "-c", program], env={"PYTHONPATH": str(BUILD / "python")}, check=False,
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_pytorch_finds_an_installed_package(tmp_path):
    """By the entry point that pyproject.toml declares."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    (group, points), = project["entry-points"].items()
    folder = tmp_path / "saccade-1.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: saccade\nVersion: 1\n")
    (folder / "entry_points.txt").write_text(f"[{group}]\n" + "".join(f"{name} = {at}\n" for name, at in points.items()))
    program = ("import torch; f = torch.compile(lambda x: x @ x, backend='saccade'); print(f(torch.ones(1, 1)).item()); "
               "import saccade.torch; print(len(saccade.torch.explain().graphs), 'saccade' in torch._dynamo.list_backends())")
    done = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True, text=True,
                          env={"PYTHONPATH": f"{BUILD / 'python'}:{tmp_path}"})
    assert (done.stdout.split(), done.stderr) == (["1.0", "1", "True"], "")


def test_the_process_ends_in_silence():
    """Compiled code lives until the end."""
    program = ("import torch, saccade.torch; f = torch.compile(lambda x: x @ x, backend='saccade');"
               "print(f(torch.ones(1, 1)).item(), saccade.torch.explain().graphs[0].parts)")
    done = subprocess.run([sys.executable, "-c", program], env={"PYTHONPATH": str(BUILD / "python")}, check=False,
                          capture_output=True, text=True)
    assert (done.stdout.strip(), done.stderr) == ("1.0 1", "")
