#!/usr/bin/env python3
"""serve_memory.py --binary SACCADE --shared DIR --model MODEL: tensors in shared memory, as Triton's clients place them there by
HTTP and gRPC. Exits with 77 where these are not installed."""
import base64
import concurrent.futures
import contextlib
import json
import os
import sys
import tempfile
import threading

import serving
from serving import SMALL, Server, TritonCase, network, values, write_copies

os.environ["GRPC_ENABLE_FORK_SUPPORT"] = "0"  # servers are started by fork and exec
try:
    import numpy
    import tritonclient.grpc
    import tritonclient.http
    from tritonclient.utils import InferenceServerException, shared_memory
except ImportError as missing:
    print(f"skipped: tritonclient[grpc,http] is not installed ({missing}); ./script/bootstrap --python installs it")
    sys.exit(77)

PREFIX = f"saccade-test-{os.getpid()}-"
FLOATS = numpy.array([1, -2.5, 3, 4], numpy.float32)
BOOLS = numpy.array([True, False, True, True])
HALVES = numpy.array([0.5, 1, 2, -3], numpy.float16)
BYTES = 4 * 4 + 4 + 4 * 2


@contextlib.contextmanager
def memory(content, name="object"):
    """A shared memory object; its path."""
    path = "/dev/shm/" + PREFIX + name
    with open(path, "wb") as file:
        file.write(content)
    try:
        yield path
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.remove(path)


class Memory(TritonCase):
    """One server, whose model copies its inputs."""

    @classmethod
    def setUpClass(cls):
        cls.folder = cls.enterClassContext(tempfile.TemporaryDirectory())
        path = os.path.join(cls.folder, "copies.onnx")
        write_copies(path, ["FP32", "BOOL", "FP16"])
        cls.server = cls.enterClassContext(Server("--grpc", "0", "--shared-memory", PREFIX, models=[path]))
        cls.clients = []
        for module, address in ((tritonclient.http, f"127.0.0.1:{cls.server.port}"), (tritonclient.grpc, cls.server.grpc)):
            client = module.InferenceServerClient(address)
            cls.clients.append((module, client))
            cls.addClassCleanup(client.close)

    def setUp(self):
        self.clients[0][1].unregister_system_shared_memory()

    def each(self):
        """The module and a client of each protocol, without regions."""
        for module, client in self.clients:
            client.unregister_system_shared_memory()
            yield module, client

    @staticmethod
    def inputs(module, region="in", sizes=(16, 4, 8), offset=0):
        inputs = []
        for name, size in zip(("FP32", "BOOL", "FP16"), sizes):
            inputs.append(module.InferInput(f"in_{name}", [4], name))
            inputs[-1].set_shared_memory(region, size, offset)
            offset += size
        return inputs

    @staticmethod
    def outputs(module, region="out", sizes=(16, 4, 8), offset=0):
        outputs = []
        for name, size in zip(("FP32", "BOOL", "FP16"), sizes):
            outputs.append(module.InferRequestedOutput(f"out_{name}"))
            outputs[-1].set_shared_memory(region, size, offset)
            offset += size
        return outputs

    def test_inputs_and_outputs_of_tritons_clients(self):
        for module, client in self.each():
            given = shared_memory.create_shared_memory_region("in", "/" + PREFIX + "in", 100)
            self.addCleanup(shared_memory.destroy_shared_memory_region, given)
            taken = shared_memory.create_shared_memory_region("out", "/" + PREFIX + "out", 100)
            self.addCleanup(shared_memory.destroy_shared_memory_region, taken)
            shared_memory.set_shared_memory_region(given, [FLOATS, BOOLS, HALVES], offset=12)
            client.unregister_system_shared_memory()
            client.unregister_cuda_shared_memory()
            client.register_system_shared_memory("in", "/" + PREFIX + "in", 60, offset=8)
            client.register_system_shared_memory("out", PREFIX + "out", 100)
            result = client.infer("copies", self.inputs(module, offset=4), outputs=self.outputs(module, offset=20), request_id="7")
            for name, offset, expected in (("FP32", 20, FLOATS), ("BOOL", 36, BOOLS), ("FP16", 40, HALVES)):
                read = shared_memory.get_contents_as_numpy(taken, expected.dtype, [4], offset)
                self.assertEqual(read.tobytes(), expected.tobytes())
                output = result.get_output(f"out_{name}")
                if module is tritonclient.http:
                    self.assertEqual(output, {"name": f"out_{name}", "datatype": name, "shape": [4], "parameters": {
                        "shared_memory_region": "out", "shared_memory_byte_size": expected.nbytes, "shared_memory_offset": offset}})
                else:
                    self.assertEqual((output.shape, output.parameters["shared_memory_region"].string_param,
                                      output.parameters["shared_memory_byte_size"].int64_param), ([4], "out", expected.nbytes))
            # Some of the tensors, and the same memory for both.
            mixed = self.inputs(module, offset=4)
            mixed[0].set_data_from_numpy(FLOATS * 2)
            wanted = [module.InferRequestedOutput(f"out_{name}") for name in ("FP32", "BOOL", "FP16")]
            wanted[1].set_shared_memory("in", 10, 40)
            result = client.infer("copies", mixed, outputs=wanted)
            self.assertEqual(result.as_numpy("out_FP32").tobytes(), (FLOATS * 2).tobytes())
            self.assertEqual(result.as_numpy("out_FP16").tobytes(), HALVES.tobytes())
            self.assertEqual(shared_memory.get_contents_as_numpy(given, bool, [4], 48).tobytes(), BOOLS.tobytes())

    def test_regions_are_listed_and_unregistered(self):
        with memory(bytes(100)) as path:
            key = os.path.basename(path)
            for module, client in self.each():
                def status(name=""):
                    got = client.get_system_shared_memory_status(name)
                    if module is tritonclient.http:
                        return {each["name"]: (each["key"], each["offset"], each["byte_size"]) for each in got}
                    return {name: (each.key, each.offset, each.byte_size) for name, each in got.regions.items()}

                self.assertEqual(status(), {})
                client.register_system_shared_memory("a b", key, 100)
                client.register_system_shared_memory("c", "/" + key, 20, offset=80)
                self.assertEqual(status(), {"a b": (key, 0, 100), "c": ("/" + key, 80, 20)})
                self.assertEqual(status("c"), {"c": ("/" + key, 80, 20)})
                self.refused(lambda: client.get_system_shared_memory_status("x"), "no shared memory region 'x'")
                self.refused(lambda: client.register_system_shared_memory("c", key, 1), "'c' is registered")
                client.unregister_system_shared_memory("x")
                client.unregister_system_shared_memory("c")
                self.assertEqual(list(status()), ["a b"])
                client.unregister_system_shared_memory()
                self.assertEqual(status(), {})
                metadata = client.get_server_metadata()
                self.assertIn("system_shared_memory", metadata["extensions"] if module is tritonclient.http else metadata.extensions)

    def test_only_objects_of_the_prefix_and_the_user(self):
        path = "/dev/shm/" + PREFIX
        with memory(bytes(100)) as good, contextlib.ExitStack() as made:
            os.symlink(good, path + "link")
            made.callback(os.remove, path + "link")
            os.link(good, path + "second")
            self.refused(lambda: self.clients[0][1].register_system_shared_memory("a", PREFIX + "second", 1), "server's user alone")
            os.remove(path + "second")
            os.mkfifo(path + "pipe")
            made.callback(os.remove, path + "pipe")
            os.mkdir(path + "folder")
            made.callback(os.rmdir, path + "folder")
            cases = [(PREFIX + "link", 1, 0, "symbolic link"), (PREFIX + "none", 1, 0, "there is none"), (PREFIX + "pipe", 1, 0, "no shared memory"),
                     (PREFIX + "folder", 1, 0, "directory"), ("/" + PREFIX + "folder/../x", 1, 0, "no name"), ("x", 1, 0, "does not begin with"),
                     ("", 1, 0, "does not begin with"), ("//" + PREFIX + "object", 1, 0, "no name"), ("../../etc/passwd", 1, 0, "no name"),
                     (PREFIX + "object\0", 1, 0, "zero byte"), (PREFIX + "x" * 3000, 1, 0, "File name too long"), (PREFIX + "object", 0, 0, "is 0"),
                     (PREFIX + "object", 101, 0, "101 bytes at offset 0"), (PREFIX + "object", 1, 100, "1 bytes at offset 100"),
                     (PREFIX + "object", 2**64 - 1, 2, "at offset 2"), (PREFIX + "object", 2, 2**64 - 1, "at offset 1844")]
            for module, client in self.each():
                for key, size, offset, named in cases:
                    self.refused(lambda: client.register_system_shared_memory("a", key, size, offset), named)
                self.refused(lambda: client.register_system_shared_memory("a" * 300, PREFIX + "object", 1), "300 bytes")
                if module is tritonclient.grpc:
                    self.refused(lambda: client.register_system_shared_memory("a\0b", PREFIX + "object", 1), "name holds a zero byte")
                client.register_system_shared_memory("a" * 256, PREFIX + "object", 1)
        if os.geteuid() == 0:
            with memory(bytes(100), "foreign") as foreign:
                os.chown(foreign, 65534, 65534)
                self.refused(lambda: self.clients[0][1].register_system_shared_memory("a", os.path.basename(foreign), 1), "server's user alone")

    def test_what_is_wrong_is_named(self):
        content = FLOATS.tobytes() + BOOLS.tobytes() + HALVES.tobytes()
        for module, client in self.each():
            with memory(content) as path:
                client.register_system_shared_memory("in", os.path.basename(path), BYTES)
                infer = lambda inputs, outputs=None: client.infer("copies", inputs, outputs=outputs)  # noqa: E731
                for inputs, named in (({"region": "x"}, "region 'x'"), ({"sizes": (15, 4, 8)}, "is 16, not 15"), ({"sizes": (17, 4, 4)}, "is 16, not 17"),
                                      ({"offset": 1}, "at offset 21"), ({"offset": 2**62}, "at offset"), ({"sizes": (2**62, 4, 8)}, "at offset 0"),
                                      ({"offset": -1}, "number of bytes"), ({"sizes": (16, 8, 4)}, "is 4, not 8")):
                    with self.subTest(named=named):
                        self.refused(lambda: infer(self.inputs(module, **inputs)), named)
                good = self.inputs(module)
                self.refused(lambda: infer(good, self.outputs(module, "in", (15, 4, 8))), "'out_FP32' is 15", "16 bytes")
                self.refused(lambda: infer(good, self.outputs(module, "x")), "region 'x'")
                self.refused(lambda: infer(good, self.outputs(module, "in", (29, 4, 8))), "29 bytes at offset 0")
                with open(path, "r+b") as file:
                    file.seek(17)
                    file.write(b"\2")
                self.refused(lambda: infer(good), "in_BOOL", "neither 0 nor 1")
        self.clients[0][1].unregister_system_shared_memory()
        with memory(content) as path:
            self.clients[0][1].register_system_shared_memory("in", os.path.basename(path), BYTES)
            post = lambda **parameters: self.server.post("/v2/models/copies/infer", json.dumps({"inputs": [  # noqa: E731
                {"name": "in_FP32", "datatype": "FP32", "shape": [4], "parameters": parameters}]}))
            for parameters, named in (({"shared_memory_region": "in"}, "byte_size is missing"), ({"shared_memory_byte_size": 16}, "region is missing"),
                                      ({"shared_memory_offset": 0}, "region is missing"), ({"shared_memory_region": 1}, "no string"),
                                      ({"shared_memory_region": "in", "shared_memory_byte_size": 1.5}, "number of bytes"),
                                      ({"shared_memory_region": "in", "shared_memory_byte_size": 16, "binary_data_size": 16}, "request too")):
                status, response = post(**parameters)
                self.assertEqual((status, named in response["error"]), (400, True), response)
            for body, named in ((b"{", "not valid"), (b"{}", "'key' is missing"), (b'{"key": "a"}', "'byte_size' is missing"),
                                (b'{"key": 1, "byte_size": 1}', "no string"), (b'{"key": "a", "byte_size": -1}', "number of bytes")):
                status, response = self.server.post("/v2/systemsharedmemory/region/a/register", body)
                self.assertEqual((status, named in response["error"]), (400, True), response)

    def test_objects_that_shrink_or_go(self):
        content = FLOATS.tobytes() + BOOLS.tobytes() + HALVES.tobytes()
        for module, client in self.each():
            with memory(content) as given, memory(bytes(5000), "out") as taken:
                client.register_system_shared_memory("in", os.path.basename(given), BYTES)
                client.register_system_shared_memory("out", os.path.basename(taken), 100, offset=4900)
                infer = lambda: client.infer("copies", self.inputs(module), outputs=self.outputs(module))  # noqa: E731
                infer()
                os.truncate(given, BYTES - 1)
                self.refused(infer, f"{PREFIX}object' has shrunk", "'in'")
                os.truncate(given, 0)
                self.refused(infer, "has shrunk")
                with open(given, "wb") as file:
                    file.write(content)
                infer()
                os.truncate(taken, 4930)
                self.refused(infer, f"{PREFIX}out' has shrunk", "'out'")
                self.assertEqual(os.stat(taken).st_size, 4930)
                os.truncate(taken, 5000)
                infer()
                os.remove(taken)
                self.refused(infer, "was removed")
                os.remove(given)
                self.refused(infer, f"{PREFIX}object' was removed")

    def test_regions_come_and_go_under_load(self):
        content = FLOATS.tobytes() + BOOLS.tobytes() + HALVES.tobytes()
        is_over = threading.Event()

        def work(module, address):
            client, run = module.InferenceServerClient(address), 0
            while not is_over.is_set():
                try:
                    client.infer("copies", self.inputs(module), outputs=self.outputs(module, "in", offset=BYTES))
                    run += 1
                except InferenceServerException as error:
                    if not any(each in str(error) for each in ("no shared memory region 'in'", "has shrunk", "neither 0 nor 1")):
                        raise
            client.close()
            return run

        with memory(content * 2) as path, concurrent.futures.ThreadPoolExecutor(4) as pool:
            addresses = [f"127.0.0.1:{self.server.port}", self.server.grpc]
            futures = [pool.submit(work, module, address) for (module, _), address in zip(self.clients, addresses) for _ in range(2)]
            client = self.clients[1][1]
            try:
                for i in range(100):
                    client.register_system_shared_memory("in", os.path.basename(path), 2 * BYTES)
                    os.truncate(path, i)
                    with open(path, "r+b") as file:
                        file.write(content * 2)
                    client.unregister_system_shared_memory("in")
            finally:
                is_over.set()
            self.assertGreater(sum(future.result(60) for future in futures), 0)
        self.assertTrue(client.is_server_live())

    def test_the_number_of_regions_is_limited(self):
        descriptors = lambda: len(os.listdir(f"/proc/{self.server.process.pid}/fd"))  # noqa: E731
        before = descriptors()
        client = self.clients[1][1]
        with memory(bytes(1)) as path:
            for i in range(1024):
                client.register_system_shared_memory(str(i), os.path.basename(path), 1)
            self.refused(lambda: client.register_system_shared_memory("x", os.path.basename(path), 1), "1024 regions")
            client.unregister_system_shared_memory()
        self.assertLess(descriptors(), before + 100)

    def test_cuda_memory_is_refused_without_its_flag(self):
        for module, client in self.each():
            self.refused(lambda: client.register_cuda_shared_memory("a", base64.b64encode(b"x" * 64), 0, 100), "without --cuda-shared-memory")
            status = client.get_cuda_shared_memory_status()
            self.assertEqual(len(status if module is tritonclient.http else status.regions), 0)
            self.refused(lambda: client.get_cuda_shared_memory_status("a"), "without --cuda-shared-memory")
            client.unregister_cuda_shared_memory("a")
            client.unregister_cuda_shared_memory()


class Others(TritonCase):
    def test_batches(self):
        with Server("--grpc", "0", "--batch", "4", "--shared-memory", "/" + PREFIX, models=[network()]) as server:
            images = numpy.array([values(seed) for seed in range(3)], numpy.float32).reshape(3, 3, 32, 32)
            for module, address in ((tritonclient.http, f"127.0.0.1:{server.port}"), (tritonclient.grpc, server.grpc)):
                with memory(images.tobytes() + bytes(120)) as path:
                    client = module.InferenceServerClient(address)
                    client.register_system_shared_memory("a", os.path.basename(path), images.nbytes + 120)
                    given = module.InferInput("input", [3, 3, 32, 32], "FP32")
                    wanted = module.InferRequestedOutput("logits")
                    given.set_shared_memory("a", images.nbytes)
                    wanted.set_shared_memory("a", 120, images.nbytes)
                    client.infer(SMALL, [given], outputs=[wanted])
                    with open(path, "rb") as file:
                        found = file.read()
                    self.assertEqual(found[:images.nbytes], images.tobytes())
                    given.set_data_from_numpy(images)
                    expected = client.infer(SMALL, [given]).as_numpy("logits")
                    self.assertEqual(found[images.nbytes:], expected.tobytes())
                    wanted.set_shared_memory("a", 80, images.nbytes)
                    self.refused(lambda: client.infer(SMALL, [given], outputs=[wanted]), "is 80, and the output has 120")
                    client.unregister_system_shared_memory()
                    client.close()

    def test_it_is_off_without_the_flag(self):
        with tempfile.TemporaryDirectory() as folder, memory(bytes(100)) as path:
            model = os.path.join(folder, "copies.onnx")
            write_copies(model, ["FP32"])
            with Server("--grpc", "0", models=[model]) as server:
                for module, address in ((tritonclient.http, f"127.0.0.1:{server.port}"), (tritonclient.grpc, server.grpc)):
                    client = module.InferenceServerClient(address)
                    given = module.InferInput("in_FP32", [4], "FP32")
                    given.set_shared_memory("a", 16)
                    for call in (lambda: client.register_system_shared_memory("a", os.path.basename(path), 16),
                                 lambda: client.get_system_shared_memory_status(), lambda: client.unregister_system_shared_memory(),
                                 lambda: client.infer("copies", [given])):
                        self.refused(call, "without --shared-memory")
                    metadata = client.get_server_metadata()
                    self.assertNotIn("system_shared_memory", metadata["extensions"] if module is tritonclient.http else metadata.extensions)
                    client.close()


if __name__ == "__main__":
    serving.main()
