#!/usr/bin/env python3
"""Writes run_lengths_cases.txt: masks as row runs, with column-major run lengths and pycocotools' compressed text.
run_lengths_test.cpp compares with them. Needs numpy and pycocotools.

A case is a line: width, height, pycocotools' text, the number of run lengths, the run lengths, the number of row runs,
y x1 x2 of each.
"""

import pathlib

import numpy as np
from pycocotools import mask as coco


def blobs(rng, width, height):
    y, x = np.mgrid[:height, :width]
    mask = np.zeros((height, width), bool)
    for _ in range(rng.integers(1, 5)):
        cx, cy = rng.uniform(0, width), rng.uniform(0, height)
        rx, ry = rng.uniform(1, width), rng.uniform(1, height)
        mask ^= ((x - cx) / rx) ** 2 + ((y - cy) / ry) ** 2 < 0.3
    return mask


def masks(rng):
    for width, height in ((1, 1), (5, 4), (1, 7), (7, 1)):
        yield np.zeros((height, width), bool)
        yield np.ones((height, width), bool)
    checks = np.indices((6, 9)).sum(0) % 2 == 1
    yield checks
    yield ~checks
    for row, column in ((slice(None), slice(2, 4)), (slice(2, 4), slice(None)), (slice(5, 6), slice(8, 9))):
        mask = np.zeros((6, 9), bool)
        mask[row, column] = True
        yield mask
    for share in (0.05, 0.3, 0.5, 0.9):
        for _ in range(5):
            yield rng.random(rng.integers(1, 20, 2)) < share
    for size in ((40, 30), (64, 64), (300, 200), (1280, 720)):
        yield blobs(rng, *size)


def run_lengths(mask):
    """By the format's definition: column-major, starting with zeros."""
    pixels = np.concatenate([[False], mask.flatten(order="F")])
    ends = np.append(np.flatnonzero(pixels[1:] != pixels[:-1]), mask.size)
    return np.diff(ends, prepend=0).tolist()


def row_runs(mask):
    padded = np.pad(mask, ((0, 0), (1, 1))).astype(np.int8)
    steps = np.diff(padded, axis=1)
    starts, ends = np.argwhere(steps == 1), np.argwhere(steps == -1)
    return [(y, x1, x2) for (y, x1), (_, x2) in zip(starts.tolist(), ends.tolist())]


def main():
    lines = ["# Written by run_lengths_cases.py with pycocotools."]
    for mask in masks(np.random.default_rng(5)):
        height, width = mask.shape
        text = coco.encode(np.asfortranarray(mask.astype(np.uint8)))["counts"].decode()
        counts, runs = run_lengths(mask), row_runs(mask)
        assert coco.frPyObjects({"counts": counts, "size": [height, width]}, height, width)["counts"].decode() == text
        numbers = [len(counts), *counts, len(runs), *(number for run in runs for number in run)]
        lines.append(f"{width} {height} {text} {' '.join(map(str, numbers))}")
    pathlib.Path(__file__).with_suffix(".txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
