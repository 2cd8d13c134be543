"""The faults that a reader of each output finds: a list, empty if the file is complete and valid."""
import csv
import io
import json
import math
import os
import pathlib
import tempfile

os.environ.setdefault("OPENCV_FFMPEG_LOGLEVEL", "-8")  # its messages about a damaged video are checked here
import cv2
import numpy as np


def refuse_constant(text):
    raise ValueError(f"JSON has no {text}")


def parse(text):
    return json.loads(text, parse_constant=refuse_constant)


def strange_numbers(line):
    """Invalid predictions of a frame that the result does not report as faults."""
    if line.get("invalid"):
        return []
    found = []
    for at in line.get("detections") or []:
        box, confidence = at.get("box"), at.get("confidence")
        if box is None or any(x is None or not math.isfinite(x) for x in box):
            found.append(f"a box {box}")
        elif box[2] < box[0] or box[3] < box[1]:
            found.append(f"a box of negative size {box}")
        if confidence is None or not 0 <= confidence <= 1:
            found.append(f"a confidence of {confidence}")
        if any(x is None for x in at.get("embedding") or []):
            found.append("an object's embedding that is not finite")
    for at in line.get("classes") or []:
        if at.get("confidence") is None or not 0 <= at["confidence"] <= 1:
            found.append(f"a confidence of {at.get('confidence')}")
    depth = line.get("depth")
    if depth and any(depth.get(key) is None for key in ("min", "max", "mean")):
        found.append(f"a depth of {depth}")
    if any(x is None for x in line.get("embedding") or []):
        found.append("an embedding that is not finite")
    if "text" in line and not 0 <= (line.get("text_confidence") or 0) <= 1:
        found.append(f"a confidence of {line['text_confidence']}")
    return [f"{text} without 'invalid'" for text in found]


def jsonl(data, is_cut=False):
    lines = data.decode().split("\n")
    if lines.pop() and not is_cut:
        return ["the last line has no end"]
    return [fault for line in lines for fault in strange_numbers(parse(line))]


def coco(data, is_cut=False):
    results = parse(data.decode())
    return [] if isinstance(results, list) else ["no list of results"]


def whole_json(data, is_cut=False):
    parse(data.decode())
    return []


def table(data, is_cut=False):
    rows = list(csv.reader(io.StringIO(data.decode(), newline="")))
    if is_cut:
        rows = rows[:-1]
    faults = [f"a row of {len(row)} cells under {len(rows[0])}" for row in rows if len(row) != len(rows[0])]
    formulas = [cell for row in rows for cell in row if cell[:1] in ("=", "+", "@", "\t", "\r")]
    return faults + [f"a cell begins a formula: {cell[:40]!r}" for cell in formulas[:1]]


def text(data, is_cut=False):
    data.decode()
    return []


def some(data, is_cut=False):
    return [] if data else ["nothing in it"]


def video(path, is_cut=False):
    # Under an ASCII name: OpenCV aborts on invalid UTF-8.
    with tempfile.TemporaryDirectory() as folder:
        plain = pathlib.Path(folder) / "video.mp4"
        plain.symlink_to(path.absolute())
        reader = cv2.VideoCapture(str(plain))
        count = 0
        while reader.read()[0]:
            count += 1
        reader.release()
    return [] if count else ["no frame can be read"]


def numpy_file(path, is_cut=False):
    np.load(path, allow_pickle=False)
    return []


def folder(path, is_cut=False):
    faults = []
    for file in sorted(path.iterdir()):
        kind = {".jpg": image, ".png": image, ".npy": numpy_file, ".txt": labels}.get(file.suffix)
        if file.is_file() and kind:
            faults += [f"{file.name}: {fault}" for fault in read(kind, file, is_cut)]
    return faults


def image(path, is_cut=False):
    data = np.frombuffer(path.read_bytes(), np.uint8)
    return [] if data.size and cv2.imdecode(data, cv2.IMREAD_UNCHANGED) is not None else ["no image"]


def labels(path, is_cut=False):
    """Lines of numbers, or a confidence and a class name."""
    rows = [line.split(" ") for line in path.read_bytes().decode().split("\n") if line]
    return [f"a label {row[:6]}" for row in rows if not math.isfinite(float(row[0]))]


READERS = {
    "jsonl": jsonl, "coco": coco, "json": whole_json, "csv": table, "text": text, "some": some, "video": video,
    "npy": numpy_file, "folder": folder
}
OF_PATHS = {video, numpy_file, folder, image, labels}


def read(kind, path, is_cut=False):
    """Faults of the file at PATH of the format KIND. IS_CUT: the writer was killed."""
    reader = READERS.get(kind, kind)
    try:
        return reader(path if reader in OF_PATHS else path.read_bytes(), is_cut)
    except Exception as why:
        return [f"can't be read as {getattr(reader, '__name__', kind)}: {' '.join(str(why).split())[:120]}"]
