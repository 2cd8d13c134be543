#!/usr/bin/env python3
"""seeds.py CASES FOLDER: writes the fuzzers' seed models to FOLDER, from ONNX's own test cases below CASES.

The smallest cases of each operator, twice each: with inputs, and with the inputs as constants, so that the whole graph
can be folded.
"""
import collections
import pathlib
import sys

import onnx

MOST_BYTES = 8192
CASES_AN_OPERATOR = 3


def with_constants(model, folder):
    """MODEL with the first data set's tensors as initializers in place of its inputs; None if it has none."""
    constant = onnx.ModelProto()
    constant.CopyFrom(model)
    inputs = list(constant.graph.input)
    del constant.graph.input[:]
    for number, value in enumerate(inputs):
        file = folder / "test_data_set_0" / f"input_{number}.pb"
        if not value.type.HasField("tensor_type") or not file.exists():
            return None
        tensor = constant.graph.initializer.add()
        tensor.ParseFromString(file.read_bytes())
        tensor.name = value.name
    return constant


def main():
    cases, target = map(pathlib.Path, sys.argv[1:])
    target.mkdir(parents=True, exist_ok=True)
    by_operators = collections.defaultdict(list)
    for file in sorted(cases.rglob("model.onnx")):
        if file.stat().st_size <= MOST_BYTES:
            model = onnx.load(file)
            by_operators[tuple(sorted({node.op_type for node in model.graph.node}))].append((model, file.parent))
    count = 0
    for models in by_operators.values():
        for model, folder in sorted(models, key=lambda each: each[0].ByteSize())[:CASES_AN_OPERATOR]:
            for kind, form in (("inputs", model), ("constants", with_constants(model, folder))):
                if form is not None and form.ByteSize() <= MOST_BYTES:
                    (target / f"{folder.name}.{kind}").write_bytes(form.SerializeToString())
                    count += 1
    print(f"{count} seeds of {len(by_operators)} sets of operators")


main()
