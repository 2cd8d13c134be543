#!/usr/bin/env python3
"""Runs ONNX's own test cases and compares the failures with not_passing.txt, in both directions.

    conformance.py --binary build/saccade --cases .venv-cases/cases [--update]

A failing case without a row is an error. So is a row whose case passes or fails in another way. --update rewrites the
table; review the difference before you commit it. Exit status 77: skipped.
"""
import argparse
import collections
import json
import pathlib
import re
import subprocess
import sys

SKIPPED = 77
TABLE = pathlib.Path(__file__).with_name("not_passing.txt")
HEAD = """# The test cases of ONNX that do not pass, with the reason, one per row; written by conformance.py --update.
# "unsupported" is rejected with that reason when the model is read or compiled; "failed" is a bug of Saccade.
"""


def run(binary, folders):
    """The report of `saccade check`. None if the process crashed."""
    done = subprocess.run([binary, "check", "--json", "--device", "cpu", *map(str, folders)], capture_output=True,
                          text=True, check=False)
    if done.returncode not in (0, 3):
        print(done.stderr.strip()[-2000:], file=sys.stderr)
        return None
    return json.loads(done.stdout)


def crashing(binary, cases):
    """Finds a case that crashes the process, by bisection."""
    folders = [model.parent for model in sorted(cases.rglob("model.onnx"))]
    while len(folders) > 1:
        half = folders[:len(folders) // 2]
        folders = half if run(binary, half) is None else folders[len(half):]
    return folders[0]


def short(reason):
    """REASON on one line, without the parts that differ between cases of one cause."""
    return re.sub(r" \(\d+ nodes?, e\.g\. '[^']*'\)", "", " ".join(reason.split()))


def read_table():
    rows = {}
    for line in TABLE.read_text().splitlines() if TABLE.exists() else []:
        if line and not line.startswith("#"):
            name, verdict, reason = line.split(maxsplit=2)
            rows[name] = (verdict, reason)
    return rows


def write_table(rows):
    TABLE.write_text(HEAD + "".join(f"{name} {verdict} {reason}\n" for name, (verdict, reason) in sorted(rows.items())))


def compare(found, table):
    """The differences between the table and the results."""
    for name in sorted(found.keys() | table.keys()):
        now, then = found.get(name), table.get(name)
        if then is None:
            yield f"{name} is not in the table: {now[0]}, {now[1]}"
        elif now is None:
            yield f"{name} passes (or is gone): take its row out of the table"
        elif now[0] != then[0]:
            yield f"{name} is {now[0]} now ({now[1]}), not {then[0]}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True)
    parser.add_argument("--cases", required=True, type=pathlib.Path)
    parser.add_argument("--update", action="store_true")
    flags = parser.parse_args()
    if not flags.cases.is_dir():
        print("SKIPPED: needs ONNX's test cases: ./script/bootstrap --cases")
        sys.exit(SKIPPED)
    report = run(flags.binary, [flags.cases])
    if report is None:
        sys.exit(f"saccade check did not end in order, probably at {crashing(flags.binary, flags.cases)}")
    found = {name: (verdict, short(report["reasons"][name]))
             for verdict in ("failed", "unsupported") for name in report[verdict]}
    counts = collections.Counter((name.split("/")[0], verdict) for verdict in ("passed", "failed", "unsupported")
                                 for name in report[verdict])
    for kind in sorted({kind for kind, _ in counts}):
        print(f"{kind}: " + ", ".join(f"{counts[kind, v]} {v}" for v in ("passed", "failed", "unsupported")))
    if flags.update:
        write_table(found)
        return
    complaints = list(compare(found, read_table()))
    print("\n".join(complaints))
    if complaints:
        sys.exit(f"{TABLE.name} and what happens disagree in {len(complaints)} rows; conformance.py --update writes it")


main()
