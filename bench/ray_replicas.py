#!/usr/bin/env python3
"""Replicas of Ray Serve, measured: what docs/operating.md says about their number (needs Ray Serve: script/bootstrap --ray).

    bench/ray_replicas.py [--model models/scene_model.onnx] [--device cpu|cuda] [--precision auto] [--tiles SIDE] [--size 1280x720]
                          [--replicas 2] [--clients 4] [--waiting 8] [--seconds 10] [--rounds 2] [--package build/python]

CLIENTS processes send images of SIZE by a handle for SECONDS, WAITING requests each at a time, to one replica, then to REPLICAS
of them, in turn, ROUNDS times. Each replica has a GPU of its own, or a CPU. Prints the responses per second, and the ratio.
HTTP is left out: one proxy of Ray's, a process in Python, forwards the requests of a machine.
"""
import argparse
import os
import pathlib
import secrets
import statistics
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]


def send(handle, image, waiting, seconds):
    """How many responses one client has got."""
    sent, count, until = [], 0, time.monotonic() + seconds
    while time.monotonic() < until or sent:
        while len(sent) < waiting and time.monotonic() < until:
            sent.append(handle.predict.remote(image, "rgb"))
        if sent:
            sent.pop(0).result()
            count += 1
    return count


def measure(arguments, count, plans):
    """Responses per second of COUNT replicas."""
    import numpy
    import ray
    from ray import serve
    from saccade.serve.ray import deployment
    width, height = map(int, arguments.size.split("x"))
    image = ray.put(numpy.random.default_rng(1).integers(0, 255, (height, width, 3), numpy.uint8))
    in_flight = arguments.clients * arguments.waiting
    options = {"tiles": arguments.tiles} if arguments.tiles else {}
    handle = serve.run(deployment(arguments.model, device=arguments.device, num_gpus=1 if arguments.device == "cuda" else None,
                                  min_replicas=count, max_replicas=count, max_ongoing_requests=in_flight, max_queued_requests=-1,
                                  plans=plans, precision=arguments.precision, **options))
    client = ray.remote(num_cpus=0)(send)
    for seconds in (2, arguments.seconds):
        started = time.monotonic()
        total = sum(ray.get([client.remote(handle, image, arguments.waiting, seconds) for _ in range(arguments.clients)]))
        rate = total / (time.monotonic() - started)
    print(f"{count} replica{'s' if count > 1 else ''}: {rate:.0f} responses/s", flush=True)
    serve.delete("default")
    return rate


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default=str(ROOT / "models" / "scene_model.onnx"))
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--precision", default="auto")
    parser.add_argument("--tiles", type=int, default=0)
    parser.add_argument("--size", default="1280x720")
    parser.add_argument("--replicas", type=int, default=2)
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--waiting", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--package", default=str(ROOT / "build" / "python"))
    arguments = parser.parse_args()
    sys.path.insert(0, arguments.package)
    os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_AUTH_TOKEN": secrets.token_hex(32),
                   "PYTHONPATH": os.pathsep.join([arguments.package, *filter(None, [os.environ.get("PYTHONPATH")])])}
    import ray
    from ray import serve
    with tempfile.TemporaryDirectory() as folder:
        ray.init(include_dashboard=False, log_to_driver=False, configure_logging=False, object_store_memory=256 << 20)
        rates = {1: [], arguments.replicas: []}
        for _ in range(arguments.rounds):
            for count, measured in rates.items():
                measured.append(measure(arguments, count, folder + "/plans"))
        serve.shutdown()
        ray.shutdown()
    medians = {count: statistics.median(measured) for count, measured in rates.items()}
    print(f"{arguments.replicas} replicas over one: {medians[arguments.replicas] / medians[1]:.2f}")


if __name__ == "__main__":
    main()
