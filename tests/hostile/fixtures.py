"""The files of every attempt's folder: models with cards, images, videos, a plan, annotations, tensors."""
import json
import subprocess

import cv2
import numpy as np
import onnx

import models

# The file that `limits --output` writes, made once, so that no attempt measures the machine for seconds.
CEILINGS = "ceilings.json"


def image(rng, width=80, height=60):
    image = np.full((height, width, 3), rng.integers(0, 256, 3), np.uint8)
    for _ in range(6):
        x, y = int(rng.integers(0, width)), int(rng.integers(0, height))
        cv2.rectangle(image, (x, y), (x + width // 4, y + height // 4), [int(c) for c in rng.integers(0, 256, 3)], -1)
    return image


FRAMES = 6


def video(path, codec, frames=FRAMES):
    writer = cv2.VideoWriter(str(path), cv2.VideoWriter_fourcc(*codec), 10, (64, 48))
    rng = np.random.default_rng(5)
    for _ in range(frames):
        writer.write(image(rng, 64, 48))
    writer.release()


def annotations():
    images = [{"id": i, "file_name": f"p{i}.png", "width": 80, "height": 60} for i in range(3)]
    objects = [{
        "id": i + 1, "image_id": i % 3, "category_id": i % 2, "bbox": [5 + i, 6, 20, 15], "area": 300, "iscrowd": 0
    } for i in range(6)]
    return {
        "images": images, "annotations": objects, "categories": [{"id": 0, "name": "ball"}, {"id": 1, "name": "crate"}]
    }


def must(binary, folder, *command):
    done = subprocess.run([binary, *command], cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"saccade {' '.join(command)}: {done.stderr.strip()}")
    return done


def make(folder, binary):
    """Writes all fixtures to FOLDER. Apart from the plan and the ceilings they are deterministic."""
    rng = np.random.default_rng(11)
    for name in models.MAKERS:
        models.write(folder, name)
    models.external(folder)
    (folder / "images").mkdir()
    (folder / "data" / "images").mkdir(parents=True)
    for i in range(3):
        cv2.imwrite(str(folder / "images" / f"p{i}.jpg"), image(rng))
        cv2.imwrite(str(folder / "data" / "images" / f"p{i}.png"), image(rng))
    cv2.imwrite(str(folder / "one.png"), image(rng))
    (folder / "data" / "instances.json").write_text(json.dumps(annotations()))
    make_tests(folder / "tests")
    video(folder / "in.mp4", "mp4v")
    video(folder / "in.mkv", "mp4v")
    np.save(folder / "a.npy", rng.random((2, 3), np.float32))
    np.save(folder / "b.npy", rng.random((2, 3), np.float32))
    must(binary, folder, "compile", "detector.onnx", "-o", "detector.plan", "--device", "cpu")
    must(binary, folder, "compile", "tensors.onnx", "-o", "tensors.plan", "--device", "cpu")
    must(binary, folder, "limits", "--duration", "0.01", "--output", CEILINGS)
    report = must(binary, folder, "bench", "tensors.onnx", "--runs", "1", "--duration", "0", "--loads", "1", "--json")
    (folder / "bench.json").write_text(report.stdout)


def make_tests(folder):
    """One ONNX test case for `check`."""
    data = folder / "add" / "test_data_set_0"
    data.mkdir(parents=True)
    onnx.save(
        models.model([onnx.helper.make_node("Add", ["a", "b"], ["c"])],
                     [models.floats("a", [2]), models.floats("b", [2])], [models.floats("c", [2])]),
        folder / "add" / "model.onnx")
    for name, values in (("input_0", [1, 2]), ("input_1", [3, 4]), ("output_0", [4, 6])):
        tensor = models.constant(name, np.asarray(values, np.float32))
        (data / f"{name}.pb").write_bytes(tensor.SerializeToString())
