#!/usr/bin/env python3
"""Generates random graphs over the vocabulary and compares the CPU backend, the reference kernels and ONNX Runtime.

    random_graphs.py --binary build/saccade [--graphs 300] [--seed 0] [--found DIR] [--coverage FILE]

Graph N follows from SEED + N alone. Its first node covers one type, attribute value or option of one operator, all of
them in turn. The others are random. A mismatch is minimised, written below --found as an ONNX test folder (for
`saccade check`) and printed. oracle.py derives the allowed difference from ONNX Runtime; vocabulary.py holds each
operator's own roundings. Each graph then runs with NaN and infinities in its inputs, which must appear where the
reference kernels produce them (odd_numbers.py).
Exit status 77: skipped.
"""
import argparse
import collections
import functools
import json
import multiprocessing
import pathlib
import re
import subprocess
import sys
import tempfile
import time

SKIPPED = 77
sys.path.insert(1, str(pathlib.Path(__file__).resolve().parent.parent / "parity"))
try:
    import numpy as np
    import onnx

    from case import BFLOAT16, UNIT, Value, check
    from coverage import Coverage, expected
    from draft import Draft
    from known import WRONG, is_wrong
    from odd_numbers import difference, odd
    from oracle import EVALUATOR, ROWS, Contradiction, run_whole
    from schemas import parameters_of, schema_of
    from shrink import shrink
    from vocabulary import OPERATORS
except ImportError as missing:
    print(f"SKIPPED: needs Python's {missing.name}: ./script/bootstrap --peers")
    sys.exit(SKIPPED)

OPSETS = range(7, 29)
BATCH = 200
TRIES = 400  # random choices of a graph's general form
NOT_DRAWN = pathlib.Path(__file__).with_name("not_drawn.txt")
HEAD = """# What is not generated of an operator, and why, by --probe: Saccade refuses it, or no oracle computes it.
"""
DEVICES = {"cpu": ["--device", "cpu"], "reference": ["--device", "reference", "--passes", "none"]}
KINDS = [np.dtype("float32")] * 6 + [np.dtype("float16")] * 2 + [np.dtype("float64")] * 2 + [BFLOAT16]


def save(cases, folder):
    for name, case in cases.items():
        case.save(folder / name)


def run(binary, device, folder):
    """The report of `saccade check`; None if it was ended by a signal."""
    command = [binary, "check", "--json", "--threads", "1", *DEVICES[device], str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode in (1, 2):
        sys.exit(f"{' '.join(command)}: {done.stderr.strip()}")
    return json.loads(done.stdout) if done.returncode in (0, 3) else None


def verdicts(binary, device, cases, folder=None):
    """The outcome of each of the CASES by name: (verdict, reason). They may be in FOLDER already. A case that crashes
    the process is found by bisection."""
    if not cases:
        return {}
    if folder is None:
        with tempfile.TemporaryDirectory() as work:
            save(cases, pathlib.Path(work))
            return verdicts(binary, device, cases, work)
    report = run(binary, device, folder)
    if report is not None:
        return {name: (verdict, report["reasons"].get(name, ""))
                for verdict in ("passed", "failed", "unsupported") for name in report[verdict]}
    if len(cases) == 1:
        return {name: ("failed", "saccade check was ended by a signal") for name in cases}
    names = list(cases)
    halves = names[:len(names) // 2], names[len(names) // 2:]
    return {name: verdict for half in halves
            for name, verdict in verdicts(binary, device, {n: cases[n] for n in half}).items()}


def read_not_drawn():
    """The reason why (operator, label, value) is not computed, and by which engine."""
    lines = NOT_DRAWN.read_text().splitlines() if NOT_DRAWN.exists() else []
    rows = [line.split(" | ", 4) for line in lines if line and not line.startswith("#")]
    return {tuple(row[:3]): (row[3], row[4]) for row in rows}


def targets(not_drawn):
    """Everything to generate, as (row, label, value)."""
    return [(row, label, value) for row in OPERATORS for label, value in expected(row, OPSETS)
            if (row.name, label, value) not in not_drawn]


def can_show(row, schema, label, value):
    """Whether this version of the operator has the value."""
    if schema is None:
        return False
    if label.startswith("type "):
        return any(t.name == value for t in parameters_of(schema).get(label.removeprefix("type "), ()))
    return label in schema.attributes or label in row.classes or value == "absent" or " " in label


def draw_first(rng, seed, target, refused):
    """A draft whose first node covers TARGET. The last try, without a node, if none did."""
    row, label, value = target
    opsets = [opset for opset in OPSETS if can_show(row, schema_of(row.op, row.domain, opset),
                                                              label, value)]
    for i in range(TRIES):
        # The newest that ONNX Runtime 1.31 reads is the most frequent.
        opset = 26 if 26 in opsets and rng.random() < 0.3 else int(rng.choice(opsets))
        draft = Draft([seed, i], opset, KINDS[rng.integers(len(KINDS))], refused)
        if draft.add(row, (label, value)):
            break
    return draft


def probe(binary):
    """Writes the table of what is not generated and why. Types come first, so that a refused type is not blamed on
    others."""
    wanted = targets({})
    first = {row.name: next((label for r, label, _ in wanted if r is row and label.startswith("type ")), None)
             for row in OPERATORS}
    rows = probe_some(binary, [t for t in wanted if t[1] == first[t[0].name]], frozenset())
    refused = {tuple(key.split(" | ")) for key, why in rows.items() if why.startswith("Saccade")}
    rows |= probe_some(binary, [t for t in wanted if t[1] != first[t[0].name]], refused)
    NOT_DRAWN.write_text(HEAD + "".join(f"{key} | {why}\n" for key, why in sorted(rows.items())))
    print(f"{len(wanted)} types, attribute values and options, of which {len(rows)} are not generated")


def probe_some(binary, wanted, refused):
    """The rows of the WANTED that are not generated."""
    cases, rows = {}, {}
    for i, (row, label, value) in enumerate(wanted):
        key = f"{row.name} | {label} | {value}"
        if (label, value) in row.never:
            rows[key] = f"no oracle | {row.never[label, value]}"
            continue
        draft = draw_first(np.random.default_rng([i, 2]), i, (row, label, value), refused)
        if not draft.case.nodes:
            rows[key] = f"no oracle | {' '.join(str(draft.why).split())[:200]}"
            continue
        draft.finish()
        cases[f"{i:05}"] = (key, draft.case)
    found = verdicts(binary, "reference", {name: case for name, (_, case) in cases.items()})
    for name, (verdict, reason) in found.items():
        if verdict == "unsupported":
            sentence = re.sub(r" \(\d+ nodes?, e\.g\. '[^']*'\)|^node '[^']*' \([^)]*\): ", "", reason)
            rows[cases[name][0]] = f"Saccade | {' '.join(sentence.split())}"
    return rows


def draw(seed, wanted, refused):
    """A draft with a graph of 1 to 15 nodes. The first covers one of WANTED, in turn."""
    rng = np.random.default_rng([seed, 1])
    draft = draw_first(rng, seed, wanted[seed % len(wanted)], refused)
    rows = [row for row in OPERATORS if schema_of(row.op, row.domain, draft.opset)]
    weights = np.asarray([row.weight for row in rows])
    # Some operators are more frequent, so that they meet.
    weights *= np.exp(rng.normal(0, 1, len(rows)))
    is_long = draft.kind in (np.dtype("float32"), np.dtype("float64"))
    length = int(rng.integers(1, 16 if is_long else 7))
    for _ in range(20 * length):
        if len(draft.case.nodes) == length:
            break
        draft.add(rows[rng.choice(len(rows), p=weights / weights.sum())])
    if not draft.case.nodes:
        return draw(seed + 2**32, wanted, refused)
    draft.finish()
    return draft


def use_whole_graph(case):
    """Uses ONNX Runtime's outputs for the whole graph if it can run it, and returns whether it can. Raises if they
    contradict the node-by-node outputs: then the bound is wrong, or ONNX Runtime."""
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
                raise Contradiction(f"{name}: ONNX Runtime's whole graph is {apart.max():.3g} from its nodes")
        elif not np.array_equal(output, value.array):
            raise Contradiction(f"{name}: ONNX Runtime's whole graph is not what its nodes are")
        case.values[name] = Value(output, value.error)
    return True


def kind_of(reason):
    """While a case is minimised, an error stays that error and a wrong number a wrong number."""
    return "differ" if "elements differ" in reason else re.sub(r"'[^']*'|[0-9]+", "", reason)


def describe(case):
    lines = [f"opset {case.opset}"]
    for name, leaf in case.leaves.items():
        text = np.array2string(leaf.array, threshold=24, precision=9, separator=", ").replace("\n", "")
        lines.append(f"  {name}: {leaf.role} {leaf.array.dtype} {list(leaf.array.shape)} {text}")
    for node in case.nodes:
        bodies = node.body(node.inputs, node.outputs) if node.body else {}
        attributes = "".join(f" {k}={v}" for k, v in node.attributes.items())
        attributes += "".join(f" {name}=[{onnx.printer.to_text(graph)}]" for name, graph in bodies.items())
        lines.append(f"  {', '.join(node.outputs)} = {node.op}({', '.join(node.inputs)}){attributes}")
    return "\n".join([*lines, f"  outputs {', '.join(case.outputs)}; tolerance {case.tolerance()}"])


class Report:
    def __init__(self, flags):
        self.flags = flags
        self.not_drawn = read_not_drawn()
        self.refused_by_saccade = {key for key, (who, _) in self.not_drawn.items() if who == "Saccade"}
        self.wanted = targets(self.not_drawn)
        self.coverage = Coverage()
        self.counts = collections.Counter()
        self.nodes = collections.Counter()
        self.refused = collections.Counter()
        self.differences = collections.Counter()

    def batch(self, seeds):
        cases = {}
        for seed in seeds:
            name = f"{seed:08}"
            try:
                draft = draw(seed, self.wanted, self.refused_by_saccade)
                check(draft.case.model())
                self.counts["whole" if use_whole_graph(draft.case) else "node by node"] += 1
            except Exception as why:
                self.counts["not compared"] += 1
                print(f"{name}: not compared: {' '.join(str(why).split())[:300]}")
                continue
            cases[name] = draft
        with tempfile.TemporaryDirectory() as work:
            drawn = {name: draft.case for name, draft in cases.items()}
            save(drawn, pathlib.Path(work))
            found = {device: verdicts(self.flags.binary, device, drawn, work) for device in DEVICES}
        for name, draft in cases.items():
            self.evaluate(name, draft, {device: found[device][name] for device in DEVICES})
        for (name, draft), seed in zip(cases.items(), (int(name) for name in cases)):
            if all(found[device][name][0] == "passed" for device in DEVICES):
                self.compare_non_finite(name, draft.case, seed)

    def evaluate(self, name, draft, outcome):
        if outcome["reference"][0] == "unsupported":
            self.counts["unsupported"] += 1
            self.refused.update({outcome["reference"][1]})
            return
        self.counts["compared"] += 1
        self.nodes[len(draft.case.nodes)] += 1
        self.coverage.add(draft.drawn)
        for device, (verdict, reason) in outcome.items():
            if verdict != "passed":  # every device supports what the reference kernels support
                self.difference(name, draft.case, device, reason)
                return

    def compare_non_finite(self, name, case, seed):
        """Runs once more with NaN and infinities, on the emulated GPU too if there is one."""
        drawn = odd(case, np.random.default_rng([seed, 3]))
        if drawn is None:
            return
        devices = dict(DEVICES)
        if self.flags.cuda_every and seed % self.flags.cuda_every == 0:
            devices["cuda"] = ["--device", "cuda", "--fallback", "cpu"]
            self.counts["odd on cuda"] += 1
        self.counts["odd"] += 1
        found = difference(self.flags.binary, devices, drawn)
        if found is None:
            return
        device, reason = found
        self.counts["differ"] += 1
        self.differences.update([f"{device}, NaN or infinity: {'+'.join(node.op for node in drawn.nodes)}"])
        folder = self.flags.found / f"{name}-odd-{device}"
        drawn.save(folder)
        print(f"{name} with NaN and infinities differs on {device}: {reason}\n{describe(drawn)}\n  in {folder}",
              flush=True)

    def difference(self, name, case, device, reason):
        self.counts["differ"] += 1
        small = case
        if self.counts["differ"] <= self.flags.shrink:
            def differing(cases):
                numbered = {f"{i:04}": c for i, c in enumerate(cases)}
                return [verdict != "passed" and kind_of(why) == kind_of(reason) for _, (verdict, why) in
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
              f"are not supported, {counts['not compared']} not compared")
        print(f"{counts['odd']} of them with NaN and infinities too, {counts['odd on cuda']} on the GPU")
        print(f"reference: {counts['whole']} graphs by ONNX Runtime as a whole, {counts['node by node']} node by node; "
              + ", ".join(f"{n} nodes by {who}" for who, n in EVALUATOR.used.items()))
        for row in WRONG:
            print(f"{' and '.join(row.who)}: not used for every {row.op}: {row.why}")
        for op, count in EVALUATOR.disagreed.most_common():
            print(f"the onnx package's doubles contradict ONNX Runtime's floats, believed here: {op}, {count} times")
        for reason, count in self.refused.most_common():
            print(f"not supported, {count} times: {reason}")
        for what, count in self.differences.most_common():
            print(f"differs, {count} times: {what}")
        self.print_coverage()

    def failure(self):
        """The reason for a failure; None on success."""
        reasons = [f"{self.counts[what]} graphs {what}" for what in ("differ", "not compared") if self.counts[what]]
        if self.flags.complete and self.holes:
            reasons.append(f"{self.holes} types and values were not generated")
        return "; ".join(reasons) or None

    def print_coverage(self):
        holes = list(self.coverage.holes(OPERATORS, OPSETS))
        open_holes = [hole for hole in holes if hole not in self.not_drawn]
        if self.flags.coverage:
            lines = list(self.coverage.table(OPERATORS))
            for hole in holes:
                who, why = self.not_drawn.get(hole, ("", ""))
                lines.append(f"never generated: {': '.join(hole)}" + (f" ({who} computes it: {why})" if who == "no oracle" else
                                                                  f" ({who} refuses it: {why})" if who else ""))
            self.flags.coverage.write_text("\n".join(lines) + "\n")
        operators = sum(bool(self.coverage.drawn[row.name]) for row in OPERATORS)
        wanted = sum(1 for row in OPERATORS for _ in expected(row, OPSETS))
        print(f"coverage: {operators} of {len(OPERATORS)} operators; {wanted - len(holes)} of {wanted} types, attribute"
              f" values and options; {len(holes) - len(open_holes)} are explained in {NOT_DRAWN.name}, "
              f"{len(open_holes)} were not generated")
        self.holes = len(open_holes)

    def tallies(self):
        return [self.counts, self.nodes, self.refused, self.differences, self.coverage.drawn, self.coverage.values,
                self.coverage.versions, EVALUATOR.used, EVALUATOR.disagreed]

    def add(self, tallies):
        """Adds another process's counters."""
        for own, other in zip(self.tallies(), tallies):
            for key, count in other.items():
                if isinstance(count, collections.Counter):
                    own[key].update(count)
                else:
                    own[key] += count


def tallies_of(flags, seeds):
    report = Report(flags)
    EVALUATOR.used.clear()
    EVALUATOR.disagreed.clear()
    report.batch(seeds)
    return report.tallies()


def run_all(flags):
    last = flags.seed + flags.graphs
    batches = [range(first, min(first + BATCH, last)) for first in range(flags.seed, last, BATCH)]
    report = Report(flags)
    if flags.jobs == 1:
        for seeds in batches:
            report.batch(seeds)
        return report
    with multiprocessing.Pool(flags.jobs) as pool:
        for tallies in pool.imap_unordered(functools.partial(tallies_of, flags), batches):
            report.add(tallies)
    return report


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True)
    parser.add_argument("--graphs", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--found", type=pathlib.Path, default=pathlib.Path("random-graphs-found"))
    parser.add_argument("--coverage", type=pathlib.Path, help="where to write the whole table")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--shrink", type=int, default=20, help="how many differences (of a batch) are made smaller")
    parser.add_argument("--cuda-every", type=int, default=0, metavar="N",
                        help="of graphs with NaN and infinities every Nth runs on the GPU, too")
    parser.add_argument("--probe", action="store_true", help=f"write {NOT_DRAWN.name}, and generate nothing")
    parser.add_argument("--complete", action="store_true", help="fail if something was not generated without a reason")
    flags = parser.parse_args()
    if flags.probe:
        probe(flags.binary)
        return
    start = time.monotonic()
    report = run_all(flags)
    report.print(time.monotonic() - start)
    sys.exit(report.failure())


if __name__ == "__main__":
    main()
