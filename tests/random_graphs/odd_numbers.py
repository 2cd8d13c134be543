"""Runs a generated graph once more with NaN and infinities in its inputs. Every device must produce them where the
reference kernels do.

ONNX Runtime is not compared: in maxima, pools and sorting its results depend on the vector width. Finite numbers are
not compared either; the graph without NaN covers them. The rounding error next to infinities has no bound.
"""
import copy
import pathlib
import subprocess
import tempfile

import numpy as np

from case import is_float

ODD = (np.nan, np.nan, np.inf, -np.inf)
READABLE = tuple(np.dtype(name) for name in ("float32", "float64", "float16"))
# Their output may be any number.
RANDOM = {"RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Bernoulli", "Multinomial"}
# Padding times a weight that is NaN or infinite is undefined.
PADDED = {"Conv", "ConvTranspose", "FusedConv", "NhwcConv", "NhwcFusedConv", "DeformConv"}
SECONDS = 300


def odd(case, rng):
    """CASE with NaN and infinities in its floating-point inputs; None if it has none."""
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


def outputs_of(binary, device, case, folder):
    """The outputs by name, or the error of the run."""
    inputs = []
    for name, leaf in case.leaves.items():
        if leaf.role == "input":
            np.save(folder / f"{name}.npy", leaf.array)
            inputs += ["--input", f"{name}={folder / name}.npy"]
    command = [binary, "infer", "--threads", "2", *device, *inputs, "--output", str(folder / "outputs"),
               str(folder / "model.onnx")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=SECONDS)
    if done.returncode != 0:
        return f"exit {done.returncode}: {done.stderr.strip()[:300]}"
    return {name: np.load(folder / "outputs" / f"{name}.npy") for name in case.outputs}


def places(array):
    """1 for NaN, 2 and 3 for infinities, else 0."""
    if array.dtype not in READABLE:
        return np.zeros(array.shape, int)
    return np.select([np.isnan(array), np.isposinf(array), np.isneginf(array)], [1, 2, 3], 0)


def difference(binary, devices, case):
    """(device, difference) of the first device that differs from `reference`; None if all agree."""
    with tempfile.TemporaryDirectory() as work:
        folder = pathlib.Path(work)
        (folder / "model.onnx").write_bytes(case.model().SerializeToString())
        wanted = outputs_of(binary, devices["reference"], case, folder)
        for device, flags in devices.items():
            if device == "reference":
                continue
            got = outputs_of(binary, flags, case, folder)
            if isinstance(wanted, str) or isinstance(got, str):
                # Every device must reject contents that are invalid for an operator.
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
