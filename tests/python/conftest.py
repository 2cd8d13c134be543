"""Models and images of the tests."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHARED = ROOT.parent / "shared"
BUILD = pathlib.Path(os.environ.get("SACCADE_BUILD", ROOT / "build"))
sys.path.insert(0, str(BUILD / "python"))
# What earlier runs have decided about precisions and tactics changes no result here.
CACHE = tempfile.TemporaryDirectory(prefix="saccade-test-")
os.environ.setdefault("SACCADE_CACHE", CACHE.name)

import saccade  # noqa: E402

SCENE_MODEL = str(ROOT / "models" / "scene_model.onnx")


@pytest.fixture(scope="session")
def detector():
    return saccade.Model(SCENE_MODEL, device="cpu")


@pytest.fixture(scope="session")
def image(tmp_path_factory):
    """A frame of the scene with objects, as a PNG file."""
    folder = tmp_path_factory.mktemp("scene")
    model = saccade.Model(SCENE_MODEL, device="cpu")
    for result in saccade.Pipeline("synthetic:?seed=3&frames=20&objects=12", model, frames=True, color="rgb"):
        if len(result) >= 4:
            from PIL import Image
            Image.fromarray(result.pixels()).save(folder / "scene.png")
            return str(folder / "scene.png")
    raise AssertionError("no frame of the scene has four objects")


@pytest.fixture(scope="session")
def command():
    """Runs the command; returns the JSON lines that it prints."""

    def run(*arguments):
        done = subprocess.run([BUILD / "saccade", *arguments], check=True, capture_output=True, text=True)
        return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]

    return run


def shared(path):
    """A file of ../shared; skips the test where it is missing."""
    if not (SHARED / path).exists():
        pytest.skip(f"needs ../shared/{path}")
    return str(SHARED / path)
