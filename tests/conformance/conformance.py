#!/usr/bin/env python3
"""Runs ONNX's own test cases and holds what does not pass against not_passing.txt, in both directions.

    conformance.py --binary build/saccade --cases .venv-cases/cases [--update]

A case that does not pass and has no row is an error, and so is a row whose case passes, or is now something else than
the row says.  --update writes the table anew from what happens; read the difference before you commit it.
Exit status 77: skipped.
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
HEAD = """# What of ONNX's own test cases does not pass, and why: a row a case, by conformance.py --update.
# "unsupported" is refused with that reason when the model is read or compiled; "failed" is a bug of ours.
"""


def run(binary, folders):
    """saccade check's report; None where it ended otherwise than by an exit code of its own."""
    done = subprocess.run([binary, "check", "--json", "--device", "cpu", *map(str, folders)], capture_output=True,
                          text=True, check=False)
    if done.returncode not in (0, 3):
        print(done.stderr.strip()[-2000:], file=sys.stderr)
        return None
    return json.loads(done.stdout)


def crashing(binary, cases):
    """A case that ends the whole process, found by halves."""
    folders = [model.parent for model in sorted(cases.rglob("model.onnx"))]
    while len(folders) > 1:
        half = folders[:len(folders) // 2]
        folders = half if run(binary, half) is None else folders[len(half):]
    return folders[0]


def short(reason):
    """REASON without what differs between cases of one cause, and on one line."""
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
    """What the table has to say, and does not."""
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
