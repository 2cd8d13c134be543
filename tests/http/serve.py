#!/usr/bin/env python3
"""serve.py --binary SACCADE --shared DIR --model MODEL: `saccade serve` as clients see it.

Serves a small network and the bundled model, and sends requests with Python's HTTP client, with raw sockets, and with
Triton's client where it is installed: responses, errors, limits, protection, and the end in order.
"""
import concurrent.futures
import http.client
import json
import os
import pathlib
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from xml.sax.saxutils import escape

import serving
import skips
from serving import ARGS, ELEMENTS, NAME, SMALL, Server, binary, body, command, network, rendered, tensor, values, write_sum


class Protocol(unittest.TestCase):
    def test_health_and_metadata(self):
        with Server() as server:
            for path in ("/v2/health/live", "/v2/health/ready", f"/v2/models/{SMALL}/ready", f"/v2/models/{SMALL}/versions/1/ready"):
                self.assertEqual(server.request("GET", path)[0], 200, path)
                self.assertEqual(server.request("HEAD", path)[0], 200, path)
            self.assertEqual(json.loads(server.request("GET", "/v2")[1])["name"], "saccade")
            metadata = json.loads(server.request("GET", f"/v2/models/{SMALL}")[1])
            self.assertEqual(metadata["inputs"], [{"name": "input", "shape": [1, 3, 32, 32], "datatype": "FP32"}])
            self.assertEqual(metadata["outputs"], [{"name": "logits", "shape": [1, 10], "datatype": "FP32"}])
            for path, status in ((f"/v2/models/{SMALL}x", 404), (f"/v2/models/{SMALL}/versions/2", 404), ("/v3", 404),
                                 (f"/v2/models/{SMALL}/infer", 405), ("/v2/models//ready", 404), ("/v2/models/%00", 404)):
                self.assertEqual(server.request("GET", path)[0], status, path)
            self.assertIn(SMALL, json.loads(server.request("GET", "/v2/models/x")[1])["error"])

    def test_json_and_binary_tensors_are_the_same(self):
        with Server() as server, tempfile.TemporaryDirectory() as folder:
            status, response = server.post(f"/v2/models/{SMALL}/infer", body(id="a7"))
            self.assertEqual((status, response["id"], response["model_name"]), (200, "a7", SMALL))
            logits = response["outputs"][0]["data"]
            request, headers = binary()
            status, read, reply = server.request("POST", f"/v2/models/{SMALL}/versions/1/infer", request, headers)
            self.assertEqual(status, 200)
            length = int(reply["Inference-Header-Content-Length"])
            self.assertEqual(json.loads(read[:length])["outputs"][0]["parameters"], {"binary_data_size": 40})
            exact = struct.unpack("<10f", read[length:])
            self.assertEqual([struct.unpack("<f", struct.pack("<f", each))[0] for each in logits], list(exact))
            # The command gives the same.
            npy = os.path.join(folder, "x.npy")
            head = b"{'descr': '<f4', 'fortran_order': False, 'shape': (1, 3, 32, 32), }"
            head += b" " * (117 - len(head)) + b"\n"
            with open(npy, "wb") as file:
                file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + struct.pack(f"<{ELEMENTS}f", *values()))
            subprocess.run([ARGS.binary, "infer", network(), "--device", "cpu", "--input", f"input={npy}", "--output", folder],
                           check=True, capture_output=True)
            with open(os.path.join(folder, "logits.npy"), "rb") as file:
                self.assertEqual(struct.unpack("<10f", file.read()[-40:]), exact)
            nested = [[values()[:1024][i * 32:i * 32 + 32] for i in range(32)], [values()[1024:2048][i * 32:i * 32 + 32] for i in range(32)],
                      [values()[2048:][i * 32:i * 32 + 32] for i in range(32)]]
            self.assertEqual(server.post(f"/v2/models/{SMALL}/infer", body(inputs=[tensor(data=[nested])]))[1]["outputs"],
                             response["outputs"])

    def test_what_is_wrong_is_named(self):
        with Server() as server:
            text, headers = binary()
            cases = [
                (b"{", {}, "not valid at byte"), (b"[]", {}, "no object"), (b"\xff", {}, "not valid"),
                (b'{"a":' * 5000, {}, "nested"), (b"{}", {}, "no inputs"),
                (body(inputs=[]).encode(), {}, "'input' is missing"), (body(inputs=[1]).encode(), {}, "no object"),
                (body(inputs=[tensor(name="x")]).encode(), {}, "the inputs are 'input'"),
                (body(inputs=[tensor(), tensor()]).encode(), {}, "twice"),
                (body(inputs=[tensor(datatype="FP64")]).encode(), {}, "FP32, not FP64"),
                (body(inputs=[tensor(shape=[1, 3, 32, 31])]).encode(), {}, "[1,3,32,32]"),
                (body(inputs=[tensor(shape=[-1])]).encode(), {}, "shape"), (body(inputs=[tensor(shape="x")]).encode(), {}, "no array"),
                (body(inputs=[tensor(data=values()[:-1])]).encode(), {}, "3071 elements"),
                (body(inputs=[tensor(data=values() + [0])]).encode(), {}, "more than the 3072"),
                (body(inputs=[tensor(data=["x"] * ELEMENTS)]).encode(), {}, '"x"'),
                (body(inputs=[tensor(data=[[[[[0]] * 32] * 32] * 3])]).encode(), {}, "deeper"),
                (body(inputs=[tensor(data=[[[[0] * 3] * 32] * 32])]).encode(), {}, "32 parts where its shape has 3"),
                (body(inputs=[tensor(data=[[[[0] * 16] * 64] * 3])]).encode(), {}, "64 parts where its shape has 32"),
                (body(inputs=[tensor(data=[[0] * 3, [0] * 3069])]).encode(), {}, "2 parts where its shape has 1"),
                (body(inputs=[tensor(data=[[0, 0, 0]])]).encode(), {}, "neither flat nor nested as its shape"),
                (body(inputs=[{key: value for key, value in tensor().items() if key != "data"}]).encode(), {}, "neither data"),
                (body(outputs=[{"name": "x"}]).encode(), {}, "the outputs are 'logits'"),
                (body(outputs=[{"name": "logits"}] * 1000).encode(), {}, "'logits' is there twice"),
                (body(inputs=[tensor(data=[1e39] * ELEMENTS)]).encode(), {}, "no FP32"),
                (body().replace('"data": [', '"data": [1e999, ', 1).encode(), {}, "out of range"),
                (body(inputs=[tensor(parameters={"binary_data_size": 12288})]).encode(), {}, "both data and"),
                (body(inputs=[tensor(datatype="x" * 100000)]).encode(), {}, "xxx..."),
                (body(outputs=[{"name": "logits", "parameters": {"binary_data": 1}}]).encode(), {}, "neither true nor false"),
                (body(parameters={"timeout": "x"}).encode(), {}, "microseconds"),
                (body(parameters={"sequence_id": 5}).encode(), {}, "'sequence_id' of the request is not known"),
                (body(inputs=[tensor(parameters={"shared_memory_bytesize": 5})]).encode(), {}, "'shared_memory_bytesize' of an input"),
                (body(outputs=[{"name": "logits", "parameters": {"binary": True}}]).encode(), {}, "'binary' of an output"),
                (text[:-1], headers, "bytes"), (text + b"x", headers, "follow the last tensor"),
                (text, {"Inference-Header-Content-Length": "x"}, "'x'"),
                (text, {"Inference-Header-Content-Length": "99999999"}, "99999999"),
            ]
            for request, header, named in cases:
                with self.subTest(named=named):
                    status, response = server.post(f"/v2/models/{SMALL}/infer", request, header)
                    self.assertEqual(status, 400, str(response)[:200])
                    self.assertIn(named, response["error"])
            self.assertEqual(server.post(f"/v2/models/{SMALL}/infer", body())[0], 200, "nothing is lost for others")

    def test_a_model_that_takes_no_images(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "sum.onnx")
            write_sum(path)
            with Server(models=[path]) as server:
                given = {"name": "x", "shape": [2, 3], "datatype": "FP32", "data": [1, 2, 3, 4, 5, 6.5]}
                status, response = server.post("/v2/models/sum/infer", json.dumps({"inputs": [given]}))
                self.assertEqual((status, response["outputs"][0]["data"]), (200, [2, 4, 6, 8, 10, 13]))
                status, response = server.post("/predict/sum", b"x")
                self.assertEqual((status, "makes no predictions" in response["error"]), (400, True), response)

    def test_images_are_predicted(self):
        with Server(models=[ARGS.model]) as server, tempfile.TemporaryDirectory() as folder:
            for format in ("jpg", "png"):
                with open(rendered(os.path.join(folder, format), format), "rb") as file:
                    image = file.read()
                status, response = server.post(f"/predict/{NAME}", image)
                self.assertEqual((status, response["width"], response["height"]), (200, 320, 240))
                self.assertGreater(len(response["detections"]), 0)
                times = response["latency_ms"]
                self.assertGreater(times["capture"], 0, "of decoding")
                self.assertGreaterEqual(times["total"] + 0.01, sum(times[each] for each in ("capture", "queue", "pre", "model", "post")))
                for query in ("conf=0.9", "draw=0&Draw=1", "timeout=0&Timeout=1"):
                    status, refused = server.post(f"/predict/{NAME}?{query}", image)
                    self.assertEqual((status, "there is no parameter" in refused["error"]), (400, True), refused)
                form = b"--b\r\nContent-Disposition: form-data; name=\"note\"\r\n\r\nx\r\n--b\r\nContent-Disposition: form-data; " \
                       b"name=\"file\"; filename=\"a\"\r\n\r\n" + image + b"\r\n--b--\r\n"
                twice = form[:-len(b"--b--\r\n")] + b"--b\r\nContent-Disposition: form-data; filename=\"c\"\r\n\r\nx\r\n--b--\r\n"
                status, refused = server.post(f"/predict/{NAME}", twice, {"Content-Type": "multipart/form-data; boundary=b"})
                self.assertEqual((status, "several files" in refused["error"]), (400, True), refused)
                status, again = server.post(f"/predict/{NAME}", form, {"Content-Type": "multipart/form-data; boundary=b"})
                self.assertEqual(again["detections"], response["detections"])
                status, drawn, headers = server.request("POST", f"/predict/{NAME}?draw=1", image)
                self.assertEqual((status, headers["Content-Type"], drawn[:2]), (200, "image/jpeg", b"\xff\xd8"))
            for data, headers, named in ((b"", {}, "empty"), (b"x" * 3000, {}, "neither a JPEG nor a PNG"), (image[:200], {}, "damaged"),
                                         (form, {"Content-Type": "multipart/form-data"}, "boundary"),
                                         (form[:100], {"Content-Type": "multipart/form-data; boundary=b"}, "no file")):
                status, response = server.post(f"/predict/{NAME}", data, headers)
                self.assertEqual(status, 400)
                self.assertIn(named, response["error"])
                self.assertNotIn("/", response["error"], "no path of the machine")
        with Server("--max-pixels", "1000", models=[ARGS.model]) as server:
            status, response = server.post(f"/predict/{NAME}", image)
            self.assertEqual((status, "320x240" in response["error"]), (400, True), response)

    def test_curl(self):
        if shutil.which("curl") is None:
            self.skipTest("curl is not installed")
        with Server(models=[ARGS.model]) as server, tempfile.TemporaryDirectory() as folder:
            path = rendered(folder)
            address = f"http://127.0.0.1:{server.port}/predict/{NAME}"
            form = ("--form", "note=x", "--form", f'image=@{path};filename="a;\\"b.jpg"')
            for flags in (("--data-binary", f"@{path}"), form, (*form, "--header", "Expect: 100-continue"),
                          ("--data-binary", f"@{path}", "--header", "Transfer-Encoding: chunked")):
                done = subprocess.run(["curl", "--silent", "--show-error", "--fail", "--noproxy", "*", *flags, address],
                                      capture_output=True, timeout=60)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(json.loads(done.stdout)["width"], 320)
            drawn = os.path.join(folder, "drawn")
            subprocess.run(["curl", "--silent", "--fail", "--noproxy", "*", *form, "--output", drawn, address + "?draw=1"], check=True,
                           timeout=60)
            with open(drawn, "rb") as file:
                self.assertEqual(file.read(2), b"\xff\xd8")

    def test_tritons_client(self):
        try:
            import numpy
            import tritonclient.http as triton
        except ImportError:
            self.skipTest("tritonclient[http] is not installed")
        with Server() as server:
            client = triton.InferenceServerClient(f"127.0.0.1:{server.port}")
            self.assertTrue(client.is_server_live() and client.is_server_ready() and client.is_model_ready(SMALL))
            array = numpy.array(values(), numpy.float32).reshape(1, 3, 32, 32)
            results = []
            for is_binary in (True, False):
                given = triton.InferInput("input", array.shape, "FP32")
                given.set_data_from_numpy(array, binary_data=is_binary)
                wanted = triton.InferRequestedOutput("logits", binary_data=is_binary)
                results.append(client.infer(SMALL, [given], outputs=[wanted], request_id="7", timeout=10_000_000))
                self.assertEqual(results[-1].get_response()["id"], "7")
            self.assertTrue((results[0].as_numpy("logits") == results[1].as_numpy("logits")).all())
            with self.assertRaises(Exception) as error:
                client.infer("x", [given])
            self.assertIn("there is no model 'x'", str(error.exception))
            client.close()


class Load(unittest.TestCase):
    def test_connections_are_kept_and_requests_pipelined(self):
        with Server() as server:
            connection = server.connect()
            for _ in range(20):
                self.assertEqual(server.post(f"/v2/models/{SMALL}/infer", body(), connection=connection)[0], 200)
            connection.close()
            with socket.create_connection((server.host, server.port), timeout=60) as raw:
                raw.sendall(b"GET /v2/health/live HTTP/1.1\r\nHost: localhost\r\n\r\n" * 5)
                received = b""
                while received.count(b"HTTP/1.1 200 OK") < 5:
                    received += raw.recv(4096)

    def test_a_full_queue_refuses(self):
        with Server("--queue", "2", models=[ARGS.model]) as server, tempfile.TemporaryDirectory() as folder:
            with open(rendered(folder), "rb") as file:
                image = file.read()
            with concurrent.futures.ThreadPoolExecutor(24) as pool:
                responses = list(pool.map(lambda _: server.request("POST", f"/predict/{NAME}", image), range(24)))
            statuses = [status for status, _, _ in responses]
            self.assertEqual(set(statuses), {200, 429})
            for status, read, headers in responses:
                if status == 429:
                    self.assertGreaterEqual(int(headers["Retry-After"]), 1)
                    self.assertIn("come again", json.loads(read)["error"])
            self.assertEqual(server.post(f"/predict/{NAME}", image)[0], 200)
            report = server.finish()
            self.assertIn(f"{NAME}: {statuses.count(200) + 1} requests run, 0 failed, {statuses.count(429)} refused", report)

    def test_a_timeout_is_kept(self):
        with Server(models=[ARGS.model, network()]) as server:
            request, headers = binary(parameters={"timeout": 1, "binary_data_output": True})
            seen = set()
            with concurrent.futures.ThreadPoolExecutor(16) as pool:
                for status, _, _ in pool.map(
                        lambda _: server.request("POST", f"/v2/models/{SMALL}/infer", request, headers), range(64)):
                    seen.add(status)
            self.assertLessEqual(seen, {200, 503})
            self.assertIn(503, seen)

    def test_a_timeout_of_a_prediction(self):
        with Server(models=[ARGS.model]) as server, tempfile.TemporaryDirectory() as folder:
            with open(rendered(folder), "rb") as file:
                image = file.read()
            for query, status, named in (("timeout=1", 503, "timeout passed"), ("draw=1&timeout=1", 503, "timeout passed"),
                                         ("timeout=x", 400, "microseconds"), ("timeout=-1", 400, "microseconds"),
                                         ("timeout=1.5", 400, "microseconds"), ("timeout=", 400, "microseconds"),
                                         ("timeout=99999999999999999999", 400, "microseconds")):
                with self.subTest(query=query):
                    got, refused, headers = server.request("POST", f"/predict/{NAME}?{query}", image)
                    self.assertEqual((got, named in json.loads(refused)["error"]), (status, True), refused)
                    self.assertEqual("Retry-After" in headers, status == 503)
            for query in ("timeout=0", "timeout=18446744073709551615", "timeout=600000000&draw=0"):
                self.assertEqual(server.post(f"/predict/{NAME}?{query}", image)[0], 200, query)
            self.assertIn("3 requests run, 0 failed, 2 refused, 0 cancelled, 5 invalid", server.finish())

    def test_sigterm_serves_what_was_taken(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "small.onnx")
            write_sum(path, (2, 4))
            short = json.dumps({"inputs": [{"name": "x", "shape": [2, 4], "datatype": "FP32", "data": [0] * 8}]}).encode()
            for models, name, request, headers in ((None, SMALL, *binary()), ([path], "small", short, {})):
                with self.subTest(name), Server(models=models) as server:
                    self.check_what_was_taken(server, f"/v2/models/{name}/infer", request, headers)

    def check_what_was_taken(self, server, path, request, headers):
        taken, refused = [], []

        def work():
            connection = server.connect()
            try:
                while True:
                    connection.request("POST", path, request, headers)
                    response = connection.getresponse()
                    (taken if len(response.read()) > 40 else refused).append(response.status)
                    if response.getheader("Connection") == "close":
                        return
            except (OSError, http.client.HTTPException):
                pass  # an idle connection was closed before the request came
            finally:
                connection.close()

        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        time.sleep(0.5)
        report = server.finish()
        for thread in threads:
            thread.join()
        self.assertEqual(set(taken), {200})
        self.assertEqual(refused, [])
        self.assertIn(f"{len(taken)} requests run, 0 failed, 0 refused", report)

    def test_sigterm_leaves_a_slow_client_the_time_to_read(self):
        sides = (2, 2_000_000)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "large.onnx")
            write_sum(path, sides)
            with Server(models=[path]) as server:
                size = 4 * sides[0] * sides[1]
                head = json.dumps({"inputs": [{"name": "x", "shape": sides, "datatype": "FP32", "parameters": {"binary_data_size": size}}],
                                   "parameters": {"binary_data_output": True}}).encode()
                connection = server.connect()
                connection.request("POST", "/v2/models/large/infer", head + bytes(size), {"Inference-Header-Content-Length": str(len(head))})
                response = connection.getresponse()
                server.process.terminate()
                # Longer than a request may take that has not arrived whole.
                time.sleep(13)
                self.assertGreater(int(response.headers["Content-Length"]), size)
                self.assertEqual(len(response.read()), int(response.headers["Content-Length"]))
                connection.close()
                self.assertEqual(server.process.wait(30), 0)


class Log(unittest.TestCase):
    def test_requests_are_logged_with_their_trace(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "requests.jsonl")
            with Server("--access-log", path, models=[network(), ARGS.model]) as server:
                tensors, headers = binary()
                trace = {"traceparent": f"00-{'4b' * 16}-{'0f' * 8}-01"}
                infer = f"/v2/models/{SMALL}/infer"
                self.assertEqual(server.request("POST", infer, tensors, {**headers, **trace})[0], 200)
                self.assertEqual(server.request("POST", infer, b"{}", {"traceparent": trace["traceparent"].upper()})[0], 400)
                with open(rendered(folder), "rb") as image:
                    self.assertEqual(server.request("POST", f"/predict/{NAME}", image.read())[0], 200)
                self.assertEqual(server.request("POST", "/v2/models/%22%0a/infer", b"{}")[0], 404)
                self.assertEqual(server.request("GET", f"/v2/models/{SMALL}")[0], 200)
            with open(path) as file:
                lines = [json.loads(line) for line in file]
        self.assertEqual([(line["method"], line["model"], line["http_status"]) for line in lines],
                         [("infer", SMALL, 200), ("infer", SMALL, 400), ("predict", NAME, 200), ("infer", '"\n', 404)])
        self.assertEqual((lines[0]["trace_id"], lines[0]["span_id"]), ("4b" * 16, "0f" * 8))
        self.assertEqual(lines[0]["request_bytes"], len(tensors))
        self.assertTrue(all("trace_id" not in line for line in lines[1:]))
        self.assertTrue(all(line["duration_ms"] > 0 and line["response_bytes"] > 0 for line in lines), lines)
        self.assertRegex(lines[0]["time"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$")

    def test_the_log_is_no_file_that_is_read(self):
        with tempfile.TemporaryDirectory() as folder:
            model = shutil.copy(network(), folder)
            for path, code, words in ((model, 2, "input and output"), (os.path.join(folder, "no", "log"), 1, "can't write"),
                                      (folder, 1, "can't write")):
                done = subprocess.run(command("--access-log", path, models=[model]), capture_output=True, text=True, timeout=60)
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertIn(words, done.stderr)

    def test_a_log_that_can_not_be_written_is_said_once(self):
        with Server("--access-log", "/dev/full") as server:
            for _ in range(2):
                self.assertEqual(server.request("POST", f"/v2/models/{SMALL}/infer", *binary())[0], 200)
            server.process.terminate()
            self.assertEqual(server.process.wait(), 1)
            server.reader.join()
            self.assertEqual([line for line in server.errors if "/dev/full" in line],
                             ["saccade: warning: /dev/full: requests are not logged: No space left on device\n",
                              "saccade: error: can't write /dev/full: 2 requests are not logged\n"])


class Skips(unittest.TestCase):
    PROGRAM = """
import unittest
import skips
class First(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        raise unittest.SkipTest("needs ../shared")
    def test_a(self): pass
    def test_b(self): pass
class Second(unittest.TestCase):
    def test_c(self):
        {}
skips.main()
"""

    def test_what_is_skipped_is_said_and_counted(self):
        here = pathlib.Path(skips.__file__).parent
        for statement, status, summary in (
            ("pass", 0, "skipped, needs ../shared: 2 tests (x)\n1 passed, 0 failed, 2 skipped\n"),
            ("with self.subTest(): self.skipTest('needs b')", 0,
             "skipped, needs ../shared: 2 tests (x)\nskipped, needs b: 1 tests (x)\n1 passed, 0 failed, 3 skipped\n"),
            ("self.skipTest('needs ../shared')", 77, "skipped, needs ../shared: 1 tests (x)\n0 passed, 0 failed, 1 skipped\n"),
            ("self.fail()", 1, "failed: x\n0 passed, 1 failed, 0 skipped\n")):
            with self.subTest(statement), tempfile.TemporaryDirectory() as folder:
                done = subprocess.run([sys.executable, "-c", self.PROGRAM.format(statement)], cwd=here, capture_output=True, text=True)
                self.assertEqual(done.returncode, status, done.stderr)
                kind = {0: "", 1: "<failure/>", 77: "<skipped/>"}[status]
                report = pathlib.Path(folder, "tests.xml")
                report.write_text(f'<testsuite><testcase name="x">{kind}<system-out>{escape(done.stdout)}</system-out></testcase></testsuite>')
                counted = subprocess.run([here.parents[1] / "script" / "summarize-tests", report], capture_output=True, text=True)
                self.assertEqual(counted.stdout, summary)


if __name__ == "__main__":
    serving.main()
