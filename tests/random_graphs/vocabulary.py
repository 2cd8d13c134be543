"""The operators that are drawn: one line says all that the drawing and the judging need to know of one.

Inputs and their types per opset are the onnx package's own schemas'; `rule` draws valid shapes and what depends on
them, `attributes` lists the values that each attribute is drawn from (None: left out), and the rest is for the oracle.
"""
import dataclasses

import numpy as np

import elements as e
import layers as l
import microsoft as ms
import movement as m
import products as p

ALL = frozenset(range(16))
FIRST = frozenset((0,))


@dataclasses.dataclass(frozen=True, eq=False)
class Operator:
    op: str
    rule: object
    attributes: dict = dataclasses.field(default_factory=dict)
    classes: dict = dataclasses.field(default_factory=dict)  # what a rule draws beside them, as it notes it
    types: tuple = ()  # of the first input; empty: the schema's
    domain: str = ""
    sums: object = None  # how many products one element adds up, of (node, values)
    roundings: float = 1.0  # of the answer, in units of half an ulp
    floor: float = 0.0  # the same for answers near zero: in units of half an ulp of 1
    jumps: bool = False  # exact but for its inputs' errors
    overflows: frozenset = frozenset()  # inputs whose whole numbers may become too large
    moves: frozenset = ALL  # inputs whose rounding the node's own is like
    not_finite: bool = False
    stashes: bool = False  # its statistics are floats unless stash_type says otherwise, doubles' too
    weight: float = 1.0

    @property
    def name(self):
        return f"{self.domain}.{self.op}" if self.domain else self.op


def exact(op, rule, attributes=None, classes=None, **others):
    """Moves, compares or chooses elements: its answer has the inputs' errors and no other."""
    return Operator(op, rule, attributes or {}, classes or {}, roundings=0, jumps=True, **others)


def smooth(op, within=e.MODERATE, attributes=None, roundings=8.0, floor=2.0, **others):
    """A function of one element.  Libraries promise four ulps for theirs, of the result or, near zero, of 1."""
    return Operator(op, e.unary(within, **others), attributes or {}, roundings=roundings, floor=floor)


AXIS = {"axis": ("positive", "negative")}
AXIS_OR_NOT = {"axis": ("absent", "positive", "negative")}
FLAG = [None, 0, 1]
POOL = {"auto_pad": ("absent", *p.AUTO_PADS), "pads": ("absent", "symmetric", "asymmetric"),
        "strides": ("absent", "one", "more")}
WINDOW = POOL | {"dilations": ("one", "more")}
CONV = WINDOW | {"group": ("one", "some", "depthwise"), "kernel_shape": ("given", "absent")}
REDUCE = {"keepdims": FLAG, "noop_with_empty_axes": FLAG}
AXES = {"axes": ("absent", "given", "empty")}
TRANSFORMS = [None, "half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric", "tf_crop_and_resize",
              "half_pixel_symmetric", "tf_half_pixel_for_nn"]
REDUCTIONS = {"reduction": ("absent", "none", "add", "mul", "max", "min")}


def reduction(op, within=(-100, 100), **others):
    return Operator(op, p.reduce(within), REDUCE, AXES, **others)


def microsoft(op, rule, attributes=None, types=(np.dtype("float32"),), **others):
    others = {"roundings": 64, "floor": 64} | others
    return Operator(op, rule, attributes or {}, types=types, domain="com.microsoft", weight=0.5, **others)


OPERATORS = [
    # Functions of one element
    smooth("Sqrt", e.POSITIVE), smooth("Exp", (-20, 8)), smooth("Log", e.POSITIVE), smooth("Reciprocal", apart=0.1),
    smooth("Erf"), smooth("Sin"), smooth("Cos"), smooth("Tan", (-1.4, 1.4)), smooth("Asin", (-0.95, 0.95)),
    smooth("Acos", (-0.95, 0.95)), smooth("Atan"), smooth("Sinh", (-7, 7)), smooth("Cosh", (-7, 7)), smooth("Tanh"),
    smooth("Asinh"), smooth("Acosh", (1.05, 30)), smooth("Atanh", (-0.95, 0.95)), smooth("Sigmoid"),
    smooth("Softsign"), smooth("Softplus"), smooth("Mish", floor=8), smooth("HardSwish"),
    smooth("LeakyRelu", attributes={"alpha": [None, 0.0, 0.2, 1.5]}),
    smooth("ThresholdedRelu", attributes={"alpha": [None, 0.0, 0.5]}),
    smooth("Elu", attributes={"alpha": [None, 0.5, 2.0]}), smooth("Celu", attributes={"alpha": [None, 0.5, 2.0]}),
    smooth("Selu", attributes={"alpha": [None, 1.0], "gamma": [None, 2.0]}),
    smooth("HardSigmoid", attributes={"alpha": [None, 0.5], "beta": [None, 0.25]}),
    smooth("Gelu", attributes={"approximate": [None, "none", "tanh"]}, floor=8),
    smooth("Swish", attributes={"alpha": [None, 1.0, 1.7]}),
    smooth("Shrink", attributes={"bias": [None, 0.25], "lambd": [None, 1.0]}),
    exact("Floor", e.unary()), exact("Ceil", e.unary()), exact("Round", e.unary()), exact("Sign", e.unary()),
    exact("Relu", e.unary(e.ANY)), exact("Neg", e.unary(e.ANY), overflows=FIRST), exact("Abs", e.unary(e.ANY)),
    exact("Not", e.unary(e.ANY)), exact("BitwiseNot", e.unary(e.ANY)),
    exact("IsNaN", e.with_specials), exact("IsInf", e.with_specials,
                                           {"detect_negative": FLAG, "detect_positive": FLAG}),
    exact("Identity", e.identity),
    exact("Dropout", e.dropout, {"ratio": [None, 0.3]}),
    exact("Clip", e.clip, classes={"min": ("given", "absent"), "max": ("given", "absent")}),
    Operator("Cast", e.cast, classes={"to": ("float32", "float64", "float16", "bfloat16", "int8", "int16", "int32",
                                             "int64", "uint8", "uint16", "uint32", "uint64", "bool")}, weight=3.0),
    Operator("CastLike", e.cast, weight=2.0),
    exact("BitCast", e.bit_cast),
    # Functions of several
    Operator("Add", e.binary(), overflows=ALL, weight=3), Operator("Sub", e.binary(), overflows=ALL),
    Operator("Mul", e.binary((-100, 100)), overflows=ALL, weight=2),
    Operator("Div", e.binary(within_other=e.MODERATE, apart=0.25), roundings=2),
    Operator("Mod", e.modulo, classes={"fmod": ("absent", 0, 1)}, jumps=True),
    Operator("Pow", e.power, overflows=ALL, roundings=8),
    exact("PRelu", e.slope, overflows=ALL), exact("BitShift", e.shift, {"direction": ["LEFT", "RIGHT"]}),
    exact("Max", e.variadic), exact("Min", e.variadic), Operator("Sum", e.variadic, roundings=4),
    Operator("Mean", e.variadic, roundings=4),
    exact("And", e.compared), exact("Or", e.compared), exact("Xor", e.compared),
    exact("Equal", e.compared), exact("Less", e.compared), exact("Greater", e.compared),
    exact("LessOrEqual", e.compared), exact("GreaterOrEqual", e.compared),
    exact("BitwiseAnd", e.bitwise), exact("BitwiseOr", e.bitwise), exact("BitwiseXor", e.bitwise),
    exact("Where", e.where, weight=2),
    # Movement
    exact("Transpose", m.transpose, classes={"perm": ("absent", "given")}, weight=3),
    exact("Reshape", m.reshape, classes={"allowzero": ("absent", 0, 1)}, weight=3),
    exact("Flatten", m.flatten, classes=AXIS_OR_NOT),
    exact("Squeeze", m.squeeze, classes={"axes": ("absent", "given")}),
    exact("Unsqueeze", m.unsqueeze, classes={"axes": ("positive", "negative")}),
    exact("Concat", m.concat, classes=AXIS, weight=3),
    exact("Split", m.split, classes=AXIS_OR_NOT | {"split": ("absent", "given"), "num_outputs": ("even", "uneven")},
          weight=2),
    exact("Slice", m.slice_, classes={"steps": ("one", "positive", "negative"), "axes": ("absent", "given")}, weight=3),
    exact("Gather", m.gather, classes=AXIS_OR_NOT, weight=2),
    exact("GatherElements", m.gather_elements, classes=AXIS_OR_NOT),
    exact("GatherND", m.gather_nd, classes={"batch_dims": (0, 1)}),
    Operator("ScatterElements", m.scatter_elements, classes=AXIS_OR_NOT | REDUCTIONS, roundings=4, jumps=True,
             overflows=FIRST),
    exact("Scatter", m.scatter_elements, classes=AXIS_OR_NOT),
    Operator("ScatterND", m.scatter_nd, classes=REDUCTIONS, roundings=4, jumps=True, overflows=FIRST),
    exact("Shape", m.shape_of, classes={n: ("absent", "positive", "negative") for n in ("start", "end")}),
    exact("Size", m.size), exact("Expand", m.expand), exact("Tile", m.tile),
    exact("Pad", m.pad, classes={"mode": ("absent", "constant", "edge", "reflect", "wrap"),
                                 "pads": ("positive", "negative"),
                                 "axes": ("absent", "given")}, weight=2),
    exact("DepthToSpace", m.depth_to_space, {"mode": [None, "DCR", "CRD"]}, {"blocksize": (1, 2, 3)}),
    exact("SpaceToDepth", m.space_to_depth, classes={"blocksize": (1, 2, 3)}),
    exact("Trilu", m.trilu, {"upper": FLAG}, {"k": ("given", "absent")}),
    exact("ReverseSequence", m.reverse_sequence, classes={"batch_axis": (0, 1)}),
    exact("CenterCropPad", m.center_crop_pad, classes={"axes": ("given", "absent")}),
    exact("ConstantOfShape", m.constant_of_shape), exact("Range", m.range_),
    exact("Constant", m.constant, classes={"form": ("value_float", "value_floats", "value_int", "value_ints")}),
    exact("EyeLike", m.eye_like, {"k": [None, 0, 1, -2]}), exact("OneHot", m.one_hot, classes=AXIS_OR_NOT),
    exact("NonZero", m.non_zero, weight=0.4), exact("Compress", m.compress, classes=AXIS_OR_NOT, weight=0.4),
    exact("Unique", m.unique, {"sorted": FLAG}, AXIS_OR_NOT, weight=0.4),
    exact("TopK", m.top_k, {"largest": FLAG, "sorted": [None, 1]}, AXIS_OR_NOT),
    # Reductions
    reduction("ReduceSum", sums=p.terms_of_all, overflows=FIRST),
    reduction("ReduceMean", sums=p.terms_of_all, weight=2),
    reduction("ReduceL1", sums=p.terms_of_all, overflows=FIRST),
    reduction("ReduceSumSquare", (-20, 20), sums=p.terms_of_all, overflows=FIRST),
    reduction("ReduceL2", (-30, 30), roundings=16), reduction("ReduceLogSum", (0.1, 30), roundings=16, floor=16),
    reduction("ReduceLogSumExp", (-10, 10), roundings=16, floor=16),
    reduction("ReduceProd", (-1.5, 1.5), roundings=64, overflows=FIRST),
    reduction("ReduceMax", e.ANY, jumps=True), reduction("ReduceMin", e.ANY, jumps=True),
    exact("ArgMax", p.arg_reduce, {"keepdims": FLAG, "select_last_index": FLAG}, AXIS_OR_NOT),
    exact("ArgMin", p.arg_reduce, {"keepdims": FLAG, "select_last_index": FLAG}, AXIS_OR_NOT),
    Operator("CumSum", p.cumulate, {"exclusive": FLAG, "reverse": FLAG}, sums=p.terms_of_all, overflows=FIRST),
    Operator("CumProd", p.cumulate, {"exclusive": FLAG, "reverse": FLAG}, roundings=64, overflows=FIRST),
    Operator("Softmax", p.along_axis(lambda opset: 1 if opset < 13 else -1), classes=AXIS_OR_NOT, roundings=32,
             weight=2),
    Operator("LogSoftmax", p.along_axis(lambda opset: 1 if opset < 13 else -1), classes=AXIS_OR_NOT, roundings=32,
             floor=32),
    exact("Hardmax", p.along_axis(lambda opset: 1 if opset < 13 else -1), classes=AXIS_OR_NOT),
    # Products and windows
    Operator("MatMul", p.matmul, sums=p.terms_of_matrix, overflows=ALL, weight=3),
    Operator("Gemm", p.gemm, {"alpha": [None, 0.5, -1.0], "beta": [None, 0.5], "transA": FLAG, "transB": FLAG},
             sums=p.terms_of_matrix, overflows=ALL, weight=2),
    Operator("Einsum", p.einsum, sums=p.terms_of_einsum, overflows=ALL), Operator("Det", l.det, roundings=64, floor=64),
    Operator("Conv", p.conv, classes=CONV, sums=p.terms_of_window, weight=6),
    Operator("ConvTranspose", p.conv_transpose, sums=p.terms_of_window, weight=3, classes={
        "auto_pad": ("absent", *p.AUTO_PADS[1:]), "output_shape": ("given", "absent"), "pads": ("given", "absent"),
        "output_padding": ("given", "absent"), "group": ("one", "some", "depthwise")}),
    Operator("AveragePool", p.average_pool, {"ceil_mode": FLAG, "count_include_pad": FLAG}, WINDOW,
             sums=p.terms_of_kernel, weight=2),
    exact("MaxPool", p.max_pool, {"ceil_mode": FLAG, "storage_order": FLAG}, WINDOW, weight=2),
    Operator("LpPool", p.lp_pool, {"ceil_mode": FLAG, "p": [None, 1, 2, 3]}, WINDOW, roundings=32),
    Operator("GlobalAveragePool", p.global_pool, sums=p.terms_of_all, weight=2), exact("GlobalMaxPool", p.global_pool),
    Operator("GlobalLpPool", p.global_pool, {"p": [None, 1, 2, 3]}, roundings=32),
    # Normalisations
    Operator("BatchNormalization", l.batch_norm, {"epsilon": [None, 1e-3], "momentum": [None, 0.5]}, roundings=16,
             floor=8, weight=3),
    Operator("InstanceNormalization", l.instance_norm, {"epsilon": [None, 1e-3]}, roundings=64, floor=64),
    Operator("GroupNormalization", l.group_norm, {"epsilon": [None, 1e-3]}, {"num_groups": ("one", "some", "all")},
             stashes=True, roundings=64, floor=64),
    Operator("LayerNormalization", l.layer_norm, {"epsilon": [None, 1e-3], "stash_type": [None, 1]}, AXIS_OR_NOT,
             stashes=True, roundings=64, floor=64, weight=2),
    Operator("RMSNormalization", l.layer_norm, {"epsilon": [None, 1e-3]}, AXIS_OR_NOT, stashes=True,
             roundings=64, floor=16),
    Operator("LRN", l.lrn, {"alpha": [None, 0.01], "beta": [None, 0.5], "bias": [None, 2.0], "size": [1, 3, 5]},
             roundings=16),
    Operator("LpNormalization", l.lp_norm, {"p": [None, 1, 2]}, AXIS_OR_NOT, roundings=32),
    Operator("MeanVarianceNormalization", l.mean_variance, classes={"axes": ("absent", "given")},
             types=(np.dtype("float32"),),
             roundings=64, floor=64),
    # Images
    Operator("Resize", l.resize, {"mode": [None, "nearest", "linear", "cubic"],
                                  "coordinate_transformation_mode": TRANSFORMS,
                                  "nearest_mode": [None, "round_prefer_floor", "round_prefer_ceil", "floor", "ceil"],
                                  "cubic_coeff_a": [None, -0.5], "exclude_outside": FLAG, "antialias": FLAG,
                                  "extrapolation_value": [None, 1.5],
                                  "keep_aspect_ratio_policy": [None, "stretch", "not_larger", "not_smaller"]},
             {"by": ("sizes", "scales"), "axes": ("given", "absent")}, roundings=32, floor=256, weight=4, moves=FIRST),
    Operator("Upsample", l.upsample, {"mode": [None, "nearest", "linear"]}, roundings=16, floor=64, moves=FIRST),
    Operator("GridSample", l.grid_sample, {"mode": [None, "bilinear", "nearest", "bicubic"], "align_corners": FLAG,
                                           "padding_mode": [None, "zeros", "border", "reflection"]}, roundings=32,
                                           floor=256),
    Operator("AffineGrid", l.affine_grid, {"align_corners": FLAG}, roundings=8, floor=8),
    Operator("Col2Im", l.col2im, roundings=8, floor=64),
    Operator("RoiAlign", l.roi_align, {"mode": [None, "avg", "max"], "output_height": [None, 2],
                                       "output_width": [None, 3],
                                       "sampling_ratio": [None, 0, 2], "spatial_scale": [None, 0.5],
                                       "coordinate_transformation_mode": [None, "half_pixel", "output_half_pixel"]},
             roundings=32, floor=256),
    exact("MaxRoiPool", l.max_roi_pool, {"pooled_shape": [[1, 1], [2, 2], [2, 3]], "spatial_scale": [None, 0.5]}),
    exact("NonMaxSuppression", l.non_max_suppression, {"center_point_box": FLAG}, weight=0.4),
    Operator("DeformConv", l.deform_conv, classes={"groups": ("1/1", "1/2", "2/1", "2/2")}, roundings=64, floor=512),
    exact("MaxUnpool", l.max_unpool),
    # Attention
    Operator("Attention", l.attention, {"is_causal": FLAG, "scale": [None, 0.5], "softcap": [None, 2.0]},
             {"kv heads": ("all", "fewer"), "attn_mask": ("given", "absent")}, roundings=64, floor=64, weight=2),
    Operator("RotaryEmbedding", l.rotary_embedding, {"interleaved": FLAG},
             {"position_ids": ("given", "absent"), "rotary_embedding_dim": ("given", "absent")}, roundings=4, floor=64),
    exact("TensorScatter", l.tensor_scatter, {"mode": [None, "linear", "circular"]},
          {"write_indices": ("given", "absent")}),
    # Quantisation
    Operator("QuantizeLinear", p.quantize_linear, {"saturate": FLAG}, {
        "granularity": ("tensor", "axis", "block"), "to": ("int8", "uint8", "int16", "uint16")}, weight=2),
    Operator("DequantizeLinear", p.dequantize_linear, classes={
        "granularity": ("tensor", "axis", "block"), "zero_point": ("given", "absent")}, roundings=2, weight=2),
    Operator("DynamicQuantizeLinear", p.dynamic_quantize_linear, roundings=2),
    exact("MatMulInteger", p.matmul_integer, classes={"zero_points": ("none", "some", "both")}),
    exact("ConvInteger", p.conv_integer, classes={"zero_points": ("none", "some", "both")} | WINDOW),
    exact("QLinearMatMul", p.qlinear_matmul, classes={"b_scale": ("one", "per column")}),
    exact("QLinearConv", p.qlinear_conv, classes={"w_scale": ("one", "per channel")} | WINDOW),
    # ONNX Runtime's own
    microsoft("Gelu", ms.quick_gelu), microsoft("QuickGelu", ms.quick_gelu, {"alpha": [None, 1.0]}),
    microsoft("FastGelu", ms.fast_gelu), microsoft("BiasGelu", ms.bias_gelu),
    microsoft("FusedMatMul", ms.fused_matmul, {"alpha": [None, 0.5], "transA": FLAG, "transB": FLAG},
              sums=p.terms_of_matrix),
    microsoft("SkipLayerNormalization", ms.skip_layer_norm, {"epsilon": [1e-5, 1e-3]}),
    microsoft("QLinearAdd", ms.quantised_pair, types=(np.dtype("uint8"),)),
    microsoft("QLinearMul", ms.quantised_pair, types=(np.dtype("uint8"),)),
]
