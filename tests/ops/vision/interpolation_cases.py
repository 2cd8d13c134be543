#!/usr/bin/env python3
"""Writes interpolation_cases.txt: small images resized by Pillow and OpenCV, and images of noise preprocessed as
torchvision and timm document it. interpolation_test.cpp compares with them. Needs numpy, opencv-python-headless and
pillow below 13: later ones sometimes filter columns first.

A sample of an image is noise(x, y, channel), which the test computes, too. A case is a line: interpolation, resize,
resize_to, width and height of the image, width and height of the tensor, and the tensor's samples of 0..255.
"""
import pathlib

import cv2
import numpy as np
from PIL import Image

PILLOW = {"bilinear-antialias": Image.Resampling.BILINEAR, "bicubic-antialias": Image.Resampling.BICUBIC}
OPENCV = {"bilinear": cv2.INTER_LINEAR, "bicubic": cv2.INTER_CUBIC, "area": cv2.INTER_AREA,
          "nearest": cv2.INTER_NEAREST}

# A classifier's transforms: interpolation, size of the short side (0: stretched), size of the crop. The sizes are an
# eighth of torchvision's and timm's: resnet50 V1 (256, 224) and V2 (232, 224), vgg, efficientnet_b0 to b7, convnext,
# swin, vit, deit (crop_pct 0.9: 248), beit, mobilenetv3, regnet, inception (342, 299), and squashed ones.
CLASSIFIERS = [("bilinear-antialias", 32, 28), ("bilinear-antialias", 29, 28), ("bicubic-antialias", 32, 28),
               ("bicubic-antialias", 31, 28), ("bicubic-antialias", 36, 30), ("bicubic-antialias", 36, 36),
               ("bicubic-antialias", 40, 37), ("bicubic-antialias", 48, 47), ("bicubic-antialias", 57, 57),
               ("bicubic-antialias", 66, 66), ("bicubic-antialias", 75, 75), ("bilinear-antialias", 30, 28),
               ("bicubic-antialias", 33, 28), ("bilinear-antialias", 43, 37), ("bicubic-antialias", 48, 48),
               ("bicubic-antialias", 0, 28), ("bicubic-antialias", 0, 48), ("bilinear-antialias", 0, 28),
               ("bicubic-antialias", 29, 28), ("bilinear-antialias", 18, 21)]


def noise(width, height, channels=1):
    x, y, c = np.meshgrid(np.arange(width), np.arange(height), np.arange(channels), indexing="ij")
    value = (x * 73856093) ^ (y * 19349663) ^ (c * 83492791)
    return ((value ^ value >> 7) % 256).astype(np.uint8).transpose(1, 0, 2)


def resized(image, interpolation, width, height):
    if interpolation in PILLOW:
        return np.asarray(Image.fromarray(image).resize((width, height), PILLOW[interpolation]))
    return cv2.resize(image, (width, height), interpolation=OPENCV[interpolation])


def cropped(image, size):
    """torchvision's center_crop()."""
    height, width = image.shape[:2]
    if width < size or height < size:
        left, top = (max(0, (size - side) // 2) for side in (width, height))
        right, bottom = (max(0, (size - side + 1) // 2) for side in (width, height))
        image = np.pad(image, ((top, bottom), (left, right), (0, 0)))
        height, width = image.shape[:2]
    top, left = (int(round((side - size) / 2.0)) for side in (height, width))
    return image[top:top + size, left:left + size]


def classified(interpolation, short, size, width, height):
    image = noise(width, height, 3)
    if short == 0:
        return resized(image, interpolation, size, size)
    long = int(short * max(width, height) / min(width, height))
    return cropped(resized(image, interpolation, *((short, long) if width <= height else (long, short))), size)


def line(interpolation, resize, resize_to, source, size, pixels):
    return " ".join(map(str, [interpolation, resize, resize_to, *source, *size, *pixels.ravel().tolist()]))


def main():
    rng = np.random.default_rng(5)
    lines = ["# Written by interpolation_cases.py with Pillow and OpenCV."]
    for interpolation in [*PILLOW, *OPENCV]:
        for _ in range(20):
            source, size = rng.integers(1, 50, 2), rng.integers(1, 14, 2)
            pixels = resized(noise(*source)[:, :, 0], interpolation, *map(int, size))
            lines.append(line(interpolation, "stretch", 0, source, size, pixels))
    for interpolation, short, size in CLASSIFIERS:
        source = tuple(map(int, rng.integers(20, 120, 2)))
        pixels = classified(interpolation, short, size, *source).transpose(2, 0, 1)
        # Every third pixel, of one channel: enough to see an offset, and a small file.
        lines.append(line(interpolation, "stretch" if short == 0 else "resize-crop", short, source, (size, size),
                          pixels[(len(lines) - 1) % 3][::3, ::3]))
    pathlib.Path(__file__).with_suffix(".txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


main()
