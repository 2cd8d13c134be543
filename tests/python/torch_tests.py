#!/usr/bin/env python3
"""Runs the tests of PyTorch in the environment of script/bootstrap --exporters. Exit status 77: skipped.
"""
import os
import pathlib
import sys

sys.path.insert(0, os.path.join(os.environ["SACCADE_BUILD"], "python"))

try:
    import onnxscript  # noqa: F401
    import pytest
    import torch  # noqa: F401
except ImportError as missing:
    print(f"SKIPPED: needs Python's {missing.name}: ./script/bootstrap --exporters")
    sys.exit(77)
try:
    import saccade  # noqa: F401
except ImportError as missing:
    print(f"SKIPPED: needs the package in SACCADE_BUILD: {missing}")
    sys.exit(77)

# PyTorch writes a trace of every compilation to a logger, which pytest would print for a failure.
sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", "--show-capture=no", "-rs", *sys.argv[1:],
                      *map(str, sorted(pathlib.Path(__file__).parent.glob("test_*torch*.py")))]))
