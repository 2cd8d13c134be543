"""The generated operators: one row holds all that generation and comparison need of an operator.

Inputs and their types per opset come from the onnx package's schemas, or ONNX Runtime's for its own operators. `rule`
generates valid shapes and dependent values, `attributes` lists the values of each attribute (None: omitted), and the
rest is for the oracle.

An operator's own roundings are counted in half ulps of a float (of a double if all is computed in doubles): of the
output (`roundings`) and of 1 (`floor`, for outputs near zero that result from larger numbers). Half precision is
rounded once more at the end. The errors of inputs and sums are computed, and not part of these:
- a function of one element: 8 and 2, because vectorised libraries promise four ulps and reduce their argument with an
  error of one ulp of 1;
- several such functions add theirs: 16 for one behind a sum with a separate bound (a root, a logarithm), 32 for two
  exponentials, a sum of positive terms and a quotient;
- a normalization has two sums of up to MOST_ELEMENTS terms, added in blocks (32), then a root (8), a quotient and three
  more operations; and as much near zero, because it subtracts the mean;
- a product of many has one rounding each: 64 for a block of that many, the rest underflows or is rejected as too large;
- an image coordinate is a float: up to 32 pixels from the corner it has an error of 64 half ulps of 1 after each of
four
  operations, and the output that error times the difference of two neighbours.
The actual errors are smaller: for single nodes a sixteenth to a quarter of the bound.
"""
import dataclasses

import numpy as np

import control as c
import elements as e
import layers as l
import meanings as meant
import microsoft as ms
import movement as m
import products as p
from oracle import ROWS

ALL = frozenset(range(16))
FIRST = frozenset((0,))


@dataclasses.dataclass(frozen=True, eq=False)
class Operator:
    op: str
    rule: object
    attributes: dict = dataclasses.field(default_factory=dict)
    classes: dict = dataclasses.field(default_factory=dict)  # values that a rule generates beside them
    types: tuple = ()  # of the first input; empty: the schema's
    domain: str = ""
    sums: object = None  # the number of products in one element, of (node, values)
    roundings: float = 1.0  # of the output, in half ulps
    rounds_halves: bool = False  # after every step, not only at the end
    floor: float = 0.0  # the same for outputs near zero: in half ulps of 1
    jumps: bool = False  # exact but for its inputs' errors
    overflows: frozenset = frozenset()  # inputs whose integers may overflow
    moves: frozenset = ALL  # inputs whose precision the node rounds to
    not_finite: bool = False
    stashes: bool = False  # statistics or scales are floats by the standard, with doubles too
    weight: float = 1.0
    never: dict = dataclasses.field(default_factory=dict)  # what is not generated, and why, by (label, value)
    meaning: object = None  # the nodes that define it, of (node, arrays); they define its rounding

    @property
    def name(self):
        return f"{self.domain}.{self.op}" if self.domain else self.op


def exact(op, rule, attributes=None, classes=None, **others):
    """Moves, compares or selects elements: its output has the inputs' errors only."""
    return Operator(op, rule, attributes or {}, classes or {}, roundings=0, jumps=True, **others)


def smooth(op, within=e.MODERATE, attributes=None, roundings=8.0, floor=2.0, **others):
    """A function of one element. Libraries promise four ulps, of the result or, near zero, of 1."""
    return Operator(op, e.unary(within, **others), attributes or {}, roundings=roundings, floor=floor)


AXIS = {"axis": ("positive", "negative")}
AXIS_OR_NOT = {"axis": ("absent", "positive", "negative")}
FLAG = [None, 0, 1]
CASTS = {"saturate": FLAG, "round_mode": [None, "up", "down", "nearest"]}  # for 8-bit floats only; else None
POOL = {"auto_pad": ("absent", *p.AUTO_PADS), "pads": ("absent", "symmetric", "asymmetric"),
        "strides": ("absent", "one", "more")}
WINDOW = POOL | {"dilations": ("one", "more")}
BFLOAT16_VALUE = "neither oracle has constants of that type; graphs have initializers of it"
SPARSE = "neither oracle makes a dense tensor of it"
STRINGS = "strings are not part of the vocabulary"
INTEGER_SCALE = "the rounding of integer quotients is undefined"
UNSEEN_STATISTICS = {(f"output {name}", "given"): "ONNX Runtime leaves it empty" for name in ("mean", "inv_std_var")}
STATISTIC = "of training"
CACHES = "of caches in text generators"
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
ACTIVATION = {"activation": ("absent", "Relu", "Tanh", "Sigmoid", "LeakyRelu", "Clip", "HardSigmoid")}
CONV = WINDOW | {"group": ("one", "some", "depthwise"), "kernel_shape": ("given", "absent")}
REDUCE = {"keepdims": FLAG, "noop_with_empty_axes": FLAG}
AXES = {"axes": ("absent", "given", "empty")}
TRANSFORMS = [None, "half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric", "tf_crop_and_resize",
              "half_pixel_symmetric", "tf_half_pixel_for_nn"]
REDUCTIONS = {"reduction": ("absent", "none", "add", "mul", "max", "min")}


def reduction(op, within=(-100, 100), **others):
    return Operator(op, p.reduce(within), REDUCE, AXES, **others)


def last_point(name):
    return {(f"input {name}_zero_point", "absent"): "ONNX Runtime's process aborts if the last one is omitted"}


def microsoft(op, rule, attributes=None, classes=None, **others):
    return Operator(op, rule, attributes or {}, classes or {}, domain="com.microsoft", weight=0.5, **others)


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
    exact("Dropout", e.dropout, {"ratio": [None, 0.3], "seed": [None, 7]}),
    exact("Clip", e.clip, classes={"min": ("given", "absent"), "max": ("given", "absent")}),
    Operator("Cast", e.cast, CASTS, {"to": ("float32", "float64", "float16", "bfloat16", "bool", *INTEGERS)}, weight=3),
    Operator("CastLike", e.cast, CASTS, weight=2.0),
    exact("BitCast", e.bit_cast),
    # Functions of several
    Operator("Add", e.binary(), overflows=ALL, weight=3), Operator("Sub", e.binary(), overflows=ALL),
    Operator("Mul", e.binary((-100, 100)), overflows=ALL, weight=2),
    Operator("Div", e.binary(within_other=e.MODERATE, apart=0.25), roundings=2),
    Operator("Mod", e.modulo, classes={"fmod": ("absent", 0, 1)}, jumps=True),
    Operator("Pow", e.power, overflows=ALL, roundings=8),
    Operator("PRelu", e.slope, overflows=ALL), exact("BitShift", e.shift, {"direction": ["LEFT", "RIGHT"]}),
    exact("Max", e.variadic), exact("Min", e.variadic),
    Operator("Sum", e.variadic, sums=p.terms_of_inputs, rounds_halves=True),
    Operator("Mean", e.variadic, sums=p.terms_of_inputs, rounds_halves=True),
    exact("And", e.compared), exact("Or", e.compared), exact("Xor", e.compared),
    exact("Equal", e.compared), exact("Less", e.compared), exact("Greater", e.compared),
    exact("LessOrEqual", e.compared), exact("GreaterOrEqual", e.compared),
    exact("BitwiseAnd", e.bitwise), exact("BitwiseOr", e.bitwise), exact("BitwiseXor", e.bitwise),
    exact("Where", e.where, weight=2),
    Operator("SwiGLU", e.swiglu, {"alpha": [None, 1.7]}, roundings=12, floor=4),
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
    Operator("ScatterElements", m.scatter_elements, classes=AXIS_OR_NOT | REDUCTIONS, sums=p.terms_of_scatter,
             rounds_halves=True, roundings=0, jumps=True, overflows=FIRST),
    exact("Scatter", m.scatter_elements, classes=AXIS_OR_NOT),
    Operator("ScatterND", m.scatter_nd, classes=REDUCTIONS, sums=p.terms_of_scatter, rounds_halves=True, roundings=0,
             jumps=True, overflows=FIRST),
    exact("Shape", m.shape_of, classes={n: ("absent", "positive", "negative") for n in ("start", "end")}),
    exact("Size", m.size), exact("Expand", m.expand), exact("Tile", m.tile),
    exact("Pad", m.pad, classes={"mode": ("absent", "constant", "edge", "reflect", "wrap"),
                                 "pads": ("positive", "negative"),
                                 "axes": ("absent", "given")}, weight=2),
    exact("DepthToSpace", m.depth_to_space, {"mode": [None, "DCR", "CRD"]}, {"blocksize": (1, 2, 3)}),
    exact("SpaceToDepth", m.space_to_depth, {"mode": [None, "DCR", "CRD"]}, {"blocksize": (1, 2, 3)}),
    exact("Trilu", m.trilu, {"upper": FLAG}, {"k": ("given", "absent")}),
    exact("ReverseSequence", m.reverse_sequence, classes={"batch_axis": (0, 1)}),
    exact("CenterCropPad", m.center_crop_pad, classes={"axes": ("given", "absent")}),
    exact("ConstantOfShape", m.constant_of_shape, never={("type T2", "bfloat16"): BFLOAT16_VALUE}),
    exact("Range", m.range_, {"stash_type": [None, 1]}),
    exact("Constant", m.constant, never={("sparse_value", "given"): SPARSE, ("value_string", "given"): STRINGS,
                                         ("value_strings", "given"): STRINGS, ("type T", "bfloat16"): BFLOAT16_VALUE}),
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
    Operator("BatchNormalization", l.batch_norm, {"epsilon": [None, 1e-3], "momentum": [None, 0.5],
                                                  "spatial": [None, 1]}, {"training_mode": (0, 1)}, roundings=16,
             floor=8, weight=3, meaning=meant.batch_norm),
    Operator("InstanceNormalization", l.instance_norm, {"epsilon": [None, 1e-3]}, roundings=64, floor=64),
    Operator("GroupNormalization", l.group_norm, {"epsilon": [None, 1e-3], "stash_type": [None, 1]},
             {"num_groups": ("one", "some", "all")}, meaning=meant.group_norm),
    Operator("LayerNormalization", l.layer_norm, {"epsilon": [None, 1e-3], "stash_type": [None, 1]}, AXIS_OR_NOT,
             stashes=True, roundings=64, floor=64, weight=2,
             never={("type U", "bfloat16"): "neither oracle has another stash_type than 1"}),
    Operator("RMSNormalization", l.layer_norm, {"epsilon": [None, 1e-3], "stash_type": [None, 1]}, AXIS_OR_NOT,
             stashes=True, roundings=64, floor=16),
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
             {"by": ("sizes", "scales"), "axes": ("given", "absent")}, stashes=True, roundings=32, floor=256, weight=4,
             moves=FIRST),
    Operator("Upsample", l.upsample, {"mode": [None, "nearest", "linear"]}, roundings=16, floor=64, moves=FIRST),
    Operator("GridSample", l.grid_sample, {"mode": [None, "bilinear", "nearest", "bicubic"], "align_corners": FLAG,
                                           "padding_mode": [None, "zeros", "border", "reflection"]}, roundings=32,
                                           floor=256),
    Operator("AffineGrid", l.affine_grid, {"align_corners": FLAG}, roundings=8, floor=8),
    Operator("Col2Im", l.col2im, roundings=8, floor=16),
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
    Operator("Attention", l.attention, {"is_causal": FLAG, "scale": [None, 0.5], "softcap": [None, 2.0],
                                        "softmax_precision": [None, 1], "qk_matmul_output_mode": [None, 0, 1, 2, 3],
                                        "left_window_size": [None, 1], "right_window_size": [None, 1]},
             {"kv heads": ("all", "fewer")}, roundings=64, floor=64, weight=2,
             never={("type U", name): "a mask is bool, or of the queries' type" for name in INTEGERS}),
    Operator("RotaryEmbedding", l.rotary_embedding, {"interleaved": FLAG},
             {"position_ids": ("given", "absent"), "rotary_embedding_dim": ("given", "absent")}, roundings=4, floor=64),
    exact("TensorScatter", l.tensor_scatter, {"mode": [None, "linear", "circular"]},
          {"write_indices": ("given", "absent")}),
    # Quantisation
    Operator("QuantizeLinear", p.quantize_linear, {"saturate": FLAG}, {
        "granularity": ("tensor", "axis", "block"), "to": ("int8", "uint8", "int16", "uint16")}, weight=2,
        never={("type T1", "int32"): INTEGER_SCALE, ("type T2", "int32"): INTEGER_SCALE}),
    Operator("DequantizeLinear", p.dequantize_linear, classes={
        "granularity": ("tensor", "axis", "block"), "zero_point": ("given", "absent")}, roundings=2, weight=2),
    Operator("DynamicQuantizeLinear", p.dynamic_quantize_linear, roundings=2),
    exact("MatMulInteger", p.matmul_integer, classes={"zero_points": ("none", "some", "both")}),
    exact("ConvInteger", p.conv_integer, classes={"zero_points": ("none", "some", "both")} | WINDOW),
    exact("QLinearMatMul", p.qlinear_matmul, classes={"b_scale": ("one", "per column")}),
    exact("QLinearConv", p.qlinear_conv, classes={"w_scale": ("one", "per channel")} | WINDOW),
    # Flow
    Operator("If", c.if_, classes={"condition": ("known", "input"), "taken": ("then", "else"),
                                   "branches": ("of one shape", "of two shapes")}, weight=2,
             meaning=c.meaning_of_if),
    Operator("Loop", c.loop, classes={"ends by": ("limit", "number", "condition"),
                                      "condition": ("absent", "known", "input"), "collects": (False, True)}, weight=2,
             meaning=c.meaning_of_loop),
    # ONNX Runtime's own
    microsoft("Gelu", ms.quick_gelu, meaning=meant.gelu("none")),
    microsoft("QuickGelu", ms.quick_gelu, {"alpha": [None, 1.0]}, meaning=meant.quick_gelu),
    microsoft("FastGelu", ms.fast_gelu, meaning=meant.gelu("tanh")),
    microsoft("BiasGelu", ms.bias_gelu, meaning=meant.gelu("none")),
    microsoft("FusedMatMul", ms.fused_matmul, {"alpha": [None, 0.5], "transA": FLAG, "transB": FLAG,
                                               "transBatchA": FLAG, "transBatchB": FLAG}, meaning=meant.fused_matmul),
    microsoft("SkipLayerNormalization", ms.skip_layer_norm, {"epsilon": [1e-5, 1e-3]},
              meaning=meant.skip_norm("LayerNormalization", 4), never=UNSEEN_STATISTICS),
    microsoft("SkipSimplifiedLayerNormalization", ms.skip_layer_norm, {"epsilon": [1e-5, 1e-3]},
              meaning=meant.skip_norm("RMSNormalization", 3), never=UNSEEN_STATISTICS),
    Operator("SimplifiedLayerNormalization", ms.simplified_layer_norm, {"epsilon": [None, 1e-3],
                                                                        "stash_type": [None, 1]}, AXIS_OR_NOT,
             meaning=meant.simplified_norm, never={("output inv_std_var", "given"): STATISTIC,
                                                   ("type U", "float32"): STATISTIC, ("type U", "float64"): STATISTIC}),
    microsoft("FusedConv", ms.fused_conv(False), classes=CONV | ACTIVATION, meaning=meant.conv(False)),
    microsoft("NhwcConv", ms.nhwc_conv, classes=CONV, meaning=meant.conv(True)),
    microsoft("NhwcFusedConv", ms.fused_conv(True), classes=CONV | ACTIVATION, meaning=meant.conv(True)),
    microsoft("NhwcMaxPool", ms.nhwc_max_pool, {"ceil_mode": FLAG}, WINDOW,
              meaning=meant.channels_last("MaxPool")),
    microsoft("MultiHeadAttention", ms.multi_head_attention,
              {"scale": [None, 0.5], "unidirectional": FLAG, "mask_filter_value": [None, -50.0]},
              {"form": ("apart", "packed", "keys and values packed", "keys and values done")},
              meaning=meant.multi_head_attention,
              never={("input past_sequence_length", "given"): CACHES, ("input cache_indirection", "given"): CACHES,
                     ("output qk", "given"): CACHES} | {("type QK", name): CACHES
                                                        for name in ("float32", "float16", "bfloat16")}),
    microsoft("QuantizeLinear", p.quantize_linear, classes={"granularity": ("tensor", "axis")}),
    microsoft("DequantizeLinear", p.dequantize_linear, classes={"granularity": ("tensor", "axis")}, roundings=2),
    microsoft("QLinearAdd", ms.quantised_pair, meaning=meant.quantised("Add", 2), never=last_point("C")),
    microsoft("QLinearMul", ms.quantised_pair, meaning=meant.quantised("Mul", 2), never=last_point("C")),
    microsoft("QLinearSigmoid", ms.quantised_unary, meaning=meant.quantised("Sigmoid", 1), never=last_point("Y")),
    microsoft("QLinearLeakyRelu", ms.quantised_unary, {"alpha": [None, 0.2]}, meaning=meant.quantised("LeakyRelu", 1),
              never=last_point("Y")),
    microsoft("QLinearConcat", ms.quantised_concat, classes=AXIS, meaning=meant.quantised_concat),
    microsoft("QLinearAveragePool", ms.quantised_pool,
              {"ceil_mode": FLAG, "count_include_pad": FLAG, "channels_last": FLAG}, POOL,
              meaning=meant.quantised("AveragePool", 1), never=last_point("y")),
    microsoft("QLinearGlobalAveragePool", ms.quantised_global_pool, {"channels_last": FLAG},
              meaning=meant.quantised("GlobalAveragePool", 1)),
    microsoft("QLinearSoftmax", ms.quantised_softmax, {"opset": [12, 13]}, AXIS_OR_NOT,
              meaning=meant.quantised_softmax),
    microsoft("QGemm", ms.quantised_gemm, {"alpha": [None, 0.5], "transA": FLAG, "transB": FLAG},
              meaning=meant.quantised_gemm),
    microsoft("QLinearConv", p.qlinear_conv, {"channels_last": FLAG}, WINDOW | {"w_scale": ("one", "per channel")},
              meaning=meant.channels_last("QLinearConv")),
]
ROWS.update({(row.domain, row.op): row for row in OPERATORS})
