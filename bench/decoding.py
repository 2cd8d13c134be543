#!/usr/bin/env python3
"""NVDEC alone, next to PyNvVideoCodec (pip install PyNvVideoCodec), in turn.

    bench/decoding.py CLIP... [--binary build/bench/decoding_bench] [--rounds 3]

Frames per second of 1, 8 and 32 streams that each decode the clip again and again, a thread and a decoder each, into memory
of the GPU. PyNvVideoCodec: its demuxer and CreateDecoder(), in NV12.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
STREAMS = [1, 8, 32]
FRAMES = 3000


def by_saccade(binary, clip):
    done = subprocess.run([binary, "--benchmark_format=json"], env=os.environ | {"SACCADE_CLIP": clip},
                          capture_output=True, text=True, check=True)
    runs = json.loads(done.stdout)["benchmarks"]
    for run in runs:
        if run.get("error_occurred"):
            raise SystemExit(run["error_message"])
    return [run["frames"] for run in runs]


def by_peer(clip):
    """In a process of its own, as the other one is."""
    done = subprocess.run([sys.executable, __file__, clip, "--peer"], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def peer(clip):
    import PyNvVideoCodec as nvc

    def read(counts, index):
        count = 0
        while count < FRAMES:
            demuxer = nvc.CreateDemuxer(clip)
            if count == 0:
                decoder = nvc.CreateDecoder(gpuid=0, codec=demuxer.GetNvCodecId(), usedevicememory=True)
            for packet in demuxer:
                count += len(decoder.Decode(packet))
        counts[index] = count

    rates = []
    for streams in STREAMS:
        counts = [0] * streams
        threads = [threading.Thread(target=read, args=(counts, i)) for i in range(streams)]
        start = time.perf_counter()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        rates.append(sum(counts) / (time.perf_counter() - start))
    print(json.dumps(rates))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clips", nargs="+", metavar="CLIP")
    parser.add_argument("--binary", default=os.path.join(ROOT, "build", "bench", "decoding_bench"))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--peer", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.peer:
        return peer(arguments.clips[0])
    for clip in arguments.clips:
        ours, theirs = [], []
        for _ in range(arguments.rounds):
            ours.append(by_saccade(arguments.binary, clip))
            theirs.append(by_peer(clip))
        for i, streams in enumerate(STREAMS):
            mine, other = (statistics.median(rates[i] for rates in all_of) for all_of in (ours, theirs))
            print(f"{os.path.basename(clip)}, {streams} stream{'s' if streams > 1 else ''}: Saccade {mine:.0f}, "
                  f"PyNvVideoCodec {other:.0f} frames/s, ratio {mine / other:.2f}")


if __name__ == "__main__":
    main()
