"""The clause of NaN and infinities: a graph that was drawn runs once more with some in its inputs, and every device has
to leave them where the reference kernels do.

ONNX Runtime is not asked: of maxima, pools and sorting it answers by the order of a vector's lanes.  Numbers are not
compared either, which the graph without NaN is for: what rounding an infinity or a cancellation of infinities takes has
no bound.
"""
import copy
import pathlib
import subprocess
import tempfile

import numpy as np

from case import is_float

ODD = (np.nan, np.nan, np.inf, -np.inf)
READABLE = tuple(np.dtype(name) for name in ("float32", "float64", "float16"))
# Their answer may be any number.
RANDOM = {"RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Bernoulli", "Multinomial"}
# Whether the padding of an input is multiplied by a weight that is no number is left open.
PADDED = {"Conv", "ConvTranspose", "FusedConv", "NhwcConv", "NhwcFusedConv", "DeformConv"}
SECONDS = 300


def odd(case, rng):
    """CASE with NaN and infinities in its floating-point inputs; nothing where it has none."""
    if any(node.op in RANDOM for node in case.nodes):
        return None
    inputs = {name: leaf for name, leaf in case.leaves.items() if leaf.role == "input"}
    if any(leaf.array.dtype not in READABLE for leaf in inputs.values() if is_float(leaf.array.dtype)):
        return None
    weights = {name for node in case.nodes if node.op in PADDED for name in node.inputs[1:2]}
    floats = [name for name, leaf in inputs.items()
              if is_float(leaf.array.dtype) and leaf.array.size and name not in weights]
    if not floats:
        return None
    result = copy.deepcopy(case)
    for name in floats:
        array = result.leaves[name].array.copy()
        count = int(rng.integers(1, max(2, array.size // 8 + 1)))
        array.reshape(-1)[rng.permutation(array.size)[:count]] = rng.choice(ODD, count)
        result.leaves[name].array = array
    return result


def answers(binary, device, case, folder):
    """The outputs by name, or what the run said instead."""
    inputs = []
    for name, leaf in case.leaves.items():
        if leaf.role == "input":
            np.save(folder / f"{name}.npy", leaf.array)
            inputs += ["--input", f"{name}={folder / name}.npy"]
    command = [binary, "infer", "--threads", "2", *device, *inputs, "--output-dir", str(folder / "answers"),
               str(folder / "model.onnx")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=SECONDS)
    if done.returncode != 0:
        return f"exit {done.returncode}: {done.stderr.strip()[:300]}"
    return {name: np.load(folder / "answers" / f"{name}.npy") for name in case.outputs}


def places(array):
    """1 where it is NaN, 2 and 3 where it is infinite, else 0."""
    if array.dtype not in READABLE:
        return np.zeros(array.shape, int)
    return np.select([np.isnan(array), np.isposinf(array), np.isneginf(array)], [1, 2, 3], 0)


def difference(binary, devices, case):
    """(device, what is where another device has it not); nothing where all agree with the device `reference`."""
    with tempfile.TemporaryDirectory() as work:
        folder = pathlib.Path(work)
        (folder / "model.onnx").write_bytes(case.model().SerializeToString())
        wanted = answers(binary, devices["reference"], case, folder)
        for device, flags in devices.items():
            if device == "reference":
                continue
            got = answers(binary, flags, case, folder)
            if isinstance(wanted, str) or isinstance(got, str):
                # Contents that make no sense to an operator are refused by all.
                if isinstance(wanted, str) != isinstance(got, str) or "exit -" in str(got):
                    return device, f"{got if isinstance(got, str) else 'ran'}, the reference: " \
                                   f"{wanted if isinstance(wanted, str) else 'ran'}"
                continue
            for name in case.outputs:
                wrong = np.flatnonzero(places(got[name]) != places(wanted[name]))
                if wrong.size:
                    pairs = ", ".join(f"{got[name].reshape(-1)[i]} for {wanted[name].reshape(-1)[i]}" for i in wrong[:4])
                    return device, f"{name}: {wrong.size} of {wanted[name].size} elements differ in NaN or infinity: " \
                                   f"{pairs}"
    return None
