"""The two engines that are compared: ONNX Runtime, and saccade through its command line."""
import os
import pathlib
import subprocess
import tempfile

import numpy as np
import onnxruntime as ort

from script import without_optimisations


def session(model, optimised=True):
    """ONNX Runtime on MODEL, a path or a file's bytes."""
    options = ort.SessionOptions()
    options.add_session_config_entry("session.x64quantprecision", "1")  # exact also without VNNI
    options.log_severity_level = 3
    options.intra_op_num_threads = 2
    if not optimised:
        serialised = model if isinstance(model, bytes) else pathlib.Path(model).read_bytes()
        without_optimisations(options, ort.GraphOptimizationLevel, serialised)
    return ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def file_name(output):
    return "".join(c if c.isascii() and (c.isalnum() or c in "_.-") else "_" for c in output) + ".npy"


def ours(binary, model, feed, names, extra=()):
    """saccade's outputs, in the order of NAMES; on the CPU unless EXTRA names a device."""
    where = [] if "--device" in extra else ["--device", "cpu"]
    with tempfile.TemporaryDirectory() as folder:
        command = [binary, "infer", model, "--output", os.path.join(folder, "out"), *where, *extra]
        for i, (key, value) in enumerate(feed.items()):
            path = os.path.join(folder, f"in{i}.npy")
            np.save(path, value)
            command += ["--input", f"{key}={path}"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"saccade infer exited with {done.returncode}: {done.stderr.strip()[-500:]}")
        return [np.load(os.path.join(folder, "out", file_name(name))) for name in names]
