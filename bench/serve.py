#!/usr/bin/env python3
"""What docs/serve.md says about the server, measured.

    bench/serve.py WHAT... [--binary build/saccade] [--model MODEL] [--connections 1,16,64,256] [--seconds 20] [--calls 3000]
                           [--device cpu] [--executions 1] [--queue 300]

    overhead  the time of a request over one connection that is not the model's: binary tensors of a model of almost no work
              (needs the package onnx)
    load      binary tensors of MODEL over each number of CONNECTIONS for SECONDS: requests per second beside those of
              `saccade bench` before and after, latencies, refusals, resident memory. Beside a Python server (uvicorn, FastAPI
              and ONNX Runtime) in the same run, where these are installed
"""
import argparse
import importlib.util
import json
import os
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
WIDTHS = {"FP32": 4, "FP16": 2, "INT64": 8, "INT32": 4, "UINT8": 1, "BOOL": 1}
PYTHON_SERVER = """
import sys, numpy, onnxruntime, uvicorn
from fastapi import FastAPI, Request, Response
options = onnxruntime.SessionOptions()
session = onnxruntime.InferenceSession(sys.argv[1], options, providers=["CPUExecutionProvider"])
given = session.get_inputs()[0]
app = FastAPI()
@app.post("/infer")
async def infer(request: Request):
    array = numpy.frombuffer(await request.body(), numpy.float32).reshape(given.shape)
    outputs = session.run(None, {given.name: array})
    return Response(b"".join(each.tobytes() for each in outputs), media_type="application/octet-stream")
uvicorn.run(app, port=int(sys.argv[2]), log_level="error")
"""


class Client:
    """A connection that sends the same request again and again."""

    def __init__(self, port, request):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.request, self.rest = request, b""

    def call(self):
        """The status."""
        self.socket.sendall(self.request)
        data = self.rest
        while (end := data.find(b"\r\n\r\n")) < 0:
            data += self.receive()
        length = int(re.search(rb"(?i)content-length: (\d+)", data)[1]) + end + 4
        parts = [data]
        have = len(data)
        while have < length:
            parts.append(self.receive())
            have += len(parts[-1])
        return int(data[9:12])

    def receive(self):
        data = self.socket.recv(1 << 20)
        if not data:
            raise ConnectionError("the server has closed the connection")
        return data


class Server:
    def __init__(self, arguments, model):
        self.process = subprocess.Popen([arguments.binary, "serve", model, "--http", "0", "--device", arguments.device,
                                         "--executions", str(arguments.executions), "--queue", str(arguments.queue)],
                                        stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        line = ""
        for line in self.process.stderr:
            if found := re.match(r"http: http://127.0.0.1:(\d+)", line):
                self.port = int(found[1])
                return
        raise SystemExit(f"the server did not start: {line.strip()}")

    def rss(self):
        with open(f"/proc/{self.process.pid}/status") as file:
            return int(re.search(r"VmRSS:\s+(\d+)", file.read())[1]) / 1024

    def stop(self):
        self.process.terminate()
        self.process.wait()


def http_request(port, path, body, headers=()):
    lines = [f"POST {path} HTTP/1.1", f"Host: 127.0.0.1:{port}", f"Content-Length: {len(body)}", *headers]
    return ("\r\n".join(lines) + "\r\n\r\n").encode() + body


def infer_request(port, name):
    """Zeros for each input, in binary."""
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(f"GET /v2/models/{name} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
        text = b""
        while data := connection.recv(65536):
            text += data
    inputs, data = [], b""
    for tensor in json.loads(text.split(b"\r\n\r\n", 1)[1])["inputs"]:
        size = WIDTHS[tensor["datatype"]]
        for side in tensor["shape"]:
            size *= side
        data += bytes(size)
        inputs.append({**tensor, "parameters": {"binary_data_size": size}})
    head = json.dumps({"inputs": inputs, "parameters": {"binary_data_output": True}}).encode()
    return http_request(port, f"/v2/models/{name}/infer", head + data, [f"Inference-Header-Content-Length: {len(head)}"]), data


def rate_of_bench(arguments, model):
    done = subprocess.run([arguments.binary, "bench", model, "--device", arguments.device, "--tensors", "--streams", str(arguments.executions),
                           "--loads", "1", "--duration", "5", "--json"], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["models"][0]["throughput_per_second"]


def overhead(arguments):
    from onnx import TensorProto, helper, save
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "add.onnx")
        one = helper.make_tensor("one", TensorProto.FLOAT, [1], [1.0])
        info = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 16]) for name in ("x", "y")]
        graph = helper.make_graph([helper.make_node("Add", ["x", "one"], ["y"])], "add", info[:1], info[1:], [one])
        save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), path)
        server = Server(arguments, path)
        request, _ = infer_request(server.port, "add")
        health = "GET /v2/health/live HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
        for name, sent in (("health", health), ("infer", request)):
            client = Client(server.port, sent)
            times = []
            for _ in range(arguments.calls):
                start = time.perf_counter_ns()
                assert client.call() == 200
                times.append((time.perf_counter_ns() - start) / 1000)
            tenths = statistics.quantiles(times, n=10)
            print(f"{name}: median {statistics.median(times):.1f} us, least {min(times):.1f}, p90 {tenths[-1]:.1f}, with the client in Python")
        server.stop()


def run_load(port, request, connections, seconds):
    """Seconds of each successful request, and the number of refused ones."""
    times, refused, end = [], [0], time.monotonic() + seconds
    lock = threading.Lock()

    def work():
        client, own, no = Client(port, request), [], 0
        while time.monotonic() < end:
            start = time.perf_counter()
            status = client.call()
            if status == 200:
                own.append(time.perf_counter() - start)
            elif status in (429, 503):
                no += 1
                time.sleep(0.01)
            else:
                raise AssertionError(f"status {status}")
        with lock:
            times.extend(own)
            refused[0] += no

    threads = [threading.Thread(target=work) for _ in range(connections)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return times, refused[0]


def print_load(name, times, refused, seconds, extra=""):
    hundredths = statistics.quantiles(times, n=100)
    print(f"{name}: {len(times) / seconds:.1f} requests/s, p50 {1000 * hundredths[49]:.1f}, p99 {1000 * hundredths[98]:.1f} ms, "
          f"{refused} refused{extra}", flush=True)


def start_python_server(model):
    if any(importlib.util.find_spec(name) is None for name in ("uvicorn", "fastapi", "onnxruntime")):
        print("no Python server: uvicorn, fastapi or onnxruntime is not installed")
        return None, 0
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen([sys.executable, "-c", PYTHON_SERVER, model, str(port)])
    for _ in range(300):
        time.sleep(0.1)
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return process, port
    raise SystemExit("the Python server did not start")


def load(arguments):
    name = os.path.splitext(os.path.basename(arguments.model))[0]
    before = rate_of_bench(arguments, arguments.model)
    server = Server(arguments, arguments.model)
    request, data = infer_request(server.port, name)
    python, port = start_python_server(arguments.model)
    rates = {}
    for connections in map(int, arguments.connections.split(",")):
        times, refused = run_load(server.port, request, connections, arguments.seconds)
        rates[connections] = len(times) / arguments.seconds
        print_load(f"saccade, {connections} connections", times, refused, arguments.seconds, f", resident {server.rss():.0f} MiB")
        if python:
            times, refused = run_load(port, http_request(port, "/infer", data), connections, arguments.seconds)
            print_load(f"Python server, {connections} connections", times, refused, arguments.seconds)
    server.stop()
    if python:
        python.terminate()
    after = rate_of_bench(arguments, arguments.model)
    best = max(rates, key=rates.get)
    print(f"bench: {before:.1f} before, {after:.1f} after; served at best with {best} connections: {rates[best]:.1f}, "
          f"{2 * rates[best] / (before + after):.2f} of bench")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="+", choices=["overhead", "load"])
    parser.add_argument("--binary", default=os.path.join(ROOT, "build", "saccade"))
    parser.add_argument("--model", default=os.path.join(ROOT, "models", "scene_model.onnx"))
    parser.add_argument("--connections", default="1,16,64,256")
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--calls", type=int, default=3000)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--executions", type=int, default=1)
    parser.add_argument("--queue", type=int, default=300)
    arguments = parser.parse_args()
    for what in arguments.what:
        {"overhead": overhead, "load": load}[what](arguments)


if __name__ == "__main__":
    main()
