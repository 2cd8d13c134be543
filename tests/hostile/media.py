"""Images, folders, lists and videos that are truncated, corrupted, of another format, of a false size, or not files."""
import os
import struct
import zlib

import cv2
import numpy as np

import readers
from attempt import Attempt
from fixtures import FRAMES

SINKS = {
    "--jsonl": ("o.jsonl", "jsonl"), "--csv": ("o.csv", "csv"), "--coco": ("o.json", "coco"), "--yolo": ("y", "folder"),
    "--video": ("o.mp4", "video"), "--frames": ("f", "folder")
}


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(width, height, depth=8, color=2, body=b"", more=b""):
    head = struct.pack(">IIBBBBB", width, height, depth, color, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + more + chunk(b"IDAT", zlib.compress(body)) + chunk(
        b"IEND", b"")


def encoded(extension, width=80, height=60, kind=np.uint8):
    image = np.random.default_rng(3).integers(0, 255, (height, width, 3)).astype(kind)
    return cv2.imencode(extension, image)[1].tobytes()


def jpeg_size(width, height):
    """A JPEG whose header has a false size."""
    data = bytearray(encoded(".jpg"))
    at = data.index(b"\xff\xc0") + 5
    data[at:at + 4] = struct.pack(">HH", height, width)
    return bytes(data)


def bmp(width, height):
    return b"BM" + struct.pack("<IHHIIiiHHIIiiII", 154, 0, 0, 54, 40, width, height, 1, 24, 0, 0, 0, 0, 0,
                               0) + bytes(100)


def exif(orientation):
    data = encoded(".jpg")
    tiff = b"Exif\0\0II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0" + struct.pack("<HH", orientation, 0) + bytes(4)
    return data[:2] + b"\xff\xe1" + struct.pack(">H", len(tiff) + 2) + tiff + data[2:]


IMAGES = {
    "huge png": lambda r: png(2**31 - 1, 2**31 - 1), "bomb png": lambda r: png(30000, 30000, body=bytes(1 << 20)),
    "wide png": lambda r: png(1 << 24, 1, body=bytes(3 << 24 | 1)), "empty png": lambda r: png(0, 0),
    "png 16 bits": lambda r: encoded(".png", kind=np.uint16),
    "png of a palette without it": lambda r: png(8, 8, 8, 3, bytes(72)),
    "png of a strange depth": lambda r: png(8, 8, 7, 2, bytes(999)), "png with long text": lambda r: png(
        8, 8, body=bytes(200), more=chunk(b"zTXt", b"k\0\0" + zlib.compress(bytes(50 << 20)))),
    "large": lambda r: encoded(".png", 9000, 40), "thin": lambda r: encoded(".png", 1, 4000),
    "a pixel": lambda r: encoded(".png", 1, 1), "odd": lambda r: encoded(".jpg", 33, 17),
    "jpeg of a huge size": lambda r: jpeg_size(65500, 65500), "jpeg of no size": lambda r: jpeg_size(0, 0),
    "bmp huge": lambda r: bmp(2**31 - 1, 2**31 - 1), "bmp negative": lambda r: bmp(-5, -5),
    "bmp lowest": lambda r: bmp(8, -2**31), "exif 9": lambda r: exif(9), "exif 6": lambda r: exif(6),
    "text": lambda r: b"no image\n" * 30, "nothing": lambda r: b"", "zeros": lambda r: bytes(3000),
    "noise": lambda r: r.randbytes(3000), "webp": lambda r: encoded(".webp"), "tiff": lambda r: encoded(".tiff"),
    "gif": lambda r: b"GIF89a\xff\xff\xff\xff\x80\0\0" + bytes(30),
    "pnm": lambda r: b"P6 99999999 99999999 255\n" + bytes(30),
    "svg": lambda r: b"<svg xmlns='http://www.w3.org/2000/svg'/>",
    "hdr": lambda r: b"#?RADIANCE\n\n-Y 99999999 +X 99999999\n" + bytes(9),
}


def damaged(rng, data):
    data = bytearray(data)
    how = rng.choice(["cut", "flip", "zero", "repeat", "append"])
    at = rng.randrange(len(data))
    if how == "cut":
        data = data[:at]
    elif how == "flip":
        for _ in range(rng.choice([1, 3, 20])):
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    elif how == "zero":
        data[at:at + 200] = bytes(len(data[at:at + 200]))
    elif how == "repeat":
        data = data[:at] + data[at // 2:]
    else:
        data += rng.randbytes(500)
    return how, bytes(data)


def draw_picture(place, rng):
    name = rng.choice(list(IMAGES))
    extension = rng.choice([".png", ".jpg", ".png", ".bmp", ".JPEG", ".mp4", ""])
    return f"an image: {name} as {extension!r}", [place.write(f"x{extension}", IMAGES[name](rng))]


def draw_damaged_picture(place, rng):
    kind = rng.choice([".png", ".jpg", ".bmp", ".webp"])
    how, data = damaged(rng, encoded(kind))
    return f"a {kind} with {how}", [place.write(f"x{kind}", data)]


def draw_video(place, rng):
    source = rng.choice(["in.mp4", "in.mkv"])
    how, data = damaged(rng, place.read(source))
    return f"{source} with {how}", [place.write(f"x{rng.choice([source[2:], source[2:], '.avi', '.jpg', '.h264'])}", data)]


def predictions_of(done):
    """Frames and their predictions, without the times."""
    lines = [readers.parse(line) for line in done.stdout.decode().splitlines()]
    return [(line.get("frame"), line.get("detections"), line.get("error")) for line in lines]


def check_video(source, how):
    """A damaged video gives the same frames in every run, and a truncated one is reported."""
    def check(place, done):
        if done.code not in (0, 1):
            return []
        again = Attempt("", ["run", "detector.onnx", "--source", source, "--jsonl", "-", "--max-model-memory", "256M"])
        runs = [place.run(again) for _ in range(3)]
        try:
            first, *others = [predictions_of(run) for run in runs]
        except (ValueError, KeyError) as why:
            return [("output", f"--jsonl -: {why}")]
        faults = []
        if any(other != first for other in others):
            faults.append(
                ("wrong", f"{[len(first), *map(len, others)]} frames in three runs of one file, or other predictions"))
        if how == "cut" and runs[0].code == 0 and len(first) < FRAMES and not runs[0].stderr.strip():
            faults.append(("wrong", f"{len(first)} of {FRAMES} frames, and no word of the end that lacks"))
        return faults

    return check


def draw_folder(place, rng):
    """Images of mixed sizes and formats, with invalid ones among them."""
    os.mkdir(place.folder / "mixed")
    for i in range(rng.randrange(1, 6)):
        name = rng.choice(list(IMAGES))
        place.write(f"mixed/{rng.choice(['', '=', '-', 'é', ' '])}{i}{rng.choice(['.png', '.jpg'])}",
                    IMAGES[name](rng))
    place.write("mixed/good.jpg", encoded(".jpg", rng.choice([80, 50]), 60))
    for make in (lambda f: os.mkfifo(f"{f}/f.jpg"), lambda f: os.symlink("l.png", f"{f}/l.png"),
                 lambda f: os.mkdir(f"{f}/d.jpg"), lambda f: os.symlink("/dev/zero", f"{f}/z.jpg"),
                 lambda f: os.symlink("none", f"{f}/n.jpg"), lambda f: os.mkdir(f"{f}/=1+1\x1b[31m")):
        if rng.random() < 0.3:
            make(place.folder / "mixed")
    return "a mixed folder", ["mixed"]


def draw_name(place, rng):
    """Images with unusual file names."""
    name = rng.choice([
        b"\xff\xfe.png", b"a\nb.png", b"\x1b[31m.png", b"=1+1.png", b"-rf.png", b" .png", b"a,b\"c.png", b"%s%n.png",
        b"@x.png", b"synthetic:.png", b"..png", "‮gpj.png".encode()
    ])
    path = os.path.join(os.fsencode(place.folder), name)
    with open(path, "wb") as file:
        file.write(encoded(".png"))
    return f"named {name!r}", [rng.choice([b"./", b""]) + name]


def draw_synthetic(place, rng):
    option = rng.choice(["seed", "size", "fps", "objects", "frames", "place", "night", "blur", "noise", "x"])
    value = rng.choice([
        "-1", "nan", "inf", "", "1e9", "99999999999999999999", "0", "010", "8192x8192", "16x16", "0x0", "x", "\x1b[31m",
        "0.1", "2147483648"
    ])
    return f"synthetic {option}={value!r}", [
        f"synthetic:?frames=2&size=64x48&{option}={value}".replace("size=64x48&size",
                                                                   "size").replace("frames=2&size=64x48&frames",
                                                                                   "size=64x48&frames")
    ]


def draw_same_ids(place, rng):
    """Two images with one number: COCO's image_id."""
    place.write("ids/a/000001.png", encoded(".png"))
    place.write("ids/b/000001.png", encoded(".png"))
    return "two images of one id", ["ids/a", "ids/b"]


def draw_twice(place, rng):
    return "one source twice", ["in.mp4", "in.mp4"]


def draw_list(place, rng):
    lines = rng.choice(
        ["images/p0.jpg\nnone.jpg\n", "/dev/zero\n", "x.txt\n", "\0\n", "\n" * 1000, "../../etc/passwd\n"])
    return f"a list {lines[:15]!r}", [place.write("x.txt", lines)]


DRAWS = [
    draw_picture, draw_picture, draw_damaged_picture, draw_video, draw_video, draw_folder, draw_folder, draw_name,
    draw_synthetic, draw_same_ids, draw_list, draw_twice
]


def draw(place, number):
    rng = place.rng
    make = DRAWS[number % len(DRAWS)]
    what, sources = make(place, rng)
    if make is draw_video and rng.random() < 0.5:
        sources = ["in.mp4", *sources]
    flags = list(SINKS) if make is draw_same_ids else rng.sample(list(SINKS), rng.randrange(1, 4))
    command = ["run", rng.choice(["detector.onnx", "semantic.onnx", "depth.onnx", "classifier.onnx"]), "--no-save", "--source"]
    if make is draw_same_ids:
        command[1] = "detector.onnx"
    command += sources
    outputs = {}
    for flag in flags:
        name, kind = SINKS[flag]
        if flag == "--coco" and command[1] != "detector.onnx":
            continue
        command += [flag, name]
        if name != "o.mp4" or len(sources) == 1:
            outputs[name] = kind
    attempt = Attempt(what, [*command, "--max-frames", "6", "--threads", "1", "--max-model-memory", "256M"], outputs)
    if make is draw_same_ids:
        attempt.check = lambda place, done: [] if done.code or b"id" in done.stderr else [(
            "wrong", "two images with one image_id in --coco, and no warning")]
    if make is draw_video:
        attempt.check = check_video(sources[-1], what.split()[-1])
    return attempt
