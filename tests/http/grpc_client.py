"""Clients of `saccade serve --grpc`: what its tests share. Exits with 77 where Triton's client is not installed."""
import contextlib
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import threading
import unittest

from serving import SMALL, Server, values

os.environ["GRPC_ENABLE_FORK_SUPPORT"] = "0"  # servers are started by fork and exec
try:
    import grpc
    import numpy
    from tritonclient.grpc import service_pb2, service_pb2_grpc
except ImportError as missing:
    print(f"skipped: tritonclient[grpc] is not installed ({missing}); ./script/bootstrap --python installs it")
    sys.exit(77)

CODES = grpc.StatusCode
OPTIONS = [("grpc.enable_http_proxy", 0)]
PROTOCOL = "/inference.GRPCInferenceService/"
DTYPES = {"BOOL": numpy.bool_, "INT8": numpy.int8, "INT16": numpy.int16, "INT32": numpy.int32, "INT64": numpy.int64, "UINT8": numpy.uint8,
          "UINT16": numpy.uint16, "UINT32": numpy.uint32, "UINT64": numpy.uint64, "FP32": numpy.float32, "FP64": numpy.float64}
FIELDS = {"BOOL": "bool", "INT8": "int", "INT16": "int", "INT32": "int", "INT64": "int64", "UINT8": "uint", "UINT16": "uint",
          "UINT32": "uint", "UINT64": "uint64", "FP32": "fp32", "FP64": "fp64"}


def serve(*flags, models=None, device="cpu"):
    return Server("--grpc", "0", *flags, models=models, device=device)


class Client:
    """A channel to a server, and its methods with the protocol's own messages."""

    def __init__(self, server, credentials=None, options=()):
        options = [*OPTIONS, *options]
        self.channel = grpc.secure_channel(server.grpc, credentials, options) if credentials else grpc.insecure_channel(server.grpc, options)
        self.stub = service_pb2_grpc.GRPCInferenceServiceStub(self.channel)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.channel.close()

    def send(self, method, message, **more):
        """The bytes of the response to the bytes of a message."""
        return self.channel.unary_unary(method)(message, timeout=60, **more)


def array(seed=1, images=1):
    return numpy.concatenate([numpy.array(values(seed + i), numpy.float32).reshape(1, 3, 32, 32) for i in range(images)])


def message(images=None, name=SMALL, **changes):
    """A request for the logits of IMAGES."""
    images = array() if images is None else images
    request = service_pb2.ModelInferRequest(model_name=name, raw_input_contents=[images.tobytes()])
    request.inputs.add(name="input", datatype="FP32", shape=images.shape)
    for key, value in changes.items():
        setattr(request, key, value)
    return request


def logits(response, images=1):
    return numpy.frombuffer(response.raw_output_contents[0], numpy.float32).reshape(images, 10)


class Line:
    """A line to a server: PACE(bytes that were sent) returns how many more are sent, at most, and the seconds that so many take. It
    takes at once what the client sends: a client whose socket is full does not see that its call has ended."""

    def __init__(self, server, pace):
        self.pace = pace
        self.is_over = threading.Event()
        self.taken = bytearray()
        self.server = socket.create_connection(server.grpc.split(":"), timeout=120)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.client = self.listener  # until it connects
        self.grpc = f"127.0.0.1:{self.listener.getsockname()[1]}"
        self.threads = [threading.Thread(target=work, daemon=True) for work in (self.take, self.send)]
        for thread in self.threads:
            thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.is_over.set()
        for each in (self.listener, self.client, self.server):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        for thread in self.threads:
            thread.join()
        for each in (self.listener, self.client, self.server):
            each.close()

    def take(self):
        with contextlib.suppress(OSError):
            self.client = self.listener.accept()[0]
            self.threads.append(threading.Thread(target=self.receive, daemon=True))
            self.threads[-1].start()
            while piece := self.client.recv(1 << 16):
                self.taken += piece

    def send(self):
        sent = 0
        while not self.is_over.is_set():
            most, seconds = self.pace(sent)
            piece = bytes(self.taken[:most])
            del self.taken[:len(piece)]
            try:
                self.server.sendall(piece)
            except OSError:
                return
            sent += len(piece)
            self.is_over.wait(seconds * len(piece) / most if piece else 0.02)

    def receive(self):
        with contextlib.suppress(OSError):
            while piece := self.server.recv(1 << 16):
                self.client.sendall(piece)


class Case(unittest.TestCase):
    def refused(self, code, call, *named):
        with self.assertRaises(grpc.RpcError) as error:
            call()
        self.assertEqual(error.exception.code(), code, error.exception.details())
        for each in named:
            self.assertIn(each, error.exception.details())


def certificate(folder, name):
    """The files of a certificate and its key."""
    if shutil.which("openssl") is None:
        raise unittest.SkipTest("openssl is not installed")
    paths = os.path.join(folder, name + ".pem"), os.path.join(folder, name + ".key")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", f"/CN={name}", "-addext",
                    "subjectAltName=IP:127.0.0.1", "-out", paths[0], "-keyout", paths[1]], check=True, capture_output=True)
    return paths


def trust(server, client=None):
    """What a client needs for the certificate SERVER, with its own; None without TLS."""
    if not server:
        return None
    paths = (server[0], client and client[1], client and client[0])
    return grpc.ssl_channel_credentials(*(path and pathlib.Path(path).read_bytes() for path in paths))
