#!/usr/bin/env python3
"""Exports networks that are not in ../shared and compares saccade with ONNX Runtime on them, by parity.py.

    architectures.py --binary build/saccade --shared ../shared --work DIR [--opset 11,13,17] [--exporter torchscript]
                     [--dynamic-batch] [--torch-python /usr/bin/python3] [NAME...]

Runs in the environment of script/bootstrap --peers; --torch-python has torch and torchvision, for export.py.  No part of
script/test: an export of all takes half an hour, and a torch.
"""
import argparse
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).parent


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--shared", required=True)
    parser.add_argument("--work", required=True, type=pathlib.Path)
    parser.add_argument("--opset", default="17")
    parser.add_argument("--exporter", default="torchscript")
    parser.add_argument("--dynamic-batch", action="store_true")
    parser.add_argument("--torch-python", default="/usr/bin/python3")
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    export = [args.torch_python, HERE / "export.py"]
    names = args.names or subprocess.run([*export, "--list"], capture_output=True, text=True, check=True).stdout.split()
    compared, wrong = 0, []
    for opset in args.opset.split(","):
        for name in names:
            batch = "_dynamic" if args.dynamic_batch else ""
            stem = args.work / f"{name}_{args.exporter}_opset{opset}{batch}"
            flags = ["--opset", opset, "--exporter", args.exporter, *(["--dynamic-batch"] if batch else [])]
            done = subprocess.run([*export, name, f"{stem}.onnx", *flags], capture_output=True, text=True, check=False)
            if done.returncode != 0:
                print(f"{stem.name}: the exporter can't: {done.stderr.strip().splitlines()[-1][:200]}", flush=True)
                continue
            compare = [sys.executable, HERE / "parity.py", "--binary", args.binary, "--shared", args.shared]
            parity = subprocess.run([*compare, "--work", args.work, stem.absolute()], check=False)
            compared += 1
            if parity.returncode != 0:
                wrong.append(stem.name)
            os.remove(f"{stem}.onnx")
    print(f"{compared} compared, {len(wrong)} wrong" + "".join(f"\n  {name}" for name in wrong))
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
