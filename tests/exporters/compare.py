"""saccade beside ONNX Runtime on one exported network."""
import json
import math
import subprocess
import tempfile

import numpy as np
import onnx
from drift import drift, photo
from engines import ours, session
from onnx import TensorProto, numpy_helper
from segments import largest_step

SHAPE_OPS = {"Shape", "Size", "Gather", "Concat", "Reshape", "Slice", "Squeeze", "Unsqueeze", "ConstantOfShape"}


def pictures(network, batch):
    """Two batches of different photographs; a clip is a photograph that moves."""
    *_, height, width = network.picture
    photos = [photo((1, 3, height, width), name)[0] for name in ("bus", "zidane")]
    if len(network.picture) == 4:
        frames = range(network.picture[1])
        photos = [np.stack([np.roll(p, 3 * t, axis=-1) for t in frames], axis=1) for p in photos]
    if not network.batched:
        return photos
    return [np.stack([photos[(first + i) % 2] for i in range(batch)]) for first in (0, 1)]


def shape_option(model, picture):
    name = session(model).get_inputs()[0].name
    return ["--shape", f"{name}={'x'.join(map(str, picture.shape))}"]


def largest_drift(binary, model, picture, other, meant=None):
    """Of saccade's outputs for PICTURE from ONNX Runtime's; OTHER shows how much the outputs change. MEANT: what ONNX
    Runtime runs instead of the model."""
    reference = session(meant or model)
    (image,) = reference.get_inputs()
    name, dtype = image.name, np.float32 if meant else picture.dtype
    want, changed = (reference.run(None, {name: x.astype(dtype)}) for x in (picture, other))
    got = ours(binary, model, {name: picture}, [o.name for o in reference.get_outputs()], shape_option(model, picture))
    if picture.ndim == 3:  # a detector's
        got, changed = in_order_of(want, got), list(map(sized_as, changed, want))
    return max(map(drift, got, want, changed))


def sized_as(other, like):
    """OTHER cut, or filled up with zeros, to LIKE's shape: a detector finds more on one picture than on another."""
    same = np.zeros_like(like)
    common = tuple(slice(min(sizes)) for sizes in zip(other.shape, like.shape))
    same[common] = other[common]
    return same


def in_order_of(want, got):
    """GOT's rows in the order of WANT's: detections are sorted by scores, and those of nearly the same score may swap.
    As they are where they are not as many."""
    if [w.shape for w in want] != [g.shape for g in got] or len({len(w) for w in want}) > 1 or not len(want[0]):
        return got
    distance = np.zeros((len(want[0]), len(want[0])))
    for w, g in zip(want, got):
        w, g = (np.reshape(each, (len(each), -1)).astype(np.float64) for each in (w, g))
        distance += [np.abs(g - row).mean(axis=1) / (w.std() + 1e-12) for row in w]
    order = []
    for row in distance:  # the likest that no row before has taken
        order.append(np.where(np.isin(np.arange(len(row)), order), np.inf, row).argmin())
    return [g[order] for g in got]


def rows_off(want, got):
    """How many of a detector's rows are off by more than 1e-3, of the answer's size if that is more than 1; infinite
    where there are more or fewer rows, or where the scores are not in their order."""
    if [w.shape for w in want] != [g.shape for g in got]:
        return math.inf
    scores = [(w, g) for w, g in zip(want, got) if w.ndim == 1 and w.dtype == np.float32]
    if not all((np.abs(w - g) <= 1e-3).all() for w, g in scores):
        return math.inf
    off = np.zeros(len(want[0]), bool)
    for w, g in zip(want, in_order_of(want, got)):
        error = np.abs(np.reshape(w - g, (len(w), -1)).astype(np.float64)).max(axis=1)
        off |= ~(error <= 1e-3 * max(1, np.abs(w).max()))
    return int(off.sum())


def own_answers(model, picture, nudged):
    """ONNX Runtime's, and how it departs from itself: without its optimisations, and on a picture that is NUDGED by a
    rounding."""
    reference, plain = session(model), session(model, optimised=False)
    name = reference.get_inputs()[0].name
    return reference.run(None, {name: picture}), (plain.run(None, {name: picture}), reference.run(None, {name: nudged}))


def own_drift(model, picture, other, nudged):
    reference = session(model)
    want, moved = own_answers(model, picture, nudged)
    changed = reference.run(None, {reference.get_inputs()[0].name: other})
    return max(max(map(drift, got, want, changed)) for got in moved)


def exact(binary, model, feeds):
    """Whether a network of floats passes, and by how much."""
    value = largest_drift(binary, model, *feeds)
    return value <= 1e-3, f"drift {value:.2e}"


def row_by_row(binary, model, feeds):
    """The same of a detector, which takes the best of what scores alike, cuts to whole pixels, or takes the place of a
    largest one: there a rounding makes another row. At most twice as many rows are off as are of ONNX Runtime from
    itself, and one more."""
    picture, _ = feeds
    noise = np.random.default_rng(0).uniform(-1, 1, picture.shape) * 2.0**-24
    want, moved = own_answers(model, picture, (picture * (1 + noise)).astype(picture.dtype))
    limit = 2 * max(rows_off(want, got) for got in moved) + 1
    outputs = [output.name for output in session(model).get_outputs()]
    name = session(model).get_inputs()[0].name
    off = rows_off(want, ours(binary, model, {name: picture}, outputs, shape_option(model, picture)))
    return off <= limit < len(want[0]) / 4, f"{off} of {len(want[0])} rows are off, of at most {limit}"


def half(binary, model, feeds):
    """The same of half precision, which is computed in float32: beside the network in float32, with the same rounded
    weights and pixels; an answer of half precision may be a rounding off."""
    network = onnx.load(model)
    if rounds_within(network):
        return mixed(binary, model, feeds)
    feeds = [x.astype(np.float16).astype(x.dtype) for x in feeds]
    with tempfile.NamedTemporaryFile(suffix=".onnx") as meant:
        onnx.save(widened(network), meant.name)
        value = largest_drift(binary, model, *feeds, meant=meant.name)
        limit = 1e-3 + (rounding_drift(meant.name, *feeds) if feeds[0].dtype == np.float16 else 0)
    return value <= limit, f"drift {value:.2e} of at most {limit:.1e}"


def rounds_within(network):
    """Whether it casts more to half precision than what it is given."""
    given = {image.name for image in network.graph.input}
    return any(attribute.i == TensorProto.FLOAT16 and not given.issuperset(node.input)
               for node in network.graph.node if node.op_type == "Cast" for attribute in node.attribute)


def rounding_drift(model, picture, other):
    reference = session(model)
    want, changed = (reference.run(None, {reference.get_inputs()[0].name: x.astype(np.float32)})
                     for x in (picture, other))
    return max(drift(w.astype(np.float16).astype(np.float32), w, c) for w, c in zip(want, changed))


def widened(network):
    """NETWORK with float32 for every float16."""
    narrow, wide = TensorProto.FLOAT16, TensorProto.FLOAT

    def tensor(proto):
        if proto.data_type == narrow:
            proto.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(proto).astype(np.float32), proto.name))

    for initializer in network.graph.initializer:
        tensor(initializer)
    for node in network.graph.node:
        for attribute in node.attribute:
            tensor(attribute.t)
            if node.op_type == "Cast" and attribute.i == narrow:
                attribute.i = wide
    del network.graph.value_info[:]
    for info in (*network.graph.input, *network.graph.output):
        if info.type.tensor_type.elem_type == narrow:
            info.type.tensor_type.elem_type = wide
    return network


def mixed(binary, model, feeds):
    """The same of a network that rounds within, where it is up to an engine how often it does: at most 2e-2, or twice what
    ONNX Runtime drifts where every pixel is up to a step of half precision off."""
    noise = np.random.default_rng(0).uniform(-1, 1, feeds[0].shape) * 2.0**-10
    limit = max(2e-2, 2 * own_drift(model, *feeds, (feeds[0] * (1 + noise)).astype(feeds[0].dtype)))
    value = largest_drift(binary, model, *feeds)
    return value <= limit, f"drift {value:.2e} of at most {limit:.0e}"


def eight_bits(binary, model, feeds):
    """The same of eight bits: in each segment at most what quantising itself is off; the whole only has to run, as ONNX
    Runtime itself drifts by a twentieth to a half where one pixel is a step off."""
    value, step = largest_drift(binary, model, *feeds), largest_step(binary, model, feeds[0])
    return bool(np.isfinite(value)) and step <= 12**-0.5, f"{step:.3f} steps a segment, drift {value:.2e}"


def steps_of(binary, model, picture):
    """The steps of the plan."""
    done = subprocess.run([binary, "inspect", model, "--json", "--device", "cpu", *shape_option(model, picture)],
                          capture_output=True, text=True, timeout=900, check=False)
    if done.returncode not in (0, 3):
        raise RuntimeError(f"saccade inspect exited with {done.returncode}: {done.stderr.strip()[-500:]}")
    return json.loads(done.stdout)["plan"]["steps"]


def shape_steps(steps):
    """The operators that work out shapes; all of them could have been when the plan was made, except where the network
    asks for indices (TopK, NonMaxSuppression, ...) of what it sees."""
    asking = ("TopK", "NonMaxSuppression", "NonZero", "ArgMax", "ArgMin", "saccade.Sized")
    if any(step["operator"] in asking for step in steps):
        return []
    return sorted({step["operator"] for step in steps if step["operator"] in SHAPE_OPS
                   and (step["operator"] in ("Shape", "Size") or step["output"].startswith(("int64", "int32")))})


def slow_steps(steps):
    """The operators for which the device has no kernel of its own, where they make more than a few elements."""
    def elements(step):
        shape = step["output"].split()[1]
        return math.prod(map(int, shape.split("x"))) if shape != "scalar" else 1

    return sorted({step["operator"] for step in steps if step["tactic"] == "reference" and elements(step) > 4096})
