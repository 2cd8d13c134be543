#!/usr/bin/env python3
"""serve_attacks.py --binary SACCADE --shared DIR --model MODEL: `saccade serve` against clients that mean harm: limits, slow and
stalled requests, pages of other sites, tokens, and TLS. By HTTP; serve_grpc_attacks.py has the same by gRPC."""
import http.client
import json
import os
import re
import resource
import shutil
import socket
import ssl
import struct
import subprocess
import tempfile
import time
import unittest
import zlib

import serving
from serving import ARGS, NAME, SMALL, TOKEN, Server, binary, body, command, network, rendered


class Attacks(unittest.TestCase):
    def test_pages_of_other_sites_have_no_access(self):
        with Server() as server:
            own = f"{server.host}:{server.port}"
            for headers, status in (({"Origin": f"http://{own}"}, 200), ({"Origin": f"HTTP://{own}"}, 200), ({}, 200),
                                    ({"Origin": "http://example.org"}, 403), ({"Origin": "null"}, 403),
                                    ({"Origin": f"http://{server.host}:1"}, 403), ({"Host": "example.org"}, 403)):
                self.assertEqual(server.request("POST", f"/v2/models/{SMALL}/infer", binary()[0], {**binary()[1], **headers})[0], status,
                                 headers)

    def test_pages_of_other_sites_have_no_access_without_loopback_either(self):
        with Server("--http", "0.0.0.0:0", "--insecure") as server:
            for headers, status in (({"Host": "example.org"}, 200), ({"Host": "example.org", "Origin": "https://example.org"}, 200),
                                    ({"Origin": "http://example.org"}, 403), ({"Host": "example.org", "Origin": "null"}, 403)):
                self.assertEqual(server.request("POST", f"/v2/models/{SMALL}/infer", binary()[0], {**binary()[1], **headers})[0], status,
                                 headers)

    def test_idle_connections_cost_nothing(self):
        count = min(10_000, resource.getrlimit(resource.RLIMIT_NOFILE)[1] - 500)
        resource.setrlimit(resource.RLIMIT_NOFILE, (count + 400, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
        with Server() as server:
            idle = [socket.create_connection((server.host, server.port), timeout=60) for _ in range(count)]
            start = time.monotonic()
            self.assertEqual(server.post(f"/v2/models/{SMALL}/infer", body())[0], 200)
            self.assertLess(time.monotonic() - start, 30)
            with open(f"/proc/{server.process.pid}/status") as file:
                threads = int(re.search(r"Threads:\s+(\d+)", file.read())[1])
            self.assertLess(threads, 40)
            for each in idle:
                each.close()

    def test_limits(self):
        with Server("--max-body", "1M") as server:
            connection = server.connect()
            connection.putrequest("POST", f"/v2/models/{SMALL}/infer")
            connection.putheader("Content-Length", str(10 << 30))
            connection.endheaders()
            self.assertEqual(connection.getresponse().status, 413)
            connection.close()
            chunk = b"100000\r\n" + b"x" * (1 << 20) + b"\r\n"
            for head, rest, status in (
                (b"POST /v2/models/resnet20_cifar10/infer HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n", chunk * 3, b"413"),
                (b"GET /v2 HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * 20000 + b"\r\n\r\n", b"", b"431"),
                (b"GET /v2 HTTP/1.1\r\nHost: localhost\r\n" + b"A: b\r\n" * 5000 + b"\r\n", b"", b"431"),
                (b"GET /../../etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n", b"", b"404"),
                (b"GET /v2/models/..%2f..%2fetc HTTP/1.1\r\nHost: localhost\r\n\r\n", b"", b"404"),
                (b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n", b"", b"400"), (b"GET\r\n\r\n", b"", b"400"),
                (b"POST /v2/models/resnet20_cifar10/infer HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n", b"", b"400"),
                (b"POST /v2/models/resnet20_cifar10/infer HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
                 b"0\r\n\r\n", b"400"),
                (b"POST /v2/models/resnet20_cifar10/infer HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n", b"zz\r\n", b"400"),
                (b"POST /v2/models/resnet20_cifar10/infer HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: xchunked\r\n\r\n",
                 b"0\r\n\r\n", b"501"),
                (b"POST /v2/models/resnet20_cifar10/infer HTTP/1.1\r\nHost: localhost\r\nContent-Encoding: gzip\r\nContent-Length: 5\r\n\r\n",
                 b"12345", b"415"),
                (b"GET /v2 HTTP/1.1\r\n\r\n", b"", b"400"), (b"GET /v2 HTTP/1.1\r\nHost: evil.example\r\n\r\n", b"", b"403")):
                with self.subTest(head=head[:70]), socket.create_connection((server.host, server.port), timeout=60) as raw:
                    raw.sendall(head)
                    try:
                        raw.sendall(rest)
                        received = raw.recv(4096)
                    except ConnectionError:
                        self.fail("the response is lost")
                    self.assertIn(status, received.split(b"\r\n")[0])
            self.assertEqual(server.post(f"/v2/models/{SMALL}/infer", body())[0], 200)

    def test_slow_headers_are_cut_off(self):
        with Server() as server:
            slow = [socket.create_connection((server.host, server.port), timeout=60) for _ in range(50)]
            end = time.monotonic() + 30
            while slow and time.monotonic() < end:
                for each in list(slow):
                    try:
                        each.sendall(b"G")
                        each.settimeout(0.01)
                        if each.recv(1) == b"":
                            raise ConnectionError
                    except TimeoutError:
                        pass
                    except OSError:
                        each.close()
                        slow.remove(each)
                time.sleep(0.5)
            for each in slow:
                each.close()
            self.assertEqual(slow, [])
            self.assertEqual(server.post(f"/v2/models/{SMALL}/infer", body())[0], 200)

    def test_bodies_that_do_not_come_keep_nobody_out(self):
        head = b"POST /v2/models/resnet20_cifar10/infer HTTP/1.1\r\nHost: localhost\r\nContent-Length: 67108864\r\n\r\n{"
        with Server() as server:
            stalled = [socket.create_connection((server.host, server.port), timeout=30) for _ in range(20)]
            for each in stalled:
                each.sendall(head)
            time.sleep(0.2)
            self.assertEqual(server.post(f"/v2/models/{SMALL}/infer", body())[0], 200)
            start = time.monotonic()
            for each in stalled:
                self.assertEqual(each.recv(1), b"", "cut off")
                each.close()
            self.assertLess(time.monotonic() - start, 25)

    def test_bodies_that_come_fill_the_memory(self):
        size = 60 << 20
        head = f"POST /v2/models/{SMALL}/infer HTTP/1.1\r\nHost: localhost\r\nContent-Length: {size}\r\n\r\n".encode()
        with Server() as server:
            # All but their last bytes. Bodies that stand still are cut off, so that each gets a byte while the others are sent.
            held = [socket.create_connection((server.host, server.port), timeout=30) for _ in range(17)]
            for i, each in enumerate(held):
                each.sendall(head + bytes(size - 2 * len(held)))
                for earlier in held[:i]:
                    earlier.sendall(b"\0")
            connection = server.connect()
            connection.putrequest("POST", f"/v2/models/{SMALL}/infer")
            connection.putheader("Content-Length", str(size))
            connection.endheaders()
            response = connection.getresponse()
            self.assertEqual((response.status, response.getheader("Retry-After")), (503, "1"))
            self.assertIn("fill the memory", json.loads(response.read())["error"])
            connection.close()
            for each in held:
                each.close()
            time.sleep(0.5)
            self.assertEqual(server.post(f"/v2/models/{SMALL}/infer", body())[0], 200)

    def test_a_slow_body_does_not_delay_the_end(self):
        with Server() as server, socket.create_connection((server.host, server.port), timeout=60) as raw:
            raw.sendall(b"POST /v2/models/resnet20_cifar10/infer HTTP/1.1\r\nHost: localhost\r\nContent-Length: 30000000\r\n\r\n{")
            time.sleep(0.2)
            start = time.monotonic()
            self.assertIn("0 requests run", server.finish())
            self.assertLess(time.monotonic() - start, 30)

    def test_bombs(self):
        with Server(models=[ARGS.model]) as server, tempfile.TemporaryDirectory() as folder:
            with open(rendered(folder, "png"), "rb") as file:
                image = file.read()
            # A text of a gigabyte before the pixels.
            packer = zlib.compressobj(9)
            text = b"a\0\0" + b"".join(packer.compress(bytes(1 << 24)) for _ in range(64)) + packer.flush()
            chunk = struct.pack(">I", len(text)) + b"zTXt" + text + struct.pack(">I", zlib.crc32(b"zTXt" + text))
            status, response = server.post(f"/predict/{NAME}", image[:33] + chunk + image[33:])
            self.assertEqual((status, response.get("width")), (200, 320))
            with open(f"/proc/{server.process.pid}/status") as file:
                peak = int(re.search(r"VmHWM:\s+(\d+)", file.read())[1])
            self.assertLess(peak, 700_000)

    def test_tokens(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "token")
            with open(path, "w") as file:
                file.write(TOKEN)
            with Server("--token-file", path) as server:
                for headers, status in (({}, 401), ({"Authorization": "Bearer x"}, 401), ({"Authorization": f"bearer {TOKEN}"}, 401),
                                        ({"Authorization": f"Bearer {TOKEN}0"}, 401), ({"Authorization": f"Bearer {TOKEN}"}, 200)):
                    self.assertEqual(server.request("GET", "/v2", headers=headers)[0], status, headers)
                for path in ("live", "ready"):
                    self.assertEqual(server.request("GET", f"/v2/health/{path}")[0], 200, "probes have no token")
                # No body is read without it.
                connection = server.connect()
                connection.putrequest("POST", f"/v2/models/{SMALL}/infer")
                connection.putheader("Content-Length", "1000000")
                connection.endheaders()
                self.assertEqual(connection.getresponse().status, 401)
                connection.close()

    def test_tls_and_client_certificates(self):
        if shutil.which("openssl") is None:
            self.skipTest("openssl is not installed")
        with tempfile.TemporaryDirectory() as folder:
            paths = {}
            for name in ("server", "client", "stranger"):
                paths[name] = (os.path.join(folder, name + ".pem"), os.path.join(folder, name + ".key"))
                subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", f"/CN={NAME}", "-addext",
                                "subjectAltName=IP:127.0.0.1", "-out", paths[name][0], "-keyout", paths[name][1]], check=True, capture_output=True)
            with Server("--tls", *paths["server"], "--client-ca", paths["client"][0]) as server:
                for name, is_served in (("client", True), ("stranger", False), (None, False)):
                    context = ssl.create_default_context(cafile=paths["server"][0])
                    if name:
                        context.load_cert_chain(*paths[name])
                    connection = http.client.HTTPSConnection("127.0.0.1", server.port, timeout=60, context=context)
                    try:
                        connection.request("POST", f"/v2/models/{SMALL}/infer", body())
                        status = connection.getresponse().status
                    except OSError:
                        status = None
                    connection.close()
                    self.assertEqual(status, 200 if is_served else None, name)

    def test_other_machines_need_protection(self):
        for flags in ((), ("--tls", "c", "k"), ("--token-file", "t")):
            done = subprocess.run([ARGS.binary, "serve", network(), "--http", "0.0.0.0:0", *flags], capture_output=True, text=True,
                                  check=False)
            self.assertEqual((done.returncode, "--insecure" in done.stderr), (2, True), done.stderr)
        for flags in (("--http", "x"), ("--client-ca", "c"), ("--queue", "0")):
            done = subprocess.run([ARGS.binary, "serve", network(), *flags], capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, flags[0] in done.stderr), (2, True), done.stderr)
        done = subprocess.run(command(models=[network(), network()]), capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, "two models are called" in done.stderr), (1, True), done.stderr)


if __name__ == "__main__":
    serving.main()
