#!/usr/bin/env python3
"""Times what a user waits for first: the start of the command, and the first image.

    bench/first_image.py BINARY MODEL IMAGE [--rounds 20] [--device cpu]

The commands take turns, each in a process of its own. `version` is the start, `inspect` reads and compiles MODEL,
`first line` lasts until `run` has printed the line of IMAGE, `image` until it has written the drawn image and ended.
Prints the median and the least of the wall time, and the median of the processor time, in ms. The least and the
processor time depend least on other processes of the machine.
"""
import argparse
import os
import statistics
import subprocess
import tempfile
import time


def timed(command):
    """Wall time, time until the first line of output, and processor time, in seconds."""
    start = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.readline()
        first_line = time.perf_counter() - start
        process.stdout.read()
        errors = process.stderr.read().decode()
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"{' '.join(command)}\nexited with {process.returncode}:\n{errors}")
    return wall, first_line, usage.ru_utime + usage.ru_stime


def measure(flags, folder):
    """{name: [(wall, processor time), ...]}; the time of the first line has the processor time of its whole run."""
    drawn = [flags.binary, "run", flags.model, "--source", flags.image, "--device", flags.device, "--frames", folder]
    commands = {"version": [flags.binary, "--version"],
                "inspect": [flags.binary, "inspect", flags.model, "--device", flags.device], "image": drawn}
    times = {}
    for number in range(-1, flags.rounds):  # round -1 fills the page cache
        for name, command in commands.items():
            wall, first_line, processor = timed(command)
            if number < 0:
                continue
            times.setdefault(name, []).append((wall, processor))
            if name == "image":
                times.setdefault("first line", []).append((first_line, processor))
    return times


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("binary", "model", "image"):
        parser.add_argument(name)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--device", default="cpu")
    flags = parser.parse_args()
    print(f"{'ms':12} {'median':>8} {'least':>8} {'processor':>10}")
    with tempfile.TemporaryDirectory() as folder:
        for name, found in measure(flags, folder).items():
            wall, processor = zip(*found)
            print(f"{name:12} {1e3 * statistics.median(wall):8.1f} {1e3 * min(wall):8.1f} "
                  f"{1e3 * statistics.median(processor):10.1f}")


if __name__ == "__main__":
    main()
