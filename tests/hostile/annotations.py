"""COCO annotations, masks and depths for `validate` that contradict themselves or their images, or are invalid JSON."""
import copy
import json
import math

import numpy as np

import fixtures
from attempt import Attempt

VALUES = [
    -1, 0, -0.5, math.nan, math.inf, -math.inf, 1e308, 2**31, 2**63, 2**64, 10**30, "7", "", "\x1b[31m", "a\nb", None,
    True, [], {}, [1], [[]], "\0", 1e-320, "é" * 500
]
PLACES = [("annotations", key) for key in ("id", "image_id", "category_id", "bbox", "area", "iscrowd", "segmentation",
                                           "keypoints", "num_keypoints")] + \
         [("images", key) for key in ("id", "file_name", "width", "height")] + \
         [("categories", key) for key in ("id", "name", "keypoints")]
FILE_NAMES = [
    "../../one.png", "/etc/passwd", "/dev/zero", "fifo", "", ".", "..", "p0.png\0", "none.png", "p0.png/",
    "\x1b[2J.png", "x" * 5000, "images/p0.png", "../instances.json"
]
SEGMENTATIONS = [{"size": [60, 80], "counts": [5000]}, {"size": [60, 80],
                                                        "counts": [-5, 4805]}, {"size": [60, 80], "counts": []},
                 {"size": [2**31, 2**31], "counts": [1]}, {"size": [60, 80],
                                                           "counts": [2**63, 1]}, {"size": [60], "counts": "abc"},
                 {"size": [60, 80], "counts": "\x7f" * 100}, {"size": [60, 80], "counts": "oooooooooooooooooooo"},
                 {"size": [60, 80]}, {"size": [0, 0],
                                      "counts": [0]}, {"size": [-60, 80],
                                                       "counts": [4800]}, {"size": ["60", "80"], "counts": [4800]},
                 [[1, 2, 3]], [[1, 2]], [[math.nan] * 6], [[1e30, 2, 3e30, 4, 5, 6e30]], [[]], [], [1, 2, 3, 4, 5,
                                                                                                    6], "abc",
                 [[-1e9, -1e9, 1e9, -1e9, 1e9, 1e9]], {"size": [80, 60],
                                                       "counts": [4800]}, [[0, 0, 9, 0, 9, 9]] * 20000, ]
WHOLE = [
    "", "{", "[]", "null", "1e999", "[" * 100000, '{"a":' * 100000, '{"images": 5}',
    '{"images": {}, "annotations": {}}', '{"images": [], "annotations": [], "categories": []}', "\0" * 50, "\xff\xfe",
    "{}{}", '{"images": [1, 2]}', '{"annotations": [null]}', " " * 3000000, '"' + "x" * 3000000, '{"a": 1, "a": 2}',
    "[NaN]", "nan"
]


def draw_value(rng, data):
    where, key = rng.choice(PLACES)
    value = rng.choice(VALUES)
    rng.choice(data[where])[key] = [value] * 4 if key == "bbox" and rng.random() < 0.7 else value
    return f"{where}.{key} = {str(value)[:20]!r}"


def draw_box(rng, data):
    box = [rng.choice([-5, 0, 10, 1e9, math.nan, -math.inf, 80]) for _ in range(rng.choice([0, 3, 4, 4, 4, 5]))]
    rng.choice(data["annotations"])["bbox"] = box
    return f"bbox = {box}"


def draw_segmentation(rng, data):
    masks = copy.deepcopy(rng.choice(SEGMENTATIONS))
    rng.choice(data["annotations"])["segmentation"] = masks
    return f"segmentation = {str(masks)[:40]}"


def draw_file_name(rng, data):
    name = rng.choice(FILE_NAMES)
    rng.choice(data["images"])["file_name"] = name
    return f"file_name = {name[:30]!r}"


def draw_missing(rng, data):
    where, key = rng.choice(PLACES)
    for one in data[where]:
        one.pop(key, None)
    return f"no {where}.{key}"


def draw_doubled(rng, data):
    where = rng.choice(["images", "annotations", "categories"])
    data[where].append(copy.deepcopy(rng.choice(data[where])))
    return f"doubled {where}"


def draw_many(rng, data):
    data["annotations"] = [dict(data["annotations"][0], id=i) for i in range(20000)]
    return "many annotations"


DRAWS = [
    draw_value, draw_value, draw_value, draw_box, draw_segmentation, draw_file_name, draw_missing, draw_doubled,
    draw_many
]


def maps(place, rng):
    """Ground truth in other formats than COCO's: a PNG or .npy beside each image."""
    kind = rng.choice(["masks", "depth"])
    for i in range(3):
        place.write(f"truth/images/p{i}.png", place.read(f"data/images/p{i}.png"))
        shape = rng.choice([(60, 80), (60, 80), (1, 1), (0, 80), (80, 60), (60, 80, 3)])
        fill = rng.choice([1.0, 0.0, math.nan, math.inf, -5.0, 1e30])
        (place.folder / "truth" / kind).mkdir(exist_ok=True)
        if kind == "depth":
            np.save(place.folder / "truth" / kind / f"p{i}.npy", np.full(shape, fill, np.float32))
        else:
            place.write(f"truth/masks/p{i}.png", rng.choice([place.read("one.png"), b"", place.read("one.png")[:200]]))
    model = "depth.onnx" if kind == "depth" else "semantic.onnx"
    return Attempt(f"truth as {kind}", ["validate", model, "--data", f"{kind}:truth"])


def draw(place, number):
    rng = place.rng
    if number % 10 == 9:
        attempt = maps(place, rng)
    else:
        if number % 10 == 8:
            text = rng.choice(WHOLE)
            what = f"annotations {text[:20]!r}"
            place.write("data/instances.json", text.encode("latin1"))
        else:
            data = fixtures.annotations()
            what = rng.choice(DRAWS)(rng, data)
            place.write(f"data/{rng.choice(['instances', 'instances', 'instances', 'person_keypoints'])}.json",
                        json.dumps(data))
        attempt = Attempt(what, ["validate", "detector.onnx", "--data", "coco:data", "--results", "r.json"],
                          {"r.json": "coco"})
    attempt.command += ["--json", "--max-model-memory", "256M"]
    return attempt
