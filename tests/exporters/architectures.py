#!/usr/bin/env python3
"""Exports networks of torchvision and timm, Keras or Paddle and compares saccade with ONNX Runtime on each file.

    architectures.py --binary build/saccade --shared ../shared [--framework torch|keras|paddle] [--opset 11,13,17]
                     [--exporter torchscript,dynamo] [--batch static,dynamic] [--quick] [NAME...]
    architectures.py --list [--framework ...]

FRAMEWORK_networks.py defines the networks and their exporters. It runs in the environment of script/bootstrap
--exporters, --keras or --paddle. The complete run takes hours; --quick is the subset that the tests run. A file passes
under two conditions. Its outputs drift at most 1e-3 on photographs, in the units of ../shared/tools/drift.py (quantised
ones: compare.eight_bits). Its plan has no shape arithmetic. A dynamic batch runs with another size than it was exported
with. Operators on reference kernels are printed. Known failures are in not_passing.txt with their reason. A row whose
files all pass is an error, too. Failed exports are counted separately. Exit status 77: skipped.
"""
import argparse
import collections
import concurrent.futures
import dataclasses
import fnmatch
import importlib
import multiprocessing
import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "parity"))
from script import needs, option

FRAMEWORKS = {"torch": "--exporters", "keras": "--keras", "paddle": "--paddle"}


@dataclasses.dataclass
class Case:
    name: str
    verdict: str  # passed, failed, not exported
    text: str


def run_case(args, exporter, name, opset):
    case = f"{name} {exporter.exporter} {opset} {exporter.batch}"
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "model.onnx"
        try:
            exporter.save(path, opset)
        except export.CannotExport as reason:
            return Case(case, "not exported", str(reason))
        try:
            good, text = exporter.check(args.binary, str(path))
            steps = steps_of(args.binary, str(path), exporter.feeds()[0])
        except InvalidGraph as reason:
            return Case(case, "not exported", f"as a valid file: {export.one_line(reason)}")
        except Exception as error:  # Either an error of ONNX Runtime or of saccade is a finding.
            return Case(case, "failed", " ".join(str(error).split())[:600])
    if slow := slow_steps(steps):
        text += f"; reference kernels: {', '.join(slow)}"
    if left := shape_steps(steps):
        return Case(case, "failed", f"{text}; {', '.join(left)} compute shapes")
    return Case(case, "passed" if good else "failed", text)


def run_network(args, name):
    """All files of one network, in a process of its own: exporters keep global state."""
    network = framework.make(name)
    cases = []
    for kind in args.exporter:
        for batch in args.batch if network.batched else ("static",):
            exporter = framework.Exporter(network, kind, batch)
            for opset in args.opset:
                cases.append(run_case(args, exporter, name, opset))
                print(f"{cases[-1].name}: {cases[-1].verdict}, {cases[-1].text}", flush=True)
    return cases


def isolated(args, name):
    with concurrent.futures.ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        try:
            return pool.submit(run_network, args, name).result()
        except Exception as error:
            print(f"{name} * * *: failed, {error}", flush=True)
            return [Case(f"{name} * * *", "failed", str(error))]


def known():
    """Pattern to reason, from not_passing.txt."""
    lines = (HERE / "not_passing.txt").read_text(encoding="utf-8").splitlines()
    rows = (line.split(maxsplit=4) for line in lines if line and not line.startswith("#"))
    return {" ".join(row[:4]): row[4] for row in rows}


def complaints(cases):
    rows = known()
    ran = [case for case in cases if case.verdict != "not exported"]
    for case in ran:
        if case.verdict == "failed" and not any(fnmatch.fnmatchcase(case.name, row) for row in rows):
            yield f"{case.name}: {case.text}"
    for row in rows:
        of_row = [case.verdict for case in ran if fnmatch.fnmatchcase(case.name, row)]
        if of_row and set(of_row) == {"passed"}:
            yield f"'{row}' passes: take it out of not_passing.txt"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required="--list" not in sys.argv)
    parser.add_argument("--shared", type=pathlib.Path)
    parser.add_argument("--framework", choices=FRAMEWORKS, default="torch")
    parser.add_argument("--opset", type=lambda text: [int(part) for part in text.split(",")], default=framework.OPSETS)
    parser.add_argument("--exporter", type=lambda text: text.split(","), default=framework.EXPORTERS)
    parser.add_argument("--batch", type=lambda text: text.split(","), default=export.BATCHES)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    if args.quick:
        vars(args).update(framework.QUICK)
    # The newest first: an opset that an exporter can't write rules out all older ones.
    args.opset = sorted(args.opset, reverse=True)
    return args


def main():
    args = arguments()
    if args.list:
        print("\n".join(framework.names()))
        return 0
    cases = [case for name in args.names or framework.names() for case in isolated(args, name)]
    wrong = list(complaints(cases))
    count = collections.Counter(case.verdict for case in cases)
    print("".join(f"{line}\n" for line in wrong), end="")
    print(f"{len(args.names or framework.names())} networks: {count['passed']} files passed, {count['failed']} failed, "
          f"{count['not exported']} could not be exported; {len(wrong)} not as not_passing.txt says")
    return int(bool(wrong))


with needs(FRAMEWORKS.get(option("--framework", "torch"))):
    import export
    from onnxruntime.capi.onnxruntime_pybind11_state import InvalidGraph
    from compare import shape_steps, slow_steps, steps_of
    framework = importlib.import_module(f"{option('--framework', 'torch')}_networks")

if __name__ == "__main__":
    sys.exit(main())
