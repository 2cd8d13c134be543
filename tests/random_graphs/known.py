"""Where the two oracles are known to be wrong, each with the operator and the standard's sentence.

A node of WRONG is not asked of ONNX Runtime (1.31.1) but of the onnx package's own implementation; a node of
WRONG_IN_PACKAGE not of that (1.23.2), and where ONNX Runtime has no kernel for its doubles they are judged as floats.
"""
import dataclasses

import numpy as np

FLOAT64 = np.dtype("float64")


@dataclasses.dataclass(frozen=True)
class Wrong:
    op: str
    applies: object  # of a node, its inputs by name, the opset
    why: str


def of_doubles(node, feeds, opset):
    return any(array.dtype == FLOAT64 for array in feeds.values())


def always(node, feeds, opset):
    return True


def of_integers(node, feeds, opset):
    return next(iter(feeds.values())).dtype.kind in "iu"


def crops(node, feeds, opset):
    return node.attributes.get("coordinate_transformation_mode") == "tf_crop_and_resize"


def of_zeros(node, feeds, opset):
    return not next(iter(feeds.values())).any()


def unsorted(node, feeds, opset):
    return node.attributes.get("sorted", 1) == 0


def shrinks_and_grows_by_nearest(node, feeds, opset):
    scales = list(feeds.values())[1]
    return opset == 10 and node.attributes.get("mode", "nearest") == "nearest" and min(scales) < 1 < max(scales)


WRONG = [
    Wrong("DynamicQuantizeLinear", of_zeros, "the scale of zeros is 1; the package says 1/255, the standard nothing"),
    Wrong("Attention", of_doubles, "the square root of scale is a float; the standard multiplies doubles by it"),
    Wrong("Gelu", of_doubles, "its constants are floats; the standard: sqrt(2 / pi) and 0.044715 of type double"),
    Wrong("Erf", of_doubles, "erf of doubles is computed in float"),
    Wrong("GridSample", of_doubles, "the places of doubles are computed in float; the standard has no float in it"),
    Wrong("Resize", shrinks_and_grows_by_nearest,
          "version 10 leaves the rounding open; ONNX Runtime rounds each axis its own way, up where it shrinks"),
    Wrong("HardSwish", of_doubles, "1/6 is a float; the standard: \"alpha = 1/6\""),
    Wrong("ReduceLogSumExp", of_integers, "the logarithm is cut off before the maximum is added to it"),
    Wrong("Resize", crops, "dimensions of scale 1 are not cropped; the standard has no exception from its formula"),
    Wrong("Shrink", of_doubles,
          "doubles pass through float; the standard: \"If x > lambd, y = x - bias\", of type double"),
]
WRONG_IN_PACKAGE = [
    Wrong("GridSample", of_doubles, "the places of doubles are computed in float; the standard has no float in it"),
    Wrong("Attention", of_doubles, "the square root of scale is a float; the standard multiplies doubles by it"),
    Wrong("Unique", unsorted, "sorted = 0 sorts all the same; the standard: \"in the same order as they occur in the "
                              "input\""),
    Wrong("Erf", of_doubles, "erf of doubles is computed in float"),
    Wrong("HardSwish", of_doubles, "1/6 is a float; the standard: \"alpha = 1/6\""),
    Wrong("LRN", of_doubles,
          "with size 1 the element itself is left out, and alpha is a double; the standard: \"alpha : "
                             "float\", max(0, c - floor((size - 1) / 2)) <= i <= min(C - 1, c + ceil((size - 1) / 2))"),
    Wrong("Gelu", of_doubles, "erf of doubles is computed in float"),
    Wrong("Resize", always, "length_resized is scale * length_original, not rounded down; the standard: \"length of "
                                "the resized tensor\""),
    Wrong("GlobalMaxPool", always, "the answer has one dimension too many where the input has not four"),
]


def _applies(rows, node, feeds, opset):
    return any(row.op == node.op and row.applies(node, feeds, opset) for row in rows)


def is_wrong(node, feeds, opset):
    return _applies(WRONG, node, feeds, opset)


def is_wrong_in_package(node, feeds, opset):
    return _applies(WRONG_IN_PACKAGE, node, feeds, opset)
