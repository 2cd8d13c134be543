#!/usr/bin/env python3
"""What docs/serve.md says about the server, measured with wrk (Debian's package).

    bench/serve.py WHAT... [--binary build/saccade] [--model MODEL] [--connections 1,16,64,256] [--seconds 20]
                           [--peer-seconds 20] [--device cpu] [--precision auto] [--executions 1] [--queue 300] [--batch 1]
                         [--shared-memory]

    overhead  round trips of one request at a time over one connection, by REST with binary tensors and by gRPC, of a model of
              almost no work, beside those of bare servers of sockets and of gRPC (needs the package onnx, and
              build/bench/request_overhead_bench)
    load      binary tensors of MODEL over each number of CONNECTIONS for SECONDS: requests per second and their share of
              what `saccade bench` measures right before and after, latencies, refusals, resident memory. Beside a Python
              server (uvicorn, FastAPI and ONNX Runtime) in the same run, for PEER-SECONDS each, where these are installed.
              With --shared-memory the tensors of all requests are in one object of shared memory
    replace   binary tensors of MODEL over 16 connections while it is loaded again a hundred times: lost and refused requests
"""
import argparse
import concurrent.futures
import importlib.util
import json
import math
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SHARED = f"saccade-bench-{os.getpid()}"
WIDTHS = {"FP64": 8, "FP32": 4, "FP16": 2, "BF16": 2, "INT64": 8, "INT32": 4, "INT16": 2, "INT8": 1, "UINT64": 8, "UINT32": 4, "UINT16": 2,
          "UINT8": 1, "BOOL": 1}
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
    def __init__(self, arguments, *models):
        self.process = subprocess.Popen([arguments.binary, "serve", *models, "--http", "0", "--device", arguments.device,
                                         "--executions", str(arguments.executions), "--queue", str(arguments.queue),
                                         "--precision", arguments.precision, "--batch", str(arguments.batch)],
                                        stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.port = self.read_port("http: http://")
        self.grpc_port = self.read_port("grpc: ") if "--grpc" in models else None

    def read_port(self, before):
        line = ""
        for line in self.process.stderr:
            if found := re.match(re.escape(before) + r"127\.0\.0\.1:(\d+)", line):
                return int(found[1])
        raise SystemExit(f"the server did not start: {line.strip()}")

    def rss(self):
        with open(f"/proc/{self.process.pid}/status") as file:
            return int(re.search(r"VmRSS:\s+(\d+)", file.read())[1]) / 1024

    def stop(self):
        self.process.terminate()
        self.process.wait()


def metadata(port, name):
    """The tensors of a model for one image, and their sizes in bytes."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/v2/models/{name}") as response:
        model = json.load(response)
    for tensor in model["inputs"] + model["outputs"]:
        tensor["shape"] = [max(side, 1) for side in tensor["shape"]]
        yield tensor, math.prod(tensor["shape"]) * WIDTHS[tensor["datatype"]], tensor in model["inputs"]


def shared_request(port, name):
    """The same with all tensors in shared memory."""
    inputs, outputs, end = [], [], 0
    for tensor, size, is_input in metadata(port, name):
        place = {"shared_memory_region": "all", "shared_memory_byte_size": size, "shared_memory_offset": end}
        (inputs if is_input else outputs).append({**tensor, "parameters": place})
        end += size
    with open(f"/dev/shm/{SHARED}", "wb") as file:
        file.truncate(end)
    body = json.dumps({"key": SHARED, "byte_size": end}).encode()
    urllib.request.urlopen(f"http://127.0.0.1:{port}/v2/systemsharedmemory/region/all/register", body).read()
    head = json.dumps({"inputs": inputs, "outputs": [{"name": each["name"], "parameters": each["parameters"]} for each in outputs]})
    return head.encode(), {"Inference-Header-Content-Length": str(len(head))}, None


def infer_request(port, name):
    """Zeros for each input, in binary: the body, the headers, and the tensors alone."""
    inputs, data = [], b""
    for tensor, size, is_input in metadata(port, name):
        if not is_input:
            continue
        data += bytes(size)
        inputs.append({**tensor, "parameters": {"binary_data_size": size}})
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
        server = Server(arguments, path, "--grpc", "0")
        done = subprocess.run([os.path.join(os.path.dirname(arguments.binary), "bench", "request_overhead_bench"),
                               "--benchmark_repetitions=9", "--benchmark_enable_random_interleaving=true",
                               f"--benchmark_min_time={arguments.seconds / 36:g}", "--benchmark_format=json"],
                              env={**os.environ, "SACCADE_HTTP": str(server.port), "SACCADE_GRPC": str(server.grpc_port),
                                   "SACCADE_MODEL": "add"}, capture_output=True, text=True, check=True)
        server.stop()
    medians = {each["run_name"].split("/")[0]: each["real_time"] for each in json.loads(done.stdout)["benchmarks"]
               if each.get("aggregate_name") == "median"}
    for what, name, bare in (("REST", "rest", "bare_socket"), ("gRPC", "grpc_served", "bare_grpc")):
        print(f"{what}: a round trip takes {medians[name]:.0f} us, one to a bare server {medians[bare]:.0f}; "
              f"{medians[name] - medians[bare]:.0f} us more")


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
    server = Server(arguments, arguments.model, *(["--shared-memory", SHARED] if arguments.shared_memory else []))
    body, headers, data = (shared_request if arguments.shared_memory else infer_request)(server.port, name)
    python, port = (None, 0) if arguments.shared_memory else start_python_server(arguments.model)
    before, shares = rate_of_bench(arguments, arguments.model), {}
    for connections in map(int, arguments.connections.split(",")):
        got = wrk(server.port, f"/v2/models/{name}/infer", body, headers, connections, arguments.seconds)
        rate = print_load(f"saccade, {connections} connections", got, f", resident {server.rss():.0f} MiB")
        after = rate_of_bench(arguments, arguments.model)
        shares[connections] = 2 * rate / (before + after)
        print(f"bench: {before:.1f} before, {after:.1f} after; served {shares[connections]:.2f} of it", flush=True)
        before = after
        if python:
            print_load(f"Python server, {connections} connections", wrk(port, "/infer", data, {}, connections, arguments.peer_seconds))
    server.stop()
    if python:
        python.terminate()
    best = max(shares, key=shares.get)
    print(f"served at best with {best} connections: {shares[best]:.2f} of bench")


def replace(arguments):
    name, times, connections = os.path.splitext(os.path.basename(arguments.model))[0], 100, 16
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor() as pool:
        shutil.copy(arguments.model, folder)
        server = Server(arguments, "--model-dir", folder)
        body, headers, _ = infer_request(server.port, name)
        load_it = urllib.request.Request(f"http://127.0.0.1:{server.port}/v2/repository/models/{name}/load", data=b"{}")
        before, done, started = server.rss(), 0, time.monotonic()
        requests = refused = lost = 0
        while done < times:
            under_load = pool.submit(wrk, server.port, f"/v2/models/{name}/infer", body, headers, connections, arguments.seconds)
            while done < times and not under_load.done():
                urllib.request.urlopen(load_it).read()
                done += 1
            got = under_load.result()
            requests, refused, lost = requests + got["requests"], refused + got["refused"], lost + got["lost"]
        print(f"{name}: replaced {done} times in {time.monotonic() - started:.0f} s: {requests} requests, {refused} refused, "
              f"{lost} lost; resident {before:.0f} MiB before, {server.rss():.0f} after")
        server.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="+", choices=["overhead", "load", "replace"])
    parser.add_argument("--binary", default=os.path.join(ROOT, "build", "saccade"))
    parser.add_argument("--model", default=os.path.join(ROOT, "models", "scene_model.onnx"))
    parser.add_argument("--connections", default="1,16,64,256")
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--peer-seconds", type=float, default=20)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--precision", default="auto")
    parser.add_argument("--executions", type=int, default=1)
    parser.add_argument("--queue", type=int, default=300)
    parser.add_argument("--batch", default="1")
    parser.add_argument("--shared-memory", action="store_true")
    arguments = parser.parse_args()
    if shutil.which("wrk") is None:
        parser.error("wrk is missing: install Debian's package")
    try:
        for what in arguments.what:
            {"overhead": overhead, "load": load, "replace": replace}[what](arguments)
    finally:
        if os.path.exists(f"/dev/shm/{SHARED}"):
            os.remove(f"/dev/shm/{SHARED}")


if __name__ == "__main__":
    main()
