#!/usr/bin/env python3
"""serve_grpc_attacks.py --binary SACCADE --shared DIR --model MODEL: `saccade serve --grpc` against clients that mean harm: damaged
messages, limits, tokens, and TLS. Exits with 77 where Triton's client is not installed."""
import concurrent.futures
import os
import random
import resource
import select
import socket
import subprocess
import tempfile
import threading
import time

import serving
from grpc_client import CODES, PROTOCOL, Case, Client, Line, certificate, logits, message, serve, trust
from serving import TOKEN, command, write_sum

import grpc
from tritonclient.grpc import service_pb2


def silence(is_over):
    """No message until IS_OVER."""
    is_over.wait()
    yield from ()


class Attacks(Case):
    def test_messages_of_a_million_parts(self):
        def field(number, content):
            size = len(content)
            return bytes([number << 3 | 2]) + bytes([size & 127 | 128, size >> 7 & 127 | 128, size >> 14 & 127 | 128, size >> 21]) + content

        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "sum.onnx")
            write_sum(path)
            with serve(models=[path]) as server, Client(server) as client:
                name = b"\x0a\x03sum"
                many = 1_000_000
                for parts in (b"\x2a\x00" * many, b"\x3a\x00" * many, b"\x22\x00" * many, field(5, b"\x22\x00" * many),
                              field(5, field(5, b"\x42\x00" * many)), field(6, b"\x12\x00" * many), b"\x78\x00" * many,
                              field(5, b"\x20\x00" * many), field(4, field(2, b"\x78\x00" * many)), b"\x7b\x7c"):
                    self.refused(CODES.INVALID_ARGUMENT, lambda: client.send(PROTOCOL + "ModelInfer", name + parts),
                                 "more than 100000 tensors, parameters, strings and unknown fields")

    def test_damaged_messages(self):
        generator = random.Random(7)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "sum.onnx")
            write_sum(path)
            with serve(models=[path]) as server, Client(server) as client:
                request = service_pb2.ModelInferRequest(model_name="sum", raw_input_contents=[bytes(24)])
                request.inputs.add(name="x", datatype="FP32", shape=[2, 3])
                request.outputs.add(name="y")
                good = request.SerializeToString()
                self.assertIn(bytes(24), client.send(PROTOCOL + "ModelInfer", good))
                for bad in (b"\xff", good[:-1], good.replace(b"sum", b"\xff\xff\xff")):
                    self.refused(CODES.INVALID_ARGUMENT, lambda: client.send(PROTOCOL + "ModelInfer", bad), "not a valid ModelInferRequest")
                for _ in range(500):
                    bad = bytearray(good[:generator.randrange(len(good) + 1)])
                    for _ in range(generator.randrange(1, 4)):
                        if bad:
                            bad[generator.randrange(len(bad))] = generator.randrange(256)
                    try:
                        client.send(PROTOCOL + "ModelInfer", bytes(bad))
                    except grpc.RpcError as error:
                        self.assertIn(error.code(), (CODES.INVALID_ARGUMENT, CODES.NOT_FOUND))
                self.assertIn(bytes(24), client.send(PROTOCOL + "ModelInfer", good))
            self.assertEqual(server.errors, [], "a client does not write to the server's log")

    def test_limits(self):
        with serve("--max-body", "1M") as server, Client(server) as client:
            self.refused(CODES.RESOURCE_EXHAUSTED, lambda: client.send(PROTOCOL + "ModelInfer", bytes(2 << 20)), "larger than max")
            # Ten megabytes of zeros, as a few kilobytes.
            self.refused(CODES.UNIMPLEMENTED, lambda: client.send(PROTOCOL + "ModelInfer", bytes(10 << 20), compression=grpc.Compression.Gzip), "gzip")
            self.assertEqual(logits(client.stub.ModelInfer(message())).shape, (1, 10))

    def test_connections_without_descriptors(self):
        with serve() as server:
            resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, (120, 120))
            host, port = server.grpc.split(":")
            idle = [socket.create_connection((host, int(port)), timeout=60) for _ in range(300)]
            # Those beyond the bound are closed.
            self.assertEqual(select.select(idle[200:], [], [], 60)[0] != [], True)
            for connection in idle:
                connection.close()
            with Client(server) as client:
                self.assertEqual(logits(client.stub.ModelInfer(message(), timeout=60, wait_for_ready=True)).shape, (1, 10))
            self.assertEqual(server.request("GET", "/v2/health/ready")[0], 200)

    def test_a_response_that_is_not_read(self):
        """By HTTP/2 (RFC 9113), with a window of no bytes for what the server sends."""
        def frame(kind, flags, stream, payload=b""):
            return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + payload

        def header(name, value):
            return b"\0" + bytes([len(name)]) + name + bytes([len(value)]) + value

        window = (4).to_bytes(2, "big") + bytes(4)  # SETTINGS_INITIAL_WINDOW_SIZE
        headers = b"".join(header(*each) for each in (
            (b":method", b"POST"), (b":scheme", b"http"), (b":path", (PROTOCOL + "ModelInfer").encode()), (b":authority", b"localhost"),
            (b"te", b"trailers"), (b"content-type", b"application/grpc")))
        content = message().SerializeToString()
        body = b"\0" + len(content).to_bytes(4, "big") + content
        self.assertLess(len(body), 1 << 14, "it fits into one frame, and the server's window")
        with serve() as server:
            host, port = server.grpc.split(":")
            with socket.create_connection((host, int(port)), timeout=60) as client:
                client.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(4, 0, 0, window) + frame(1, 4, 1, headers) + frame(0, 1, 1, body))
                with client.makefile("rb") as frames:
                    while len(start := frames.read(9)) == 9:
                        kind, payload = start[3], frames.read(int.from_bytes(start[:3], "big"))
                        self.assertNotEqual(kind, 0, "no byte of the response fits")
                        if kind == 3 and start[5:] == (1).to_bytes(4, "big"):  # RST_STREAM
                            break
                    else:
                        self.fail(f"the connection has ended: {payload!r}")

    def test_messages_that_come_too_slowly(self):
        """Some stall, or trickle, without a byte or in the middle of a message; one is slow, but not too slow."""
        big = 1 << 20
        whole = lambda sent: (big, 0.4)  # noqa: E731
        stalled = lambda sent: (min(big, max(2 * big - sent, 0)), 0.1)  # noqa: E731
        trickling = lambda sent: (big, 0.1) if sent < 2 * big else (1, 0.5)  # noqa: E731
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "sum.onnx")
            elements = 8 * big
            write_sum(path, (1, elements))
            request = service_pb2.ModelInferRequest(model_name="sum", raw_input_contents=[bytes(4 * elements)])
            request.inputs.add(name="x", datatype="FP32", shape=[1, elements])
            unlimited = [("grpc.max_receive_message_length", -1), ("grpc.use_local_subchannel_pool", 1)]
            with serve(models=[path]) as server, concurrent.futures.ThreadPoolExecutor() as pool:
                def send(pace):
                    with Line(server, pace) as line, Client(line, options=unlimited) as client:
                        start = time.monotonic()
                        try:
                            return len(client.stub.ModelInfer(request, timeout=120).raw_output_contents[0]), time.monotonic() - start
                        except grpc.RpcError as error:
                            return error.code(), error.details()

                def send_nothing(method):
                    is_over = threading.Event()
                    with Client(server, options=unlimited) as client:
                        try:
                            return client.channel.stream_unary(method)(silence(is_over), timeout=120)
                        except grpc.RpcError as error:
                            return error.code(), error.details()
                        finally:
                            is_over.set()

                slow = pool.submit(send, whole)
                ended = [pool.submit(send, pace) for pace in (stalled, trickling)]
                ended += [pool.submit(send_nothing, PROTOCOL + method) for method in ("ModelInfer", "ServerLive")]
                for each in ended:
                    self.assertEqual(each.result(), (CODES.DEADLINE_EXCEEDED, "the message comes too slowly"))
                size, seconds = slow.result()
                self.assertEqual(size, 4 * elements, seconds)
                self.assertGreater(seconds, 11, "longer than a message that stalls has")

    def test_tokens(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "token")
            with open(path, "w") as file:
                file.write(TOKEN)
            for tls in ((), certificate(folder, "server")):
                with serve("--token-file", path, *(("--tls", *tls) if tls else ())) as server, Client(server, trust(tls)) as client:
                    for given in ((), (("authorization", "Bearer x"),), (("authorization", f"bearer {TOKEN}"),),
                                  (("authorization", f"Bearer {TOKEN}0"),), (("x", f"Bearer {TOKEN}"),)):
                        for call in (lambda: client.stub.ModelInfer(message(), metadata=given),
                                     lambda: client.stub.ServerLive(service_pb2.ServerLiveRequest(), metadata=given),
                                     lambda: client.stub.RepositoryModelLoad(service_pb2.RepositoryModelLoadRequest(), metadata=given)):
                            self.refused(CODES.UNAUTHENTICATED, call, "authorization")
                    for method in ("ModelInfer", "ServerLive", "ModelMetadata", "RepositoryModelLoad", "SystemSharedMemoryRegister"):
                        # No message is read, or waited for.
                        is_over = threading.Event()
                        for messages in (silence(is_over), iter([b"\xff" * 1000])):
                            call = client.channel.stream_unary(PROTOCOL + method)
                            self.refused(CODES.UNAUTHENTICATED, lambda: call(messages, timeout=60), "authorization")
                        is_over.set()
                    given = (("authorization", f"Bearer {TOKEN}"),)
                    self.refused(CODES.INVALID_ARGUMENT, lambda: client.send(PROTOCOL + "ModelMetadata", b"\xff", metadata=given),
                                 "not a valid ModelMetadataRequest")
                    self.assertEqual(logits(client.stub.ModelInfer(message(), metadata=given)).shape, (1, 10))
                    check = lambda metadata: client.send("/grpc.health.v1.Health/Check", b"", metadata=metadata)  # noqa: E731
                    self.assertEqual(check(given), b"\x08\x01")
                    if tls:
                        self.refused(CODES.UNAUTHENTICATED, lambda: check(()))

    def test_tls_and_client_certificates(self):
        with tempfile.TemporaryDirectory() as folder:
            paths = {name: certificate(folder, name) for name in ("server", "client", "stranger")}
            with serve("--tls", *paths["server"], "--client-ca", paths["client"][0]) as server:
                for name, is_served in (("client", True), ("stranger", False), (None, False)):
                    with Client(server, trust(paths["server"], paths.get(name)), [("grpc.use_local_subchannel_pool", 1)]) as client:
                        if is_served:
                            self.assertEqual(logits(client.stub.ModelInfer(message())).shape, (1, 10))
                        else:
                            self.refused(CODES.UNAVAILABLE, lambda: client.stub.ModelInfer(message(), timeout=10))
                with Client(server) as client:
                    self.refused(CODES.UNAVAILABLE, lambda: client.stub.ModelInfer(message(), timeout=10))

    def test_other_machines_need_protection(self):
        for flags in ((), ("--tls", "c", "k"), ("--token-file", "t")):
            done = subprocess.run(command("--grpc", "0.0.0.0:0", *flags), capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, "--grpc" in done.stderr, "--insecure" in done.stderr), (2, True, True), done.stderr)
        done = subprocess.run(command("--grpc", "x"), capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, "--grpc" in done.stderr), (2, True), done.stderr)
        with serve() as server:
            for address in (server.grpc, f"127.0.0.1:{server.port}"):
                done = subprocess.run(command("--grpc", address), capture_output=True, text=True, check=False)
                self.assertEqual((done.returncode, f"can't listen on {address}: Address already in use" in done.stderr), (1, True), done.stderr)


if __name__ == "__main__":
    serving.main()
