"""Session.run() and enqueue() on arrays of a GPU, which the emulated driver gives. No library of arrays runs on it, so that
these are bare DLPack objects."""
import os
import subprocess
import sys

import pytest
from conftest import BUILD

EMULATOR = BUILD / "tests" / "cuda_emulator"

PROGRAM = r"""
import ctypes
import sys
import types

import numpy
import saccade

driver = ctypes.CDLL("libcuda.so.1")


def field(number, *parts):
    "A length-delimited field of a protocol message."
    body = b"".join(parts)
    return bytes([number << 3 | 2, len(body)]) + body


def value(name, *sizes):
    dimensions = b"".join(field(1, b"\x08" + bytes([size])) for size in sizes)
    return field(1, name) + field(2, field(1, b"\x08\x01", field(2, dimensions)))


def write_network(path, operators, x, y):
    "An ONNX file of OPERATORS one after the other, from x to y, which have these sizes."
    names = [b"x", *(b"t%d" % at for at in range(1, len(operators))), b"y"]
    nodes = b"".join(field(1, field(1, names[at]), field(2, names[at + 1]), field(4, name)) for at, name in enumerate(operators))
    graph = nodes + field(2, b"g") + field(11, value(b"x", *x)) + field(12, value(b"y", *y))
    with open(path, "wb") as file:
        file.write(b"\x08\x07" + b"\x3a" + varint(len(graph)) + graph + field(8, b"\x10\x0d"))


def varint(number):
    return bytes([number]) if number < 128 else bytes([number & 127 | 128]) + varint(number >> 7)


class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
                ("byte_offset", ctypes.c_uint64), ("manager", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


class GpuImage:
    "A uint8 array (height, width, 3)."

    def __init__(self, image):
        self.image, self.address = image, ctypes.c_ulonglong()
        assert driver.cuMemAlloc_v2(ctypes.byref(self.address), ctypes.c_size_t(image.size)) == 0
        assert driver.cuMemcpyHtoD_v2(self.address, ctypes.c_void_p(image.ctypes.data), ctypes.c_size_t(image.size)) == 0
        shape, strides = (ctypes.c_int64 * 3)(*image.shape), (ctypes.c_int64 * 3)(*image.strides)
        self.tensor = Tensor(self.address.value, 2, 0, 3, 1, 8, 1, shape, strides, 0, None, None)

    def cpu(self):
        return self.image


class GpuArray:
    def __init__(self, numbers, device=0, strides=None, code=2):
        self.size = len(numbers)
        self.address = ctypes.c_ulonglong()
        assert driver.cuMemAlloc_v2(ctypes.byref(self.address), ctypes.c_size_t(4 * self.size)) == 0
        assert driver.cuMemcpyHtoD_v2(self.address, (ctypes.c_float * self.size)(*numbers), ctypes.c_size_t(4 * self.size)) == 0
        shape = (ctypes.c_int64 * 1)(self.size if strides is None else self.size // strides)
        self.tensor = Tensor(self.address.value, 2, device, 1, code, 32, 1, shape, (ctypes.c_int64 * 1)(strides or 1), 0, None, None)

    def __dlpack__(self, **_):
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return new(ctypes.addressof(self.tensor), b"dltensor", None)

    def __dlpack_device__(self):
        return 2, self.tensor.device_id

    def numbers(self, stream):
        host = (ctypes.c_float * self.size)()
        assert driver.cuMemcpyDtoHAsync_v2(host, self.address, ctypes.c_size_t(4 * self.size), stream) == 0
        assert driver.cuStreamSynchronize(stream) == 0
        return list(host)


GpuImage.__dlpack__, GpuImage.__dlpack_device__ = GpuArray.__dlpack__, GpuArray.__dlpack_device__


def refused(call, words):
    try:
        call()
    except saccade.Error as error:
        assert words in str(error), error
    else:
        raise AssertionError(f"it was not refused: {words}")


write_network("negation.onnx", [b"Neg"], [3], [3])
model = saccade.Model("negation.onnx", device="cuda")
session = saccade.Session(model)
stream = ctypes.c_void_p()
assert driver.cuStreamCreate(ctypes.byref(stream), 0) == 0
for numbers in ([1, 2, 3], [4, 5, 6]):
    x, y = GpuArray(numbers), GpuArray([0, 0, 0])
    session.enqueue({"x": x}, {"y": y}, stream.value)
    assert y.numbers(stream) == [-each for each in numbers]
assert list(session.run({"x": numpy.float32([7, 8, 9])})["y"]) == [-7, -8, -9]
y = GpuArray([0, 0, 0])
run = lambda **given: session.enqueue(given, {"y": y}, stream.value)
refused(lambda: run(x=GpuArray([1, 2])), "takes float32 3")
refused(lambda: run(x=GpuArray([1, 2, 3], device=1)), "'x' is on GPU 1, the model on GPU 0")
refused(lambda: run(x=GpuArray([1, 2, 3, 4, 5, 6], strides=2)), "'x' is not contiguous")
refused(lambda: run(x=GpuArray([1, 2, 3], code=0)), "'x' is float32, not int32")
refused(lambda: run(), "'x' is missing")
refused(lambda: run(x=numpy.zeros(3, "float32")), "'x' is not on a GPU")
refused(lambda: session.enqueue({"x": x}, {"y": GpuArray([0, 0])}, stream.value), "the output 'y' has the shape 3, not 2")
refused(lambda: session.run({"x": x}), "enqueue()")
on_cpu = saccade.Session(saccade.Model("negation.onnx", device="cpu"))
refused(lambda: on_cpu.enqueue({"x": x}, {"y": y}), "the model is on the cpu")
assert y.numbers(stream) == [0, 0, 0]

write_network("color.onnx", [b"GlobalAveragePool", b"Flatten"], [1, 3, 8, 8], [1, 3])
with open("color.toml", "w") as file:
    file.write('[input]\nresize = "stretch"\nscale = 0.00392156862745098\nmean = 0\nstd = 1\n'
               '[output]\ndecoder = "classify"\nsoftmax = false\nlabels = ["red", "green", "blue"]\n')
color = saccade.Model("color.onnx", device="cuda")
image = numpy.full((8, 8, 3), (10, 200, 30), "uint8")
on_gpu, on_host = color(GpuImage(image), color="rgb"), color(image, color="rgb")
assert on_gpu.classes[0].class_name == on_host.classes[0].class_name == "green"
assert (on_gpu.plot() == on_host.plot()).all()
refused(lambda: saccade.Model("color.onnx", device="cpu")(GpuImage(image), color="rgb"), "the frame is on GPU 0, the model on cpu")


class Event:
    "As PyTorch's."
    recorded = []

    def __init__(self):
        self.handle = ctypes.c_void_p()
        assert driver.cuEventCreate(ctypes.byref(self.handle), 0) == 0
        self.cuda_event = self.handle.value

    def record(self, stream):
        assert driver.cuEventRecord(self.handle, stream) == 0
        self.recorded.append(self)


class Photo(GpuImage):
    "A class derived from that of tensors."


torch = sys.modules["torch"] = types.ModuleType("torch")
torch.Tensor = GpuImage
torch.cuda = types.SimpleNamespace(Event=Event, current_stream=lambda device: stream)
assert color(Photo(image), color="rgb").classes[0].class_name == "green"
assert len(Event.recorded) == 1, "the model waits for the stream that makes the image"
print("done")
"""


@pytest.mark.skipif(not EMULATOR.exists(), reason="needs the emulated driver (build target cuda_emulator)")
def test_arrays_on_a_gpu_are_read_and_written_in_place(tmp_path):
    environment = os.environ | {"LD_LIBRARY_PATH": str(EMULATOR), "PYTHONPATH": str(BUILD / "python"), "SACCADE_CACHE": "",
                                "SACCADE_EMULATOR_CACHE": str(BUILD / "emulated_kernels")}
    done = subprocess.run([sys.executable, "-c", PROGRAM], cwd=tmp_path, env=environment, check=False, capture_output=True,
                          text=True)
    assert done.stdout == "done\n", done.stderr
