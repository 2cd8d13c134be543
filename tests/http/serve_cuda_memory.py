#!/usr/bin/env python3
"""serve_cuda_memory.py --binary SACCADE --shared DIR --model MODEL: tensors in the memory of a GPU that belongs to the client, as
Triton's clients place them there by HTTP and gRPC. The GPU is emulated where the emulator is built beside SACCADE. Exits with 77
without a GPU or without tritonclient."""
import base64
import concurrent.futures
import ctypes
import json
import os
import pathlib
import re
import sys
import tempfile
import threading
import time

import serving
from scrape import parse
from serving import Server, TritonCase, write_copies, write_sum

os.environ["GRPC_ENABLE_FORK_SUPPORT"] = "0"  # servers are started by fork and exec
try:
    import numpy
    import tritonclient.grpc
    import tritonclient.http
    from tritonclient.utils import InferenceServerException
except ImportError as missing:
    print(f"skipped: tritonclient[grpc,http] is not installed ({missing}); ./script/bootstrap --python installs it")
    sys.exit(77)

EMULATOR = os.path.join(os.path.dirname(os.path.abspath(serving.ARGS.binary)), "tests", "cuda_emulator")
IS_EMULATED = os.path.exists(os.path.join(EMULATOR, "libcuda.so.1"))
ENVIRONMENT = {}
if IS_EMULATED:
    os.environ["SACCADE_EMULATOR_EXPORT"] = "yes"
    ENVIRONMENT = {"LD_LIBRARY_PATH": EMULATOR, "SACCADE_CACHE": os.path.join(EMULATOR, "kept")}
try:
    DRIVER = ctypes.CDLL(os.path.join(EMULATOR, "libcuda.so.1") if IS_EMULATED else "libcuda.so.1")
except OSError:
    print("skipped: needs a GPU, or the emulator of one")
    sys.exit(77)
X = numpy.array([[1, -2.5, 3], [4, 0.5, -6]], numpy.float32)


def call(name, *arguments):
    result = getattr(DRIVER, name)(*arguments)
    if result != 0:
        raise AssertionError(f"{name}: {result}")


def use_gpu():
    """The context of this process."""
    call("cuInit", 0)
    device, context = ctypes.c_int(), ctypes.c_void_p()
    call("cuDeviceGet", ctypes.byref(device), 0)
    call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
    call("cuCtxSetCurrent", context)


class GpuMemory:
    """Memory of the GPU that belongs to this process."""

    def __init__(self, size):
        self.size, self.address = size, ctypes.c_ulonglong()
        call("cuMemAlloc_v2", ctypes.byref(self.address), ctypes.c_size_t(size))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        call("cuMemFree_v2", self.address)

    def write(self, content, offset=0):
        call("cuMemcpyHtoD_v2", ctypes.c_ulonglong(self.address.value + offset), content, ctypes.c_size_t(len(content)))

    def read(self, size, offset=0):
        content, stream = ctypes.create_string_buffer(size), ctypes.c_void_p()
        call("cuStreamCreate", ctypes.byref(stream), 0)
        call("cuMemcpyDtoHAsync_v2", content, ctypes.c_ulonglong(self.address.value + offset), ctypes.c_size_t(size), stream)
        call("cuStreamSynchronize", stream)
        call("cuStreamDestroy_v2", stream)
        return content.raw

    def handle(self):
        """As tritonclient takes it."""
        raw = ctypes.create_string_buffer(64)
        call("cuIpcGetMemHandle", raw, self.address)
        return base64.b64encode(raw.raw)


class CudaMemory(TritonCase):
    @classmethod
    def setUpClass(cls):
        use_gpu()
        cls.folder = cls.enterClassContext(tempfile.TemporaryDirectory())
        cls.models = [os.path.join(cls.folder, name + ".onnx") for name in ("copies", "sum")]
        write_copies(cls.models[0], ["FP32", "BOOL", "FP16"])
        write_sum(cls.models[1])

    def serve(self, *flags, device="cuda", environment=None, models=None):
        """A server; the module and a client of each protocol."""
        server = self.enterContext(Server("--grpc", "0", "--cuda-shared-memory", *flags, models=models or self.models, device=device,
                                          environment=ENVIRONMENT | (environment or {})))
        clients, self.addresses = [], (f"127.0.0.1:{server.port}", server.grpc)
        for module, address in zip((tritonclient.http, tritonclient.grpc), self.addresses):
            client = module.InferenceServerClient(address)
            self.addCleanup(client.close)
            clients.append((module, client))
        return server, clients

    @staticmethod
    def sum_in(module, memory):
        """The input and output of the model sum in MEMORY, which is registered."""
        memory.write(X.tobytes() + bytes(200), 64)
        x, y = module.InferInput("x", [2, 3], "FP32"), module.InferRequestedOutput("y")
        x.set_shared_memory("gpu", 24, 64)
        y.set_shared_memory("gpu", 24, 128)
        return x, y

    def check_sum(self, module, client, memory):
        """The GPU's memory holds both tensors, or one."""
        x, y = self.sum_in(module, memory)
        client.infer("sum", [x], outputs=[y])
        self.assertEqual(memory.read(24, 128), (X + X).tobytes())
        self.assertEqual(memory.read(40, 88), bytes(40))
        # One of them.
        self.assertEqual(client.infer("sum", [x]).as_numpy("y").tobytes(), (X + X).tobytes())
        memory.write(bytes(24), 128)
        given = module.InferInput("x", [2, 3], "FP32")
        given.set_data_from_numpy(X * 2)
        client.infer("sum", [given], outputs=[y])
        self.assertEqual(memory.read(24, 128), (X * 4).tobytes())
        y.set_shared_memory("gpu", 20, 128)
        self.refused(lambda: client.infer("sum", [x], outputs=[y]), "'y' is 20, and the output has 24 bytes")

    def test_a_gpu_reads_and_writes_the_clients_memory(self):
        # What reads and writes regions for the host fails at its first call.
        broken = {"SACCADE_EMULATOR_FAIL": "cuMemcpyDtoHAsync_v2:0:999,cuMemcpyHtoDAsync_v2:0:999"}
        if not IS_EMULATED:
            self.skipTest("only the emulator can be made to fail")
        for protocol in range(2):
            _, clients = self.serve(environment=broken)
            with GpuMemory(300) as memory:
                module, client = clients[protocol]
                client.register_cuda_shared_memory("gpu", memory.handle(), 0, 300)
                self.check_direct(module, client, memory)

    def check_direct(self, module, client, memory):
        x, y = self.sum_in(module, memory)
        client.infer("sum", [x], outputs=[y])
        self.assertEqual(client.infer("sum", [x]).as_numpy("y").tobytes(), (X + X).tobytes())
        # Bools are checked by the host.
        given = [module.InferInput(f"in_{name}", [4], name) for name in ("FP32", "BOOL", "FP16")]
        for each in given:
            each.set_shared_memory("gpu", {"FP32": 16, "BOOL": 4, "FP16": 8}[each.datatype()])
        with self.assertRaises(InferenceServerException) as error:
            client.infer("copies", given)
        self.assertIn("can't be run", str(error.exception))

    def test_each_way_of_running_takes_it(self):
        cases = [((), "cuda"), (("--executions", "2"), "cuda"), ((), "cpu")] + [((), "cuda:0,cuda:1")] * IS_EMULATED
        for flags, device in cases:
            with self.subTest(flags=flags, device=device), GpuMemory(400) as memory:
                _, clients = self.serve(*flags, device=device, environment={"SACCADE_EMULATOR_DEVICES": "2"})
                for module, client in clients:
                    client.register_cuda_shared_memory("gpu", memory.handle(), 0, 400)
                    self.check_sum(module, client, memory)
                    client.unregister_cuda_shared_memory()

    def test_batches(self):
        path = os.path.join(self.folder, "rows.onnx")
        write_sum(path, (1, 3))
        _, clients = self.serve("--batch", "4", models=[path])
        with GpuMemory(100) as memory:
            for module, client in clients:
                client.unregister_cuda_shared_memory()
                client.register_cuda_shared_memory("gpu", memory.handle(), 0, 100)
                memory.write(X.tobytes() + bytes(76))
                x, y = module.InferInput("x", [2, 3], "FP32"), module.InferRequestedOutput("y")
                x.set_shared_memory("gpu", 24)
                y.set_shared_memory("gpu", 24, 40)
                client.infer("rows", [x], outputs=[y])
                self.assertEqual(memory.read(24, 40), (X + X).tobytes())

    def test_regions_go_while_requests_use_them(self):
        _, clients = self.serve()
        is_over = threading.Event()

        def work(number):
            module, run = clients[number][0], 0
            client = module.InferenceServerClient(self.addresses[number])
            x, y = module.InferInput("x", [2, 3], "FP32"), module.InferRequestedOutput("y")
            x.set_shared_memory("gpu", 24)
            y.set_shared_memory("gpu", 24, 24)
            while not is_over.is_set():
                try:
                    client.infer("sum", [x], outputs=[y])
                    run += 1
                except InferenceServerException as error:
                    if "no shared memory region 'gpu'" not in str(error):
                        raise
            client.close()
            return run

        with GpuMemory(48) as memory, concurrent.futures.ThreadPoolExecutor(2) as pool:
            memory.write(X.tobytes() * 2)
            futures = [pool.submit(work, number) for number in range(2)]
            control = tritonclient.grpc.InferenceServerClient(self.addresses[1])
            handle = memory.handle()
            try:
                for _ in range(100):
                    control.register_cuda_shared_memory("gpu", handle, 0, 48)
                    time.sleep(0.002)
                    control.unregister_cuda_shared_memory("gpu")
            finally:
                is_over.set()
            self.assertGreater(sum(future.result(60) for future in futures), 0)
            control.close()

    def test_outputs_that_are_inputs(self):
        _, clients = self.serve()
        floats, bools = numpy.array([1, 2, 3, 4], numpy.float32), numpy.array([True, False, False, True])
        halves = numpy.array([1, 0.5, -2, 3], numpy.float16)
        with GpuMemory(100) as memory:
            for module, client in clients:
                client.unregister_cuda_shared_memory()
                client.register_cuda_shared_memory("gpu", memory.handle(), 0, 100)
                memory.write(floats.tobytes() + bools.tobytes() + halves.tobytes() + bytes(72))
                given = [module.InferInput(f"in_{name}", [4], name) for name in ("FP32", "BOOL", "FP16")]
                wanted = [module.InferRequestedOutput(f"out_{name}") for name in ("FP32", "BOOL", "FP16")]
                for each, size, offset in zip(given, (16, 4, 8), (0, 16, 20)):
                    each.set_shared_memory("gpu", size, offset)
                result = client.infer("copies", given, outputs=wanted)
                for name, expected in (("FP32", floats), ("BOOL", bools), ("FP16", halves)):
                    self.assertEqual(result.as_numpy("out_" + name).tobytes(), expected.tobytes())
                for each, size, offset in zip(wanted, (16, 4, 8), (32, 48, 52)):
                    each.set_shared_memory("gpu", size, offset)
                client.infer("copies", given, outputs=wanted)
                self.assertEqual(memory.read(28, 32), memory.read(28))
                memory.write(b"\2", 17)
                self.refused(lambda: client.infer("copies", given), "in_BOOL", "neither 0 nor 1")

    def test_regions_are_listed_and_unregistered(self):
        _, clients = self.serve("--shared-memory", "saccade-none-")
        with GpuMemory(100) as memory, GpuMemory(50) as other:
            for module, client in clients:
                def status(name=""):
                    got = client.get_cuda_shared_memory_status(name)
                    if module is tritonclient.http:
                        return {each["name"]: (each["device_id"], each["byte_size"]) for each in got}
                    return {name: (each.device_id, each.byte_size) for name, each in got.regions.items()}

                client.register_cuda_shared_memory("a b", memory.handle(), 0, 100)
                # The same memory, too.
                client.register_cuda_shared_memory("a", memory.handle(), 0, 10)
                client.register_cuda_shared_memory("c", other.handle(), 0, 50)
                self.assertEqual(status(), {"a b": (0, 100), "a": (0, 10), "c": (0, 50)})
                self.assertEqual(status("c"), {"c": (0, 50)})
                self.refused(lambda: status("x"), "no shared memory region 'x'")
                self.refused(lambda: client.register_cuda_shared_memory("c", other.handle(), 0, 1), "'c' is registered")
                client.unregister_system_shared_memory()
                client.unregister_cuda_shared_memory("x")
                client.unregister_cuda_shared_memory("a b")
                self.assertEqual(sorted(status()), ["a", "c"])
                client.unregister_cuda_shared_memory()
                self.assertEqual(status(), {})
                metadata = client.get_server_metadata()
                extensions = metadata["extensions"] if module is tritonclient.http else metadata.extensions
                self.assertIn("cuda_shared_memory", extensions)

    def test_what_is_wrong_is_named(self):
        server, clients = self.serve()
        with GpuMemory(100) as memory:
            for module, client in clients:
                register = lambda handle, device=0, size=100: client.register_cuda_shared_memory("a", handle, device, size)  # noqa: E731
                good = memory.handle()
                self.refused(lambda: register(base64.b64encode(b"x" * 64)), "not of memory that another process")
                self.refused(lambda: register(base64.b64encode(b"x" * 63)), "63 bytes, not 64")
                self.refused(lambda: register(good, size=0), "is 0")
                self.refused(lambda: register(good, device=77), "no GPU 77")
                self.refused(lambda: register(good, device=-1), "no GPU -1")
                # A GPU gives memory in pieces.
                self.refused(lambda: register(good, size=(1 << 40)), f"'a' has {1 << 40} bytes", "memory of the handle")
                register(good)
                given = module.InferInput("x", [2, 3], "FP32")
                given.set_shared_memory("a", 24, 80)
                self.refused(lambda: client.infer("sum", [given]), "24 bytes at offset 80 of the region 'a'")
                given.set_shared_memory("a", 20)
                self.refused(lambda: client.infer("sum", [given]), "is 24, not 20")
                client.unregister_cuda_shared_memory()
        for body, named in (({}, "'raw_handle' is missing"), ({"raw_handle": 1}, "no object"), ({"raw_handle": {}}, "'b64' is missing"),
                            ({"raw_handle": {"b64": "*"}}, "no base64"), ({"raw_handle": {"b64": "AAAA\n"}}, "no base64"), ({"raw_handle": {"b64": ""}}, "'device_id' is missing"),
                            ({"raw_handle": {"b64": ""}, "device_id": "0"}, "no integer"),
                            ({"raw_handle": {"b64": ""}, "device_id": 0}, "'byte_size' is missing"),
                            ({"raw_handle": {"b64": ""}, "device_id": 0, "byte_size": 1}, "0 bytes, not 64")):
            status, response = server.post("/v2/cudasharedmemory/region/a/register", json.dumps(body))
            self.assertEqual((status, named in response["error"]), (400, True), response)

    def test_the_metrics_have_what_the_dashboard_shows_of_the_gpu(self):
        dashboard = pathlib.Path(__file__).parents[2] / "examples" / "monitoring" / "dashboard.json"
        shown = set(re.findall(r"saccade_gpu_\w+", dashboard.read_text()))
        server, _ = self.serve()
        samples, _ = parse(server.request("GET", "/metrics")[1].decode())
        found = {name: dict(labels) for name, labels in samples if name.startswith("saccade_gpu_")}
        self.assertEqual(set(found), shown)
        self.assertEqual([labels["gpu"] for labels in found.values()], ["0"] * len(shown))

    def test_memory_is_closed_when_it_is_unregistered(self):
        server, clients = self.serve()
        maps = lambda: pathlib.Path(f"/proc/{server.process.pid}/maps").read_text().count("saccade-emulator")  # noqa: E731
        if not IS_EMULATED:
            self.skipTest("shows in the emulator only")
        before = maps()
        with GpuMemory(100) as memory:
            clients[0][1].register_cuda_shared_memory("a", memory.handle(), 0, 100)
            clients[1][1].register_cuda_shared_memory("b", memory.handle(), 0, 100)
            self.assertEqual(maps(), before + 1)
            clients[0][1].unregister_cuda_shared_memory()
        self.assertEqual(maps(), before)


if __name__ == "__main__":
    serving.main()
