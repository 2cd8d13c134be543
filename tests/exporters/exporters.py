#!/usr/bin/env python3
"""Runs every form in which an exporter may write a network (forms.py). Outputs must be correct, and no shape arithmetic
may be left in the plan.

    exporters.py --binary build/saccade

Needs onnx and numpy; exit status 77: skipped.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "parity"))
from script import conclude, needs

with needs("--cases"):
    from forms import FORMS


def json_of(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 3):
        sys.exit(f"{' '.join(map(str, command))}: exit status {done.returncode}: {done.stderr.strip()}")
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True)
    binary = parser.parse_args().binary
    complaints = []
    with tempfile.TemporaryDirectory() as work:
        forms = {name: make() for name, make in FORMS.items()}
        for name, form in forms.items():
            form.save(pathlib.Path(work) / name)
        report = json_of(binary, "check", work, "--json", "--device", "cpu")
        complaints += [f"{name}: {reason}" for name, reason in report["reasons"].items()]
        for name in report["passed"]:
            model = pathlib.Path(work) / name / "model.onnx"
            plan = json_of(binary, "inspect", model, "--json", "--device", "cpu")["plan"]
            left = sorted({step["operator"] for step in plan["steps"]} & set(forms[name].gone))
            if left:
                complaints.append(f"{name}: {', '.join(left)} should not be left in the plan")
    conclude(complaints, len(forms), "forms")


main()
