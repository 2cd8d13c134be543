"""A running `saccade serve` and requests for it: what the tests of the server share."""
import argparse
import http.client
import json
import os
import re
import signal
import struct
import subprocess
import threading
import unittest

import skips

PARSER = argparse.ArgumentParser()
PARSER.add_argument("--binary", required=True)
PARSER.add_argument("--shared", required=True)
PARSER.add_argument("--model", required=True)
ARGS, REST = PARSER.parse_known_args()
NAME = os.path.splitext(os.path.basename(ARGS.model))[0]
TOKEN = "0123456789abcdef0123456789abcdef"
SMALL = "resnet20_cifar10"
ELEMENTS = 3 * 32 * 32


def command(*flags, models=None, device="cpu"):
    http = [] if "--http" in flags else ["--http", "0"]
    return [ARGS.binary, "serve", *([network()] if models is None else models), "--device", device, *http, *flags]


def network():
    path = os.path.join(ARGS.shared, "models", "real", SMALL + ".onnx")
    if not os.path.exists(path):
        raise unittest.SkipTest("needs ../shared")
    return path


class Server:
    """A running server."""

    def __init__(self, *flags, models=None, device="cpu", environment=None):
        self.process = subprocess.Popen(command(*flags, models=models, device=device), stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, env=os.environ | (environment or {}))
        lines = []
        while line := self.process.stderr.readline():
            lines.append(line)
            if found := re.fullmatch(r"http: https?://([^/]+):(\d+)/v2\n", line):
                self.host, self.port = found[1].strip("[]"), int(found[2])
                if "--grpc" not in flags:
                    break
            elif found := re.fullmatch(r"grpc: 127.0.0.1:(\d+)\n", line):
                self.grpc = f"127.0.0.1:{found[1]}"
                break
        else:
            raise AssertionError("".join(lines))
        self.started = "".join(lines)
        self.errors = []
        self.reader = threading.Thread(target=lambda: self.errors.extend(self.process.stderr), daemon=True)
        self.reader.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.reader.join()
        self.process.stdout.close()
        self.process.stderr.close()

    def connect(self, timeout=60):
        return http.client.HTTPConnection(self.host, self.port, timeout=timeout)

    def request(self, method, path, body=None, headers=None, connection=None):
        """The status, the body and the headers."""
        own = connection or self.connect()
        own.request(method, path, body, headers or {})
        response = own.getresponse()
        read = response.read()
        if connection is None:
            own.close()
        return response.status, read, response.headers

    def post(self, path, body, headers=None, connection=None):
        status, read, _ = self.request("POST", path, body, headers, connection)
        return status, json.loads(read)

    def finish(self):
        self.process.send_signal(signal.SIGTERM)
        output = self.process.stdout.read()
        assert self.process.wait(60) == 0, "".join(self.errors)
        return output


class TritonCase(unittest.TestCase):
    """For requests of Triton's clients."""

    def refused(self, call, *named):
        from tritonclient.utils import InferenceServerException
        with self.assertRaises(InferenceServerException) as error:
            call()
        self.assertIn(error.exception.status(), ("400", "StatusCode.INVALID_ARGUMENT"), error.exception)
        for each in named:
            self.assertIn(each, str(error.exception))


def values(seed=1):
    return [((seed * 7919 + i * 31) % 255) / 255 for i in range(ELEMENTS)]


def tensor(**changes):
    return {"name": "input", "shape": [1, 3, 32, 32], "datatype": "FP32", "data": values(), **changes}


def body(**changes):
    return json.dumps({"inputs": [tensor()], **changes})


def binary(seed=1, **changes):
    """A request with a binary input and output, and its headers."""
    data = struct.pack(f"<{ELEMENTS}f", *values(seed))
    text = json.dumps({"inputs": [{"name": "input", "shape": [1, 3, 32, 32], "datatype": "FP32",
                                   "parameters": {"binary_data_size": len(data)}}],
                       "parameters": {"binary_data_output": True}, **changes}).encode()
    return text + data, {"Inference-Header-Content-Length": str(len(text))}


def field(number, value):
    """A field of a protobuf message."""
    if isinstance(value, int):
        return bytes([number << 3]) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return bytes([number << 3 | 2]) + varint(len(value)) + value


def varint(number):
    return bytes([number]) if number < 128 else bytes([number & 127 | 128]) + varint(number >> 7)


def write_sum(path, sides=(2, 3)):
    """A model that is no image's: y = x + x, of numbers in SIDES."""
    shape = b"".join(field(1, field(1, side)) for side in sides)
    value = [field(1, name) + field(2, field(1, field(1, 1) + field(2, shape))) for name in "xy"]
    node = field(1, "x") * 2 + field(2, "y") + field(4, "Add")
    graph = field(1, node) + field(2, "sum") + field(11, value[0]) + field(12, value[1])
    with open(path, "wb") as file:
        file.write(field(1, 8) + field(7, graph) + field(8, field(1, "") + field(2, 13)))


# The numbers of ONNX's element types.
ELEMENT_TYPES = {"FP32": 1, "UINT8": 2, "INT8": 3, "UINT16": 4, "INT16": 5, "INT32": 6, "INT64": 7, "BOOL": 9, "FP16": 10, "FP64": 11,
                 "UINT32": 12, "UINT64": 13, "BF16": 16}


def write_copies(path, datatypes):
    """A model that copies an input of four elements of each of DATATYPES: "in_FP32" to "out_FP32"."""
    shape = field(2, field(1, field(1, 4)))
    graph = b""
    for each in datatypes:
        graph += field(1, field(1, f"in_{each}") + field(2, f"out_{each}") + field(4, "Identity"))
    for number, kind in ((11, "in"), (12, "out")):
        for each in datatypes:
            graph += field(number, field(1, f"{kind}_{each}") + field(2, field(1, field(1, ELEMENT_TYPES[each]) + shape)))
    with open(path, "wb") as file:
        file.write(field(1, 8) + field(7, graph + field(2, "copies")) + field(8, field(1, "") + field(2, 16)))


def rendered(folder, format="jpg"):
    """An image of the scene."""
    subprocess.run([ARGS.binary, "demo", "--render", "1", "--source", "synthetic:?size=320x240", "--format", format,
                    "--output", folder], check=True, capture_output=True)
    return next(os.path.join(at, file) for at, _, files in os.walk(folder) for file in files if file.endswith(format))


def main():
    skips.main(REST)
