#!/usr/bin/env python3
"""scrape.py --binary SACCADE --model MODEL: `saccade run --metrics` as Prometheus sees it.

Runs the command on the synthetic scene and reads its metrics with Python's HTTP client: the format by a strict parser,
the values, TLS and token, addresses and errors.
"""
import argparse
import os
import re
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import unittest
import urllib.error
import urllib.request

ARGS = None
SOURCE = "synthetic:?size=64x48&fps=50"
TOKEN = "0123456789abcdef0123456789abcdef"
NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
SAMPLE = re.compile(rf"({NAME})(?:\{{(.*)\}})? (\S+)")
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\n"])*)"(?:,|$)')


def labels_of(text):
    labels, at = {}, 0
    while at < len(text):
        match = LABEL.match(text, at)
        assert match, f"not labels: {text}"
        assert match[1] not in labels, f"a label twice: {text}"
        labels[match[1]] = re.sub(r"\\(.)", lambda m: "\n" if m[1] == "n" else m[1], match[2])
        at = match.end()
    return labels


def parse(text):
    """{(name, labels): value} of the text format 0.0.4, and {family: type}. Raises AssertionError for other text."""
    assert text.endswith("\n")
    samples, types, family = {}, {}, None
    for line in text.splitlines():
        if line.startswith("# HELP "):
            family = line.split(" ", 3)[2]
            assert family not in types and len(line.split(" ", 3)[3]) > 0, line
        elif line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            assert name == family and name not in types and kind in ("counter", "gauge", "histogram"), line
            types[name] = kind
        else:
            match = SAMPLE.fullmatch(line)
            assert match, f"not a sample: {line}"
            key = (match[1], tuple(sorted(labels_of(match[2] or "").items())))
            assert key not in samples, f"a sample twice: {line}"
            suffixes = ("_bucket", "_sum", "_count") if types[family] == "histogram" else ("", )
            assert match[1] in [family + suffix for suffix in suffixes], f"in the family {family}: {line}"
            assert types[family] != "counter" or family.endswith("_total"), line
            samples[key] = float(match[3])
    check_histograms(samples, types)
    return samples, types


def check_histograms(samples, types):
    buckets = {}
    for (name, labels), value in samples.items():
        if types.get(name.removesuffix("_bucket")) == "histogram" and name.endswith("_bucket"):
            others = tuple(label for label in labels if label[0] != "le")
            buckets.setdefault((name.removesuffix("_bucket"), others), []).append((float(dict(labels)["le"]), value))
    for (name, labels), pairs in buckets.items():
        assert [bound for bound, _ in pairs] == sorted({bound for bound, _ in pairs}), f"bounds of {name}: {pairs}"
        counts = [count for _, count in pairs]
        assert counts == sorted(counts), f"{name} is not cumulative: {pairs}"
        assert pairs[-1] == (float("inf"), samples[name + "_count", labels]), f"the last bucket of {name}: {pairs}"
        assert (name + "_sum", labels) in samples


def command(*flags):
    return [ARGS.binary, "run", ARGS.model, "--source", SOURCE, "--device", "cpu", "--no-save", "--quiet", *flags]


class Run:
    """A running command with metrics."""

    def __init__(self, *flags):
        self.process = subprocess.Popen(command(*flags), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.url = re.fullmatch(r"metrics: (\S+)\n", self.process.stderr.readline())[1]

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        self.process.send_signal(signal.SIGINT)
        _, error = self.process.communicate()
        # Before the first frame the signal ends it at once.
        assert kind or self.process.returncode in (0, -signal.SIGINT), error

    def get(self, url=None, context=None, method="GET", **headers):
        request = urllib.request.Request(url or self.url, method=method, headers=headers)
        return urllib.request.urlopen(request, timeout=60, context=context)

    def read(self):
        with self.get() as response:
            return parse(response.read().decode())[0]

    def wait_for(self, name, labels, wanted):
        """Reads until a value is at least WANTED."""
        while True:
            samples = self.read()
            if samples.get((name, tuple(sorted(labels.items()))), 0) >= wanted:
                return samples


def finished(*flags):
    done = subprocess.run(command(*flags), capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


class Metrics(unittest.TestCase):
    def test_the_format(self):
        with Run("--metrics", "0") as run:
            with run.get() as response:
                self.assertEqual(response.headers["Content-Type"], "text/plain; version=0.0.4; charset=utf-8")
                self.assertEqual(response.status, 200)
                parse(response.read().decode())
            for path, method, code in (("/", "GET", 404), ("/metrics/x", "GET", 404), ("/metrics", "POST", 405)):
                with self.assertRaises(urllib.error.HTTPError) as error:
                    run.get(run.url.replace("/metrics", path), method=method)
                self.assertEqual(error.exception.code, code)
                self.assertEqual(error.exception.headers.get("Allow"), "GET, HEAD" if code == 405 else None)
                error.exception.close()

    def test_counters_only_grow(self):
        with Run("--metrics", "0") as run:
            outcome = {"stream": "0", "outcome": "processed"}
            before = run.wait_for("saccade_frames_total", outcome, 3)
            after = run.wait_for("saccade_frames_total", outcome, before[("saccade_frames_total",
                                                                         tuple(sorted(outcome.items())))] + 3)
            for (name, labels), value in before.items():
                if name.endswith(("_total", "_bucket", "_sum", "_count")):
                    self.assertGreaterEqual(after[name, labels], value, name)
            stages = {dict(labels)["stage"] for name, labels in after if name == "saccade_latency_seconds_count"}
            self.assertLessEqual({"capture", "queue", "pre", "model", "post", "total"}, stages)
            self.assertEqual(after["saccade_stream_running", (("stream", "0"), )], 1)
            self.assertIn(("saccade_queue_frames", (("stream", "0"), )), after)
            self.assertGreater(after["process_cpu_seconds_total", ()], 0)
            self.assertGreater(after["process_resident_memory_bytes", ()], 1e6)
            self.assertFalse([name for name, _ in after if "gpu" in name])

    def test_names_are_escaped(self):
        with tempfile.TemporaryDirectory() as folder:
            name = os.path.join(folder, 'a"b\\c\nd')
            os.mkdir(name)
            subprocess.run([ARGS.binary, "demo", "--render", "1", "--source", "synthetic:?size=64x48", "--output", name],
                           check=True, capture_output=True)
            image = next(os.path.join(at, file) for at, _, files in os.walk(name) for file in files
                         if file.endswith((".png", ".jpg")))
            with Run("--metrics", "0", "--source", image) as run:
                samples = run.wait_for("saccade_frames_total", {"stream": "1", "outcome": "processed"}, 1)
            sources = {dict(labels)["source"] for family, labels in samples if family == "saccade_stream_info"}
            self.assertEqual(sources, {SOURCE, image})

    def test_sinks_count_results(self):
        with Run("--metrics", "0", "--jsonl", os.devnull, "--csv", os.devnull) as run:
            for sink in (os.devnull, os.devnull + " #2"):
                run.wait_for("saccade_sink_results_total", {"sink": sink, "outcome": "written"}, 2)

    def test_loopback_is_the_default(self):
        with Run("--metrics", "0") as run:
            self.assertTrue(run.url.startswith("http://127.0.0.1:"), run.url)
            port = int(run.url.rsplit(":", 1)[1].split("/")[0])
            with socket.socket(socket.AF_INET) as other:
                other.connect(("127.0.0.1", port))
            # Another address of this machine, and of loopback.
            with socket.socket(socket.AF_INET) as other, self.assertRaises(OSError):
                other.connect(("127.0.0.2", port))

    def test_addresses(self):
        for text in ("x", "", "-1", "65536", "1.5", "127.0.0.1:", ":9090", "[127.0.0.1]:0", "::1:0", "host.example:0",
                     "127.0.0.1:0x10"):
            code, error = finished("--metrics", text)
            self.assertEqual((code, "--metrics" in error), (2, True), text + error)
        for text in ("0.0.0.0:0", "[::]:0"):
            for flags in ((), ("--token-file", "t"), ("--tls", "c", "k")):
                code, error = finished("--metrics", text, *flags)
                self.assertEqual(code, 2, text + error)
                self.assertIn("--insecure", error)
        with Run("--metrics", "0.0.0.0:0", "--insecure") as run:
            run.read()
        for flags in (("--tls", "c", "k"), ("--token-file", "t"), ("--insecure", )):
            self.assertEqual(finished(*flags)[0], 2, flags)

    def test_a_busy_port_is_named(self):
        with Run("--metrics", "localhost:0") as run:
            address = run.url.removeprefix("http://").removesuffix("/metrics")
            code, error = finished("--metrics", address)
            self.assertEqual(code, 1)
            self.assertIn(f"can't listen on {address}: Address already in use", error)

    def test_token(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "token")
            for text in ("", "short\n", "two words, and long enough"):
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text)
                code, error = finished("--metrics", "0", "--token-file", path)
                self.assertEqual((code, path in error), (1, True), error)
            with open(path, "w", encoding="utf-8") as file:
                file.write(TOKEN + "\n")
            with Run("--metrics", "0", "--token-file", path) as run:
                for headers in ({}, {"Authorization": TOKEN}, {"Authorization": "Bearer x" + TOKEN[1:]},
                                {"Authorization": "Bearer " + TOKEN[:-1]}):
                    with self.assertRaises(urllib.error.HTTPError) as error:
                        run.get(**headers)
                    self.assertEqual(error.exception.code, 401)
                    self.assertEqual(error.exception.headers["WWW-Authenticate"], "Bearer")
                    error.exception.close()
                with run.get(Authorization="Bearer " + TOKEN) as response:
                    parse(response.read().decode())

    def test_tls(self):
        with tempfile.TemporaryDirectory() as folder:
            cert, key, token = (os.path.join(folder, name) for name in ("cert.pem", "key.pem", "token"))
            subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                            "-keyout", key, "-out", cert, "-days", "30", "-subj", "/CN=localhost", "-addext",
                            "subjectAltName=IP:127.0.0.1"], check=True, capture_output=True)
            with open(token, "w", encoding="utf-8") as file:
                file.write(TOKEN)
            for certificate, private, wrong in ((token, key, token), (cert, token, token), (folder + "/none", key, "none")):
                code, error = finished("--metrics", "0", "--tls", certificate, private)
                self.assertEqual((code, wrong in error), (1, True), error)
            with Run("--metrics", "0.0.0.0:0", "--tls", cert, key, "--token-file", token) as run:
                url = run.url.replace("0.0.0.0", "127.0.0.1")
                self.assertTrue(url.startswith("https://"))
                context = ssl.create_default_context(cafile=cert)
                with run.get(url, context, Authorization="Bearer " + TOKEN) as response:
                    parse(response.read().decode())
                with self.assertRaises(OSError):
                    run.get(url.replace("https", "http"), Authorization="Bearer " + TOKEN)
                with self.assertRaises(urllib.error.HTTPError) as error:
                    run.get(url, context)
                self.assertEqual(error.exception.code, 401)
                error.exception.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--model", required=True)
    ARGS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])
