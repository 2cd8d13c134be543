#!/usr/bin/env python3
"""Prints the rounding error of F(4x4, 3x3) with several interpolation points, next to direct sums, in float32.

    bench/winograd_rounding.py [--channels 64]

Errors are relative to the standard deviation of the output: the largest of all elements, and the root mean square.
Needs NumPy.
"""
import argparse

import numpy as np

TILES, FILTERS = 50, 32


def transforms(a, b):
    """Those of the input, the filter and the output for the points 0, +-a, +-b and infinity."""
    product, total = a * a * b * b, a * a + b * b
    near, far = 1 / (2 * a * a * (a * a - b * b)), 1 / (2 * b * b * (b * b - a * a))
    of_input = [[product, 0, -total, 0, 1, 0], [0, -a * b * b, -b * b, a, 1, 0], [0, a * b * b, -b * b, -a, 1, 0],
                [0, -a * a * b, -a * a, b, 1, 0], [0, a * a * b, -a * a, -b, 1, 0], [0, product, 0, -total, 0, 1]]
    of_filter = [[1 / product, 0, 0], [near, near * a, near * a * a], [near, -near * a, near * a * a],
                 [far, far * b, far * b * b], [far, -far * b, far * b * b], [0, 0, 1]]
    of_output = [[1, 1, 1, 1, 1, 0], [0, a, -a, b, -b, 0], [0, a * a, a * a, b * b, b * b, 0],
                 [0, a**3, -a**3, b**3, -b**3, 1]]
    return np.array(of_input), np.array(of_filter), np.array(of_output)


def winograd(pixels, filters, points):
    of_input, of_filter, of_output = transforms(*points)
    weights = np.einsum("ai,kcij,bj->kcab", of_filter, filters.astype(np.float64), of_filter).astype(np.float32)
    of_input, of_output = of_input.astype(np.float32), of_output.astype(np.float32)
    turned = np.einsum("tcaj,bj->tcab", np.einsum("ai,tcij->tcaj", of_input, pixels), of_input)
    sums = np.einsum("tcab,kcab->tkab", turned, weights)
    return np.einsum("tkaj,bj->tkab", np.einsum("ai,tkij->tkaj", of_output, sums), of_output)


def direct(pixels, filters):
    return sum(np.einsum("tcxy,kc->tkxy", pixels[:, :, i:i + 4, j:j + 4], filters[:, :, i, j])
               for i in range(3) for j in range(3))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--channels", type=int, default=64)
    channels = parser.parse_args().channels
    rng = np.random.default_rng(0)
    filters = (rng.standard_normal((FILTERS, channels, 3, 3)) / np.sqrt(9 * channels)).astype(np.float32)
    pixels = rng.standard_normal((TILES, channels, 6, 6)).astype(np.float32)
    exact = direct(pixels.astype(np.float64), filters.astype(np.float64))
    results = {"direct": direct(pixels, filters)}
    for name, points in {"1, 2": (1, 2), "1, 1/2": (1, .5), "1/sqrt(2), sqrt(2)": (.5**.5, 2**.5), "2/3, 3/2": (2 / 3, 1.5)}.items():
        results["points " + name] = winograd(pixels, filters, points)
    print(f"{'':28}  largest      rms")
    for name, result in results.items():
        error = (result - exact) / exact.std()
        print(f"{name:28} {np.abs(error).max():8.1e} {np.sqrt((error**2).mean()):8.1e}")


if __name__ == "__main__":
    main()
