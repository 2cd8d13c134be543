"""Cards and label files with invalid keys, numbers, types, paths and texts."""
import os

from attempt import Attempt

NUMBERS = [
    "nan", "inf", "-inf", "-1", "0", "1e308", "1e999", "99999999999999999999", "-9223372036854775808", "0x10", "010",
    "1_000", "0.0", "3.7", '"7"', "true", "[]", "[nan, nan, nan]", "{}", "1979-05-27", "[1, 2, 3, 4, 5]",
    "[[1, 2], [3]]", "''"
]
KEYS = {
    "": ["task"], "input": [
        "name", "color", "roi", "resize", "size", "resize_to", "interpolation", "pad", "scale", "mean", "std"
    ],
    "output": [
        "name", "decoder", "labels", "anchors", "strides", "conf", "remap", "multi_label", "softmax", "sigmoid",
        "keypoints", "depth", "normalize", "background", "map_threshold", "unclip_ratio", "characters"
    ],
    "second": ["model", "classes", "margin", "most", "align"],
    "track": ["target", "target_factor", "search_factor"],
}
PROCESSORS = [
    '{"size": {"height": 8, "width": 8}, "resample": 3, "image_mean": [0.5, 0.5, 0.5], "image_std": [1, 1, 1]}',
    '{"size": {"shortest_edge": 9}, "do_center_crop": true, "crop_size": 8, "resample": 2, "rescale_factor": 0.1}',
    '{"pretrained_cfg": {"crop_pct": 0.9, "interpolation": "bicubic", "mean": [0, 0, 0], "std": [1, 1, 1]}, '
    '"label_names": ["a", "b", "c", "d"]}',
]
LABELS = [
    "/dev/zero", "/dev/null", "/dev/urandom", "/etc/passwd", "../../../../etc/passwd", "..", ".", "", "none.txt",
    "fifo", "loop", "link", "images", "one.png", "classifier.onnx", "big.txt", "a\\nb", "a\\u0000b", "x" * 300,
    "deep/../labels.txt", "long.txt", "nul.txt", "latin.txt", "escape.txt", "file:///etc/passwd", "empty.txt",
    "formula.txt", "bom.txt", "crlf.txt", "yaml.txt"
]
TEXTS = [
    "ball\\u001b[31m", "a\\nb", "=cmd|' /C calc'!A0", "+1+1", "@SUM(1)", "a\\u0000b", "\\U0001F600", "a,b\\\"c", "",
    "\\u202e", "-2+3", "\\tx", "\\r\\n"
]
WHOLE = [
    "", "\0" * 100, "=", "[", "[[output]]\n" * 3000, "[output]\n[output]\n", "a = " + "[" * 20000,
    "[" + "a." * 5000 + "b]", "x = '" + "y" * 3000000 + "'", "\ufeff[output]\n", "[input]\r\nscale = 1\r\n", "'''",
    "a = \"\\uD800\"\n", "task = 'detect'\ntask = 'depth'\n", "# \x1b[31mred\nx = 1\n", "output = 5\n",
    "[[input]]\nscale = 1\n", "[output]\nlabels = [1, 2]\n", "[output.labels]\n0 = 'a'\n",
    "[output]\nlabels = ['a', 'b', 'c', 'd', 'e', 'f']\n", "[output]\nlabels = []\n", "a={a={a={a={}}}}\n" * 2,
    "[output]\nconf = [0.1, 0.2]\n"
]


def label_files(place):
    place.write("big.txt", "label\n" * 9_000_000)
    place.write("long.txt", "x" * 5_000_000)
    place.write("nul.txt", b"cat\0dog\nbird\nfish\nx\n")
    place.write("latin.txt", b"caf\xe9\nb\nc\nd\n")
    place.write("escape.txt", b"\x1b]0;mine\x07\nb\x1b[2J\nc\nd\n")
    place.write("empty.txt", b"")
    place.write("formula.txt", "=1+1\n@b\n+c\n-d\n")
    place.write("bom.txt", b"\xef\xbb\xbfa\nb\nc\nd\n")
    place.write("crlf.txt", b"a\r\nb\r\nc\r\nd\r\n")
    place.write("yaml.txt", "names:\n  0: a\n  99999999999: b\n  -1: c\n")
    os.mkfifo(place.folder / "fifo")
    os.symlink("loop", place.folder / "loop")
    os.symlink("/etc/passwd", place.folder / "link")


def draw_labels(place, rng):
    name = rng.choice(LABELS)
    label_files(place)
    return f"labels = {name[:30]!r}", f'[output]\ndecoder = "classify"\nlabels = "{name}"\n'


def draw_second(place, rng):
    name = rng.choice(LABELS)
    label_files(place)
    return f"second.model = {name[:30]!r}", f'[second]\nmodel = "{name}"\n'


def draw_key(place, rng):
    section = rng.choice(list(KEYS))
    key = rng.choice(KEYS[section])
    value = rng.choice(NUMBERS)
    head = f"[{section}]\n" if section else ""
    decoder = 'decoder = "classify"\n' if section == "output" and key != "decoder" else ""
    return f"{section}.{key} = {value}", f"{head}{decoder}{key} = {value}\n"


def draw_unknown(place, rng):
    text = rng.choice([
        '[input]\nsclae = 1\n', '[outptu]\nconf = 0.1\n', 'x = 1\n', '[input]\nresize = "stretch"\nresize_to = 80\n',
        '[output]\ndecoder = "classify"\nkeypoints = 3\n',
        '[output]\ndecoder = "yolov99"\n', '[output]\ndecoder = "\\u001b[31m"\n', '[output]\n"\\u001b[31m\\n" = 1\n',
        '[output]\ndecoder = "classify"\ndepth = "metric"\n', '[input]\nresize = "letterbox"\nresize_to = 99\n',
        '[input]\nname = "a\\u001b[31m"\n'
    ])
    return "a key that says nothing", text


def draw_text(place, rng):
    labels = ", ".join(f'"{rng.choice(TEXTS)}"' for _ in range(4))
    return "labels of odd texts", f'[output]\ndecoder = "classify"\nlabels = [{labels}]\n'


def draw_whole(place, rng):
    text = rng.choice(WHOLE)
    return f"a card {text[:20]!r}", text


def draw_processor(place, rng):
    """Another tool's file beside a model without a card."""
    place.write("net/m.onnx", place.read("classifier.onnx"))
    text = bytearray(rng.choice(PROCESSORS).encode())
    for _ in range(rng.randrange(3)):
        text[rng.randrange(len(text))] = rng.choice(b'{}[]",:0919-e.\x00\xff')
    place.write(f"net/{rng.choice(['preprocessor_config.json', 'config.json'])}", bytes(text))
    return "another tool's preprocessing", ""


def draw_damaged(place, rng):
    text = bytearray(place.read("classifier.toml") + b"[input]\nscale = 1\nmean = [1, 2, 3]\n")
    for _ in range(rng.randrange(1, 4)):
        text[rng.randrange(len(text))] = rng.randrange(256)
    return "a damaged card", bytes(text[:rng.randrange(1, len(text))] if rng.random() < 0.3 else text)


DRAWS = [draw_labels, draw_labels, draw_key, draw_key, draw_key, draw_unknown, draw_text, draw_whole, draw_damaged,
         draw_processor, draw_second]


def draw(place, number):
    rng = place.rng
    make = DRAWS[number % len(DRAWS)]
    what, text = make(place, rng)
    place.write("c.toml", text)
    outputs = {"o.jsonl": "jsonl", "o.csv": "csv", "y": "folder"}
    command = [
        "run", "classifier.onnx", "--card", "c.toml", "--source", "one.png", "--jsonl", "o.jsonl", "--csv", "o.csv",
        "--yolo", "y"
    ]
    if make is draw_processor:
        command[1:4] = ["net/m.onnx"]
    attempt = Attempt(what, [*command, "--max-model-memory", "256M"], outputs)
    if make in (draw_unknown, draw_second):  # a classifier has no objects for a second model
        attempt.expect = (1, 2)
    elif make is draw_labels and any(
            text.find(f'"{name}"') >= 0
            for name in ("/dev/zero", "/dev/urandom", "/dev/null", "fifo", "loop", "link", "images", "/etc/passwd",
                         "../../../../etc/passwd", "..", ".", "none.txt")):
        attempt.expect = (1, 2)
    return attempt
