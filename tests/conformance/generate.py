#!/usr/bin/env python3
"""generate.py FOLDER: writes the test cases of the installed onnx package below FOLDER, one folder per case.

FOLDER/node/ gets the cases of single operators, which the package generates with NumPy. The cases of small graphs are
copied from the package to FOLDER/simple/.
"""
import pathlib
import shutil
import sys

import numpy as np
import onnx
from onnx import TensorProto, numpy_helper


def encode(value, info):
    """VALUE as the protobuf of a test folder, for an input or output described by INFO."""
    kind = info.type.WhichOneof("value")
    if kind == "sequence_type":
        return numpy_helper.from_list(value, info.name)
    if kind == "optional_type":
        return numpy_helper.from_optional(value, info.name)
    if kind == "map_type":
        return numpy_helper.from_dict(value, info.name)
    return value if isinstance(value, TensorProto) else numpy_helper.from_array(np.asarray(value), info.name)


def write_case(folder, case):
    folder.mkdir(parents=True)
    (folder / "model.onnx").write_bytes(case.model.SerializeToString())
    for number, data_set in enumerate(case.data_sets):
        set_folder = folder / f"test_data_set_{number}"
        set_folder.mkdir()
        graph = case.model.graph
        for what, values, infos in zip(("input", "output"), data_set, (graph.input, graph.output)):
            for i, (value, info) in enumerate(zip(values, infos)):
                (set_folder / f"{what}_{i}.pb").write_bytes(encode(value, info).SerializeToString())


def main():
    target = pathlib.Path(sys.argv[1])
    np.random.seed(0)  # most cases generate random data: a fixed seed
    from onnx.backend.test.loader import load_model_tests

    cases = load_model_tests(kind="node")
    for case in cases:
        write_case(target / "node" / case.name, case)
    shipped = pathlib.Path(onnx.__file__).parent / "backend" / "test" / "data"
    shutil.copytree(shipped / "simple", target / "simple")
    print(f"{len(cases)} node cases of onnx {onnx.__version__}")


main()
