"""The forms in which exporters write networks, each in a minimal graph."""
import numpy as np
from onnx import TensorProto, helper

from net import Form, Net

SHAPE_OPS = ("Shape", "Gather", "Unsqueeze", "Concat", "Cast", "Slice", "ConstantOfShape", "Equal", "Where", "Expand")
FORMS = {}


def form(make):
    FORMS[make.__name__] = make
    return make


def cast(net, x, data_type):
    name = f"cast_{len(net.nodes)}"
    net.nodes.append(helper.make_node("Cast", [x], [name], to=data_type))
    return name


def first_two(net, x):
    return net.node("Slice", x, net.constant_node("s", [0], np.int64), net.constant_node("e", [2], np.int64),
                    net.constant_node("a", [0], np.int64))


def conv(net, x, channels, filters, name="conv", **attributes):
    weights = net.weights(f"{name}.weight", filters, channels, 3, 3)
    return net.node("Conv", x, weights, net.weights(f"{name}.bias", filters), pads=[1, 1, 1, 1], **attributes)


def batch_norm(net, x, channels, name="bn", dtype=np.float32):
    parts = [net.weights(f"{name}.{part}", channels, dtype=dtype) for part in ("weight", "bias", "mean")]
    variance = net.const(f"{name}.var", np.linspace(0.5, 2, channels), dtype)
    return net.node("BatchNormalization", x, *parts, variance, epsilon=1e-3)


def quantised(net, x, name, scale, zero):
    """x through QuantizeLinear and DequantizeLinear, as uint8."""
    parts = [net.const(f"{name}_scale", np.float32(scale)), net.const(f"{name}_zero_point", np.uint8(zero))]
    return net.node("DequantizeLinear", net.node("QuantizeLinear", x, *parts), *parts)


@form
def torchscript_flatten_by_shape():
    """x.view(x.size(0), -1), unsimplified, with a symbolic batch."""
    net = Net(opset=11)
    x = net.input("input", ["batch", 3, 4, 4], (2, 3, 4, 4))
    x = conv(net, x, 3, 2)
    size = net.node("Gather", net.node("Shape", x), net.constant_node("zero", 0, np.int64), axis=0)
    target = net.node("Concat", net.node("Unsqueeze", size, axes=[0]),
                      net.node("Unsqueeze", net.constant_node("rest", -1, np.int64), axes=[0]), axis=0)
    return Form(net.output(net.node("Reshape", x, target, to="output")), gone=SHAPE_OPS)


@form
def torchscript_pad():
    """F.pad: the pads are padded, reversed and flattened at run time."""
    net = Net(opset=11)
    x = net.input("input", [1, 2, 3, 4], (1, 2, 3, 4))
    given = net.constant_node("given", [1, 2, 0, 1], np.int64)
    missing = net.node("ConstantOfShape", net.constant_node("four", [4], np.int64),
                       value=helper.make_tensor("value", TensorProto.INT64, [1], [0]))
    all_of_them = net.node("Concat", given, missing, axis=0)
    pairs = net.node("Reshape", all_of_them, net.constant_node("pairs", [-1, 2], np.int64))
    turned = net.node("Slice", pairs, net.constant_node("starts", [-1], np.int64),
                      net.constant_node("ends", [-9223372036854775807], np.int64),
                      net.constant_node("axes", [0], np.int64), net.constant_node("steps", [-1], np.int64))
    flat = net.node("Reshape", net.node("Transpose", turned, perm=[1, 0]), net.constant_node("flat", [-1], np.int64))
    y = net.node("Pad", x, cast(net, flat, TensorProto.INT64), net.constant_node("value", 0.0, np.float32), to="output",
                 mode="constant")
    return Form(net.output(y), gone=SHAPE_OPS + ("Transpose",))


@form
def torchscript_interpolate():
    """F.interpolate by a factor: the size is computed from Shape; roi and scales are empty tensors."""
    net = Net(opset=11)
    x = net.input("input", [1, 2, "height", "width"], (1, 2, 3, 5))
    wanted = net.constant_node("hw", [6, 10], np.int64)
    sizes = net.node("Concat", first_two(net, net.node("Shape", x)), wanted, axis=0)
    empty = net.constant_node("empty", np.zeros(0, np.float32))
    y = net.node("Resize", x, empty, empty, sizes, to="output", mode="linear",
                 coordinate_transformation_mode="pytorch_half_pixel")
    return Form(net.output(y), gone=SHAPE_OPS)


@form
def torchscript_squeeze_asks_its_dimension():
    """x.squeeze(1) of an unknown dimension: an If that compares it with 1."""
    net = Net(opset=13)
    x = net.input("input", ["batch", "c", 4], (2, 1, 4))
    size = net.node("Gather", net.node("Shape", x), net.constant_node("one_index", [1], np.int64), axis=0)
    is_one = net.node("Equal", size, net.constant_node("one", [1], np.int64))
    axes = helper.make_node("Constant", [], ["axes"], value_ints=[1])
    squeezed = helper.make_graph([axes, helper.make_node("Squeeze", [x, "axes"], ["squeezed"])], "then", [],
                                 [helper.make_empty_tensor_value_info("squeezed")])
    same = helper.make_graph([helper.make_node("Identity", [x], ["same"])], "else", [],
                             [helper.make_empty_tensor_value_info("same")])
    y = net.node("If", is_one, then_branch=squeezed, else_branch=same)
    return Form(net.output(net.node("Relu", y, to="output")), gone=SHAPE_OPS + ("If", "Identity"))


@form
def torchscript_loop_over_images():
    """A scripted loop over the images of a batch that stacks its results."""
    net = Net(opset=13)
    x = net.input("input", ["batch", 3], (4, 3))
    count = net.node("Gather", net.node("Shape", x), net.constant_node("zero", 0, np.int64), axis=0)
    body = helper.make_graph(
        [helper.make_node("Gather", [x, "i"], ["row"], axis=0), helper.make_node("Mul", ["row", "row"], ["squares"]),
         helper.make_node("Add", ["sum", "squares"], ["new_sum"]), helper.make_node("Identity", ["go"], ["goes_on"])],
        "body",
        [helper.make_tensor_value_info("i", TensorProto.INT64, []),
         helper.make_tensor_value_info("go", TensorProto.BOOL, []),
         helper.make_tensor_value_info("sum", TensorProto.FLOAT, None)],
        [helper.make_tensor_value_info("goes_on", TensorProto.BOOL, []),
         helper.make_tensor_value_info("new_sum", TensorProto.FLOAT, None),
         helper.make_tensor_value_info("squares", TensorProto.FLOAT, None)])
    start = net.constant_node("start", np.zeros(3, np.float32))
    last, rows = net.node("Loop", count, net.constant_node("go_first", True), start, to=("last", "rows"), body=body)
    return Form(net.output(last, rows), gone=("Loop", "Shape"))


@form
def dynamo_functions():
    """Local functions with overloads, attributes by reference, initializers named after weights; Reshape with
    allowzero."""
    silu = helper.make_function("pkg.nn", "SiLU", ["x"], ["y"],
                                [helper.make_node("Sigmoid", ["x"], ["s"]), helper.make_node("Mul", ["x", "s"], ["y"])],
                                [helper.make_opsetid("", 18)])
    scale = helper.make_function("pkg.nn", "Scale", ["x"], ["y"], [], [helper.make_opsetid("", 18)],
                                 attributes=["factor"])
    by = helper.make_node("Constant", [], ["f"])
    by.attribute.add(name="value_float", ref_attr_name="factor", type=1)
    scale.node.extend([by, helper.make_node("Mul", ["x", "f"], ["y"])])
    net = Net(opset=18, ir=10, imports=[("pkg.nn", 1)], functions=[silu, scale])
    x = net.input("x", ["s0", 3, 4, 4], (2, 3, 4, 4))
    x = net.node("SiLU", conv(net, x, 3, 4), domain="pkg.nn", name="node_silu_1")
    x = net.node("ReduceMean", x, net.ints("val_3", -1, -2), keepdims=1, name="node_mean_1")
    x = net.node("Reshape", x, net.ints("val_5", -1, 4), allowzero=1, name="node_view_1")
    return Form(net.output(net.node("Scale", x, domain="pkg.nn", factor=0.5, to="output")), gone=("Shape",))


@form
def dynamo_split_and_named_axes():
    """Opset 18: Split by num_outputs, reductions with axes as inputs, Concat back."""
    net = Net(opset=18, ir=10)
    x = net.input("x", [1, 7, 4], (1, 7, 4))
    a, b = net.node("Split", x, axis=1, num_outputs=2, to=("a", "b"))
    top = net.node("ReduceMax", a, net.ints("axes", 1), keepdims=1)
    return Form(net.output(net.node("Concat", b, top, axis=1, to="output")))


@form
def tensorflow_nhwc():
    """tf2onnx: NHWC at the edges, names with colons and slashes, SAME padding, sizes cast to int32 and back."""
    net = Net(opset=13)
    x = net.input("serving_default_input:0", [-1, 6, 6, 3], (2, 6, 6, 3))
    x = net.node("Transpose", x, perm=[0, 3, 1, 2], name="model/conv/Conv2D__6")
    x = net.node("Conv", x, net.weights("model/conv/kernel:0", 4, 3, 3, 3), auto_pad="SAME_UPPER", strides=[2, 2],
                 name="model/conv/Conv2D", to="model/conv/Conv2D:0")
    x = batch_norm(net, x, 4, "model/bn")
    x = net.node("Clip", x, net.const("zero", np.float32(0)), net.const("six", np.float32(6)), name="model/relu6")
    x = net.node("Transpose", x, perm=[0, 2, 3, 1], name="model/conv/Conv2D__9")
    size = cast(net, net.node("Shape", x), TensorProto.INT32)
    first = net.node("Slice", size, net.ints("s", 0), net.ints("e", 1), net.ints("a", 0))
    target = cast(net, net.node("Concat", first, net.const("minus", [-1], np.int32), axis=0), TensorProto.INT64)
    net.output(net.node("Reshape", x, target, to="Identity:0", name="Identity"))
    # The reference's BatchNormalization of this opset uses the batch's own statistics.
    return Form(net, gone=SHAPE_OPS, plain=net.at_opset(17))


@form
def paddle():
    """Weights as Constant nodes, names with dots, HardSigmoid gates, a Resize whose size is concatenated from Shape."""
    net = Net(opset=11, ir=7)
    x = net.input("x", [-1, 3, 4, 4], (1, 3, 4, 4))
    weights = net.constant_node("conv2d_0.w_0", net.random.standard_normal((4, 3, 1, 1)).astype(np.float32))
    x = net.node("Conv", x, weights, kernel_shape=[1, 1], dilations=[1, 1], strides=[1, 1], pads=[0, 0, 0, 0], group=1,
                 to="conv2d_0.tmp_0", name="p2o.Conv.0")
    pooled = net.node("GlobalAveragePool", x, name="p2o.GlobalAveragePool.0")
    gate = net.node("HardSigmoid", pooled, alpha=1 / 6, beta=0.5)
    x = net.node("Mul", x, gate, name="p2o.Mul.0")
    wanted = cast(net, net.constant_node("hw", [8, 8], np.int32), TensorProto.INT64)
    size = net.node("Concat", first_two(net, net.node("Shape", x)), wanted, axis=0)
    none = net.constant_node("none", np.zeros(0, np.float32))
    return Form(net.output(net.node("Resize", x, none, none, size, mode="nearest", nearest_mode="floor",
                                    coordinate_transformation_mode="asymmetric", to="fetch")), gone=SHAPE_OPS)


@form
def torch_qat_qdq():
    """PyTorch's quantisation-aware training: int8 weights with a scale per channel, an int32 bias, Q/DQ pairs
    everywhere."""
    net = Net(opset=13)
    x = quantised(net, net.input("input", [1, 3, 5, 5], (1, 3, 5, 5)), "in", 0.03, 120)
    scales = np.float32([0.02, 0.05, 0.01, 0.04])
    weights = net.node("DequantizeLinear", net.const("w", net.random.integers(-127, 128, (4, 3, 3, 3)), np.int8),
                       net.const("w_scale", scales), net.const("w_zero_point", np.zeros(4, np.int8)), axis=0)
    bias = net.node("DequantizeLinear", net.const("b", net.random.integers(-500, 500, 4), np.int32),
                    net.const("b_scale", scales * np.float32(0.03)), net.const("b_zero_point", np.zeros(4, np.int32)),
                    axis=0)
    x = net.node("Relu", net.node("Conv", x, weights, bias, pads=[1, 1, 1, 1]))
    net.output(quantised(net, x, "out", 0.05, 0))
    return Form(net, plain=net.at_opset(19))


@form
def runtime_static_quantisation():
    """ONNX Runtime's QOperator format: QLinearConv with its bias, then back to float."""
    net = Net(opset=13)
    x = net.input("input", [1, 3, 5, 5], (1, 3, 5, 5))
    scale, zero = net.const("x_scale", np.float32(0.03)), net.const("x_zero_point", np.uint8(120))
    out_scale, out_zero = net.const("y_scale", np.float32(0.2)), net.const("y_zero_point", np.uint8(99))
    weights = [net.const("w_quantized", net.random.integers(-127, 128, (4, 3, 3, 3)), np.int8),
               net.const("w_scale", np.float32([0.02, 0.05, 0.01, 0.04])),
               net.const("w_zero_point", np.zeros(4, np.int8))]
    bias = net.const("b_quantized", net.random.integers(-500, 500, 4), np.int32)
    x = net.node("QuantizeLinear", x, scale, zero)
    x = net.node("QLinearConv", x, scale, zero, *weights, out_scale, out_zero, bias, pads=[1, 1, 1, 1])
    net.output(net.node("DequantizeLinear", x, out_scale, out_zero, to="output"))
    return Form(net, plain=net.at_opset(19))


@form
def half_precision():
    """fp16 throughout, except for Resize's scales in fp32."""
    net = Net(opset=13)
    x = net.input("input", [1, 2, 4, 4], (1, 2, 4, 4), np.float16)
    x = net.node("Conv", x, net.weights("w", 3, 2, 1, 1, dtype=np.float16), net.weights("b", 3, dtype=np.float16))
    x = net.node("Resize", net.node("Relu", x), "", net.const("scales", [1, 1, 2, 2], np.float32), mode="nearest",
                 coordinate_transformation_mode="asymmetric", nearest_mode="floor", to="output")
    return Form(net.output(x), tolerance=1e-2)  # the positions of half-precision roundings depend on the engine


@form
def mixed_precision():
    """fp32 at the edges and in Softmax, fp16 between."""
    net = Net(opset=13)
    x = cast(net, net.input("input", [2, 8], (2, 8)), TensorProto.FLOAT16)
    x = net.node("Gemm", x, net.weights("w", 5, 8, dtype=np.float16), net.weights("b", 5, dtype=np.float16), transB=1)
    return Form(net.output(net.node("Softmax", cast(net, x, TensorProto.FLOAT), axis=-1, to="output")))


@form
def batch_norm_unfused():
    """Separate Conv and BatchNormalization, as after an export in training mode."""
    net = Net(opset=17)
    x = net.input("input", [1, 3, 4, 4], (1, 3, 4, 4))
    weights = net.weights("w", 4, 3, 3, 3)
    return Form(net.output(net.node("Relu", batch_norm(net, net.node("Conv", x, weights), 4), to="output")),
                gone=("BatchNormalization",))


@form
def without_a_batch():
    """One image: the batch dimension is added and removed inside."""
    net = Net(opset=13)
    x = net.node("Unsqueeze", net.input("image", [3, "h", "w"], (3, 4, 6)), net.ints("front", 0))
    x = net.node("Squeeze", conv(net, x, 3, 2), net.ints("back", 0), to="output")
    return Form(net.output(x))


@form
def pixels_as_bytes():
    """A uint8 NHWC image that the model normalises."""
    net = Net(opset=13)
    x = net.input("image", [1, 4, 4, 3], np.arange(48, dtype=np.uint8).reshape(1, 4, 4, 3), np.uint8)
    x = cast(net, net.node("Transpose", x, perm=[0, 3, 1, 2]), TensorProto.FLOAT)
    x = net.node("Sub", net.node("Div", x, net.const("scale", np.float32(255))), net.weights("mean", 1, 3, 1, 1))
    return Form(net.output(net.node("Relu", conv(net, x, 3, 2), to="output")))


@form
def unnamed_and_duplicated_nodes():
    """Two nodes of the same name, the others without a name."""
    net = Net(opset=13)
    x = net.input("x", [2, 2], (2, 2))
    x = net.node("Neg", net.node("Exp", net.node("Abs", x, name="same"), name="same"))
    return Form(net.output(net.node("Tanh", x, to="y")))


@form
def initializers_listed_as_inputs():
    """IR version 3: weights are inputs with a default."""
    net = Net(opset=8, ir=3)
    x = net.input("x", [1, 4], (1, 4))
    weights, bias = net.weights("w", 4, 3), net.weights("b", 3)
    y = net.node("Gemm", x, weights, bias, to="y")
    for name, shape in ((weights, [4, 3]), (bias, [3])):
        net.inputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape))
    return Form(net.output(y))


@form
def empty_optional_inputs():
    """Inputs omitted by an empty name, in the middle and at the end."""
    net = Net(opset=13)
    x = net.node("Clip", net.input("x", [1, 1, 2, 2], (1, 1, 2, 2)), "", net.const("high", np.float32(0.5)))
    x = net.node("Clip", x, net.const("low", np.float32(-0.5)), "")
    x = net.node("Conv", x, net.weights("w", 2, 1, 1, 1), "")
    return Form(net.output(net.node("Resize", x, "", "", net.ints("sizes", 1, 2, 4, 4), mode="nearest", to="y")))


@form
def scalars_and_nothing():
    """Scalars as tensors, and a Concat with an empty tensor."""
    net = Net(opset=13)
    x = net.input("x", [2, 3], (2, 3))
    total = net.node("ReduceSum", x, keepdims=0)
    scaled = net.node("Mul", x, net.node("Mul", total, net.const("half", np.float32(0.5))))
    nothing = net.const("nothing", np.zeros((0, 3), np.float32))
    return Form(net.output(net.node("Concat", nothing, scaled, axis=0, to="y"), total))


@form
def an_input_without_elements():
    """An image without boxes: an empty tensor as input and output."""
    net = Net(opset=13)
    boxes = net.input("boxes", ["n", 4], (0, 4))
    return Form(net.output(net.node("Mul", boxes, net.const("scale", [2, 2, 2, 2], np.float32), to="y")))


def perceptron(simplified):
    """A layer before and after onnxsim: weights behind Transpose and Identity, dead nodes."""
    net = Net(opset=17)
    x = net.input("x", ["batch", 4], (3, 4))
    weights, bias = net.weights("w", 5, 4), net.weights("b", 5)
    if simplified:
        return Form(net.output(net.node("Relu", net.node("Gemm", x, weights, bias, transB=1), to="y")))
    net.node("Shape", x, to="nobody_reads_this")
    turned = net.node("Transpose", net.node("Identity", weights), perm=[1, 0])
    x = net.node("Add", net.node("MatMul", net.node("Dropout", x), turned), bias)
    return Form(net.output(net.node("Relu", x, to="y")), gone=("Identity", "Transpose", "Dropout", "Shape"))


@form
def simplified():
    return perceptron(True)


@form
def unsimplified():
    return perceptron(False)
