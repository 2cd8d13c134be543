#!/usr/bin/env python3
"""Kills the processes that read the sources of a run, and prints how soon frames arrive again.

    bench/isolate.py SACCADE MODEL [--source URI]... [--kills 100] [--seed 1]

Runs MODEL with --isolate on live sources and kills (SIGKILL) one of its children at a time, at random moments. Prints
the percentiles of the time from a kill to the next frame of that source, and the ledger. Exits with 1 if a source needs
more than a second, or if a frame is unaccounted for. bench/isolate.cpp measures what --isolate costs per frame.
"""
import argparse
import json
import os
import queue
import random
import signal
import statistics
import subprocess
import sys
import threading
import time

LIMIT_S = 1.0


def name_of(pid):
    """Empty once it has ended."""
    try:
        with open(f"/proc/{pid}/comm") as file:
            return file.read().strip()
    except FileNotFoundError:
        return ""


def children(pid):
    """The children of PID that read its sources; another one may decide on the precision."""
    found = []
    for task in os.listdir(f"/proc/{pid}/task"):
        try:
            with open(f"/proc/{pid}/task/{task}/children") as file:
                found += [int(child) for child in file.read().split()]
        except FileNotFoundError:
            pass
    return sorted(child for child in found if name_of(child) == "saccade-source")


class Run:
    """A run whose messages are followed: one says that frames arrive again."""

    def __init__(self, flags):
        sources = [word for source in flags.source for word in ("--source", source)]
        self.process = subprocess.Popen(
            [flags.saccade, "run", flags.model, "--device", "cpu", *sources, "--realtime", "--isolate", "--quiet",
             "--no-save", "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.arrivals = queue.Queue()
        self.reader = threading.Thread(target=self.follow)
        self.reader.start()

    def follow(self):
        for line in self.process.stderr:
            if "frames arrive again" in line:
                self.arrivals.put(time.monotonic())

    def kill_one(self, rng):
        """Seconds from a kill to the source's next frame; nothing after five seconds."""
        os.kill(rng.choice(children(self.process.pid)), signal.SIGKILL)
        start = time.monotonic()
        try:
            return self.arrivals.get(timeout=5) - start
        except queue.Empty:
            return None

    def finish(self):
        """The summary."""
        self.process.send_signal(signal.SIGINT)
        text = self.process.stdout.read()
        self.process.wait()
        self.reader.join()
        return json.loads(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("saccade")
    parser.add_argument("model")
    parser.add_argument("--source", action="append")
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    flags = parser.parse_args()
    flags.source = flags.source or ["synthetic:?size=320x240&fps=30", "synthetic:?size=320x240&fps=30&seed=2"]
    rng = random.Random(flags.seed)
    run = Run(flags)
    time.sleep(3)  # models are loaded
    times = []
    for _ in range(flags.kills):
        time.sleep(rng.uniform(0, 0.2))
        times.append(run.kill_one(rng))
    summary = run.finish()
    back = sorted(t for t in times if t is not None)
    ledger = summary["ledger"]
    outages = sum(stream["outages"]["count"] for stream in summary["streams"])
    print(f"{len(times)} kills, {len(back)} times back: p50 {statistics.median(back) * 1e3:.0f} ms, "
          f"p99 {back[len(back) * 99 // 100 - 1] * 1e3:.0f} ms, max {back[-1] * 1e3:.0f} ms; {outages} outages")
    print(f"ledger: {ledger}")
    failed = len(back) < len(times) or back[-1] > LIMIT_S or ledger["unaccounted"] != 0
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
