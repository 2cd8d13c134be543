#!/usr/bin/env python3
"""Attacks the command with hostile graphs, media, cards, annotations, plans, tensors, paths, numbers, signals and
limits.

    hostile.py --binary build/saccade [--seed 0] [--attempts 400 | --seconds 120] [--only CLASS] [--first N] [--jobs 2]
               [--keep DIR]

An attempt fails if the command is ended by a signal or a sanitizer, hangs, exceeds its memory limit, changes a file
that is not its output, leaves a temporary file, reports an unreadable file as written, prints an error that is not one
clean sentence, or silently gives wrong results. Attempt N of a class follows from the seed and N alone. Each failure
prints how to repeat it. Exit status 77: skipped.
"""
import argparse
import collections
import concurrent.futures
import functools
import itertools
import os
import pathlib
import random
import shlex
import shutil
import sys
import tempfile
import time
import traceback

SKIPPED = 77
try:
    import annotations
    import cards
    import collisions
    import command_lines
    import fixtures
    import graphs
    import limits
    import media
    import npy
    import plans
    import signals
    from attempt import Place, snapshot
    from faults import faults_of
except ImportError as missing:
    print(f"SKIPPED: needs Python's {missing.name}: ./script/bootstrap --peers")
    sys.exit(SKIPPED)

# The number of attempts of each class per round.
WEIGHTS = {
    "command_lines": 16, "collisions": 4, "graphs": 7, "media": 5, "cards": 4, "annotations": 3, "plans": 3, "npy": 3,
    "signals": 2, "limits": 3
}
DRAW = {
    "collisions": collisions.draw, "graphs": graphs.draw, "media": media.draw, "cards": cards.draw,
    "annotations": annotations.draw, "plans": plans.draw, "npy": npy.draw, "signals": signals.draw,
    "limits": limits.draw
}
SANITIZED_SCALE = 3  # times as long


def schedule(only, first):
    """(class, number), the classes evenly interleaved, endless."""
    numbers = {kind: itertools.count(first) for kind in WEIGHTS}
    if only:
        yield from ((only, number) for number in numbers[only])
    total = sum(WEIGHTS.values())
    for step in itertools.count(1):
        for kind, weight in WEIGHTS.items():
            for _ in range(step * weight // total - (step - 1) * weight // total):
                yield kind, next(numbers[kind])


@functools.cache
def rows(binary, seed, kind):
    """The table of a class in the seed's order."""
    found = list(command_lines.table(binary))
    random.Random(f"{seed} {kind}").shuffle(found)
    return found


def draw(flags, place, kind, number):
    if kind == "command_lines":
        table = rows(flags.binary, flags.seed, kind)
        return command_lines.draw(place, table[number % len(table)])
    return DRAW[kind](place, number)


def attempt_one(flags, base, key):
    """(class, number, what, command, seconds, faults) of one attempt."""
    kind, number = key
    home = pathlib.Path(flags.keep or base) / f"{kind}-{number}"
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir(parents=True)
    try:
        place = Place(home / "w", base / "fixtures", f"{flags.seed} {kind} {number}", flags.binary, flags.scale)
        attempt = draw(flags, place, kind, number)
        place.hand_over()
        before = snapshot(place.folder)
        done = place.run(attempt)
        faults = faults_of(attempt, place, before, done)
        line = " ".join(shlex.quote(os.fsdecode(word)) for word in attempt.command)
        return kind, number, attempt.what, line, done.seconds, faults
    except Exception:
        return kind, number, "", "", 0, [("suite", traceback.format_exc())]
    finally:
        if not flags.keep:
            os.system(f"chmod -R u+rwX {shlex.quote(str(home))}")
            shutil.rmtree(home, ignore_errors=True)


def printable(text):
    return text.encode("utf-8", "backslashreplace").decode()


class Report:
    def __init__(self, flags):
        self.flags = flags
        self.counts = collections.defaultdict(collections.Counter)
        self.failed = 0
        self.slowest = (0, "")

    def add(self, kind, number, what, line, seconds, faults):
        self.counts[kind]["attempts"] += 1
        self.slowest = max(self.slowest, (seconds, f"{kind} {number}: {what}"))
        if not faults:
            return
        self.failed += 1
        self.counts[kind]["failed"] += 1
        self.counts[kind].update({fault for fault, _ in faults})
        print(f"FAILED {kind} {number}: {printable(what)}\n  saccade {printable(line)}")
        for fault, sentence in faults:
            print(f"  {fault}: {printable(sentence)}")
        print(
            f"  again: hostile.py --binary {self.flags.binary} --seed {self.flags.seed} --only {kind} --first {number} "
            f"--attempts 1 --keep DIR", flush=True)

    def print(self, seconds):
        kinds = sorted({fault for counts in self.counts.values() for fault in counts} - {"attempts", "failed"})
        columns = ["attempts", "failed", *kinds]
        print("".join(["class".ljust(16), *(column.rjust(10) for column in columns)]))
        for kind, counts in self.counts.items():
            print("".join([kind.ljust(16), *(str(counts[column]).rjust(10) for column in columns)]))
        attempts = sum(counts["attempts"] for counts in self.counts.values())
        print(f"slowest: {self.slowest[0]:.1f} s, {printable(self.slowest[1])}")
        print(f"seed {self.flags.seed}, {seconds:.0f} s")
        print(f"{attempts - self.failed} passed, {self.failed} failed")


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--attempts", type=int, default=400)
    parser.add_argument("--seconds", type=float, help="begin none after so many; the attempts are then a first part")
    parser.add_argument("--only", choices=WEIGHTS, help="one class")
    parser.add_argument("--first", type=int, default=0, help="number of the first attempt of each class")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep", help="keep every attempt's folder here")
    flags = parser.parse_args()
    flags.binary = str(pathlib.Path(flags.binary).resolve())
    flags.scale = SANITIZED_SCALE if b"__asan_init" in pathlib.Path(flags.binary).read_bytes() else 1
    flags.keep = flags.keep and str(pathlib.Path(flags.keep).resolve())
    return flags


def main():
    flags = arguments()
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="hostile") as base:
        base = pathlib.Path(base)
        for folder in [base, *([pathlib.Path(flags.keep)] if flags.keep else [])]:
            folder.mkdir(exist_ok=True)
            folder.chmod(0o755)
        (base / "fixtures").mkdir()
        fixtures.make(base / "fixtures", flags.binary)
        flags.until = time.monotonic() + flags.seconds if flags.seconds else float("inf")
        report = Report(flags)
        keys = schedule(flags.only, flags.first)
        keys = keys if flags.seconds else itertools.islice(keys, flags.attempts)
        for result in in_order(flags, functools.partial(attempt_one, flags, base), keys):
            report.add(*result)
        report.print(time.monotonic() - start)
    sys.exit(1 if report.failed else 0)


def in_order(flags, function, keys):
    """FUNCTION's results in the order of KEYS. None is started after the time limit."""
    keys = itertools.takewhile(lambda _: time.monotonic() < flags.until, keys)
    with concurrent.futures.ProcessPoolExecutor(flags.jobs) as pool:  # it reports a worker that died
        running = collections.deque(
            pool.submit(function, key) for key in itertools.islice(keys, 2 * flags.jobs))
        while running:
            yield running.popleft().result()
            running.extend(pool.submit(function, key) for key in itertools.islice(keys, 1))


if __name__ == "__main__":
    main()
