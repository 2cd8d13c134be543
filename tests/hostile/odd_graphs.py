"""Valid graphs with NaN and infinities in inputs and weights: CPU and reference must agree on all of them."""
import numpy as np
import onnx
from onnx import helper

from attempt import Attempt
from models import constant, floats, model

OPS = [
    "Relu", "Sigmoid", "Exp", "Tanh", "Neg", "Abs", "Sqrt", "Log", "Erf", "Softplus", "HardSigmoid", "LeakyRelu", "Elu",
    "Floor", "Ceil", "Sign", "Reciprocal", "HardSwish", "Round", "Identity", "Softmax", "LogSoftmax", "Clip", "Gelu",
    "Mish", "Celu", "Selu"
]
PAIRS = ["Add", "Mul", "Sub", "Div", "Max", "Min", "Pow", "PRelu"]
OTHERS = [
    "ReduceMax", "ReduceMin", "ReduceMean", "ReduceSum", "MaxPool", "AveragePool", "GlobalMaxPool", "GlobalAveragePool",
    "Conv", "MatMul"
]
STRANGE = [np.nan, np.inf, -np.inf, -0.0, 3e38, 1e-45, -1.0]


def strange(rng, shape):
    values = np.random.default_rng(rng.getrandbits(32)).normal(0, 2, shape).astype(np.float32)
    for _ in range(rng.randrange(0, 5)):
        values.flat[rng.randrange(values.size)] = rng.choice(STRANGE)
    return values


def node_of(rng, i, before):
    """A node on an image tensor, with constants; (nodes, constants)."""
    out, kind = f"t{i}", rng.choice([OPS, OPS, PAIRS, OTHERS])
    op = rng.choice(kind)
    if op in PAIRS:
        shape = rng.choice([(1, 4, 8, 8), (4, 1, 1), (1, ), (8, )])
        return [helper.make_node(op, [before, f"c{i}"], [out])], [constant(f"c{i}", strange(rng, shape))]
    if op == "Conv":
        # Padded taps may count (0 times a NaN weight) or not, so weights are finite.
        weights = np.random.default_rng(rng.getrandbits(32)).normal(0, 2, (4, 4, 3, 3)).astype(np.float32)
        return [helper.make_node("Conv", [before, f"c{i}"], [out], pads=[1, 1, 1, 1])], [constant(f"c{i}", weights)]
    if op == "MatMul":
        return [helper.make_node("MatMul", [before, f"c{i}"], [out])], [constant(f"c{i}", strange(rng, (8, 8)))]
    if op in ("MaxPool", "AveragePool"):
        return [helper.make_node(op, [before], [out], kernel_shape=[3, 3], pads=[1, 1, 1, 1])], []
    if op == "Clip":
        return [helper.make_node("Clip", [before, f"lo{i}", f"hi{i}"], [out])], [
            constant(f"lo{i}", np.float32(rng.choice([-1, 0, 2]))),
            constant(f"hi{i}", np.float32(rng.choice([6, 1])))
        ]
    if op in ("GlobalMaxPool", "GlobalAveragePool"):
        return [helper.make_node(op, [before], [f"m{i}"]), helper.make_node("Sub", [before, f"m{i}"], [out])], []
    if op.startswith("Reduce"):
        axes = np.asarray([rng.choice([1, 2, 3])], np.int64)
        return [
            helper.make_node(op, [before, f"a{i}"], [f"m{i}"]),
            helper.make_node("Sub", [before, f"m{i}"], [out])
        ], [constant(f"a{i}", axes)]
    return [helper.make_node(op, [before], [out])], []


def draw(place, rng):
    """NaN and infinities in inputs and weights. The reference defines where they appear in outputs."""
    nodes, constants, before = [], [], "x"
    for i in range(rng.randrange(1, 6)):
        more = node_of(rng, i, before)
        nodes += more[0]
        constants += more[1]
        before = f"t{i}"
    proto = model(nodes, [floats("x", [1, 4, 8, 8])], [floats(before, [1, 4, 8, 8])], constants, opset=20)
    onnx.save(proto, place.folder / "g.onnx")
    np.save(place.folder / "x.npy", strange(rng, (1, 4, 8, 8)))
    command = ["infer", "g.onnx", "--input", "x=x.npy", "--max-model-memory", "256M"]
    attempt = Attempt("+".join(node.op_type for node in nodes), [*command, "--device", "cpu", "--output", "o"],
                      {"o": "folder"}, expect=(0, ))
    attempt.check = beside_reference(command, before)
    return attempt


def beside_reference(command, name):
    def check(place, done):
        if done.code != 0:
            return []
        reference = place.run(Attempt("", []),
                              [*command, "--device", "reference", "--passes", "none", "--output", "r"])
        if reference.code != 0:
            return [("wrong", f"the reference refuses what the CPU runs: {reference.stderr[:200]!r}")]
        ours, theirs = (np.load(place.folder / folder / f"{name}.npy").astype(np.float64) for folder in ("o", "r"))
        return different(ours, theirs)

    return check


def different(ours, theirs):
    if not np.array_equal(np.isnan(ours), np.isnan(theirs)):
        at = tuple(int(i) for i in np.argwhere(np.isnan(ours) != np.isnan(theirs))[0])
        return [("wrong", f"NaN is elsewhere than the reference has it: {ours[at]} and {theirs[at]} at {at}")]
    # Another summation order may overflow near float32's end.
    huge = np.abs(np.where(np.isnan(theirs), 0, theirs)) > 1e37
    if not np.array_equal(np.isinf(ours) & ~huge, np.isinf(theirs) & ~huge):
        return [("wrong", "an infinity where the reference has a number")]
    fine = np.isfinite(theirs) & np.isfinite(ours) & ~huge
    apart = np.abs(ours[fine] - theirs[fine])
    scale = max(1.0, float(np.abs(theirs[fine]).max(initial=0)))
    if apart.size and apart.max() > 1e-3 * scale:
        return [("wrong", f"{apart.max():.3g} from the reference, of {scale:.3g}")]
    return []
