#!/usr/bin/env python3
"""What docs/operating.md says about replicas of Ray Serve, measured (needs Ray Serve: script/bootstrap --ray).

    bench/ray_replicas.py [--model models/scene_model.onnx] [--device cpu|cuda] [--precision auto] [--replicas 2]
                          [--image FILE] [--clients 32] [--seconds 10] [--rounds 2] [--package build/python]

Sends one JPEG image, else one of the synthetic scene, over CLIENTS connections for SECONDS to one replica, then to REPLICAS
of them, in turn, ROUNDS times. Each has a GPU of its own, or a CPU. Prints the requests per second, how many responses each
replica sent, and the ratio.
"""
import argparse
import collections
import concurrent.futures
import http.client
import os
import pathlib
import secrets
import socket
import statistics
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]


def scene_image(folder, device):
    """A JPEG of the synthetic scene, with what a detector finds in it."""
    import saccade
    model = saccade.Model(ROOT / "models" / "scene_model.onnx", device=device)
    with saccade.Pipeline("synthetic:?seed=3&frames=1&size=640x480&objects=12", model, frames=True) as scene:
        path = pathlib.Path(folder, "scene.jpg")
        next(scene).save(str(path))
    return path.read_bytes()


def send(port, path, image, until):
    """One request after the other over one connection: how many responses each replica sent."""
    responses = collections.Counter()
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    while time.monotonic() < until:
        connection.request("POST", path, image, {"Content-Type": "image/jpeg"})
        response = connection.getresponse()
        body = response.read()
        if response.status != 200:
            raise SystemExit(f"{response.status}: {body[:200].decode(errors='replace')}")
        responses[response.headers["saccade-replica"]] += 1
    connection.close()
    return responses


def load(arguments, port, image, seconds):
    path, until = f"/predict/{pathlib.Path(arguments.model).stem}", time.monotonic() + seconds
    with concurrent.futures.ThreadPoolExecutor(arguments.clients) as pool:
        sent = [pool.submit(send, port, path, image, until) for _ in range(arguments.clients)]
        return sum((each.result() for each in sent), collections.Counter())


def measure(arguments, serve, deployment, port, image, count, plans):
    """Requests per second of COUNT replicas."""
    gpus = 1 if arguments.device == "cuda" else None
    serve.run(deployment(arguments.model, device=arguments.device, num_gpus=gpus, min_replicas=count, max_replicas=count,
                         max_ongoing_requests=arguments.clients, max_queued_requests=-1, plans=plans,
                         precision=arguments.precision))
    warm = load(arguments, port, image, 2)
    responses = load(arguments, port, image, arguments.seconds)
    rate = sum(responses.values()) / arguments.seconds
    shares = ", ".join(map(str, responses.values()))
    print(f"{len(warm)} replica{'s' if len(warm) > 1 else ''}: {rate:.0f} requests/s ({shares})", flush=True)
    serve.delete("default")
    return rate


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default=str(ROOT / "models" / "scene_model.onnx"))
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--precision", default="auto")
    parser.add_argument("--replicas", type=int, default=2)
    parser.add_argument("--image", default="")
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--package", default=str(ROOT / "build" / "python"))
    arguments = parser.parse_args()
    sys.path.insert(0, arguments.package)
    os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_AUTH_TOKEN": secrets.token_hex(32),
                   "PYTHONPATH": os.pathsep.join([arguments.package, *filter(None, [os.environ.get("PYTHONPATH")])])}
    import ray
    from ray import serve
    from saccade.serve.ray import deployment
    with socket.socket() as taken, tempfile.TemporaryDirectory() as folder:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        taken.close()
        image = pathlib.Path(arguments.image).read_bytes() if arguments.image else scene_image(folder, arguments.device)
        ray.init(include_dashboard=False, log_to_driver=False, configure_logging=False, object_store_memory=128 << 20)
        serve.start(http_options={"port": port}, proxy_location="HeadOnly", logging_config={"log_level": "ERROR"})
        rates = {1: [], arguments.replicas: []}
        for _ in range(arguments.rounds):
            for count, measured in rates.items():
                measured.append(measure(arguments, serve, deployment, port, image, count, folder + "/plans"))
        serve.shutdown()
        ray.shutdown()
    one, all_of_them = (statistics.median(measured) for measured in rates.values())
    print(f"{arguments.replicas} replicas over one: {all_of_them / one:.2f}")


if __name__ == "__main__":
    main()
