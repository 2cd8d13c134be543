#!/usr/bin/env python3
"""Writes contours_cases.txt: masks with OpenCV's contours (RETR_EXTERNAL, CHAIN_APPROX_SIMPLE). contours_test.cpp
compares with them. Needs numpy and opencv-python-headless.

A case is a line: the number of row runs, y x1 x2 of each, the number of contours, and for each the number of points and
x y of each.
"""

import pathlib

import cv2
import numpy as np

from run_lengths_cases import blobs, row_runs


def masks(rng):
    rings = np.ones((11, 11), bool)  # a nested frame around a square
    for inset in range(1, 5):
        rings[inset:-inset, inset:-inset] ^= True
    yield rings
    yield ~rings
    yield np.ones((1, 1), bool)
    yield np.eye(6, dtype=bool)  # touches by corners only
    yield np.indices((6, 7)).sum(0) % 2 == 0
    for share in (0.1, 0.3, 0.5, 0.7, 0.9):
        for _ in range(20):
            yield rng.random(rng.integers(1, 25, 2)) < share
    for size in ((40, 30), (64, 64), (300, 200)):
        for _ in range(3):
            yield blobs(rng, *size)


def main():
    lines = ["# Written by contours_cases.py with OpenCV."]
    for mask in masks(np.random.default_rng(7)):
        contours, _ = cv2.findContours(mask.astype(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
        contours = sorted((c[:, 0].tolist() for c in contours), key=lambda c: (c[0][1], c[0][0]))
        runs = row_runs(mask)
        numbers = [len(runs), *(n for run in runs for n in run), len(contours)]
        for contour in contours:
            numbers += [len(contour), *(n for point in contour for n in point)]
        lines.append(" ".join(map(str, numbers)))
    pathlib.Path(__file__).with_suffix(".txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
