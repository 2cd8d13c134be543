"""Small files in the place of those that the documents' commands name."""
import json
import os
import pathlib
import shutil
import struct
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODEL = ROOT / "models/scene_model.onnx"
SCENE = "synthetic:?seed=4&fps=5&size=320x240"


def run(binary, *words, cwd):
    subprocess.run([binary, *words], cwd=cwd, check=True, capture_output=True, env={**os.environ, "SACCADE_CACHE": ""})


def write_npy(path, shape):
    """Zeros, float32."""
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {tuple(shape)}, }}"
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    count = 1
    for size in shape:
        count *= size
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + bytes(4 * count))


def write_coco(binary, folder):
    """Three frames of the scene, with the model's own predictions for the truth."""
    run(binary, "run", "model.onnx", "--source", SCENE, "--max-frames", "3", "--frames", "coco/images", "--jsonl",
        "truth.jsonl", "--device", "cpu", cwd=folder)
    images, annotations, classes = [], [], {}
    for line in (folder / "truth.jsonl").read_text().splitlines():
        record = json.loads(line)
        if "detections" not in record:
            continue
        name = f"0-{record['frame']:06}.jpg"
        images.append({"id": record["frame"], "file_name": name, "width": record["width"], "height": record["height"]})
        for found in record["detections"]:
            x1, y1, x2, y2 = found["box"]
            classes[found["class_id"]] = found["class"]
            annotations.append({
                "id": len(annotations) + 1, "image_id": record["frame"], "category_id": found["class_id"],
                "bbox": [x1, y1, x2 - x1, y2 - y1], "area": (x2 - x1) * (y2 - y1), "iscrowd": 0
            })
    categories = [{"id": number, "name": name} for number, name in sorted(classes.items())]
    truth = {"images": images, "annotations": annotations, "categories": categories}
    (folder / "coco/instances.json").write_text(json.dumps(truth))
    return images[0]["file_name"]


class StandIns:
    """The replacement of a word by the word before it."""

    def __init__(self, inputs):
        self.models = ("MODEL", "MODEL...", "MODEL.onnx", "yolov8n_640.onnx", "resnet50.onnx")
        self.inputs = inputs

    def replaced(self, word, before):
        if word in self.models:
            return "model.onnx"
        if word in ("SRC", "SRC...", "bus.jpg"):
            return "bus.jpg"
        known = {
            "walking_people_720p.mp4": "video.mp4", "KIND:DIR": "coco:coco", "coco:DIR": "coco:coco", "PLAN": "model.plan",
            "0.0.0.0:9090": "0.0.0.0:0", "COMMAND": "run", "WHAT": "bash", "FILE": "out.file", "NAME=FILE.npy": f"{self.inputs}=zeros.npy"
        }
        if word in known:
            return known[word]
        if word == "DIR":
            return "out" if before.startswith("--output") else "coco/images"
        if not word.startswith("-") and (word.isupper() or "..." in word):
            raise KeyError(word)
        return word


def make(binary, folder):
    """Writes the files into FOLDER."""
    for path in MODEL.parent.glob("scene_model.*"):
        shutil.copy(path, folder / path.name.replace("scene_model", "model"))
    (folder / "examples").symlink_to(ROOT / "examples")
    first = write_coco(binary, folder)
    shutil.copy(folder / "coco/images" / first, folder / "bus.jpg")
    run(binary, "run", "model.onnx", "--source", SCENE, "--max-frames", "5", "--video", "video.mp4", "--device", "cpu",
        cwd=folder)
    facts = json.loads(subprocess.run([binary, "inspect", "model.onnx", "--json", "--device", "cpu"], cwd=folder,
                                      capture_output=True, text=True, check=True).stdout)
    tensor = facts["inputs"][0]
    write_npy(folder / "zeros.npy", tensor["shape"])
    (folder / "token").write_text("0123456789abcdef" * 4 + "\n")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                    "-keyout", "key.pem", "-out", "cert.pem", "-subj", "/CN=localhost"], cwd=folder, check=True,
                   capture_output=True)
    return StandIns(tensor["name"])
