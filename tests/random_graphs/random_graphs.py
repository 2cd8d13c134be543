#!/usr/bin/env python3
"""Draws random graphs over the vocabulary and compares the CPU backend, the reference kernels and ONNX Runtime.

    random_graphs.py --binary build/saccade [--graphs 300] [--seed 0] [--found DIR] [--coverage FILE]

Graph N is drawn from SEED + N alone.  A graph that differs is made smaller, written below --found as a folder of ONNX
tests (for `saccade check`) and printed.  How far an answer may be from ONNX Runtime's is derived in oracle.py.
Exit status 77: skipped.
"""
import argparse
import collections
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time

SKIPPED = 77
try:
    import numpy as np

    from case import BFLOAT16, UNIT, Value, check
    from coverage import Coverage
    from draft import Draft, schema_of, types_of
    from known import WRONG, WRONG_IN_PACKAGE, is_wrong
    from oracle import EVALUATOR, run_whole
    from shrink import shrink
    from vocabulary import OPERATORS
except ImportError as missing:
    print(f"SKIPPED: needs Python's {missing.name}: ./script/bootstrap --peers")
    sys.exit(SKIPPED)

OLDEST, NEWEST = 7, 26  # the newest that ONNX Runtime 1.31 reads
BATCH = 300
UNSUPPORTED = pathlib.Path(__file__).with_name("unsupported.txt")
HEAD = """# Which operator refuses which type of its first input, and why, by random_graphs.py --probe: not drawn.
"""
DEVICES = {"cpu": ["--device", "cpu"], "reference": ["--device", "reference", "--passes", "none"]}
ROWS = {(row.domain, row.op): row for row in OPERATORS}
KINDS = [np.dtype("float32")] * 6 + [np.dtype("float16")] * 2 + [np.dtype("float64")] * 2 + [BFLOAT16]


def run(binary, device, folder):
    """saccade check's report; None where it was ended by a signal."""
    command = [binary, "check", "--json", "--threads", "1", *DEVICES[device], str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode in (1, 2):
        sys.exit(f"{' '.join(command)}: {done.stderr.strip()}")
    return json.loads(done.stdout) if done.returncode in (0, 3) else None


def verdicts(binary, device, cases):
    """What became of each of the CASES by name: (verdict, reason).  A case that ends the process is found by halves."""
    if not cases:
        return {}
    with tempfile.TemporaryDirectory() as work:
        for name, case in cases.items():
            case.save(pathlib.Path(work) / name)
        report = run(binary, device, work)
    if report is not None:
        return {name: (verdict, report["reasons"].get(name, ""))
                for verdict in ("passed", "failed", "unsupported") for name in report[verdict]}
    if len(cases) == 1:
        return {name: ("failed", "saccade check was ended by a signal") for name in cases}
    names = list(cases)
    halves = names[:len(names) // 2], names[len(names) // 2:]
    return {name: verdict for half in halves
            for name, verdict in verdicts(binary, device, {n: cases[n] for n in half}).items()}


def read_unsupported():
    """(operator, type) by reason: what is known not to run."""
    lines = UNSUPPORTED.read_text().splitlines() if UNSUPPORTED.exists() else []
    rows = [line.split(maxsplit=2) for line in lines if line and not line.startswith("#")]
    return {(op, dtype): reason for op, dtype, reason in rows}


def draw_one(row, dtype, opset):
    """A graph of one node of this type; nothing where none is to be had."""
    for seed in range(12):
        draft = Draft(seed, opset, np.dtype("float32") if dtype is None else dtype)
        try:
            if draft.add(row) and (dtype is None or draft.drawn[0][1] == dtype):
                draft.finish()
                check(draft.case.model())
                return draft.case
        except Exception:  # the checker's have no common base
            continue
    return None


def probe(binary):
    """Writes down which operator refuses which type."""
    cases = {}
    for row in OPERATORS:
        opset = next(o for o in (NEWEST, 9) if row.domain or schema_of(row.op, row.domain, o))
        schema = schema_of(row.op, row.domain, opset) if row.domain == "" else None
        for dtype in row.types or (types_of(schema) if schema.inputs else [None]):
            case = draw_one(row, dtype, opset)
            if case is None:
                print(f"{row.name} {dtype}: no oracle computes it")
            else:
                cases[f"{row.name} {dtype.name if dtype is not None else '-'}"] = case
    found = verdicts(binary, "reference", cases)
    rows = {name: " ".join(re.sub(r" \(\d+ nodes?, e\.g\. '[^']*'\)|^node '[^']*' \([^)]*\): ", "", reason).split())
            for name, (verdict, reason) in found.items() if verdict == "unsupported"}
    UNSUPPORTED.write_text(HEAD + "".join(f"{name} {reason}\n" for name, reason in sorted(rows.items())))
    print(f"{len(cases)} operators and types tried, {len(rows)} not supported")


def draw(seed, refused):
    """A draft with a graph of 1 to 15 nodes that the standard's checker accepts."""
    rng = np.random.default_rng([seed, 1])
    opset = NEWEST if rng.random() < 0.3 else int(rng.integers(OLDEST, NEWEST + 1))
    kind = KINDS[rng.integers(len(KINDS))]
    draft = Draft(seed, opset, kind, refused)
    rows = [row for row in OPERATORS if (row.name, "-") not in refused and
            (row.domain or schema_of(row.op, row.domain, opset))]
    weights = np.asarray([row.weight for row in rows])
    # Some operators more often than others, so that they meet.
    weights *= np.exp(rng.normal(0, 1, len(rows)))
    length = int(rng.integers(1, 16)) if kind in (np.dtype("float32"), np.dtype("float64")) else int(rng.integers(1, 7))
    for _ in range(20 * length):
        if len(draft.case.nodes) == length:
            break
        draft.add(rows[rng.choice(len(rows), p=weights / weights.sum())])
    if not draft.case.nodes:
        return draw(seed + 2**32, refused)
    draft.finish()
    return draft


def judge_by_whole(case):
    """Takes ONNX Runtime's answers for the whole graph where it can run it; whether it did.  Throws where they are not
    what it says node by node: then the bound is wrong, or ONNX Runtime."""
    reads = [(node, {name: case.values[name].array for name in node.inputs if name}) for node in case.nodes]
    if any(is_wrong(node, arrays, case.opset) for node, arrays in reads):
        return False
    outputs = run_whole(case.model(), case)
    if outputs is None:
        return False
    for name, output in zip(case.outputs, outputs):
        value = case.values[name]
        if output.dtype in UNIT:
            apart = np.abs(output.astype(np.float64) - value.array.astype(np.float64))
            if np.any(np.where(output == value.array, 0, apart) > 2 * value.error):
                raise ValueError(f"{name}: ONNX Runtime's whole graph is {apart.max():.3g} from its nodes")
        elif not np.array_equal(output, value.array):
            raise ValueError(f"{name}: ONNX Runtime's whole graph is not what its nodes are")
        case.values[name] = Value(output, value.error)
    return True


def kind_of(reason):
    """An error stays that error while a case is made smaller, and a wrong number a wrong number."""
    return "differ" if "elements differ" in reason else re.sub(r"'[^']*'|[0-9]+", "", reason)


def describe(case):
    lines = [f"opset {case.opset}"]
    for name, leaf in case.leaves.items():
        text = np.array2string(leaf.array, threshold=24, precision=9, separator=", ").replace("\n", "")
        lines.append(f"  {name}: {leaf.role} {leaf.array.dtype} {list(leaf.array.shape)} {text}")
    for node in case.nodes:
        attributes = "".join(f" {k}={v}" for k, v in node.attributes.items())
        lines.append(f"  {', '.join(node.outputs)} = {node.op}({', '.join(node.inputs)}){attributes}")
    return "\n".join([*lines, f"  outputs {', '.join(case.outputs)}; tolerance {case.tolerance()}"])


class Report:
    def __init__(self, flags):
        self.flags = flags
        self.unsupported = read_unsupported()
        self.coverage = Coverage()
        self.counts = collections.Counter()
        self.nodes = collections.Counter()
        self.refused = collections.Counter()
        self.differences = collections.Counter()

    def batch(self, seeds):
        cases = {}
        for seed in seeds:
            draft = draw(seed, self.unsupported.keys())
            name = f"{seed:08}"
            try:
                check(draft.case.model())
                self.counts["whole" if judge_by_whole(draft.case) else "node by node"] += 1
            except Exception as why:
                self.counts["not judged"] += 1
                print(f"{name}: not judged: {' '.join(str(why).split())[:300]}")
                continue
            cases[name] = draft
        found = {device: verdicts(self.flags.binary, device, {n: d.case for n,
                                                              d in cases.items()}) for device in DEVICES}
        for name, draft in cases.items():
            self.judge(name, draft, {device: found[device][name] for device in DEVICES})

    def judge(self, name, draft, outcome):
        if any(verdict == "unsupported" for verdict, _ in outcome.values()):
            self.counts["unsupported"] += 1
            self.refused.update({next(reason for verdict, reason in outcome.values() if verdict == "unsupported")})
            return
        self.counts["compared"] += 1
        self.nodes[len(draft.case.nodes)] += 1
        self.coverage.add(draft.drawn)
        for device, (verdict, reason) in outcome.items():
            if verdict == "failed":
                self.difference(name, draft.case, device, reason)
                return

    def difference(self, name, case, device, reason):
        self.counts["differ"] += 1
        small = case
        if self.counts["differ"] <= self.flags.shrink:
            def differing(cases):
                numbered = {f"{i:04}": c for i, c in enumerate(cases)}
                return [verdict == "failed" and kind_of(why) == kind_of(reason) for _, (verdict, why) in
                        sorted(verdicts(self.flags.binary, device, numbered).items())]
            small = shrink(case, ROWS, differing)
            reason = next(iter(verdicts(self.flags.binary, device, {name: small}).values()))[1]
        self.differences.update([f"{device}: {'+'.join(node.op for node in small.nodes)}"])
        folder = self.flags.found / f"{name}-{device}"
        small.save(folder)
        print(f"{name} differs on {device}: {reason}\n{describe(small)}\n  in {folder}", flush=True)

    def print(self, seconds):
        counts = self.counts
        print(f"{counts['compared']} graphs with {sum(n * c for n, c in self.nodes.items())} nodes compared on "
              f"{' and '.join(DEVICES)} in {seconds:.0f} s: {counts['differ']} differ; {counts['unsupported']} more "
              f"are not supported, {counts['not judged']} not judged")
        print(f"answers: {counts['whole']} graphs by ONNX Runtime as a whole, {counts['node by node']} node by node; "
              + ", ".join(f"{n} nodes by {who}" for who, n in EVALUATOR.used.items()))
        for who, rows in (("ONNX Runtime", WRONG), ("the onnx package", WRONG_IN_PACKAGE)):
            for row in rows:
                print(f"{who} is not asked about every {row.op}: {row.why}")
        for op, count in EVALUATOR.disagreed.most_common():
            print(f"the onnx package's doubles contradict ONNX Runtime's floats, believed here: {op}, {count} times")
        for reason, count in self.refused.most_common():
            print(f"not supported, {count} times: {reason}")
        for what, count in self.differences.most_common():
            print(f"differs, {count} times: {what}")
        lines = list(self.coverage.table(OPERATORS))
        holes = list(self.coverage.holes(OPERATORS, NEWEST, self.unsupported))
        if self.flags.coverage:
            self.flags.coverage.write_text("\n".join(lines + [f"never drawn: {op}: {what}" for op,
                                                              what in holes]) + "\n")
        operators = sum(bool(self.coverage.types[row.name]) for row in OPERATORS)
        print(f"coverage: {operators} of {len(OPERATORS)} operators; {len(holes)} holes, and {len(self.unsupported)} "
              f"pairs of operator and type in {UNSUPPORTED.name}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True)
    parser.add_argument("--graphs", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--found", type=pathlib.Path, default=pathlib.Path("random-graphs-found"))
    parser.add_argument("--coverage", type=pathlib.Path, help="where to write the whole table")
    parser.add_argument("--shrink", type=int, default=20, help="how many differences are made smaller")
    parser.add_argument("--probe", action="store_true", help=f"write {UNSUPPORTED.name} anew, and draw nothing")
    flags = parser.parse_args()
    if flags.probe:
        probe(flags.binary)
        return
    report, start = Report(flags), time.monotonic()
    for first in range(flags.seed, flags.seed + flags.graphs, BATCH):
        report.batch(range(first, min(first + BATCH, flags.seed + flags.graphs)))
    report.print(time.monotonic() - start)
    if report.counts["differ"] or report.counts["not judged"]:
        sys.exit("some graphs differ")


if __name__ == "__main__":
    main()
