#!/usr/bin/env python3
"""What docs/reliability.md says about network streams, measured (needs script/bootstrap --streams).

    bench/streams.py WHAT... [--binary build/saccade] [--model MODEL] [--seconds 600] [--faults 50] [--seed 1]
                         [--only FAULT]

    faults      eight RTSP streams of 640x360 at 15 frames per second, each through a proxy of its own that harms it, FAULTS
                times in all and for up to a minute: how soon each is back after its server, the longest delay of each stream,
                frames unaccounted for. With --only, all are FAULT: --seconds 170 --faults 48 --only damage
    reconnects  resident memory and descriptors after 200 reconnects and after 10
    slow        a stream with five times the rate of the model: the age of its results at the beginning and at the end, beside
                OpenCV's VideoCapture loop with the same time per frame (needs cv2), which ends when the stream drops it
"""
import argparse
import datetime
import json
import math
import os
import random
import statistics
import sys
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "tests", "streams"))
from proxy import Proxy  # noqa: E402
from running import Run  # noqa: E402
from servers import Missing, Rtsp, temporary  # noqa: E402

STREAMS = 8
BACK_WITHIN = 2


class Arrivals(threading.Thread):
    """When the results of a run were written, and when their frames were captured: (stream, written, captured), as seconds
    since 1970."""

    def __init__(self, run):
        super().__init__(daemon=True)
        self.run_of, self.results, self.is_over = run, [], False
        self.start()

    def run(self):
        while not os.path.exists(self.run_of.jsonl):
            time.sleep(0.05)
        with open(self.run_of.jsonl) as file:
            text = ""
            while not self.is_over:
                text += file.read()
                now = time.time()
                *lines, text = text.split("\n")
                for line in map(json.loads, lines):
                    captured = datetime.datetime.fromisoformat(line["captured_at"].replace("Z", "+00:00"))
                    self.results.append((line["stream"], now, captured.timestamp()))
                time.sleep(0.02)

    def first_after(self, stream, begin):
        """When STREAM's first result of a frame that was captured after BEGIN was written; None: not yet."""
        return next((written for of, written, captured in self.results if of == stream and captured > begin), None)


def schedule(arguments, generator):
    """(begin, duration, stream, fault) of each fault, in seconds; those of one stream do not overlap."""
    free = [20.0] * STREAMS
    faults = []
    for i in range(arguments.faults):
        stream = i % STREAMS
        room = (arguments.seconds - 20) / math.ceil(arguments.faults / STREAMS)
        duration = generator.uniform(0.5, min(60, max(1, room - 12)))
        begin = free[stream] + generator.uniform(0, max(0.1, room - duration - 10))
        free[stream] = begin + duration + 10
        fault = Proxy.FAULTS[generator.randrange(len(Proxy.FAULTS))]
        faults.append((begin, duration, stream, arguments.only or fault))
    return sorted(faults)


def follow(proxies, faults, start, healed):
    """Does what FAULTS say; HEALED gets (time, stream, fault, duration) of their ends."""
    events = sorted([(begin, stream, fault, 0) for begin, _, stream, fault in faults] +
                    [(begin + duration, stream, fault, duration) for begin, duration, stream, fault in faults])
    for at, stream, fault, duration in events:
        time.sleep(max(0, start + at - time.time()))
        if duration == 0:
            proxies[stream].harm(fault)
        else:
            proxies[stream].heal()
            healed.append((time.time(), stream, fault, duration))


def measure_faults(arguments):
    with Rtsp() as server, temporary() as folder:
        proxies = [Proxy(server.port, seed=arguments.seed + i) for i in range(STREAMS)]
        sources = [f"rtsp://127.0.0.1:{proxy.port}/a" for proxy in proxies]
        with Run(arguments.binary, arguments.model, folder, sources, "--telemetry", os.path.join(folder, "t.jsonl")) as run:
            run.wait_for_frames(5, streams=STREAMS)
            arrivals = Arrivals(run)
            healed = []
            start = time.time()
            faults = schedule(arguments, random.Random(arguments.seed))
            follow(proxies, faults, start, healed)
            time.sleep(max(15, start + arguments.seconds - time.time()))
            arrivals.is_over = True
            summary = run.finish()
        for proxy in proxies:
            proxy.close()
    late, delays = 0, []
    print(f"{'fault':<10} {'stream':>6} {'seconds':>8} {'back after':>10}")
    for when, stream, fault, duration in healed:
        back = arrivals.first_after(stream, when)
        delay = math.inf if back is None else back - when
        late += delay > BACK_WITHIN
        delays.append(delay)
        print(f"{fault:<10} {stream:>6} {duration:>8.1f} {delay:>9.2f} s{' LATE' if delay > BACK_WITHIN else ''}")
    for i, stream in enumerate(summary["streams"]):
        ledger, total = stream["ledger"], stream["latency_ms"].get("total", {"max": math.nan, "p50": math.nan})
        print(f"stream {i}: longest delay {total['max']:.0f} ms, median {total['p50']:.0f} ms; {ledger['captured']} captured, "
              f"{ledger['processed']} processed, dropped {ledger['dropped']}, corrupt {ledger['corrupt']}, "
              f"lost {ledger['lost']}, unaccounted {ledger['unaccounted']}; outages {stream['outages']['count']}, "
              f"restarts {stream['faults']['restarts']}")
    print(f"{len(healed)} faults, {late} back after more than {BACK_WITHIN} s, median {statistics.median(delays):.2f} s, longest "
          f"{max(delays):.2f} s; unaccounted for: {summary['ledger']['unaccounted']}")
    return late == 0 and summary["ledger"]["unaccounted"] == 0


def measure_reconnects(arguments):
    with Rtsp() as server, temporary() as folder:
        proxy = Proxy(server.port)
        with Run(arguments.binary, arguments.model, folder, [f"rtsp://127.0.0.1:{proxy.port}/a"]) as run:
            run.wait_for_frames(5)
            held = {}
            for count in range(1, 201):
                before = proxy.connections
                proxy.cut_once()
                run.wait_for(lambda: proxy.connections > before, "connection")
                run.wait_for_frames(30 if count in (10, 200) else 3)
                if count in (10, 200):
                    with open(f"/proc/{run.process.pid}/statm") as file:
                        pages = int(file.read().split()[1])
                    held[count] = (pages * os.sysconf("SC_PAGESIZE") / 1e6, len(os.listdir(f"/proc/{run.process.pid}/fd")))
                    print(f"after {count} reconnects: {held[count][0]:.1f} MB resident, {held[count][1]} descriptors")
            summary = run.finish()
        proxy.close()
    print(f"unaccounted for: {summary['ledger']['unaccounted']}")
    return held[200][1] <= held[10][1] and held[200][0] < held[10][0] * 1.05


def seconds_per_frame(arguments):
    """Of the model, beside nothing."""
    with temporary() as folder, Run(arguments.binary, arguments.model, folder, ["synthetic:?size=640x360"],
                                    "--max-frames", "60") as run:
        run.process.wait()
        stages = run.finish()["latency_ms"]
    return sum(stages[name]["p50"] for name in ("pre", "model", "post")) / 1000


def read_with_opencv(uri, period, seconds, ages):
    """The usual loop: read a frame, work on it for PERIOD. AGES gets (time, age beyond the first frame's) in seconds."""
    import cv2  # pylint: disable=import-outside-toplevel
    capture = cv2.VideoCapture(uri)
    first = None
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        good, _ = capture.read()
        if not good:
            break
        shown, now = capture.get(cv2.CAP_PROP_POS_MSEC) / 1000, time.monotonic()
        first = first or (now, shown)
        ages.append((now - first[0], (now - first[0]) - (shown - first[1])))
        time.sleep(period)
    capture.release()


def ends_of(ages):
    """The median age in the first and in the last tenth."""
    tenth = max(1, len(ages) // 10)
    return [statistics.median(age for _, age in part) for part in (ages[:tenth], ages[-tenth:])]


def measure_slow(arguments):
    period = seconds_per_frame(arguments)
    rate = max(5, math.ceil(5 / period))
    print(f"the model takes {period * 1000:.0f} ms per frame; the stream has {rate} frames per second")
    opencv = []
    with Rtsp("--rate", str(rate), "--shared") as server, temporary() as folder:
        uri = f"rtsp://127.0.0.1:{server.port}/a"
        with Run(arguments.binary, arguments.model, folder, [uri]) as run:
            run.wait_for_frames(5)
            arrivals = Arrivals(run)
            end = time.monotonic() + arguments.seconds
            try:
                read_with_opencv(uri, period, arguments.seconds, opencv)
            except ImportError:
                print("OpenCV's Python module is missing: only Saccade is measured")
            time.sleep(max(0.0, end - time.monotonic()))
            arrivals.is_over = True
            summary = run.finish()
    saccade = [(written, written - captured) for _, written, captured in arrivals.results]
    for name, ages in (("saccade", saccade), ("opencv", opencv)):
        if ages:
            begin, end = ends_of(ages)
            print(f"{name}: age {begin:.2f} s at the beginning, {end:.2f} s at the end, {len(ages)} frames "
                  f"in {ages[-1][0] - ages[0][0]:.0f} s")
    print(f"dropped {summary['ledger']['dropped']}; unaccounted for: {summary['ledger']['unaccounted']}")
    begin, end = ends_of(saccade)
    return end < begin + 0.5 and summary["ledger"]["unaccounted"] == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="+", choices=["faults", "reconnects", "slow"])
    parser.add_argument("--binary", default=os.path.join(ROOT, "build", "saccade"))
    parser.add_argument("--model", default=os.path.join(ROOT, "models", "scene_model.onnx"))
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--faults", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=Proxy.FAULTS)
    arguments = parser.parse_args()
    measures = {"faults": measure_faults, "reconnects": measure_reconnects, "slow": measure_slow}
    try:
        results = [measures[what](arguments) for what in arguments.what]
    except Missing as missing:
        sys.exit(str(missing))
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    main()
