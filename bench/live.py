#!/usr/bin/env python3
"""What docs/reliability.md and docs/benchmarks.md say about live sources, measured.

    bench/live.py WHAT... [--binary build/saccade] [--model MODEL] [--depth MODEL] [--seconds 600] [--rounds 5]
                  [--rate 60] [--drop oldest,newest,wait] [--device cpu] [--video FILE]

    clip     a scene of 640x480 at --rate frames per second, --realtime --loop, with goals; memory at the beginning and at
             the end; of seconds with a late frame, steal, the waits in the run queue, and processor time per frame, which
             shows how fast the processor was
    sources  eight scenes at 30 frames per second into a model that is slower, with each of --drop: the delay at the beginning
             and at the end, shares of the sources, frames unaccounted for
    sink     a reader of the results that sleeps 200 ms a line: rate of the models with it and without a sink, in turn
    faults   outputs that fail (full disk, closed pipe, removed folder) --rounds times: how soon they are written again; a new frame
             size; a model that throws on every tenth frame (the last two need onnx, ffmpeg)
    models   detection and depth on one source, and detection on two more: rate over running them in turn
    file     a model of no work over VIDEO next to `ffmpeg -f null -` and OpenCV's loop, in turn (needs onnx, cv2, ffmpeg)
"""
import argparse
import fcntl
import glob
import json
import os
import random
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

SOURCES = 8


def run(arguments, models, sources, *flags, started=lambda process: None):
    """The summary of a run, and its verdict. STARTED gets the process."""
    command = [arguments.binary, "run", *models, "--device", arguments.device, "--source", *sources, "--json", "--quiet", *flags]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        started(process)
        output = process.stdout.read()
    if process.returncode not in (0, 3):
        sys.exit(f"{' '.join(command)}: exit code {process.returncode}")
    return [json.loads(line) for line in output.splitlines()]


def lines_of(path):
    with open(path) as file:
        return [json.loads(line) for line in file]


def median(values):
    return statistics.median(values) if values else float("nan")


def steal():
    """Seconds for which the hypervisor ran something else, since the start of the machine."""
    with open("/proc/stat") as file:
        return int(file.readline().split()[8]) / os.sysconf("SC_CLK_TCK")


def waiting(pid):
    """Seconds for which runnable threads of a process waited for a processor, by thread."""
    seconds = {}
    for path in glob.glob(f"/proc/{pid}/task/*/schedstat"):
        try:
            with open(path) as file:
                seconds[path] = int(file.read().split()[1]) / 1e9
        except OSError:
            pass  # the thread has ended
    return seconds


class Interference(threading.Thread):
    """What a process lost to others, by second: to other guests of the host, and in the run queues."""

    def __init__(self, process):
        super().__init__(daemon=True)
        self.process = process
        self.samples = []
        self.start()

    def run(self):
        due = time.monotonic()
        while self.process.returncode is None:
            seconds = waiting(self.process.pid)
            if seconds:
                self.samples.append((time.monotonic(), steal(), seconds))
            due += 1
            time.sleep(max(0, due - time.monotonic()))

    def around(self, end):
        """In the second before END (time.monotonic()) and beside it: steal, and the longest wait of a thread; None: unknown."""
        inside = [sample for sample in self.samples if end - 2.5 <= sample[0] <= end + 1.5]
        if len(inside) < 2:
            return None
        first, last = inside[0], inside[-1]
        waits = [seconds - first[2].get(thread, 0) for thread, seconds in last[2].items()]
        return last[1] - first[1], max(waits)


def clip(arguments):
    period = 1000 / arguments.rate
    with tempfile.TemporaryDirectory() as folder:
        video = os.path.join(folder, "clip.mp4")
        goals = os.path.join(folder, "goals.toml")
        telemetry = os.path.join(folder, "telemetry.jsonl")
        subprocess.run([arguments.binary, "run", arguments.model, "--device", arguments.device, "--source",
                        f"synthetic:?size=640x480&fps={arguments.rate}&frames=600", "--conf", "1", "--video", video, "--quiet"], check=True,
                       stdout=subprocess.DEVNULL)
        with open(goals, "w") as file:
            file.write(f'latency_p99 = "{period:.2f} ms"\nrate = {arguments.rate - 0.1}\ndrops = "0 %"\n')
        interference = []
        summary, verdict = run(arguments, [arguments.model], [video], "--realtime", "--loop", "--duration", str(arguments.seconds),
                               "--no-save", "--goals", goals, "--telemetry", telemetry,
                               started=lambda process: interference.append(Interference(process)))
        ended = time.monotonic()
        seconds = lines_of(telemetry)
        total = summary["streams"][0]["latency_ms"]["total"]
        print(f"clip: {json.dumps(summary['ledger'])}")
        print(f"clip: p50 {total['p50']:.2f}, p99 {total['p99']:.2f}, p99.9 {total['p99.9']:.2f}, max {total['max']:.2f} ms")
        for goal in verdict["goals"]:
            print(f"clip: {goal['goal']}: wanted {goal['wanted']}, measured {goal['measured']}, met {goal['met']}")
        resident = [second["process"]["rss_bytes"] for second in seconds]
        settled = resident[min(10, len(resident) - 1)]
        print(f"clip: resident memory {settled / 2**20:.1f} MiB after 10 s, {resident[-1] / 2**20:.1f} MiB at the end: "
              f"{100 * (resident[-1] / settled - 1):+.2f} %")
        late = [index for index, second in enumerate(seconds)
                if second["streams"][0]["latency_ms"].get("total", {}).get("max", 0) > period]
        work = [second["process"]["cpu"] * 1000 / max(second["streams"][0]["latency_ms"].get("total", {}).get("count", 0), 1)
                for second in seconds]
        print(f"clip: seconds with a result after more than a period: {len(late)} of {len(seconds)}; a frame takes "
              f"{median(work):.1f} ms of processor time (median), {median([work[index] for index in late]):.1f} in those seconds, "
              f"{median([time for index, time in enumerate(work) if index not in late]):.1f} in others")
        for index in late[:20]:
            slowest = seconds[index]["streams"][0]["latency_ms"]["total"]["max"]
            lost = interference[0].around(ended - seconds[-1]["elapsed_s"] + seconds[index]["elapsed_s"])
            told = "nothing is known of others" if lost is None else \
                f"steal {1000 * lost[0]:.0f} ms, a thread waited {1000 * lost[1]:.0f} ms in the run queue"
            print(f"clip:   second {index}: max {slowest:.1f} ms; {work[index]:.1f} ms of processor time per frame; {told}")


def delay(seconds):
    """The largest p99 of a stream's latency in SECONDS, in ms."""
    return max((stream["latency_ms"]["total"]["p99"] for second in seconds for stream in second["streams"]
                if "total" in stream["latency_ms"]), default=float("nan"))


def sources(arguments):
    scenes = [f"synthetic:?size=320x240&fps=30&seed={seed}" for seed in range(SOURCES)]
    for drop in arguments.drop.split(","):
        with tempfile.TemporaryDirectory() as folder:
            telemetry = os.path.join(folder, "telemetry.jsonl")
            [summary] = run(arguments, [arguments.model], scenes, "--realtime", "--duration", str(arguments.seconds), "--no-save",
                            "--drop", drop, "--telemetry", telemetry)
            seconds = lines_of(telemetry)
        processed = [stream["ledger"]["processed"] for stream in summary["streams"]]
        mean = sum(processed) / SOURCES
        tenth = max(1, len(seconds) // 10)
        print(f"sources, {drop}: {summary['frames_per_second']:.1f} of {30 * SOURCES} frames/s; largest p99 of the delay "
              f"{delay(seconds[1:tenth + 1]):.0f} ms in the first tenth, {delay(seconds[-tenth:]):.0f} ms in the last; shares within "
              f"{100 * max(abs(count / mean - 1) for count in processed):.2f} %; "
              f"unaccounted {summary['ledger']['unaccounted']}; {json.dumps(summary['ledger'])}", flush=True)


def with_slow_reader(arguments, source):
    """The rate of the models while a reader of the results sleeps 200 ms a line."""
    with tempfile.TemporaryDirectory() as folder:
        pipe = os.path.join(folder, "results")
        os.mkfifo(pipe)
        ended = threading.Event()

        def read():
            with open(pipe) as file:
                fcntl.fcntl(file, fcntl.F_SETPIPE_SZ, 4096)  # or it holds a minute of results
                for _ in file:
                    if not ended.is_set():
                        time.sleep(0.2)

        reader = threading.Thread(target=read)
        reader.start()
        timer = threading.Timer(arguments.seconds / arguments.rounds + 1, ended.set)
        timer.start()
        [summary] = run(arguments, [arguments.model], source, "--realtime", "--duration", str(arguments.seconds / arguments.rounds),
                        "--jsonl", pipe)
        reader.join()
    return summary["streams"][0]["frames_per_second"], summary["sinks"][0]


def sink(arguments):
    source = ["synthetic:?size=320x240&fps=500"]
    rates = {"none": [], "slow": []}
    for _ in range(arguments.rounds):
        [summary] = run(arguments, [arguments.model], source, "--realtime", "--duration", str(arguments.seconds / arguments.rounds),
                        "--no-save")
        rates["none"].append(summary["streams"][0]["frames_per_second"])
        rate, counts = with_slow_reader(arguments, source)
        rates["slow"].append(rate)
    without, slow = median(rates["none"]), median(rates["slow"])
    print(f"sink: {without:.2f} frames/s without a sink, {slow:.2f} with one that takes 200 ms a line: {100 * (slow / without - 1):+.2f} %; "
          f"the last one wrote {counts['written']} and dropped {counts['dropped']}")


class Disturbed:
    """A run whose messages about an output are followed: one says that it is written again."""

    def __init__(self, arguments, *flags):
        self.process = subprocess.Popen([arguments.binary, "run", arguments.model, "--device", arguments.device, "--source",
                                         "synthetic:?size=320x240&fps=30", "--realtime", "--quiet", *flags],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.again = threading.Semaphore(0)
        self.failed = threading.Semaphore(0)
        threading.Thread(target=self.follow, daemon=True).start()

    def follow(self):
        for line in self.process.stderr:
            if "written again" in line:
                self.arrived = time.monotonic()
                self.again.release()
            elif "it is tried again every" in line:
                self.failed.release()

    def limit(self, size):
        """Files may have SIZE bytes, as on a full disk; -1: any size."""
        resource.prlimit(self.process.pid, resource.RLIMIT_FSIZE, (size, -1))

    def end(self):
        self.process.send_signal(signal.SIGINT)
        self.process.wait()


class Reader(threading.Thread):
    """Of a pipe, which it closes and opens again."""

    def __init__(self, path):
        super().__init__(daemon=True)
        self.path = path
        self.is_open = threading.Event()
        self.is_open.set()
        self.start()

    def run(self):
        while True:
            self.is_open.wait()
            with open(self.path, "rb", buffering=0) as pipe:
                while self.is_open.is_set():
                    pipe.read(4096)


def recoveries(arguments, flags, fail, mend, chance):
    """Seconds from MEND to the message that the output is written again."""
    disturbed = Disturbed(arguments, *flags)
    seconds = []
    time.sleep(2)
    for _ in range(arguments.rounds):
        time.sleep(chance.uniform(0.5, 1.5))
        fail(disturbed)
        if not disturbed.failed.acquire(timeout=5):
            sys.exit(f"{flags}: it does not fail")
        time.sleep(chance.uniform(0.1, 2))
        mend(disturbed)
        begin = time.monotonic()
        if not disturbed.again.acquire(timeout=10):
            sys.exit(f"{flags}: it is not written again")
        seconds.append(disturbed.arrived - begin)
    disturbed.end()
    return seconds


def fill_disk(disturbed):
    disturbed.limit(0)


def free_disk(disturbed):
    disturbed.limit(-1)


def outputs(arguments):
    with tempfile.TemporaryDirectory() as folder:
        path = lambda name: os.path.join(folder, name)
        os.mkfifo(path("pipe"))
        reader = Reader(path("pipe"))
        chance = random.Random(1)
        move = lambda source, to: lambda _: os.rename(path(source), path(to))
        kinds = {
            "full disk, --jsonl": (["--jsonl", path("o.jsonl")], fill_disk, free_disk),
            "full disk, --video --rotate": (["--video", path("o.mp4"), "--rotate", "1h"], fill_disk, free_disk),
            "full disk, --telemetry": (["--no-save", "--telemetry", path("t.jsonl")], fill_disk, free_disk),
            "closed pipe, --jsonl": (["--jsonl", path("pipe")], lambda _: reader.is_open.clear(), lambda _: reader.is_open.set()),
            "folder removed, --yolo": (["--yolo", path("labels")], move("labels", "away"), move("away", "labels")),
        }
        for name, (flags, fail, mend) in kinds.items():
            seconds = recoveries(arguments, flags, fail, mend, chance)
            print(f"faults: {name}: written again after {median(seconds):.2f} s, {max(seconds):.2f} at most of {len(seconds)}",
                  flush=True)


def encode(path, *inputs):
    """Frames of SIZE and LUMA (an expression of N), one after the other, at 30 a second."""
    with open(path, "wb") as file:
        for size, frames, luma in inputs:
            source = f"color=black:s={size}:r=30,geq=lum='{luma}':cb=128:cr=128"
            file.write(subprocess.run(["ffmpeg", "-nostdin", "-loglevel", "error", "-f", "lavfi", "-i", source, "-frames:v", str(frames),
                                       "-pix_fmt", "yuv420p", "-c:v", "libx264", "-qp", "0", "-bf", "0", "-f", "h264", "-"],
                                      check=True, stdout=subprocess.PIPE).stdout)


def new_size(arguments, folder):
    clip = os.path.join(folder, "sizes.h264")
    encode(clip, ("320x240", 60, "16"), ("640x480", 60, "16"), ("320x240", 60, "16"))
    for flags in ([], ["--rotate", "1h"]):
        process = subprocess.run([arguments.binary, "run", arguments.model, "--device", arguments.device, "--source", clip, "--realtime",
                                  "--json", "--quiet", "--video", os.path.join(folder, "sizes.mp4"), *flags],
                                 stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        summary = json.loads(process.stdout)
        [sink] = summary["sinks"]
        print(f"faults: new frame size, --video {' '.join(flags)}: of {summary['ledger']['processed']} frames {sink['written']} written, "
              f"{sink['failed']} not; exit code {process.returncode}")


def write_throwing(folder):
    """A model whose index is outside of its table on a white frame."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper
    import numpy
    constant = lambda name, value: numpy_helper.from_array(numpy.array(value), name)
    graph = helper.make_graph(
        [helper.make_node("GlobalAveragePool", ["image"], ["mean"]), helper.make_node("Flatten", ["mean"], ["scores_of_means"]),
         helper.make_node("ReduceMax", ["image"], ["most"], keepdims=0), helper.make_node("Relu", ["most"], ["row"]),
         helper.make_node("Cast", ["row"], ["index"], to=TensorProto.INT64), helper.make_node("Gather", ["table", "index"], ["chosen"]),
         helper.make_node("Add", ["scores_of_means", "chosen"], ["scores"])], "throwing",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 3, 8, 8])],
        [helper.make_tensor_value_info("scores", TensorProto.FLOAT, [1, 3])],
        [constant("table", numpy.zeros((1, 3), numpy.float32))])
    path = os.path.join(folder, "throwing.onnx")
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), path)
    with open(os.path.join(folder, "throwing.toml"), "w") as file:
        file.write('[input]\nresize = "stretch"\ninterpolation = "nearest"\n[output]\ndecoder = "classify"\nlabels = ["red", "green", "blue"]\n')
    return path


def throwing(arguments, folder):
    clip = os.path.join(folder, "flashes.h264")
    encode(clip, ("320x240", 300, "if(eq(mod(N,10),5),235,16)"))
    model = write_throwing(folder)
    arrivals = {}
    with subprocess.Popen([arguments.binary, "run", model, "--device", arguments.device, "--source", clip, "--realtime", "--quiet",
                           "--jsonl", "-"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        for line in process.stdout:
            record = json.loads(line)
            if "frame" in record:
                arrivals[record["frame"]] = time.monotonic()
            else:
                ledger = record["ledger"]
    pairs = [(max(frame for frame in arrivals if frame < failed), min(frame for frame in arrivals if frame > failed))
             for failed in range(15, 299, 10)]
    late = [arrivals[after] - arrivals[before] - (after - before) / 30 for before, after in pairs]
    print(f"faults: model throws: {ledger['dropped']['failed']} frames failed, {ledger['processed']} of 300 processed; the next result came "
          f"{1000 * max(late):.1f} ms late at most")


def faults(arguments):
    outputs(arguments)
    with tempfile.TemporaryDirectory() as folder:
        new_size(arguments, folder)
        throwing(arguments, folder)


def models(arguments):
    scenes = [f"synthetic:?size=640x480&seed={seed}" for seed in range(3)]
    flags = ["--no-save", "--duration", str(arguments.seconds / arguments.rounds / 4)]

    def seconds_a_frame(names, streams):
        [summary] = run(arguments, names, streams, *flags)
        return 1 / summary["frames_per_second"]

    pair, three = [], []
    for _ in range(arguments.rounds):
        detection = seconds_a_frame([arguments.model], scenes[:1])
        depth = seconds_a_frame([arguments.depth], scenes[:1])
        pair.append((detection + depth) / seconds_a_frame([arguments.model, arguments.depth], scenes[:1]))
        three.append(detection / seconds_a_frame([arguments.model], scenes))
    print(f"models: detection and depth on one source: {median(pair):.3f} of the rate in turn")
    print(f"models: detection on three sources: {median(three):.3f} of the rate on one after the other")


def write_no_work(folder):
    import onnx
    from onnx import TensorProto, helper
    graph = helper.make_graph(
        [helper.make_node("GlobalAveragePool", ["image"], ["mean"]), helper.make_node("Flatten", ["mean"], ["scores"])], "nothing",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 3, 8, 8])],
        [helper.make_tensor_value_info("scores", TensorProto.FLOAT, [1, 3])])
    path = os.path.join(folder, "nothing.onnx")
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), path)
    with open(os.path.join(folder, "nothing.toml"), "w") as file:
        file.write('[input]\nresize = "stretch"\ninterpolation = "nearest"\n[output]\ndecoder = "classify"\nlabels = ["red", "green", "blue"]\n')
    return path


def file(arguments):
    import cv2

    def by_saccade():
        [summary] = run(arguments, [nothing], [arguments.video], "--no-save")
        return summary["ledger"]["processed"], summary["elapsed_s"]

    def by_ffmpeg():
        start = time.monotonic()
        subprocess.run(["ffmpeg", "-nostdin", "-loglevel", "error", "-threads", "2", "-i", arguments.video, "-an", "-f", "null", "-"],
                       check=True)
        return frames, time.monotonic() - start

    def by_opencv():
        start = time.monotonic()
        capture, count = cv2.VideoCapture(arguments.video), 0
        while capture.read()[0]:
            count += 1
        return count, time.monotonic() - start

    with tempfile.TemporaryDirectory() as folder:
        nothing = write_no_work(folder)
        frames, _ = by_saccade()
        rates = {"saccade": [], "ffmpeg -f null": [], "OpenCV": []}
        for _ in range(arguments.rounds):
            for name, engine in zip(rates, (by_saccade, by_ffmpeg, by_opencv)):
                count, seconds = engine()
                rates[name].append(count / seconds)
    ours = median(rates["saccade"])
    for name, values in rates.items():
        print(f"file: {name}: {median(values):.1f} frames/s, saccade over it {ours / median(values):.3f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    kinds = {"clip": clip, "sources": sources, "sink": sink, "faults": faults, "models": models, "file": file}
    parser.add_argument("what", nargs="+", choices=kinds)
    parser.add_argument("--binary", default="build/saccade")
    parser.add_argument("--model", default="models/scene_model.onnx")
    parser.add_argument("--depth")
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--rate", type=int, default=60)
    parser.add_argument("--drop", default="oldest,newest,wait")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--video")
    arguments = parser.parse_args()
    for what in arguments.what:
        kinds[what](arguments)


if __name__ == "__main__":
    main()
