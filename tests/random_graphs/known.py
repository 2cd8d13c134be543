"""Known errors of the two oracles, each with the operator and the standard's sentence.

Where ONNX Runtime (1.31.1) is wrong, the onnx package's implementation is used, and the reverse for the package
(1.23.2). Where neither is right about doubles, they are compared as floats.
"""
import dataclasses

import numpy as np

from script import has_vnni

FLOAT16, FLOAT64 = np.dtype("float16"), np.dtype("float64")


@dataclasses.dataclass(frozen=True)
class Wrong:
    op: str
    applies: object  # of a node, its inputs by name, the opset
    why: str
    who: tuple


def of_doubles(node, feeds, opset):
    return any(array.dtype == FLOAT64 for array in feeds.values())


def of_halves(node, feeds, opset):
    return any(array.dtype == FLOAT16 for array in feeds.values())


def always(node, feeds, opset):
    return True


def of_integers(node, feeds, opset):
    return next(iter(feeds.values())).dtype.kind in "iu"


def mixes_integers(node, feeds, opset):
    return next(iter(feeds.values())).dtype.kind in "iub" and node.attributes.get("mode") != "nearest"


def of_real_values(node, feeds, opset):
    return list(feeds.values())[-1].dtype.kind == "f"


def trains(node, feeds, opset):
    return node.attributes.get("training_mode") == 1


def hangs_over(node, feeds, opset):
    return node.attributes.get("ceil_mode") == 1 and node.attributes.get("count_include_pad") == 1


def shows_scores_before_softcap(node, feeds, opset):
    return len(node.outputs) > 3 and "softcap" in node.attributes and not node.attributes.get("qk_matmul_output_mode")


def continues_across(node, feeds, opset):
    """Causal attention to a cache and to more or fewer keys than there are queries."""
    if node.attributes.get("is_causal") != 1 or len(node.inputs) < 6 or not node.inputs[4]:
        return False
    query, key = (feeds[name] for name in node.inputs[:2])
    return query.shape[-2] != key.shape[-2]


def reaches_beyond(node, feeds, opset):
    steps = 1 / feeds[node.inputs[3]].item()
    return steps > 255 or steps - np.floor(steps) > 1e-3


def sparse(node, feeds, opset):
    return "sparse_value" in node.attributes


def has_one_scale(node):
    return node.attributes.get("keep_aspect_ratio_policy", "stretch") != "stretch"


def smooths_by_one_scale(node, feeds, opset):
    return node.attributes.get("antialias") == 1 and has_one_scale(node)


def resizes_to_fractions(node, feeds, opset):
    arrays = list(feeds.values())
    if node.attributes.get("coordinate_transformation_mode", "half_pixel") in ("half_pixel", "asymmetric"):
        return False
    if has_one_scale(node):
        return True
    scales = next((a for a in arrays[1:] if a.dtype.kind == "f" and a.size and a.size <= arrays[0].ndim), None)
    return scales is not None and any(float(n * s) % 1 for n, s in zip(arrays[0].shape[-scales.size:], scales))


def nearest(node, feeds, opset):
    return node.attributes.get("mode", "nearest") == "nearest"


def smooths_symmetrically(node, feeds, opset):
    mode = node.attributes.get("coordinate_transformation_mode")
    return node.attributes.get("antialias") == 1 and mode == "half_pixel_symmetric"


def collects(node, feeds, opset):
    return len(node.outputs) > 1


def crops(node, feeds, opset):
    return node.attributes.get("coordinate_transformation_mode") == "tf_crop_and_resize"


def of_zeros(node, feeds, opset):
    return not next(iter(feeds.values())).any()


def unsorted(node, feeds, opset):
    return node.attributes.get("sorted", 1) == 0


def shrinks_and_grows_by_nearest(node, feeds, opset):
    scales = list(feeds.values())[1]
    return opset == 10 and node.attributes.get("mode", "nearest") == "nearest" and min(scales) < 1 < max(scales)


def saturates(node, feeds, opset):
    """Int8 weights on a processor without VNNI; uint8 ones take another kernel."""
    return not has_vnni() and any(array.dtype == np.int8 for array in feeds.values())


RUNTIME, PACKAGE = "ONNX Runtime", "the onnx package"
WRONG = [
    Wrong("DynamicQuantizeLinear", of_zeros, "the scale of zeros is 1; the package says 1/255, the standard nothing",
          (RUNTIME,)),
    Wrong("Attention", of_doubles, "the square root of scale is a float; the standard multiplies doubles by it",
          (RUNTIME, PACKAGE)),
    Wrong("Attention", of_halves, "half precision is rounded between its steps; float32 is more exact",
          (RUNTIME,)),
    Wrong("AffineGrid", of_halves, "half precision is rounded between its steps", (RUNTIME,)),
    Wrong("MultiHeadAttention", of_halves, "half precision is rounded between its steps", (RUNTIME,)),
    Wrong("Attention", shows_scores_before_softcap,
          "the scores are those after softcap; the standard: \"0 (default): raw QK matmul result\"", (PACKAGE,)),
    Wrong("Attention", continues_across,
          "the last query sees all keys; the standard: \"j <= i + offset\" with past_sequence_length for offset",
          (RUNTIME,)),
    Wrong("BatchNormalization", trains, "the running statistics are written into its inputs, which others may read",
          (RUNTIME,)),
    Wrong("Constant", sparse, "its output is a sparse tensor; the standard: a dense one", (RUNTIME,)),
    Wrong("Erf", of_doubles, "erf of doubles is computed in float", (RUNTIME, PACKAGE)),
    Wrong("Gelu", of_doubles, "its constants are floats; the standard: sqrt(2 / pi) and 0.044715 of type double",
          (RUNTIME,)),
    Wrong("Gelu", of_doubles, "erf of doubles is computed in float", (PACKAGE,)),
    Wrong("GlobalMaxPool", always, "the output has one dimension too many unless the input has four", (PACKAGE,)),
    Wrong("GridSample", of_doubles, "the places of doubles are computed in float; the standard has no float in it",
          (RUNTIME, PACKAGE)),
    Wrong("GridSample", mixes_integers, "the weights of integers are integers", (PACKAGE,)),
    Wrong("GroupNormalization", always, "the variance is E[x^2] - E[x]^2, of which rounding leaves little where x is "
                                        "nearly constant", (RUNTIME,)),
    Wrong("HardSwish", of_doubles, "1/6 is a float; the standard: \"alpha = 1/6\"", (RUNTIME, PACKAGE)),
    Wrong("LRN", of_doubles,
          "with size 1 the element itself is omitted, and alpha is a double; the standard: \"alpha : float\", "
          "max(0, c - floor((size - 1) / 2)) <= i <= min(C - 1, c + ceil((size - 1) / 2))", (PACKAGE,)),
    Wrong("Loop", collects, "rows are put one behind the other; the standard: scan_outputs have a dimension more",
          (PACKAGE,)),
    Wrong("OneHot", of_real_values, "an on value is off + 1 * (on - off), rounded", (PACKAGE,)),
    Wrong("QLinearAveragePool", hangs_over,
          "what hangs over the padding is counted as padding; its AveragePool does not count it", (RUNTIME,)),
    Wrong("QLinearSoftmax", reaches_beyond,
          "1 / scale is truncated to an integer, and overflow wraps; QuantizeLinear saturates",
          (RUNTIME,)),
    *(Wrong(op, saturates, "without VNNI pairs of products are added in 16 bits, which saturates; the standard: \"MUST "
                           "never overflow. The accumulation may overflow if and only if in 32 bits\"", (RUNTIME,))
      for op in ("ConvInteger", "MatMulInteger", "QGemm", "QLinearConv", "QLinearMatMul")),
    Wrong("ReduceLogSumExp", of_integers, "the logarithm is cut off before the maximum is added to it", (RUNTIME,)),
    Wrong("Resize", shrinks_and_grows_by_nearest,
          "version 10 leaves the rounding open; ONNX Runtime rounds each axis its own way, up where it shrinks",
          (RUNTIME,)),
    Wrong("Resize", crops, "dimensions of scale 1 are not cropped; the standard has no exception from its formula",
          (RUNTIME,)),
    Wrong("Resize", smooths_symmetrically, "with antialias half_pixel_symmetric is half_pixel; the standard has no "
                                           "exception from its formula", (RUNTIME,)),
    Wrong("Resize", smooths_by_one_scale, "an axis that keeps its length is not smoothed, though its scale is below 1; the "
                                          "standard stretches the filter by max(1, 1 / scale)", (RUNTIME,)),
    Wrong("Resize", resizes_to_fractions, "length_resized is scale * length_original, not rounded down; the standard: "
                                          "\"length of the resized tensor\"", (PACKAGE,)),
    Wrong("Resize", nearest, "places are doubles; the standard's scales are floats, and rounding decides where two "
                             "elements are as near", (PACKAGE,)),
    Wrong("Shrink", of_doubles, "doubles pass through float; the standard: \"If x > lambd, y = x - bias\", of double",
          (RUNTIME,)),
    Wrong("Unique", unsorted,
          "sorted = 0 sorts all the same; the standard: \"in the same order as they occur in the input\"", (PACKAGE,)),
]


def _applies(who, node, feeds, opset):
    return any(who in row.who and row.op == node.op and row.applies(node, feeds, opset) for row in WRONG)


def is_wrong(node, feeds, opset):
    return _applies(RUNTIME, node, feeds, opset)


def is_wrong_in_package(node, feeds, opset):
    return _applies(PACKAGE, node, feeds, opset)
