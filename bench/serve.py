#!/usr/bin/env python3
"""What docs/serve.md says about the server, measured with wrk (Debian's package).

    bench/serve.py WHAT... [--binary build/saccade] [--model MODEL] [--connections 1,16,64,256] [--seconds 20] [--device cpu]
                           [--precision auto] [--executions 1] [--queue 300] [--batch 1]

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
import shutil
import socket
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
WIDTHS = {"FP32": 4, "FP16": 2, "INT64": 8, "INT32": 4, "UINT8": 1, "BOOL": 1}
# The same request again and again, and what came back as JSON.
SCRIPT = """
wrk.method = "POST"
local file = io.open(BODY, "rb")
wrk.body = file:read("*a")
file:close()
HEADERS
function done(summary, latency, requests)
  io.write(string.format('\\nRESULT {"requests": %d, "refused": %d, "lost": %d, "seconds": %f, "p50": %f, "p90": %f, "p99": %f}\\n',
    summary.requests, summary.errors.status, summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.timeout,
    summary.duration / 1e6, latency:percentile(50), latency:percentile(90), latency:percentile(99)))
end
"""
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


class Server:
    def __init__(self, arguments, model):
        self.process = subprocess.Popen([arguments.binary, "serve", model, "--http", "0", "--device", arguments.device,
                                         "--executions", str(arguments.executions), "--queue", str(arguments.queue),
                                         "--precision", arguments.precision, "--batch", str(arguments.batch)],
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


def infer_request(port, name):
    """Zeros for each input, in binary: the body and the headers."""
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(f"GET /v2/models/{name} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
        text = b""
        while data := connection.recv(65536):
            text += data
    inputs, data = [], b""
    for tensor in json.loads(text.split(b"\r\n\r\n", 1)[1])["inputs"]:
        shape = [max(side, 1) for side in tensor["shape"]]
        size = WIDTHS[tensor["datatype"]]
        for side in shape:
            size *= side
        data += bytes(size)
        inputs.append({**tensor, "shape": shape, "parameters": {"binary_data_size": size}})
    head = json.dumps({"inputs": inputs, "parameters": {"binary_data_output": True}}).encode()
    return head + data, {"Inference-Header-Content-Length": str(len(head))}, data


def wrk(port, path, body, headers, connections, seconds):
    """What wrk prints, times in microseconds."""
    with tempfile.TemporaryDirectory() as folder:
        given, script = os.path.join(folder, "body"), os.path.join(folder, "load.lua")
        with open(given, "wb") as file:
            file.write(body)
        lines = "\n".join(f"wrk.headers[{json.dumps(name)}] = {json.dumps(value)}" for name, value in headers.items())
        with open(script, "w") as file:
            file.write(SCRIPT.replace("BODY", json.dumps(given)).replace("HEADERS", lines))
        done = subprocess.run(["wrk", "-t", "1", "-c", str(connections), "-d", f"{seconds:g}s", "--timeout", "60s", "-s", script,
                               f"http://127.0.0.1:{port}{path}"], capture_output=True, text=True, check=True)
    return json.loads(re.search(r"RESULT (.*)", done.stdout)[1])


def rate_of_bench(arguments, model):
    done = subprocess.run([arguments.binary, "bench", model, "--device", arguments.device, "--tensors", "--precision",
                           arguments.precision, "--streams", str(arguments.executions),
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
        body, headers, _ = infer_request(server.port, "add")
        for _ in range(3):
            got = wrk(server.port, "/v2/models/add/infer", body, headers, 1, arguments.seconds / 3)
            print(f"a request over one connection: p50 {got['p50']:.0f} us, p90 {got['p90']:.0f}, p99 {got['p99']:.0f}, {got['lost']} lost")
        server.stop()


def print_load(name, got, extra=""):
    rate = (got["requests"] - got["refused"]) / got["seconds"]
    print(f"{name}: {rate:.1f} requests/s, p50 {got['p50'] / 1000:.1f}, p99 {got['p99'] / 1000:.1f} ms, {got['refused']} refused, "
          f"{got['lost']} lost{extra}", flush=True)
    return rate


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
    body, headers, data = infer_request(server.port, name)
    python, port = start_python_server(arguments.model)
    rates = {}
    for connections in map(int, arguments.connections.split(",")):
        got = wrk(server.port, f"/v2/models/{name}/infer", body, headers, connections, arguments.seconds)
        rates[connections] = print_load(f"saccade, {connections} connections", got, f", resident {server.rss():.0f} MiB")
        if python:
            print_load(f"Python server, {connections} connections", wrk(port, "/infer", data, {}, connections, arguments.seconds))
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
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--precision", default="auto")
    parser.add_argument("--executions", type=int, default=1)
    parser.add_argument("--queue", type=int, default=300)
    parser.add_argument("--batch", default="1")
    arguments = parser.parse_args()
    if shutil.which("wrk") is None:
        parser.error("wrk is missing: install Debian's package")
    for what in arguments.what:
        {"overhead": overhead, "load": load}[what](arguments)


if __name__ == "__main__":
    main()
