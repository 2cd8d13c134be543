#!/usr/bin/env python3
"""serve_batches.py --binary SACCADE --shared DIR --model MODEL: batches across requests, and models that are loaded, replaced and
unloaded while `saccade serve` runs."""
import concurrent.futures
import json
import os
import shutil
import socket
import struct
import subprocess
import tempfile
import threading
import time
import unittest

import serving
from scrape import parse
from serving import ARGS, ELEMENTS, NAME, SMALL, Server, binary, command, network, rendered, tensor, values, write_sum


def infer(server, request, headers, connection=None):
    """The logits of a request with binary tensors."""
    status, read, reply = server.request("POST", f"/v2/models/{SMALL}/infer", request, headers, connection)
    assert status == 200, read
    length = int(reply["Inference-Header-Content-Length"])
    return struct.unpack(f"<{(len(read) - length) // 4}f", read[length:])


def close(a, b):
    return len(a) == len(b) and all(abs(x - y) <= 1e-4 * (1 + abs(y)) for x, y in zip(a, b))


class Batches(unittest.TestCase):
    def test_a_request_has_the_response_that_it_has_alone(self):
        seeds = range(40)
        with Server() as server:
            alone = [infer(server, *binary(seed)) for seed in seeds]
        with Server("--batch", "8", "--batch-wait", "5", "--precision", "fp32") as server:
            with concurrent.futures.ThreadPoolExecutor(16) as pool:
                together = list(pool.map(lambda seed: infer(server, *binary(seed)), seeds))
            for seed in seeds:
                self.assertTrue(close(together[seed], alone[seed]), (seed, together[seed], alone[seed]))
            report = server.finish()
            executions = int(report.split(", in ")[1].split()[0])
            self.assertLess(executions, 40, report)

    def test_a_request_of_several_images(self):
        with Server("--batch", "4") as server:
            metadata = json.loads(server.request("GET", f"/v2/models/{SMALL}")[1])
            self.assertEqual(metadata["inputs"][0]["shape"], [-1, 3, 32, 32])
            self.assertEqual(metadata["outputs"][0]["shape"], [-1, 10])
            config = json.loads(server.request("GET", f"/v2/models/{SMALL}/config")[1])
            self.assertEqual((config["max_batch_size"], config["input"][0]), (4, {"name": "input", "data_type": "TYPE_FP32", "dims": [3, 32, 32]}))
            each = [server.post(f"/v2/models/{SMALL}/infer", json.dumps({"inputs": [tensor(data=values(seed))]}))[1]["outputs"][0]["data"]
                    for seed in range(3)]
            given = tensor(shape=[3, 3, 32, 32], data=sum((values(seed) for seed in range(3)), []))
            status, response = server.post(f"/v2/models/{SMALL}/infer", json.dumps({"inputs": [given]}))
            self.assertEqual((status, response["outputs"][0]["shape"]), (200, [3, 10]))
            self.assertTrue(close(response["outputs"][0]["data"], sum(each, [])))
            for shape, count in (([5, 3, 32, 32], 5), ([0, 3, 32, 32], 0), ([-1, 3, 32, 32], 1), ([2, 3, 32], 1)):
                given = tensor(shape=shape, data=[0] * (count * ELEMENTS))
                status, response = server.post(f"/v2/models/{SMALL}/infer", json.dumps({"inputs": [given]}))
                self.assertEqual((status, "[-1,3,32,32] with 1 to 4 images" in response["error"]), (400, True), response)
            given = tensor(shape=[2, 3, 32, 32])
            status, response = server.post(f"/v2/models/{SMALL}/infer", json.dumps({"inputs": [given]}))
            self.assertEqual((status, "3072 elements, and its shape 6144" in response["error"]), (400, True), response)

    def test_images_are_predicted_together(self):
        with Server("--batch", "4", "--batch-wait", "5", models=[ARGS.model]) as server, tempfile.TemporaryDirectory() as folder:
            with open(rendered(folder), "rb") as file:
                image = file.read()
            alone = server.post(f"/predict/{NAME}", image)[1]["detections"]
            self.assertGreater(len(alone), 0)
            with concurrent.futures.ThreadPoolExecutor(8) as pool:
                responses = list(pool.map(lambda i: server.post(f"/predict/{NAME}", image if i % 3 else image[:300]), range(24)))
            for i, (status, response) in enumerate(responses):
                self.assertEqual(status, 200 if i % 3 else 400, response)
                if i % 3:
                    self.assertEqual(response["detections"], alone)

    def test_what_takes_no_batch_is_refused_at_the_start(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "sum.onnx")
            write_sum(path)
            done = subprocess.run(command("--batch", "2", models=[path]), capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, "'x' is 2x3" in done.stderr), (1, True), done.stderr)
            with Server("--batch", "auto", models=[path]) as server:
                metadata = json.loads(server.request("GET", "/v2/models/sum")[1])
                self.assertEqual(metadata["inputs"][0]["shape"], [2, 3])


class GoneClients(unittest.TestCase):
    def test_their_requests_are_not_run(self):
        # The oldest request waits for a second one, until its time is over.
        with Server("--batch", "2", "--batch-wait", "2000") as server:
            request, headers = binary()
            gone, half = server.connect(), server.connect()
            gone.request("POST", f"/v2/models/{SMALL}/infer", request, headers)
            time.sleep(0.5)
            gone.close()
            time.sleep(2.5)
            half.request("POST", f"/v2/models/{SMALL}/infer", request, headers)
            half.sock.shutdown(socket.SHUT_WR)
            reply = half.getresponse()
            self.assertEqual((reply.status, b"cancelled" in reply.read()), (503, True))
            infer(server, request, headers)
            self.assertIn("1 requests run, 0 failed, 0 refused, 2 cancelled", server.finish())


class Metrics(unittest.TestCase):
    def test_requests_are_counted(self):
        with Server("--batch", "4", "--queue", "8") as server:
            infer(server, *binary())
            given = tensor(shape=[3, 3, 32, 32], data=[0] * (3 * ELEMENTS))
            self.assertEqual(server.post(f"/v2/models/{SMALL}/infer", json.dumps({"inputs": [given]}))[0], 200)
            self.assertEqual(server.post(f"/v2/models/{SMALL}/infer", b"{}")[0], 400)
            run = ("saccade_requests_total", (("model", SMALL), ("outcome", "run")))
            samples = {}
            while samples.get(run, 0) < 2:  # they are counted after their responses
                status, text, headers = server.request("GET", "/metrics")
                self.assertEqual((status, headers["Content-Type"]), (200, "text/plain; version=0.0.4; charset=utf-8"))
                samples, _ = parse(text.decode())
            value = lambda name, **labels: samples[name, tuple(sorted({"model": SMALL, **labels}.items()))]  # noqa: E731
            outcomes = ("run", "invalid", "failed", "refused", "cancelled")
            self.assertEqual([value("saccade_requests_total", outcome=each) for each in outcomes], [2, 1, 0, 0, 0])
            self.assertEqual(value("saccade_batch_images_sum"), 4)
            self.assertEqual([value("saccade_batch_images_bucket", le=each) for each in ("1", "2", "4")], [1, 1, 2])
            self.assertEqual(value("saccade_request_seconds_count"), 2)
            self.assertEqual(value("saccade_waiting_requests"), 0)
            self.assertGreater(samples["process_resident_memory_bytes", ()], 1e6)


class Repository(unittest.TestCase):
    def test_models_are_loaded_and_unloaded(self):
        with tempfile.TemporaryDirectory() as folder:
            write_sum(os.path.join(folder, "a.onnx"))
            with Server("--model-dir", folder, models=[]) as server:
                write_sum(os.path.join(folder, "b.onnx"))
                control = lambda name, what: server.request("POST", f"/v2/repository/models/{name}/{what}", b"{}")  # noqa: E731
                ready = lambda name: server.request("GET", f"/v2/models/{name}/ready")[0]  # noqa: E731
                states = {each["name"]: each["state"] for each in server.post("/v2/repository/index", b"{}")[1]}
                self.assertEqual(states, {"a": "READY", "b": "UNAVAILABLE"})
                self.assertEqual((ready("a"), ready("b")), (200, 404))
                self.assertEqual((control("b", "load")[0], ready("b")), (200, 200))
                self.assertEqual((control("a", "unload")[0], ready("a")), (200, 404))
                for name in ("c", "..%2fa", "a.onnx", "%2e"):
                    status, read, _ = control(name, "load")
                    self.assertEqual((status, "no file of a model" in json.loads(read)["error"]), (400, True), read)
                self.assertEqual(control("a", "unload")[0], 400)
                with open(os.path.join(folder, "b.onnx"), "wb") as file:
                    file.write(b"broken")
                status, read, _ = control("b", "load")
                self.assertEqual((status, folder in read.decode()), (400, False), read)
                given = {"name": "x", "shape": [2, 3], "datatype": "FP32", "data": [1, 2, 3, 4, 5, 6]}
                self.assertEqual(server.post("/v2/models/b/infer", json.dumps({"inputs": [given]}))[0], 200, "the model before stays")

    def test_what_is_wrong_with_a_model_is_logged_with_the_trace(self):
        with tempfile.TemporaryDirectory() as folder:
            write_sum(os.path.join(folder, "a.onnx"))
            with Server("--model-dir", folder, models=[]) as server:
                with open(os.path.join(folder, "b.onnx"), "wb") as file:
                    file.write(b"broken")
                for headers in ({"traceparent": f"00-{'4b' * 16}-{'0f' * 8}-01"}, {}):
                    self.assertEqual(server.request("POST", "/v2/repository/models/b/load", b"{}", headers)[0], 400)
                server.finish()
            first, second = [line for line in server.errors if "'b' is not loaded" in line]
            self.assertTrue(first.endswith(f" (trace_id={'4b' * 16} span_id={'0f' * 8})\n"), first)
            self.assertNotIn("trace_id", second)

    def test_models_of_the_command_line_stay(self):
        with tempfile.TemporaryDirectory() as folder:
            for flags, named in (((), "--model-dir"), (("--model-dir", folder), "stays as it is")):
                with Server(*flags) as server:
                    for what in ("load", "unload"):
                        status, response = server.post(f"/v2/repository/models/{SMALL}/{what}", b"")
                        self.assertEqual((status, named in response["error"]), (400, True), response)
                    self.assertEqual(server.request("GET", f"/v2/models/{SMALL}/ready")[0], 200)
            shutil.copy(network(), folder)
            done = subprocess.run(command("--model-dir", folder), capture_output=True, text=True, check=False, timeout=60)
            self.assertEqual((done.returncode, f"two models are called '{SMALL}'" in done.stderr), (1, True), done.stderr)

    def test_a_folder_without_models_is_said(self):
        with tempfile.TemporaryDirectory() as folder:
            os.makedirs(os.path.join(folder, SMALL, "1"))
            shutil.copy(network(), os.path.join(folder, SMALL, "1", "model.onnx"))
            with Server("--model-dir", folder, models=[]) as server:
                server.finish()
                self.assertIn("there is no .onnx file or plan in", server.started)
                self.assertIn("NAME/1/model.onnx is to be NAME.onnx", server.started)

    def test_a_model_is_replaced_under_load(self):
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(network(), folder)
            with Server("--model-dir", folder, "--batch", "4", models=[]) as server:
                request, headers = binary()
                expected = infer(server, request, headers)
                counts, is_over = [], threading.Event()

                def work():
                    connection, count = server.connect(), 0
                    while not is_over.is_set():
                        self.assertTrue(close(infer(server, request, headers, connection), expected))
                        count += 1
                    connection.close()
                    counts.append(count)

                with concurrent.futures.ThreadPoolExecutor(4) as pool:
                    futures = [pool.submit(work) for _ in range(4)]
                    for _ in range(10):
                        self.assertEqual(server.request("POST", f"/v2/repository/models/{SMALL}/load", b"")[0], 200)
                    is_over.set()
                    for future in futures:
                        future.result()
                self.assertIn(f"{SMALL}: {sum(counts) + 1} requests run", server.finish())


if __name__ == "__main__":
    serving.main()
