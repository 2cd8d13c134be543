"""Compares saccade with ONNX Runtime on one exported network."""
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


def sample_images(network, batch):
    """Two batches of different photographs. A clip is a photograph that moves."""
    *_, height, width = network.image_shape
    photos = [photo((1, 3, height, width), name)[0] for name in ("bus", "zidane")]
    if len(network.image_shape) == 4:
        frames = range(network.image_shape[1])
        photos = [np.stack([np.roll(p, 3 * t, axis=-1) for t in frames], axis=1) for p in photos]
    if not network.batched:
        return photos
    return [np.stack([photos[(first + i) % 2] for i in range(batch)]) for first in (0, 1)]


def shape_option(model, image):
    name = session(model).get_inputs()[0].name
    return ["--shape", f"{name}={'x'.join(map(str, image.shape))}"]


def largest_drift(binary, model, image, other, meant=None):
    """The drift of saccade's outputs for IMAGE from ONNX Runtime's. OTHER shows how much the outputs change between
    images. MEANT: the model that ONNX Runtime runs instead."""
    reference = session(meant or model)
    (model_input,) = reference.get_inputs()
    name, dtype = model_input.name, np.float32 if meant else image.dtype
    want, changed = (reference.run(None, {name: x.astype(dtype)}) for x in (image, other))
    got = ours(binary, model, {name: image}, [o.name for o in reference.get_outputs()], shape_option(model, image))
    if image.ndim == 3:  # a detector's
        got, changed = in_order_of(want, got), list(map(sized_as, changed, want))
    return max(map(drift, got, want, changed))


def sized_as(other, like):
    """OTHER cropped or zero-padded to LIKE's shape: a detector finds different numbers of objects."""
    same = np.zeros_like(like)
    common = tuple(slice(min(sizes)) for sizes in zip(other.shape, like.shape))
    same[common] = other[common]
    return same


def in_order_of(want, got):
    """GOT's rows in the order of WANT's. Detections are sorted by score, and rows with nearly equal scores may swap.
    Unchanged if the numbers of rows differ."""
    if [w.shape for w in want] != [g.shape for g in got] or len({len(w) for w in want}) > 1 or not len(want[0]):
        return got
    distance = np.zeros((len(want[0]), len(want[0])))
    for w, g in zip(want, got):
        w, g = (np.reshape(each, (len(each), -1)).astype(np.float64) for each in (w, g))
        distance += [np.abs(g - row).mean(axis=1) / (w.std() + 1e-12) for row in w]
    order = []
    for row in distance:  # the most similar row that is not matched yet
        order.append(np.where(np.isin(np.arange(len(row)), order), np.inf, row).argmin())
    return [g[order] for g in got]


def rows_off(want, got):
    """The number of a detector's rows that are off by more than 1e-3, relative to outputs above 1. Infinite if the
    numbers of rows differ or the scores are not sorted."""
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


def own_outputs(model, image, nudged):
    """ONNX Runtime's outputs, and its own drift: without optimisations, and on an image that is NUDGED by one
    rounding."""
    reference, plain = session(model), session(model, optimised=False)
    name = reference.get_inputs()[0].name
    return reference.run(None, {name: image}), (plain.run(None, {name: image}), reference.run(None, {name: nudged}))


def own_drift(model, image, other, nudged):
    reference = session(model)
    want, moved = own_outputs(model, image, nudged)
    changed = reference.run(None, {reference.get_inputs()[0].name: other})
    return max(max(map(drift, got, want, changed)) for got in moved)


def exact(binary, model, feeds):
    """Whether a floating-point network passes, and its drift."""
    value = largest_drift(binary, model, *feeds)
    return value <= 1e-3, f"drift {value:.2e}"


def row_by_row(binary, model, feeds):
    """The same for a detector. Top-K, integer coordinates and argmax amplify a rounding to another row. At most twice
    as many rows may differ as between two runs of ONNX Runtime, plus one."""
    image, _ = feeds
    noise = np.random.default_rng(0).uniform(-1, 1, image.shape) * 2.0**-24
    want, moved = own_outputs(model, image, (image * (1 + noise)).astype(image.dtype))
    limit = 2 * max(rows_off(want, got) for got in moved) + 1
    outputs = [output.name for output in session(model).get_outputs()]
    name = session(model).get_inputs()[0].name
    off = rows_off(want, ours(binary, model, {name: image}, outputs, shape_option(model, image)))
    return off <= limit < len(want[0]) / 4, f"{off} of {len(want[0])} rows are off, of at most {limit}"


def half(binary, model, feeds):
    """The same in half precision, which saccade computes in float32. The reference is the float32 network with equally
    rounded weights and pixels. A half-precision output may be off by one rounding."""
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
    """Whether the network casts more to half precision than its inputs."""
    given = {each.name for each in network.graph.input}
    return any(attribute.i == TensorProto.FLOAT16 and not given.issuperset(node.input)
               for node in network.graph.node if node.op_type == "Cast" for attribute in node.attribute)


def rounding_drift(model, image, other):
    reference = session(model)
    want, changed = (reference.run(None, {reference.get_inputs()[0].name: x.astype(np.float32)})
                     for x in (image, other))
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
    """The same for a network that rounds inside. The number of roundings depends on the engine. The limit is 2e-2, or
    twice ONNX Runtime's drift when every pixel moves by up to one half-precision step."""
    noise = np.random.default_rng(0).uniform(-1, 1, feeds[0].shape) * 2.0**-10
    limit = max(2e-2, 2 * own_drift(model, *feeds, (feeds[0] * (1 + noise)).astype(feeds[0].dtype)))
    value = largest_drift(binary, model, *feeds)
    return value <= limit, f"drift {value:.2e} of at most {limit:.0e}"


def eight_bits(binary, model, feeds):
    """The same in int8: each segment is off by at most the quantisation error. The whole network only has to run,
    because ONNX Runtime itself drifts by 0.05 to 0.5 when one pixel moves by a step."""
    value, step = largest_drift(binary, model, *feeds), largest_step(binary, model, feeds[0])
    return bool(np.isfinite(value)) and step <= 12**-0.5, f"{step:.3f} steps a segment, drift {value:.2e}"


def steps_of(binary, model, image):
    """The steps of the plan."""
    done = subprocess.run([binary, "inspect", model, "--json", "--device", "cpu", *shape_option(model, image)],
                          capture_output=True, text=True, timeout=900, check=False)
    if done.returncode not in (0, 3):
        raise RuntimeError(f"saccade inspect exited with {done.returncode}: {done.stderr.strip()[-500:]}")
    return json.loads(done.stdout)["plan"]["steps"]


def shape_steps(steps):
    """The operators of shape arithmetic. All could have been folded, except behind data-dependent operators (TopK,
    NonMaxSuppression, ...)."""
    asking = ("TopK", "NonMaxSuppression", "NonZero", "ArgMax", "ArgMin", "saccade.Sized")
    if any(step["operator"] in asking for step in steps):
        return []
    return sorted({step["operator"] for step in steps if step["operator"] in SHAPE_OPS
                   and (step["operator"] in ("Shape", "Size") or step["output"].startswith(("int64", "int32")))})


def slow_steps(steps):
    """The operators without a kernel of the device that produce more than a few elements."""
    def elements(step):
        shape = step["output"].split()[1]
        return math.prod(map(int, shape.split("x"))) if shape != "scalar" else 1

    return sorted({step["operator"] for step in steps if step["tactic"] == "reference" and elements(step) > 4096})
