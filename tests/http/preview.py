#!/usr/bin/env python3
"""preview.py --binary SACCADE --model MODEL: `saccade run --preview` as browsers see it.

Runs the command on live synthetic scenes and reads its page, images and MJPEG with Python's HTTP client.
"""
import argparse
import base64
import http.client
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import unittest

ARGS = None
SCENE = "synthetic:?size=320x240&fps=30"
SMALL = "synthetic:?size=160x120&fps=10&seed=2"
TOKEN = "0123456789abcdef0123456789abcdef"


class Run:
    """A running command with a preview."""

    def __init__(self, *flags, sources=(SCENE, )):
        command = [ARGS.binary, "run", ARGS.model, "--source", *sources, "--realtime", "--device", "cpu", "--json",
                   "--quiet", *flags]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.address = self.process.stderr.readline().removeprefix("preview: ").strip()
        self.port = int(self.address.split(":")[-1].strip("/")) if self.address.startswith("http") else 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()

    def get(self, path, headers=None, host=None):
        """The status and the body."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request("GET", path, headers={**({"Host": host} if host else {}), **(headers or {})})
        response = connection.getresponse()
        body = response.read()
        connection.close()
        return response.status, body

    def open(self, path):
        """A response that is read later."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request("GET", path)
        return connection.getresponse()

    def status(self):
        return json.loads(self.get("/status.json")[1])

    def wait_for(self, condition, what):
        end = time.monotonic() + 60
        while not condition():
            assert self.process.poll() is None, self.process.stderr.read()
            assert time.monotonic() < end, f"no {what}"
            time.sleep(0.05)

    def wait_for_results(self):
        self.wait_for(lambda: all(stream["frames"] > 0 for stream in self.status()), "result")

    def finish(self):
        self.process.send_signal(signal.SIGINT)
        output, errors = self.process.communicate()
        assert self.process.returncode == 0, errors
        return json.loads(output)


def parts(response, count):
    """The first COUNT images of an MJPEG response."""
    images = []
    for _ in range(count):
        line = response.readline()
        assert line == b"--frame\r\n", line
        length = 0
        while (line := response.readline().strip()):
            name, value = line.split(b": ")
            length = int(value) if name == b"Content-Length" else length
        images.append(response.read(length))
        assert response.readline() == b"\r\n"
    return images


def size_of(jpeg):
    """The width and height of a baseline JPEG image."""
    assert jpeg.startswith(b"\xff\xd8") and jpeg.endswith(b"\xff\xd9"), "not a whole JPEG image"
    at = jpeg.index(b"\xff\xc0")
    return int.from_bytes(jpeg[at + 7:at + 9], "big"), int.from_bytes(jpeg[at + 5:at + 7], "big")


class PreviewTest(unittest.TestCase):
    def test_shows_every_stream(self):
        with Run("--preview", "0", sources=(SCENE, SMALL)) as run:
            run.wait_for_results()
            code, page = run.get("/")
            self.assertEqual(code, 200)
            for i in range(2):
                self.assertIn(f'data-src="stream/{i}.mjpg"'.encode(), page)
            self.assertNotIn(b"http://", page.replace(b"http://www.w3.org", b""), "external resources")
            self.assertIn(b"size=320x240&amp;fps=30", page, "names are escaped")
            code, image = run.get("/stream/1.jpg")
            self.assertEqual((code, size_of(image)), (200, (160, 120)))
            live = run.open("/stream/0.mjpg")
            self.assertIn("multipart/x-mixed-replace", live.headers["Content-Type"])
            images = parts(live, 5)
            self.assertEqual({size_of(image) for image in images}, {(320, 240)})
            self.assertGreater(len(set(images)), 1, "it moves")
            live.close()
            states = run.status()
            self.assertEqual([state["stream"] for state in states], [0, 1])
            self.assertGreater(states[0]["frame_rate"], 0)
            for state in states:
                self.assertGreater(state["latency_ms"]["p99"], 0)
                self.assertGreaterEqual(state["latency_ms"]["p99"], state["latency_ms"]["p50"])
                self.assertGreaterEqual(state["ledger"]["captured"], state["ledger"]["processed"])
                self.assertGreaterEqual(state["ledger"]["processed"], state["frames"])
            self.assertEqual(run.get("/stream/2.jpg")[0], 404)
            self.assertEqual(run.get("/stream/0xjpg")[0], 404)
            summary = run.finish()
            self.assertEqual([sink["failed"] for sink in summary["sinks"]], [0, 0])
            self.assertEqual(summary["ledger"]["unaccounted"], 0)

    def test_viewers_are_limited_and_their_leaving_is_noticed(self):
        with Run("--preview", "127.0.0.1:0") as run:
            run.wait_for_results()
            viewers = [run.open("/stream/0.mjpg") for _ in range(16)]
            self.assertEqual({viewer.status for viewer in viewers}, {200})
            self.assertEqual(run.get("/stream/0.mjpg")[0], 503)
            self.assertEqual(run.get("/")[0], 200, "the page is there")
            for viewer in viewers:
                viewer.close()
            run.wait_for(lambda: run.get("/stream/0.jpg")[0] == 200, "seat")
            run.finish()

    def test_viewers_that_take_nothing_are_cut_off(self):
        with Run("--preview", "0") as run:
            run.wait_for_results()
            idle = []

            def another_is_admitted():
                """Whether a viewer that reads only the status line has a place. It keeps its connection open."""
                viewer = socket.socket()
                viewer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
                viewer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", 60, 0))
                viewer.connect(("127.0.0.1", run.port))
                viewer.sendall(b"GET /stream/0.mjpg HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
                status = viewer.recv(12, socket.MSG_WAITALL)
                self.assertIn(status, (b"HTTP/1.1 200", b"HTTP/1.1 503"))
                if status.endswith(b"503"):
                    viewer.close()
                    return False
                idle.append(viewer)
                return True

            # There are 16 places and no viewer leaves: more are admitted only where some were cut off.
            for _ in range(20):
                run.wait_for(another_is_admitted, "place")
            for viewer in idle:
                viewer.close()

    def test_a_slow_viewer_costs_its_own_frames(self):
        with Run("--preview", "0") as run:
            run.wait_for_results()
            slow = run.open("/stream/0.mjpg")
            self.assertEqual(slow.status, 200)
            parts(run.open("/stream/0.mjpg"), 60)
            self.assertEqual(run.finish()["ledger"]["unaccounted"], 0)
            slow.close()

    def test_only_this_machines_names_are_served(self):
        with Run("--preview", "0") as run:
            for host, code in (("evil.example", 403), (f"evil.example:{run.port}", 403), (f"localhost:{run.port}", 200),
                               ("127.0.0.1", 200), (f"[::1]:{run.port}", 200), (socket.gethostname(), 200)):
                self.assertEqual(run.get("/status.json", host=host)[0], code, host)

    def test_a_token_is_a_header_or_a_password(self):
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
            file.write(TOKEN + "\n")
            file.flush()
            with Run("--preview", "0", "--token-file", file.name) as run:
                for login, code in (("x:" + TOKEN, 200), (":" + TOKEN, 200), ("x:wrong", 401), (TOKEN, 401)):
                    header = {"Authorization": "Basic " + base64.b64encode(login.encode()).decode()}
                    self.assertEqual(run.get("/", header)[0], code, login)
                self.assertEqual(run.get("/", {"Authorization": "Bearer " + TOKEN})[0], 200)
                self.assertEqual(run.get("/stream/0.jpg")[0], 401)
                self.assertEqual(run.get("/", {"Authorization": "Basic !"})[0], 401)

    def test_what_is_wrong_is_named(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            for flags, code, words in ((("--preview", "0.0.0.0:0"), 2, "--insecure"), (("--preview", "x"), 2, "not a port"),
                                       (("--preview", f"127.0.0.1:{port}"), 1, "can't listen"),
                                       (("--tls", "a", "b"), 2, "--preview"), (("--insecure", ), 2, "--metrics")):
                done = subprocess.run([ARGS.binary, "run", ARGS.model, "--source", "synthetic:?frames=1", "--device",
                                       "cpu", *flags], capture_output=True, text=True, timeout=120, check=False)
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertIn(words, done.stderr)


def main():
    global ARGS
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--model", required=True)
    ARGS = parser.parse_args()
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(PreviewTest)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        sys.exit(0 if unittest.TextTestRunner(verbosity=2).run(suite).wasSuccessful() else 1)


if __name__ == "__main__":
    main()
