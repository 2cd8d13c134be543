"""saccade beside ONNX Runtime on one exported network."""
import numpy as np
from drift import drift, photo
from engines import ours, session


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


def largest_drift(binary, model, picture, other):
    """Of saccade's outputs for PICTURE from ONNX Runtime's; OTHER shows how much the outputs change."""
    reference = session(model)
    name = reference.get_inputs()[0].name
    want, changed = (reference.run(None, {name: x}) for x in (picture, other))
    shape = ["--shape", f"{name}={'x'.join(map(str, picture.shape))}"]
    got = ours(binary, model, {name: picture}, [o.name for o in reference.get_outputs()], shape)
    return max(map(drift, got, want, changed))


def own_drift(model, picture, other):
    """Of ONNX Runtime from itself without its optimisations: what rounding alone does to a quantised network."""
    reference, plain = session(model), session(model, optimised=False)
    name = reference.get_inputs()[0].name
    want, changed = (reference.run(None, {name: x}) for x in (picture, other))
    return max(map(drift, plain.run(None, {name: picture}), want, changed))
