"""Nodes with invalid attributes and index tensors."""
import numpy as np
from onnx import helper

from models import constant, floats, model


def attributes(rng):
    """Invalid attributes."""
    big = [2**31, 2**62, -1, 0, -2**63, 10**9]
    op, kwargs, ins = rng.choice([("Conv", {"strides": [rng.choice(big)] * 2}, ["x", "w"]),
                                  ("Conv", {"dilations": [rng.choice(big)] * 2}, ["x", "w"]),
                                  ("Conv", {"pads": [rng.choice(big)] * 4}, ["x", "w"]),
                                  ("Conv", {"group": rng.choice(big)}, ["x", "w"]),
                                  ("Conv", {"kernel_shape": [rng.choice(big)] * 2}, ["x", "w"]),
                                  ("Conv", {"strides": [1, 1, 1]}, ["x", "w"]),
                                  ("MaxPool", {"kernel_shape": [rng.choice(big)] * 2}, ["x"]),
                                  ("MaxPool", {"kernel_shape": [2, 2], "strides": [rng.choice(big)] * 2}, ["x"]),
                                  ("AveragePool", {"kernel_shape": [3, 3], "pads": [rng.choice(big)] * 4}, ["x"]),
                                  ("Transpose", {"perm": [rng.choice(big)] * 4}, ["x"]),
                                  ("Transpose", {"perm": [0, 0, 1, 2]}, ["x"]),
                                  ("Concat", {"axis": rng.choice(big)}, ["x", "x"]),
                                  ("Softmax", {"axis": rng.choice(big)}, ["x"]),
                                  ("Flatten", {"axis": rng.choice(big)}, ["x"]),
                                  ("Gather", {"axis": rng.choice(big)}, ["x", "i"]), ("Gather", {}, ["x", "i"]),
                                  ("Split", {"num_outputs": rng.choice(big)}, ["x"]),
                                  ("DepthToSpace", {"blocksize": rng.choice(big)}, ["x"]),
                                  ("SpaceToDepth", {"blocksize": rng.choice(big)}, ["x"]), ("Reshape", {}, ["x", "i"]),
                                  ("Expand", {}, ["x", "i"]), ("Tile", {}, ["x", "i"]), ("Pad", {}, ["x", "i"]),
                                  ("Resize", {"mode": "\x1b[31m"}, ["x", "", "", "i"]),
                                  ("Resize", {}, ["x", "", "", "i"]), ("TopK", {}, ["x", "i1"]),
                                  ("OneHot", {}, ["i", "i1", "w"]), ("Slice", {}, ["x", "i", "i"]),
                                  ("Squeeze", {}, ["x", "i"]), ("Unsqueeze", {}, ["x", "i"]),
                                  ("ConstantOfShape", {}, ["i"]), ("Range", {}, ["z", "i1", "s"]),
                                  ("CumSum", {}, ["x", "i1"]), ("ReduceSum", {}, ["x", "i"]), ("Upsample", {}, ["x"]),
                                  ("LRN", {"size": rng.choice(big)}, ["x"]),
                                  ("GroupNormalization", {"num_groups": rng.choice(big)}, ["x", "b", "b"]),
                                  ("Einsum", {
                                      "equation": rng.choice(
                                          ["abcd->", "zzzz->z", "a" * 3000, "ab...->\x1b", "abcd,abcd"])
                                  }, ["x"]), ("Relu", {"\x1b[31mx": 1}, ["x"]),
                                  ("Relu", {"alpha": [1.0] * 1000}, ["x"]),
                                  ("Cast", {"to": rng.choice([99, -1, 0, 8, 14])}, ["x"]),
                                  ("NoSuch\x1b[31mOp", {}, ["x"]), ("Relu", {}, ["x"] * 50), ("Relu", {}, []),
                                  ("Loop", {}, ["i1", "", "x"]), ])
    index = rng.choice([[2**62], [-1, -1, -1, -1], [2**31] * 4, [0, 0, 0, 0], [1, 2, 3], [], [2**63 - 1, 2], [10**9],
                        [5] * 50, [-2**63], [99, -99]])
    constants = [
        constant("w", np.ones((4, 4, 3, 3), np.float32)),
        constant("i", np.asarray(index, np.int64)),
        constant("i1", np.asarray(rng.choice([2**62, -1, 10**6, 0]), np.int64)),
        constant("z", np.asarray(0, np.int64)),
        constant("s", np.asarray(rng.choice([1, 0, -1]), np.int64)),
        constant("b", np.ones(4, np.float32))
    ]
    outputs = ["y", "k"] if op == "TopK" else ["y"]
    node = helper.make_node(op, ins, outputs, **kwargs)
    return f"{op} {kwargs} {index[:4]}"[:80], model([node], [floats("x", [1, 4, 8, 8])], [floats("y", None)], constants,
                                                    opset=18)
