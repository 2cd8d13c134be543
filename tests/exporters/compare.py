"""saccade beside ONNX Runtime on one exported network."""
import json
import subprocess

import numpy as np
from drift import drift, photo
from engines import ours, session
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


def largest_drift(binary, model, picture, other):
    """Of saccade's outputs for PICTURE from ONNX Runtime's; OTHER shows how much the outputs change."""
    reference = session(model)
    name = reference.get_inputs()[0].name
    want, changed = (reference.run(None, {name: x}) for x in (picture, other))
    got = ours(binary, model, {name: picture}, [o.name for o in reference.get_outputs()], shape_option(model, picture))
    return max(map(drift, got, want, changed))


def own_drift(model, picture, other, nudged):
    """Of ONNX Runtime from itself: without its optimisations, and on a picture that is NUDGED by a rounding."""
    reference, plain = session(model), session(model, optimised=False)
    name = reference.get_inputs()[0].name
    want, changed, moved = (reference.run(None, {name: x}) for x in (picture, other, nudged))
    return max(max(map(drift, got, want, changed)) for got in (plain.run(None, {name: picture}), moved))


def exact(binary, model, feeds):
    """Whether a network of floats passes, and by how much."""
    value = largest_drift(binary, model, *feeds)
    return value <= 1e-3, f"drift {value:.2e}"


def half(binary, model, feeds):
    """The same of half precision, where it is up to an engine where it rounds: at most 2e-2, or twice what ONNX Runtime
    drifts where every pixel is up to a step of half precision off."""
    noise = np.random.default_rng(0).uniform(-1, 1, feeds[0].shape) * 2.0**-10
    limit = max(2e-2, 2 * own_drift(model, *feeds, (feeds[0] * (1 + noise)).astype(feeds[0].dtype)))
    value = largest_drift(binary, model, *feeds)
    return value <= limit, f"drift {value:.2e} of at most {limit:.0e}"


def eight_bits(binary, model, feeds):
    """The same of eight bits: in each segment at most what quantising itself is off; the whole only has to run, as ONNX
    Runtime itself drifts by a twentieth to a half where one pixel is a step off."""
    value, step = largest_drift(binary, model, *feeds), largest_step(binary, model, feeds[0])
    return bool(np.isfinite(value)) and step <= 12**-0.5, f"{step:.3f} steps a segment, drift {value:.2e}"


def shape_steps(binary, model, picture):
    """The operators of the plan that work out shapes; all of them could have been when the plan was made, except where
    the network asks for indices (TopK, NonMaxSuppression, ...) of what it sees."""
    done = subprocess.run([binary, "inspect", model, "--json", *shape_option(model, picture)], capture_output=True,
                          text=True, timeout=900, check=False)
    if done.returncode not in (0, 3):
        raise RuntimeError(f"saccade inspect exited with {done.returncode}: {done.stderr.strip()[-500:]}")
    steps = json.loads(done.stdout)["plan"]["steps"]
    if any(step["operator"] in ("TopK", "NonMaxSuppression", "NonZero", "ArgMax", "ArgMin") for step in steps):
        return []
    return sorted({step["operator"] for step in steps if step["operator"] in SHAPE_OPS
                   and (step["operator"] in ("Shape", "Size") or step["output"].startswith(("int64", "int32")))})
