#!/usr/bin/env python3
"""Compares `saccade run` on PP-OCR's models with ONNX Runtime and PaddleOCR's published post-processing.

    .venv-peers/bin/python tests/text/pp_ocr.py --binary build/saccade

The models are those of the package rapidocr-onnxruntime (script/bootstrap --peers). Images are drawn: lines of text at
several angles, and single lines. Images have the size of the models' inputs, so that resizing plays no part; lines are as
high as the input and padded. Every box of the reference must be found, to two pixels and 0.03 of its score, and no other;
every text must be equal, to 0.01 of its confidence. Both models together print the texts of a rotated page in their order.
Exit status 77: skipped.
"""
import argparse
import difflib
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
SIZE = (640, 640)  # width, height of the detector's input
LINE = (320, 48)
WORDS = ["HELLO world", "Saccade 2026", "PP-OCR v4", "Invoice 00417", "exit only", "KEEP LEFT", "total: 19.95",
         "Gate B12", "no smoking", "speed limit 50", "aa bb cc", "book keeper", "1000000", "Mississippi", "(a+b)*c",
         "open 24 hours"]
THRESH, BOX_THRESH, UNCLIP = 0.3, 0.6, 1.5
TOLERANCE = 2.0


def drawn_text(text, height):
    """Black text on white, HEIGHT pixels high."""
    scale = height / 48 * 1.2
    (width, _), _ = cv2.getTextSize(text, cv2.FONT_HERSHEY_SIMPLEX, scale, 2)
    image = np.full((height, width + 16, 3), 255, np.uint8)
    cv2.putText(image, text, (8, int(height * 0.7)), cv2.FONT_HERSHEY_SIMPLEX, scale, (20, 20, 20), 2, cv2.LINE_AA)
    return image


def page(rng, words):
    """A line of text for each of WORDS around the image's centre, rotated by one angle."""
    image = np.full((SIZE[1], SIZE[0], 3), 255, np.uint8)
    y = 60
    for text in words:
        line = drawn_text(text, 40)
        line = line[:, : SIZE[0] - 160]
        x = int(rng.integers(80, SIZE[0] - 79 - line.shape[1]))
        image[y : y + 40, x : x + line.shape[1]] = line
        y += 65
    turn = cv2.getRotationMatrix2D((SIZE[0] / 2, SIZE[1] / 2), float(rng.uniform(-20, 20)), 0.9)
    return cv2.warpAffine(image, turn, SIZE, borderValue=(235, 240, 245))


def boxes_of(probability):
    """PaddleOCR's DBPostProcess (box_type quad, score_mode fast), without its rounding to whole pixels: corners from the
    centre of a cell, scores. A rectangle with round corners has the enlarged rectangle around it."""
    height, width = probability.shape
    found = []
    bits = (probability > THRESH).astype(np.uint8) * 255
    contours = cv2.findContours(bits, cv2.RETR_LIST, cv2.CHAIN_APPROX_SIMPLE)[-2]
    for contour in contours:
        centre, sides, angle = cv2.minAreaRect(contour)
        if min(sides) < 3:
            continue
        corners = cv2.boxPoints((centre, sides, angle))
        low = np.clip(np.floor(corners.min(0)).astype(int), 0, [width - 1, height - 1])
        high = np.clip(np.ceil(corners.max(0)).astype(int), 0, [width - 1, height - 1])
        mask = np.zeros((high[1] - low[1] + 1, high[0] - low[0] + 1), np.uint8)
        cv2.fillPoly(mask, (corners - low).reshape(1, -1, 2).astype(np.int32), 1)
        score = cv2.mean(probability[low[1] : high[1] + 1, low[0] : high[0] + 1], mask)[0]
        if score < BOX_THRESH:
            continue
        grown = sides[0] * sides[1] * UNCLIP / sum(sides)
        sides = (sides[0] + grown, sides[1] + grown)
        if min(sides) >= 5:
            found.append((cv2.boxPoints(((centre[0] + 0.5, centre[1] + 0.5), sides, angle)), score))
    return found


def text_of(scores, characters):
    """PaddleOCR's CTCLabelDecode: the text and the mean confidence."""
    best = scores.argmax(1)
    kept = np.insert(best[1:] != best[:-1], 0, True) & (best != 0)
    text = "".join(characters[i - 1] for i in best[kept])
    return text, float(scores.max(1)[kept].mean()) if kept.any() else 0.0


def results(args, model, card, shape, images):
    """The JSON line of each image."""
    with tempfile.TemporaryDirectory() as work:
        for i, image in enumerate(images):
            cv2.imwrite(os.path.join(work, f"{i:03}.png"), image)
        cards, lines = os.path.join(work, "card.toml"), os.path.join(work, "lines.jsonl")
        with open(cards, "w", encoding="utf-8") as file:
            file.write(card)
        command = [args.binary, "run", model, "--card", cards, "--shape", f"x={shape}", "--source", work, "--device",
                   "cpu", "--no-summary", "--jsonl", lines]
        done = subprocess.run(command, capture_output=True, text=True, timeout=500)
        if done.returncode != 0:
            raise RuntimeError(f"saccade run exited with {done.returncode}: {done.stderr.strip()[-500:]}")
        with open(lines, encoding="utf-8") as file:
            return sorted((json.loads(line) for line in file), key=lambda line: line["name"])


def corners_of(box):
    return cv2.boxPoints(((box["x"], box["y"]), (box["width"], box["height"]), np.degrees(box["angle"])))


def distance(a, b):
    """The largest distance of a corner of A from the nearest one of B."""
    return max(min(np.hypot(*(x - y)) for y in b) for x in a)


def compare_detection(args, model):
    rng = np.random.default_rng(7)
    images = [page(rng, rng.permutation(WORDS)[:8]) for _ in range(args.images)]
    session = ort.InferenceSession(model, providers=["CPUExecutionProvider"])
    mean, std = np.array([0.485, 0.456, 0.406]), np.array([0.229, 0.224, 0.225])
    total = equal = extra = 0
    for image, line in zip(images, results(args, model, '[output]\ndecoder = "db"\n', f"1x3x{SIZE[1]}x{SIZE[0]}", images)):
        tensor = ((image / 255 - mean) / std).transpose(2, 0, 1)[None].astype(np.float32)
        wanted = boxes_of(session.run(None, {"x": tensor})[0][0, 0])
        free = list(line["detections"])
        total += len(wanted)
        for corners, score in wanted:
            near = min(free, key=lambda each: distance(corners, corners_of(each["obb"])), default=None)
            if near is None or distance(corners, corners_of(near["obb"])) > TOLERANCE:
                print(f"{line['name']}: no box at {corners.round(1).tolist()} of score {score:.3f}")
            elif abs(near["confidence"] - score) > 0.03:
                print(f"{line['name']}: score {near['confidence']:.3f} instead of {score:.3f}")
            else:
                equal += 1
                free.remove(near)
        extra += len(free)
    print(f"detection: {equal} of {total} boxes, {extra} others")
    return total > 4 * args.images and equal == total and extra == 0


def compare_recognition(args, model):
    images = []
    for text in WORDS:
        line = drawn_text(text, LINE[1])[:, : LINE[0]]
        images.append(line)
    session = ort.InferenceSession(model, providers=["CPUExecutionProvider"])
    characters = session.get_modelmeta().custom_metadata_map["character"].split("\n") + [" "]
    equal = read = 0
    card = "[input]\npad = 128\n"
    for word, image, line in zip(WORDS, images, results(args, model, card, f"1x3x{LINE[1]}x{LINE[0]}", images)):
        tensor = np.zeros((1, 3, LINE[1], LINE[0]), np.float32)
        tensor[0, :, :, : image.shape[1]] = ((image / 255 - 0.5) / 0.5).transpose(2, 0, 1)
        text, confidence = text_of(session.run(None, {"x": tensor})[0][0], characters)
        read += text == word
        if (line["text"], True) == (text, abs(line["text_confidence"] - confidence) < 0.01):
            equal += 1
        else:
            print(f"{line['text']!r} {line['text_confidence']:.3f} instead of {text!r} {confidence:.3f}")
    print(f"recognition: {equal} of {len(WORDS)} texts are ONNX Runtime's, which reads {read} as drawn")
    return equal == len(WORDS) and read > len(WORDS) // 2


def compare_pair(args, detection, recognition):
    words = WORDS[:8]
    with tempfile.TemporaryDirectory() as work:
        shutil.copy(detection, os.path.join(work, "det.onnx"))
        shutil.copy(recognition, os.path.join(work, "rec.onnx"))
        cv2.imwrite(os.path.join(work, "page.png"), page(np.random.default_rng(3), words))
        with open(os.path.join(work, "det.toml"), "w", encoding="utf-8") as file:
            file.write('[output]\ndecoder = "db"\n[second]\nmodel = "rec.onnx"\nshape = [1, 3, 48, 320]\n')
        command = [args.binary, "run", "det.onnx", "--shape", f"x=1x3x{SIZE[1]}x{SIZE[0]}", "--source", "page.png",
                   "--device", "cpu", "--no-save"]
        done = subprocess.run(command, cwd=work, capture_output=True, text=True, timeout=500)
    line = done.stdout.split("\n")[0]
    read = re.findall('"([^"]*)"', line)
    close = [difflib.SequenceMatcher(None, a.lower(), b.lower()).ratio() > 0.8 for a, b in zip(read, words)]
    print(f"together: {line}")
    return line.startswith(f"page.png: {len(words)} texts: ") and len(line) <= 80 and len(read) > 1 and all(close)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--models", help="folder of the models; default: the installed package's")
    parser.add_argument("--images", type=int, default=4, help="pages")
    args = parser.parse_args()
    package = importlib.util.find_spec("rapidocr_onnxruntime")
    if args.models is None and package is not None:
        args.models = os.path.join(package.submodule_search_locations[0], "models")
    if args.models is None:
        print("Skipped: rapidocr-onnxruntime is not installed: script/bootstrap --peers")
        return SKIPPED
    detection = os.path.join(args.models, "ch_PP-OCRv4_det_infer.onnx")
    recognition = os.path.join(args.models, "ch_PP-OCRv4_rec_infer.onnx")
    sound = compare_detection(args, detection)
    sound &= compare_recognition(args, recognition)
    sound &= compare_pair(args, detection, recognition)
    return 0 if sound else 1


try:
    import cv2
    import numpy as np
    import onnxruntime as ort
except ImportError as missing:
    print(f"Skipped: {missing.name} is missing: script/bootstrap --peers")
    sys.exit(SKIPPED)
if __name__ == "__main__":
    sys.exit(main())
