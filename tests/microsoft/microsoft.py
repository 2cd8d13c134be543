#!/usr/bin/env python3
"""Compares operators of the domain com.microsoft with ONNX Runtime, which defines them: models of one node each.

    microsoft.py --binary build/saccade

Needs the packages of script/peers.txt; exit status 77: skipped.
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "parity"))
from script import conclude, has_vnni, needs, without_optimisations

with needs("--peers"):
    import numpy as np
    import onnxruntime as ort
    from onnx import helper, numpy_helper

random = np.random.default_rng(5)
CASES = []


def case(op, inputs, outputs=1, domain="com.microsoft", rounding=0, **attributes):
    """INPUTS may hold None. The first is the model's input, the others are constants. Integers may differ by
    ROUNDING."""
    CASES.append((op, [None if i is None else np.asarray(i) for i in inputs], outputs, domain, rounding, attributes))


def real(*shape, dtype=np.float32):
    return random.standard_normal(shape).astype(dtype)


def stored(*shape, dtype=np.uint8):
    limits = np.iinfo(dtype)
    return random.integers(limits.min, limits.max + 1, shape).astype(dtype)


def quantised(scale, zero, dtype=np.uint8):
    """A scale and its zero point."""
    return [np.float32(scale), dtype(zero)]


def convolutions():
    x, w, b, z = real(1, 4, 6, 5), real(6, 2, 3, 3), real(6), real(1, 6, 6, 5)
    window = {"group": 2, "pads": [1, 1, 1, 1]}
    for activation, params in (("Relu", []), ("Sigmoid", []), ("Tanh", []), ("LeakyRelu", [0.3]), ("Clip", [-0.5, 1.5]),
                               ("HardSigmoid", [0.3, 0.4])):
        given = {"activation_params": params} if params else {}
        case("FusedConv", [x, w, b], activation=activation, **given, **window)
    case("FusedConv", [x, w, b, z], activation="Relu", **window)
    case("FusedConv", [x, w, None, z], **window)
    scales = [*quantised(0.1, 120), stored(3, 4, 3, 3, dtype=np.int8), *quantised(0.02, 0, np.int8),
              *quantised(0.5, 100)]
    case("QLinearConv", [stored(2, 5, 6, 4), *scales], channels_last=1, pads=[1, 0, 1, 0], rounding=1)
    case("QLinearConv", [stored(2, 4, 5, 6), *scales], rounding=1)
    case("NhwcMaxPool", [stored(1, 6, 5, 3)], kernel_shape=[3, 2], strides=[2, 1], pads=[1, 0, 1, 1])


def products():
    case("FusedMatMul", [real(2, 3, 4), real(2, 4, 5)], alpha=0.5)
    case("FusedMatMul", [real(2, 4, 3), real(2, 5, 4)], transA=1, transB=1)
    case("FusedMatMul", [real(3, 2, 4), real(2, 4, 5)], transBatchA=1)
    case("FusedMatMul", [real(4, 2, 3), real(5, 2, 4)], transA=1, transB=1, transBatchA=1, transBatchB=1, alpha=-2.0)


def activations():
    case("Gelu", [real(3, 7)])
    case("QuickGelu", [real(3, 7)])
    case("QuickGelu", [real(3, 7)], alpha=1.0)
    case("FastGelu", [real(3, 7)])
    case("FastGelu", [real(2, 3, 7), real(7)])
    case("BiasGelu", [real(2, 3, 7), real(7)])


def norms():
    x, skip = real(2, 3, 8), real(2, 3, 8)
    case("SkipLayerNormalization", [x, skip, real(8)])
    case("SkipLayerNormalization", [x, skip, real(8), real(8), real(8)], epsilon=1e-3)
    case("SkipLayerNormalization", [x, skip[0], real(8), real(8)])
    case("SkipSimplifiedLayerNormalization", [x, skip, real(8), real(8)], epsilon=1e-3)
    case("SimplifiedLayerNormalization", [x, real(8)], domain="", axis=-1, epsilon=1e-5)


def attention():
    q, k, v = real(2, 3, 8), real(2, 5, 8), real(2, 5, 12)
    mask = np.array([[1, 1, 0, 1, 1], [1, 0, 0, 0, 1]], np.int32)
    case("MultiHeadAttention", [q, k, v], num_heads=2)
    case("MultiHeadAttention", [q, k, v, real(8 + 8 + 12)], num_heads=4, scale=0.7)
    case("MultiHeadAttention", [q, k, v, None, mask, real(1, 2, 3, 5)], num_heads=2)
    case("MultiHeadAttention", [q, k, v, None, mask], num_heads=2, mask_filter_value=-1.0)
    case("MultiHeadAttention", [q, real(2, 2, 5, 4), real(2, 2, 5, 4), real(24)], num_heads=2)
    case("MultiHeadAttention", [q, q, q], num_heads=2, unidirectional=1)
    case("MultiHeadAttention", [q, q, q, None, None, None, real(2, 2, 4, 4), real(2, 2, 4, 4)], 3, num_heads=2)


def quantised_operators():
    a, b = stored(2, 3, 4), stored(3, 1)
    two = [a, *quantised(0.1, 100), b, *quantised(0.2, 30), *quantised(0.3, 90)]
    left, right = [stored(3, 4), *quantised(0.1, 100)], [stored(4, 5, dtype=np.int8), *quantised(0.02, 3, np.int8)]
    bias = random.integers(-500, 500, 5).astype(np.int32)
    case("QGemm", [*left, *right])
    case("QGemm", [*left, *right, bias, *quantised(0.3, 90)], rounding=1, alpha=0.5)
    columns = [stored(5, 4, dtype=np.int8), np.linspace(0.01, 0.05, 5).astype(np.float32), np.zeros(5, np.int8)]
    case("QGemm", [*left, *columns, bias, *quantised(0.3, 90)], rounding=1, transB=1)
    for op in ("QLinearAdd", "QLinearMul"):
        case(op, two, rounding=1)
    for op, attributes in (("QLinearSigmoid", {}), ("QLinearLeakyRelu", {"alpha": 0.2})):
        case(op, [a, *quantised(0.05, 128), *quantised(0.01, 20)], rounding=1, **attributes)
    case("QLinearConcat", [np.float32(0.2), np.uint8(60), a, *quantised(0.1, 100), stored(2, 1, 4),
                           *quantised(0.3, 10)], axis=1, rounding=1)
    x, scales = stored(1, 3, 6, 5), [*quantised(0.1, 100), *quantised(0.05, 90)]
    pool = {"kernel_shape": [3, 2], "strides": [2, 1], "pads": [1, 0, 1, 1]}
    for last in (0, 1):
        case("QLinearAveragePool", [x, *scales], channels_last=last, rounding=1, **pool)
        case("QLinearGlobalAveragePool", [x, *scales], channels_last=last, rounding=1)
    for axis, opset in ((-1, 13), (1, 13), (1, 12)):
        case("QLinearSoftmax", [stored(2, 3, 4), *quantised(0.05, 100), *quantised(1 / 256, 0)], axis=axis, opset=opset,
             rounding=1)
    wide = real(3, 9) * 50
    case("QuantizeLinear", [wide, *quantised(0.01, 1000, np.uint16)])
    case("DequantizeLinear", [stored(3, 9, dtype=np.int16), *quantised(0.01, -7, np.int16)])


def model_of(op, inputs, outputs, domain, attributes):
    names = [f"in{i}" if array is not None else "" for i, array in enumerate(inputs)]
    node = helper.make_node(op, names, [f"out{i}" for i in range(outputs)], name="node", domain=domain, **attributes)
    first = helper.make_tensor_value_info("in0", helper.np_dtype_to_tensor_dtype(inputs[0].dtype), inputs[0].shape)
    constants = [numpy_helper.from_array(array, name) for name, array in zip(names, inputs) if name not in ("", "in0")]
    graph = helper.make_graph([node], "one", [first],
                              [helper.make_empty_tensor_value_info(f"out{i}") for i in range(outputs)], constants)
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString()


def theirs(model, feed):
    options = ort.SessionOptions()
    options.add_session_config_entry("session.x64quantprecision", "1")  # exact also without VNNI
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    without_optimisations(options, ort.GraphOptimizationLevel, model)
    return ort.InferenceSession(model, options, providers=["CPUExecutionProvider"]).run(None, {"in0": feed})


def ours(binary, model, feed, outputs, device="cpu"):
    """The outputs, or the reason why there are none."""
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        (work / "model.onnx").write_bytes(model)
        np.save(work / "in0.npy", feed)
        done = subprocess.run([binary, "infer", work / "model.onnx", "--input", f"in0={work / 'in0.npy'}", "--output",
                               work / "out", "--device", device], capture_output=True, text=True, check=False, timeout=120)
        if done.returncode != 0:
            return done.stderr.strip()
        return [np.load(work / "out" / f"out{i}.npy") for i in range(outputs)]


def difference(got, want, rounding):
    if got.shape != want.shape or got.dtype != want.dtype:
        return f"{got.dtype} {got.shape} instead of {want.dtype} {want.shape}"
    if np.issubdtype(want.dtype, np.integer):
        far = int(np.abs(got.astype(np.int64) - want.astype(np.int64)).max(initial=0))
        return "" if far <= rounding else f"{far} apart"
    return "" if np.allclose(got, want, rtol=1e-4, atol=1e-5) else f"{np.abs(got - want).max()} apart"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True)
    binary = parser.parse_args().binary
    for add in (convolutions, products, activations, norms, attention, quantised_operators):
        add()
    complaints = []
    by_reference = 0
    for op, inputs, outputs, domain, rounding, attributes in CASES:
        model = model_of(op, inputs, outputs, domain, attributes)
        # ONNX Runtime's exact way has no place for this operator: the reference kernel is the oracle.
        saturates = op == "QLinearConv" and domain == "com.microsoft" and not has_vnni()
        by_reference += saturates
        want = ours(binary, model, inputs[0], outputs, "reference") if saturates else theirs(model, inputs[0])
        got = ours(binary, model, inputs[0], outputs)
        why = got if isinstance(got, str) else "; ".join(filter(None, map(difference, got, want, [rounding] * outputs)))
        if why:
            complaints.append(f"{op} {attributes}: {why}")
    if by_reference:
        print(f"{by_reference} cases are compared with the reference kernels: without VNNI ONNX Runtime saturates")
    conclude(complaints, len(CASES), "cases")


main()
