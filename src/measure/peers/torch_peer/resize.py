"""Resize as torch's interpolate where both agree, else as gathers and weighted sums, one dimension at a time."""
import math

import numpy as np
import torch

from torch_peer.table import Unsupported, op


def resize_taps(node, mode, where_, nearest, out, size, scale):
    """[(source index, weight)] of every output position along one dimension."""
    i = np.arange(out, dtype=np.float64)
    if where_ == "align_corners":
        at = i * (size - 1) / (out - 1) if out > 1 else i * 0
    elif where_ == "asymmetric":
        at = i / scale
    elif where_ in ("half_pixel", "pytorch_half_pixel", "half_pixel_symmetric"):
        shift = size / 2 * (1 - out / (scale * size)) if where_ == "half_pixel_symmetric" else 0.0
        at = (i + 0.5) / scale - 0.5 + shift if where_ != "pytorch_half_pixel" or out > 1 else i * 0
    else:
        raise Unsupported(f"coordinate_transformation_mode {where_}")
    if mode == "nearest":
        near = {"round_prefer_floor": np.ceil(at - 0.5), "round_prefer_ceil": np.floor(at + 0.5),
                "floor": np.floor(at), "ceil": np.ceil(at)}[nearest]
        return [(np.clip(near, 0, size - 1).astype(np.int64), None)]
    low = np.floor(at)
    t = at - low
    if mode == "linear":
        weights = {0: 1 - t, 1: t}
    else:
        a = node.get("cubic_coeff_a", -0.75)
        near = lambda u: ((a + 2) * u - (a + 3)) * u * u + 1
        far = lambda u: ((a * u - 5 * a) * u + 8 * a) * u - 4 * a
        weights = {-1: far(t + 1), 0: near(t), 1: near(1 - t), 2: far(2 - t)}
    return [(np.clip(low + k, 0, size - 1).astype(np.int64), w) for k, w in weights.items()]


@op("Resize", "Upsample")
def resize(graph, node, x, roi=None, scales=None, sizes=None):
    where_ = node.get("coordinate_transformation_mode", "half_pixel")
    nearest, anti = node.get("nearest_mode", "round_prefer_floor"), bool(node.get("antialias", 0))
    if graph.opset < 11:                                        # Upsample 7..9 and Resize 10
        scales, where_, nearest = roi if roi is not None else graph.constant(node.get("scales")), "asymmetric", "floor"
    if node.get("keep_aspect_ratio_policy", "stretch") != "stretch" or node.get("exclude_outside", 0):
        raise Unsupported("keep_aspect_ratio_policy or exclude_outside")
    axes = [a % x.rank for a in node.get("axes", range(x.rank))]
    out, scale, mode = list(x.shape), [1.0] * x.rank, node.get("mode", "nearest")
    for k, a in enumerate(axes):
        if sizes is not None and sizes.meta.numel():
            out[a] = graph.ints(sizes)[k]
            scale[a] = out[a] / x.shape[a]
        else:
            scale[a] = float(scales.data.reshape(-1)[k])
            out[a] = int(math.floor(x.shape[a] * scale[a] + 1e-6))
    moved = [a for a in range(x.rank) if out[a] != x.shape[a]]
    if not moved:
        return x
    mode = "linear" if mode == "bilinear" else mode
    plain = min(moved) >= 2 and all(abs(out[a] / x.shape[a] - scale[a]) < 1e-6 * scale[a] for a in moved)
    aligned, size = where_ == "align_corners", tuple(out[2:])
    taps = {a: resize_taps(node, mode, where_, nearest, out[a], x.shape[a], scale[a]) for a in moved}
    if plain and mode == "nearest" and all(
            np.array_equal(taps[a][0][0], np.arange(out[a]) * x.shape[a] // out[a]) for a in moved):
        return f"F.interpolate({x}, {size}, mode='nearest')"
    natural = aligned or where_ in ("half_pixel", "pytorch_half_pixel") and min(size) > 1
    if plain and mode == "linear" and natural and x.rank in (3, 4, 5):
        kind = {3: "linear", 4: "bilinear", 5: "trilinear"}[x.rank]
        return f"F.interpolate({x}, {size}, mode={kind!r}, align_corners={aligned}, antialias={anti})"
    if anti:
        raise Unsupported("antialias of this kind")
    if plain and mode == "cubic" and natural and x.rank == 4 and node.get("cubic_coeff_a", -0.75) == -0.75:
        return f"F.interpolate({x}, {size}, mode='bicubic', align_corners={aligned})"
    for a in moved:
        terms = []
        for index, weight in taps[a]:
            term = f"{x}.index_select({a}, {graph.constant(torch.from_numpy(index))})"
            if weight is not None:
                term += f" * {graph.constant(torch.from_numpy(weight).float().view(-1, *[1] * (x.rank - 1 - a)))}"
            terms.append(term)
        x = graph.emit(" + ".join(terms))
    return x
