#!/usr/bin/env python3
"""Writes ort_cases.txt: small operator calls with ONNX Runtime's results. ort_cases_test.cpp compares the reference
kernels with them. Needs onnx, onnxruntime and numpy. Run it after adding a case.
"""

import pathlib

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper

ort.set_default_logger_severity(4)
rng = np.random.default_rng(7)
lines = []
names = {"float32": "float32", "float64": "float64", "float16": "float16", "int8": "int8", "uint8": "uint8",
         "int32": "int32", "int64": "int64"}


def number(value, dtype):
    return f"{float(value):.9g}" if dtype.kind == "f" else str(int(value))


def tensor(array):
    if array is None:
        return "none"
    array = np.asarray(array)
    shape = " ".join(map(str, array.shape))
    values = " ".join(number(v, array.dtype) for v in array.reshape(-1))
    return f"{names[str(array.dtype)]} {array.ndim} {shape} {values}".replace("  ", " ").strip()


def attribute(key, value):
    if isinstance(value, str):
        return f"s {key} {value}"
    if isinstance(value, (list, tuple)):
        return f"I {key} {len(value)} " + " ".join(map(str, value))
    return f"f {key} {value:.9g}" if isinstance(value, float) else f"i {key} {value}"


def run(op, inputs, attributes, outputs, domain, opset):
    """The operator's outputs in ONNX Runtime. Shapes and axes become initializers."""
    arrays = [None if a is None else np.asarray(a) for a in inputs]
    node = helper.make_node(op, ["" if a is None else f"in{i}" for i, a in enumerate(arrays)],
                            [f"out{i}" for i in range(outputs)], domain=domain, **attributes)
    given = {f"in{i}": a for i, a in enumerate(arrays) if a is not None}
    graph = helper.make_graph(
        [node], "case",
        [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape) for n, a in given.items()],
        [helper.make_tensor_value_info(f"out{i}", TensorProto.UNDEFINED, None) for i in range(outputs)],
        [numpy_helper.from_array(a, n) for n, a in given.items() if n != "in0"])
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=10)
    for output in model.graph.output:
        output.ClearField("type")
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    session = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return session.run(None, {i.name: given[i.name] for i in session.get_inputs() if i.name == "in0"})


def case(op, inputs, outputs=1, tolerance=1e-5, domain="", opset=21, **attributes):
    try:
        results = run(op, inputs, attributes, outputs, domain, opset)
    except Exception as error:  # a case that one version can't run does not skip the others
        print(f"skipped {op} {attributes}: {str(error)[:150]}")
        return
    lines.append(f"case {domain or '-'} {op} {tolerance} {len(attributes)} {len(inputs)} {outputs}")
    lines.extend(attribute(key, value) for key, value in attributes.items())
    lines.extend(tensor(a) for a in inputs)
    lines.extend(tensor(a) for a in results)


def real(*shape, dtype=np.float32):
    # Two decimals keep the file small.
    return np.round(rng.standard_normal(shape), 2).astype(dtype)


def whole(low, high, *shape, dtype=np.uint8):
    return rng.integers(low, high, shape).astype(dtype)


def axes(*values):
    return np.array(values, np.int64)


def convolutions():
    case("Conv", [real(2, 3, 9), real(4, 3, 3), real(4)], strides=[2], pads=[2, 1])
    case("Conv", [real(1, 4, 7, 6), real(6, 2, 3, 2), real(6)], group=2, dilations=[2, 3], pads=[1, 2, 0, 3])
    case("Conv", [real(1, 3, 6, 5), real(3, 1, 3, 3)], group=3, auto_pad="SAME_UPPER", strides=[2, 2])
    case("Conv", [real(1, 2, 6, 5), real(2, 2, 2, 4)], auto_pad="SAME_LOWER", strides=[1, 2])
    case("Conv", [real(1, 2, 4, 5, 4), real(3, 2, 2, 3, 1), real(3)], pads=[1, 0, 0, 0, 1, 1], strides=[1, 2, 2])
    case("Conv", [real(1, 2, 5, 5), real(2, 2, 3, 3)], auto_pad="VALID")
    case("ConvTranspose", [real(1, 3, 4, 3), real(3, 2, 3, 2), real(2)], strides=[2, 3])
    case("ConvTranspose", [real(1, 4, 3, 3), real(4, 2, 3, 3)], group=2, strides=[2, 2], pads=[1, 0, 1, 2],
         output_padding=[1, 0], dilations=[1, 2])
    case("ConvTranspose", [real(2, 2, 5), real(2, 3, 4)], strides=[2], output_shape=[9])
    case("ConvTranspose", [real(1, 2, 5), real(2, 1, 4)], strides=[2], output_shape=[9], auto_pad="SAME_UPPER")
    case("ConvTranspose", [real(1, 2, 4), real(2, 1, 3)], strides=[2], auto_pad="SAME_UPPER")
    case("ConvTranspose", [real(1, 2, 4), real(2, 1, 3)], strides=[2], auto_pad="SAME_LOWER")
    case("ConvTranspose", [real(1, 1, 2, 3, 2), real(1, 2, 2, 2, 2)], strides=[2, 1, 2])


def pools():
    case("MaxPool", [real(1, 2, 7, 6)], 2, kernel_shape=[3, 2], strides=[2, 2], pads=[1, 0, 1, 1])
    case("MaxPool", [real(1, 2, 7, 6)], 2, kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1, pads=[1, 1, 1, 1])
    case("MaxPool", [real(1, 1, 6, 6)], kernel_shape=[2, 2], strides=[3, 3], ceil_mode=1, pads=[1, 1, 1, 1])
    case("MaxPool", [real(1, 2, 9)], kernel_shape=[3], dilations=[2], strides=[2])
    case("MaxPool", [real(1, 1, 4, 4, 5)], 2, kernel_shape=[2, 2, 3], strides=[2, 1, 2])
    case("MaxPool", [real(1, 1, 7, 5)], kernel_shape=[3, 2], strides=[2, 2], auto_pad="SAME_UPPER")
    case("MaxPool", [real(1, 1, 7, 5)], kernel_shape=[3, 2], strides=[2, 2], auto_pad="SAME_LOWER")
    case("MaxPool", [whole(-100, 100, 1, 1, 5, 5, dtype=np.int8)], kernel_shape=[3, 3], pads=[1, 1, 1, 1])
    for count in (0, 1):
        case("AveragePool", [real(1, 2, 7, 6)], kernel_shape=[3, 2], strides=[2, 2], pads=[1, 0, 1, 1],
             count_include_pad=count)
        case("AveragePool", [real(1, 2, 7, 6)], kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1, pads=[1, 1, 0, 0],
             count_include_pad=count)
        case("AveragePool", [real(1, 1, 9, 8)], kernel_shape=[2, 3], dilations=[3, 2], pads=[1, 1, 1, 1],
             count_include_pad=count)
        case("AveragePool", [real(1, 1, 6, 5)], kernel_shape=[3, 2], strides=[2, 2], auto_pad="SAME_UPPER",
             count_include_pad=count)
    case("AveragePool", [real(1, 1, 5, 4, 4)], kernel_shape=[2, 2, 2], strides=[2, 2, 2], ceil_mode=1)
    case("GlobalAveragePool", [real(2, 3, 4, 5)])
    case("GlobalMaxPool", [real(2, 3, 4, 5)])


def products():
    for a, b in (((3, 4), (4, 9)), ((4,), (4, 3)), ((2, 4), (4,)), ((4,), (4,)), ((2, 1, 3, 4), (5, 4, 2)),
                 ((4,), (2, 4, 3)), ((3, 2, 4), (4,)), ((1, 2, 4), (3, 4, 11))):
        case("MatMul", [real(*a), real(*b)])
    case("Gemm", [real(3, 4), real(4, 5), real(5)], alpha=0.5, beta=2.0)
    case("Gemm", [real(4, 3), real(5, 4), real(3, 1)], transA=1, transB=1)
    case("Gemm", [real(2, 4), real(9, 4), real(1)], transB=1)
    for equation, *shapes in (("ij,jk->ik", (2, 3), (3, 4)), ("bhid,bhjd->bhij", (1, 2, 3, 4), (1, 2, 5, 4)),
                              ("ii->i", (3, 3)), ("ii", (3, 3)), ("ij->ji", (2, 3)), ("ij", (2, 3)),
                              ("...ij,...jk->...ik", (2, 1, 2, 3), (2, 3, 3, 2)), ("i,j->ij", (2,), (3,)),
                              ("bij,bjk,kl->bil", (2, 2, 3), (2, 3, 2), (2, 3)), ("ij,ij->", (2, 3), (2, 3)),
                              ("...i->...", (2, 2, 3)), ("nchw,kc->nkhw", (1, 3, 2, 2), (2, 3)),
                              ("aij,ajk", (2, 2, 3), (2, 3, 2))):
        case("Einsum", [real(*shape) for shape in shapes], equation=equation.replace(" ", ""))


def norms():
    case("BatchNormalization", [real(2, 3, 2, 2), real(3), real(3), real(3), np.abs(real(3)) + np.float32(0.1)])
    case("InstanceNormalization", [real(2, 3, 4, 3), real(3), real(3)], epsilon=1e-3)
    case("GroupNormalization", [real(2, 6, 2, 3), real(6), real(6)], num_groups=3)
    case("LayerNormalization", [real(2, 3, 5), real(5), real(5)], 3, axis=-1)
    case("LayerNormalization", [real(2, 3, 4), real(3, 4), real(3, 4)], axis=1, epsilon=1e-2)
    case("LayerNormalization", [real(2, 6), real(6)])
    for axis in (0, 1, -1):
        case("Softmax", [real(2, 3, 4)], axis=axis)
        case("LogSoftmax", [real(2, 3, 4)], axis=axis)
    case("LRN", [real(1, 7, 2, 2)], size=3, alpha=0.3, beta=0.6, bias=1.5)
    case("LRN", [real(1, 5, 3, 1)], size=5)


def reductions():
    data = real(2, 3, 4)
    for op in ("Sum", "Mean", "Max", "Min", "L1", "L2", "SumSquare", "LogSumExp", "Prod"):
        case(f"Reduce{op}", [data, axes(1)])
        case(f"Reduce{op}", [data, axes(0, -1)], keepdims=0)
        case(f"Reduce{op}", [data])
    case("ReduceLogSum", [np.abs(data) + np.float32(0.5), axes(1)])
    case("ReduceSum", [data, axes()], noop_with_empty_axes=1)
    case("ReduceMean", [whole(-9, 9, 2, 5, dtype=np.int32), axes(1)])
    case("ReduceProd", [whole(-9, 9, 2, 5, dtype=np.int64), axes(0)])
    ties = whole(0, 3, 3, 5, dtype=np.int32)
    for last in (0, 1):
        case("ArgMax", [ties], axis=1, select_last_index=last)
        case("ArgMin", [ties], axis=0, select_last_index=last, keepdims=0)


def resizes():
    coordinates = ("half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "asymmetric", "align_corners")
    image = real(1, 1, 4, 5)
    for mode in coordinates:
        for rounding in ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil"):
            case("Resize", [image, None, None, axes(1, 1, 7, 3)], mode="nearest", nearest_mode=rounding,
                 coordinate_transformation_mode=mode)
            case("Resize", [image, None, np.array([1, 1, 0.6, 2.3], np.float32)], mode="nearest",
                 nearest_mode=rounding, coordinate_transformation_mode=mode)
        for smooth in (0, 1):
            case("Resize", [image, None, None, axes(1, 1, 6, 3)], mode="linear", antialias=smooth,
                 coordinate_transformation_mode=mode)
            case("Resize", [image, None, np.array([1, 1, 0.6, 2.3], np.float32)], mode="linear", antialias=smooth,
                 coordinate_transformation_mode=mode)
            for exclude in (0, 1):
                case("Resize", [image, None, np.array([1, 1, 0.6, 1.7], np.float32)], mode="cubic", antialias=smooth,
                     coordinate_transformation_mode=mode, exclude_outside=exclude, cubic_coeff_a=-0.5)
    for mode in ("nearest", "linear", "cubic"):
        case("Resize", [image, np.array([0, 0, 0.2, -0.3, 1, 1, 0.9, 1.2], np.float32), None, axes(1, 1, 5, 6)],
             mode=mode, coordinate_transformation_mode="tf_crop_and_resize", extrapolation_value=9.0)
    for policy in ("not_larger", "not_smaller"):
        case("Resize", [image, None, None, axes(7, 8)], mode="linear", keep_aspect_ratio_policy=policy, axes=[2, 3])
    case("Resize", [real(1, 1, 2, 3, 4), None, None, axes(1, 1, 3, 2, 6)], mode="linear")
    case("Resize", [real(3, 4), None, np.array([2.0, 0.5], np.float32)], mode="linear")
    case("Resize", [whole(0, 255, 1, 1, 3, 3), None, None, axes(1, 1, 5, 2)], mode="linear")
    case("Resize", [whole(-99, 99, 1, 2, 3, dtype=np.int32), None, np.array([1, 2, 2], np.float32)], mode="nearest")
    case("Resize", [real(1, 1, 2, 2), None, np.array([1, 1, 2, 2], np.float32)], mode="nearest",
         coordinate_transformation_mode="asymmetric", nearest_mode="floor", opset=13)


def grids():
    grid = np.round(rng.uniform(-1.6, 1.6, (1, 3, 4, 2)), 2).astype(np.float32)
    for mode in ("linear", "nearest", "cubic"):
        for padding in ("zeros", "border", "reflection"):
            for align in (0, 1):
                case("GridSample", [real(1, 2, 4, 3), grid], mode=mode, padding_mode=padding, align_corners=align,
                     tolerance=2e-5)
    volume = np.round(rng.uniform(-1.3, 1.3, (1, 2, 2, 2, 3)), 2).astype(np.float32)
    for mode in ("linear", "nearest"):
        case("GridSample", [real(1, 1, 3, 2, 4), volume], mode=mode, padding_mode="border")


def scale(*values):
    return np.array(values if len(values) > 1 else values[0], np.float32)


def zero(value, dtype=np.uint8):
    return np.array(value, dtype)


def quantised():
    case("QuantizeLinear", [real(2, 3, 2), scale(0.02), zero(7)])
    case("QuantizeLinear", [np.array([0.5, 1.5, 2.5, -0.5, -1.5, 900, -900], np.float32), scale(1.0), zero(0, np.int8)])
    case("QuantizeLinear", [real(2, 3, 2), scale(0.1, 0.02, 0.5), zero([3, -4, 0], np.int8)], axis=1)
    case("QuantizeLinear", [real(4), scale(0.02)])
    case("DequantizeLinear", [whole(0, 255, 2, 3), scale(0.1), zero(128)])
    case("DequantizeLinear", [whole(-128, 127, 2, 3, dtype=np.int8), scale(0.1, 0.2, 0.3), zero([1, 2, 3], np.int8)],
         axis=-1)
    case("DequantizeLinear", [whole(-9999, 9999, 3, dtype=np.int32), scale(0.01, 0.02, 0.03)], axis=0)
    image, weights = whole(0, 255, 1, 4, 5, 5), whole(-127, 127, 6, 2, 3, 3, dtype=np.int8)
    per_filter = scale(0.01, 0.02, 0.005, 0.03, 0.01, 0.02)
    case("QLinearConv", [image, scale(0.02), zero(120), weights, per_filter, zero([0] * 6, np.int8), scale(0.3), zero(99),
                         whole(-5000, 5000, 6, dtype=np.int32)], group=2, pads=[1, 1, 1, 1], strides=[2, 2])
    case("QLinearConv", [image, scale(0.02), zero(120), whole(0, 255, 3, 4, 2, 2), scale(0.01), zero(131), scale(0.2),
                         zero(128)])
    case("ConvInteger", [image, whole(0, 255, 3, 4, 2, 2), zero(120), zero(7)], pads=[0, 1, 1, 0])
    left, right = whole(0, 255, 2, 3, 5), whole(-127, 127, 5, 4, dtype=np.int8)
    case("QLinearMatMul", [left, scale(0.02), zero(120), right, scale(0.01), zero(3, np.int8), scale(0.2), zero(128)])
    case("QLinearMatMul", [left, scale(0.02), zero(120), right, scale(0.01, 0.02, 0.03, 0.04),
                           zero([0, 1, 2, 3], np.int8), scale(0.2), zero(128)])
    case("MatMulInteger", [left, whole(0, 255, 5, 4), zero(120), zero(7)])
    case("MatMulInteger", [left, right])


def quantised_contrib():
    ms = "com.microsoft"
    for dtype, mid in ((np.uint8, 128), (np.int8, 0)):
        low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
        a, b = whole(low, high, 2, 3, 4, dtype=dtype), whole(low, high, 3, 1, dtype=dtype)
        z = zero(mid + 5, dtype)
        case("QLinearAdd", [a, scale(0.02), z, b, scale(0.013), z, scale(0.03), z], domain=ms)
        case("QLinearMul", [a, scale(0.02), z, b, scale(0.013), z, scale(0.03), z], domain=ms)
        case("QLinearSigmoid", [a, scale(0.05), z, scale(1 / 256), zero(low, dtype)], domain=ms)
        case("QLinearLeakyRelu", [a, scale(0.05), z, scale(0.04), z], domain=ms, alpha=0.1)
        image = whole(low, high, 1, 2, 5, 4, dtype=dtype)
        case("QLinearGlobalAveragePool", [image, scale(0.05), z, scale(0.04), z], domain=ms)
        # Averages are often ties, which the summation order rounds up or down: one step is allowed.
        case("QLinearAveragePool", [image, scale(0.05), z, scale(0.04), z], domain=ms, kernel_shape=[2, 3],
             strides=[2, 1], pads=[0, 1, 1, 0], tolerance=0.01)
        case("QLinearConcat", [scale(0.05), z, a, scale(0.02), z, a[:, :1], scale(0.07), z], domain=ms, axis=1)


def regions():
    boxes = np.array([[0.3, 0.7, 4.2, 3.1], [-1.5, 1, 2.5, 9], [2, 2, 2, 2], [5, 4, 0, 0]], np.float32)
    maps, images = real(2, 2, 5, 6), np.array([0, 1, 1, 0], np.int64)
    for mode in ("avg", "max"):
        for corners in ("half_pixel", "output_half_pixel"):
            for ratio in (0, 2):
                case("RoiAlign", [maps, boxes, images], mode=mode, coordinate_transformation_mode=corners,
                     sampling_ratio=ratio, spatial_scale=0.8, output_height=2, output_width=3)
    rows = np.concatenate([images[:, None].astype(np.float32), np.round(np.abs(boxes))], axis=1)
    case("MaxRoiPool", [maps, rows], pooled_shape=[2, 2], spatial_scale=0.6)
    for p in (1, 2, 3):
        case("LpPool", [real(1, 2, 5, 4)], kernel_shape=[3, 2], strides=[2, 1], pads=[1, 0, 1, 1], p=p)
        case("GlobalLpPool", [real(1, 2, 5, 4)], p=p)
    case("LpPool", [real(1, 1, 6, 5)], kernel_shape=[2, 3], auto_pad="SAME_UPPER")
    case("LpPool", [real(1, 1, 6, 5)], kernel_shape=[2, 3], dilations=[2, 1], pads=[1, 0, 1, 0])
    kept, places = real(1, 2, 2, 2), np.array([[[[0, 6], [9, 15]], [[17, 22], [24, 30]]]], np.int64)
    case("MaxUnpool", [kept, places], kernel_shape=[2, 2], strides=[2, 2])
    case("Col2Im", [real(1, 12, 9), axes(5, 5), axes(2, 3)], strides=[2, 1], dilations=[1, 1], pads=[1, 0, 1, 0])
    case("AffineGrid", [real(2, 2, 3), axes(2, 3, 4, 5)])
    case("AffineGrid", [real(1, 3, 4), axes(1, 2, 2, 3, 2)], align_corners=1)
    case("CenterCropPad", [real(3, 4, 5), axes(5, 2)], axes=[0, -1])


def deformed():
    window = {"kernel_shape": [2, 3], "strides": [1, 2], "pads": [1, 0, 0, 1], "dilations": [2, 1]}
    x, w, offsets, mask = real(1, 4, 4, 5), real(4, 2, 2, 3), real(1, 24, 3, 2) * np.float32(2), real(1, 12, 3, 2)
    case("DeformConv", [x, w, offsets, real(4), mask], group=2, offset_group=2, opset=22, **window)
    case("DeformConv", [x, real(2, 4, 2, 3), offsets[:, :12]], opset=22, **window)


def other_norms():
    for axis in (0, 1, -1):
        for p in (1, 2):
            case("LpNormalization", [real(2, 3, 4)], axis=axis, p=p)
    case("MeanVarianceNormalization", [real(2, 3, 4, 2)])
    case("MeanVarianceNormalization", [real(2, 3, 4)], axes=[0, 2])
    case("RMSNormalization", [real(2, 3, 4), real(4)], opset=23)
    case("RMSNormalization", [real(2, 3, 4), real(3, 4)], axis=1, epsilon=1e-2, opset=23)


def attention():
    q, k, v = real(2, 4, 3, 6), real(2, 2, 5, 6), real(2, 2, 5, 4)
    case("Attention", [q, k, v], opset=23)
    case("Attention", [q, k, v, real(3, 5)], opset=23, scale=0.4, softcap=1.5)
    case("Attention", [q, k, v], opset=23, is_causal=1)
    for mode in range(4):
        case("Attention", [q, k, v, real(2, 1, 3, 5)], 4, opset=23, qk_matmul_output_mode=mode)
    case("Attention", [real(2, 3, 8), real(2, 5, 4), real(2, 5, 6)], opset=23, q_num_heads=4, kv_num_heads=2)
    case("Attention", [q, k, v, None, real(2, 2, 3, 6), real(2, 2, 3, 4)], 3, opset=23, is_causal=1)
    x, angles = real(2, 3, 4, 6), [real(7, 3), real(7, 3)]
    positions = np.array([[0, 3, 6, 1], [2, 2, 5, 4]], np.int64)
    for interleaved in (0, 1):
        case("RotaryEmbedding", [x, *angles, positions], opset=23, interleaved=interleaved)
    case("RotaryEmbedding", [real(2, 4, 12), real(2, 4, 2), real(2, 4, 2)], opset=23, num_heads=2,
         rotary_embedding_dim=4)


def quantised_blocks():
    scales = np.abs(real(2, 3)) + np.float32(0.05)
    case("QuantizeLinear", [real(2, 5), scales, whole(0, 9, 2, 3)], axis=1, block_size=2)
    case("DequantizeLinear", [whole(-99, 99, 4, 3, dtype=np.int8), scales, whole(-9, 9, 2, 3, dtype=np.int8)], axis=0,
         block_size=2)
    case("DynamicQuantizeLinear", [real(3, 7)], 3)
    case("DynamicQuantizeLinear", [np.abs(real(3, 7))], 3)


for write in (convolutions, pools, products, norms, reductions, resizes, grids, quantised, quantised_contrib, regions,
              deformed, other_norms, attention, quantised_blocks):
    write()
path = pathlib.Path(__file__).with_name("ort_cases.txt")
path.write_text(f"# Written by ort_cases.py with ONNX Runtime {ort.__version__}.\n" + "\n".join(lines) + "\n")
print(f"{path.name}: {sum(line.startswith('case') for line in lines)} cases, {path.stat().st_size} bytes")
