#!/usr/bin/env python3
"""serve_grpc.py --binary SACCADE --shared DIR --model MODEL: `saccade serve --grpc` as Triton's client sees it. Exits with 77
where that is not installed."""
import concurrent.futures
import json
import os
import pathlib
import shutil
import tempfile
import threading
import time

import serving
from grpc_client import CODES, DTYPES, FIELDS, Case, Client, array, logits, message, serve
from serving import ARGS, NAME, SMALL, Server, binary, network, values, write_copies, write_sum

import grpc
import numpy
import tritonclient.grpc as triton
from tritonclient.grpc import model_config_pb2, service_pb2


class Protocol(Case):
    def test_health_metadata_and_configuration_are_those_of_http(self):
        with serve("--batch", "4") as server:
            client = triton.InferenceServerClient(server.grpc)
            self.assertTrue(client.is_server_live() and client.is_server_ready() and client.is_model_ready(SMALL))
            self.assertTrue(client.is_model_ready(SMALL, "1"))
            self.assertFalse(client.is_model_ready("x") or client.is_model_ready(SMALL, "2"))
            self.assertEqual(client.get_server_metadata().name, "saccade")
            given = client.get_model_metadata(SMALL, as_json=True)
            expected = json.loads(server.request("GET", f"/v2/models/{SMALL}")[1])
            for tensors in (expected["inputs"], expected["outputs"]):
                for tensor in tensors:
                    tensor["shape"] = [str(side) for side in tensor["shape"]]  # JSON of protobuf
            self.assertEqual({key: given[key] for key in ("name", "versions", "platform", "inputs", "outputs")},
                             {key: expected[key] for key in ("name", "versions", "platform", "inputs", "outputs")})
            given = client.get_model_config(SMALL).config
            expected = json.loads(server.request("GET", f"/v2/models/{SMALL}/config")[1])
            self.assertEqual((given.name, given.platform, given.backend, given.max_batch_size),
                             tuple(expected[key] for key in ("name", "platform", "backend", "max_batch_size")))
            for tensors, those in ((given.input, expected["input"]), (given.output, expected["output"])):
                named = [{"name": each.name, "data_type": model_config_pb2.DataType.Name(each.data_type), "dims": list(each.dims)}
                         for each in tensors]
                self.assertEqual(named, those)
            client.close()
            with Client(server) as raw:
                for version in ("", "2"):
                    name = SMALL if version else "x"
                    for call in (lambda: raw.stub.ModelMetadata(service_pb2.ModelMetadataRequest(name=name, version=version)),
                                 lambda: raw.stub.ModelConfig(service_pb2.ModelConfigRequest(name=name, version=version)),
                                 lambda: raw.stub.ModelInfer(message(name=name, model_version=version))):
                        self.refused(CODES.NOT_FOUND, call, f"there is no model '{name}'", SMALL)

    def test_the_response_is_that_of_http(self):
        with serve() as server:
            client = triton.InferenceServerClient(server.grpc)
            given = triton.InferInput("input", [1, 3, 32, 32], "FP32")
            for seed in range(5):
                request, headers = binary(seed)
                _, read, reply = server.request("POST", f"/v2/models/{SMALL}/infer", request, headers)
                given.set_data_from_numpy(array(seed))
                result = client.infer(SMALL, [given], outputs=[triton.InferRequestedOutput("logits")], request_id=f"a{seed}", model_version="1")
                self.assertEqual(result.as_numpy("logits").tobytes(), read[int(reply["Inference-Header-Content-Length"]):])
                response = result.get_response()
                self.assertEqual((response.id, response.model_name, response.model_version), (f"a{seed}", SMALL, "1"))
            done = threading.Event()
            results = []
            client.async_infer(SMALL, [given], lambda result, error: (results.append((result, error)), done.set()))
            self.assertTrue(done.wait(60))
            self.assertIsNone(results[0][1])
            client.close()

    def test_contents_of_every_type(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "copies.onnx")
            halves = {"FP16": b"\0\x3c" * 4, "BF16": b"\x80\x3f" * 4}
            write_copies(path, [*DTYPES, *halves])
            with serve(models=[path]) as server, Client(server) as client:
                arrays = {}
                for each, dtype in DTYPES.items():
                    limits = (0, 1) if dtype == numpy.bool_ else (numpy.finfo if each[0] == "F" else numpy.iinfo)(dtype)
                    low, high = limits if isinstance(limits, tuple) else (limits.min, limits.max)
                    arrays[each] = numpy.array([low, high, 1, 0], dtype)
                typed, raw = (service_pb2.ModelInferRequest(model_name="copies") for _ in range(2))
                for each, elements in arrays.items():
                    tensor = typed.inputs.add(name=f"in_{each}", datatype=each, shape=[4])
                    getattr(tensor.contents, FIELDS[each] + "_contents").extend(elements.tolist())
                self.refused(CODES.INVALID_ARGUMENT, lambda: client.stub.ModelInfer(typed), "'in_FP16' is missing")
                for each, elements in {**{each: elements.tobytes() for each, elements in arrays.items()}, **halves}.items():
                    raw.inputs.add(name=f"in_{each}", datatype=each, shape=[4])
                    raw.raw_input_contents.append(elements)
                response = client.stub.ModelInfer(raw)
                self.assertEqual([(each.name, each.datatype, list(each.shape)) for each in response.outputs],
                                 [(f"out_{each}", each, [4]) for each in (*arrays, *halves)])
                self.assertEqual(list(response.raw_output_contents), list(raw.raw_input_contents))
                raw.outputs.add(name="out_BF16")
                raw.outputs.add(name="out_INT8")
                response = client.stub.ModelInfer(raw)
                self.assertEqual(list(response.raw_output_contents), [halves["BF16"], arrays["INT8"].tobytes()])
                half = service_pb2.ModelInferRequest(model_name="copies")
                half.inputs.add(name="in_FP16", datatype="FP16", shape=[4]).contents.fp32_contents.extend([0] * 4)
                self.refused(CODES.INVALID_ARGUMENT, lambda: client.stub.ModelInfer(half), "use raw_input_contents")
                raw.raw_input_contents[0] = b"\2\0\0\0"
                self.refused(CODES.INVALID_ARGUMENT, lambda: client.stub.ModelInfer(raw), "in_BOOL", "neither 0 nor 1")
            write_copies(path, DTYPES)
            with serve(models=[path]) as server, Client(server) as client:
                response = client.stub.ModelInfer(typed)
                self.assertEqual(list(response.raw_output_contents), [each.tobytes() for each in arrays.values()])
                for name, wrong in (("INT8", -129), ("INT8", 128), ("INT16", 1 << 15), ("UINT8", 256), ("UINT16", 1 << 16)):
                    request = service_pb2.ModelInferRequest()
                    request.CopyFrom(typed)
                    tensor = next(each for each in request.inputs if each.datatype == name)
                    getattr(tensor.contents, FIELDS[name] + "_contents")[1] = wrong
                    self.refused(CODES.INVALID_ARGUMENT, lambda: client.stub.ModelInfer(request), f"in_{name}", str(wrong), f"no {name}")

    def test_what_is_wrong_is_named(self):
        def changed(change):
            request = message()
            change(request)
            return request

        def tensor(**changes):
            return lambda request: [setattr(request.inputs[0], key, value) for key, value in changes.items()]

        def shape(*sides):
            def change(request):
                request.inputs[0].shape[:] = sides
            return change

        def contents(field, elements):
            def change(request):
                del request.raw_input_contents[:]
                getattr(request.inputs[0].contents, field).extend(elements)
            return change

        cases = [(tensor(name="x"), "the inputs are 'input'"), (tensor(datatype="FP64"), "FP32, not FP64"), (tensor(datatype=""), "missing"),
                 (tensor(datatype="x" * 100_000), "xxx..."), (shape(1, 3, 32, 31), "[1,3,32,32]"), (shape(), "not []"), (shape(-1), "not [-1]"),
                 (shape(1 << 62, 1 << 62), "[1,3,32,32]"), (lambda request: request.ClearField("inputs"), "0 inputs and 1 raw"),
                 (lambda request: request.ClearField("raw_input_contents"), "neither contents nor"),
                 (lambda request: request.raw_input_contents.append(b""), "1 inputs and 2 raw"),
                 (lambda request: (request.inputs.add().CopyFrom(request.inputs[0]), request.raw_input_contents.append(request.raw_input_contents[0])),
                  "'input' is there twice"),
                 (lambda request: (request.ClearField("inputs"), request.ClearField("raw_input_contents")), "'input' is missing"),
                 (lambda request: request.raw_input_contents.__setitem__(0, b"123"), "have 3 bytes, and its shape 12288"),
                 (lambda request: request.inputs[0].contents.fp32_contents.append(1), "both contents and"),
                 (contents("fp32_contents", values()[:-1]), "3071 fp32_contents"), (contents("fp64_contents", values()), "0 fp32_contents"),
                 (lambda request: request.outputs.add(name="x"), "the outputs are 'logits'"),
                 (lambda request: (request.outputs.add(name="logits"), request.outputs.add(name="logits")), "'logits' is there twice"),
                 (lambda request: request.outputs.add(name="logits").parameters["classification"].MergeFrom(service_pb2.InferParameter(int64_param=3)),
                  "classification"),
                 (lambda request: request.parameters["timeout"].MergeFrom(service_pb2.InferParameter(string_param="x")), "microseconds"),
                 (lambda request: request.parameters["timeout"].MergeFrom(service_pb2.InferParameter(int64_param=-1)), "microseconds")]
        with serve() as server, Client(server) as client:
            for change, named in cases:
                with self.subTest(named=named):
                    self.refused(CODES.INVALID_ARGUMENT, lambda: client.stub.ModelInfer(changed(change)), named)
            self.refused(CODES.UNIMPLEMENTED, lambda: list(client.stub.ModelStreamInfer(iter([message()]))))
            self.assertEqual(logits(client.stub.ModelInfer(message())).shape, (1, 10), "nothing is lost for others")

    def test_it_is_there_only_if_given(self):
        for flags, is_there in (((), False), (("--grpc", "0"), True)):
            with Server(*flags) as server:
                maps = pathlib.Path(f"/proc/{server.process.pid}/maps").read_text()
                self.assertEqual("libgrpc" in maps, is_there)

    def test_health_and_reflection(self):
        with serve() as server, Client(server) as client:
            self.assertEqual(client.send("/grpc.health.v1.Health/Check", b""), b"\x08\x01")
            reflect = client.channel.stream_stream("/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo")
            service = b"inference.GRPCInferenceService"
            for asked, named in ((b"\x3a\x00", service), (b"\x22" + bytes([len(service)]) + service, b"raw_input_contents")):
                self.assertIn(named, next(reflect(iter([asked]), timeout=60)))


class Load(Case):
    def test_a_request_of_several_images(self):
        with serve("--batch", "4") as server, Client(server) as client:
            each = numpy.concatenate([logits(client.stub.ModelInfer(message(array(seed)))) for seed in range(3)])
            together = logits(client.stub.ModelInfer(message(array(0, 3))), 3)
            numpy.testing.assert_allclose(together, each, rtol=1e-4, atol=1e-4)
            self.refused(CODES.INVALID_ARGUMENT, lambda: client.stub.ModelInfer(message(array(0, 5))), "[-1,3,32,32] with 1 to 4 images")
            for change, named in ((lambda request: request.parameters, "of the request"), (lambda request: request.inputs[0].parameters, "of an input"),
                                  (lambda request: request.outputs[0].parameters, "of an output")):
                misspelt = message()
                if not misspelt.outputs:
                    misspelt.outputs.add(name="logits")
                change(misspelt)["time_out"].int64_param = 1
                self.refused(CODES.INVALID_ARGUMENT, lambda: client.stub.ModelInfer(misspelt), f"'time_out' {named} is not known")

    def test_a_deadline_in_decades_is_none(self):
        with serve() as server, Client(server) as client:
            self.assertEqual(logits(client.stub.ModelInfer(message(), timeout=1e9)).shape, (1, 10))

    def test_what_is_late_or_given_up_is_not_run(self):
        with serve(device="reference") as server, Client(server) as client:
            running = [client.stub.ModelInfer.future(message()) for _ in range(50)]
            late = message()
            late.parameters["timeout"].int64_param = 1000
            self.refused(CODES.DEADLINE_EXCEEDED, lambda: client.stub.ModelInfer(late), "timeout passed")
            given_up = client.stub.ModelInfer.future(message())
            self.refused(CODES.DEADLINE_EXCEEDED, lambda: client.stub.ModelInfer(message(), timeout=0.1))
            self.assertFalse(running[-1].done(), "the others are refused while these run")
            given_up.cancel()
            for each in running:
                self.assertEqual(logits(each.result()).shape, (1, 10))
            self.assertIn("50 requests run, 0 failed, 2 refused, 1 cancelled", server.finish())

    def test_a_batch_waits_no_longer_than_its_deadlines(self):
        with serve("--batch", "2", "--batch-wait", "10000") as server, Client(server) as client:
            hasty = message()
            hasty.parameters["timeout"].int64_param = 2_000_000
            self.assertEqual(logits(client.stub.ModelInfer(hasty)).shape, (1, 10))

    def test_requests_are_logged_with_their_trace(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "requests.jsonl")
            with serve("--access-log", path) as server, Client(server) as client:
                trace = [("traceparent", f"00-{'4b' * 16}-{'0f' * 8}-01")]
                request = message()
                response = client.stub.ModelInfer(request, metadata=trace)
                self.refused(CODES.NOT_FOUND, lambda: client.stub.ModelInfer(message(name="other")))
            with open(path) as file:
                lines = [json.loads(line) for line in file]
        self.assertEqual([(line["method"], line["model"], line["grpc_status"]) for line in lines],
                         [("infer", SMALL, "OK"), ("infer", "other", "NOT_FOUND")])
        self.assertEqual((lines[0]["trace_id"], lines[0]["span_id"]), ("4b" * 16, "0f" * 8))
        self.assertEqual((lines[0]["request_bytes"], lines[0]["response_bytes"]), (request.ByteSize(), response.ByteSize()))
        self.assertNotIn("trace_id", lines[1])

    def test_a_full_queue_refuses(self):
        with serve("--queue", "2", models=[ARGS.model]) as server, Client(server) as client:
            tensor = client.stub.ModelMetadata(service_pb2.ModelMetadataRequest(name=NAME)).inputs[0]
            images = numpy.zeros(list(tensor.shape), DTYPES[tensor.datatype])
            request = service_pb2.ModelInferRequest(model_name=NAME, raw_input_contents=[images.tobytes()])
            request.inputs.add(name=tensor.name, datatype=tensor.datatype, shape=tensor.shape)
            calls = [client.stub.ModelInfer.future(request) for _ in range(64)]
            codes = [call.code() for call in calls]
            self.assertEqual(set(codes), {CODES.OK, CODES.RESOURCE_EXHAUSTED})
            refused = calls[codes.index(CODES.RESOURCE_EXHAUSTED)]
            self.assertIn("come again later", refused.details())
            self.assertGreaterEqual(int(dict(refused.trailing_metadata())["grpc-retry-pushback-ms"]), 1)
            report = server.finish()
            self.assertIn(f"{NAME}: {codes.count(CODES.OK)} requests run, 0 failed, {codes.count(CODES.RESOURCE_EXHAUSTED)} refused", report)

    def test_models_are_loaded_and_unloaded(self):
        with tempfile.TemporaryDirectory() as folder:
            write_sum(os.path.join(folder, "a.onnx"))
            with serve("--model-dir", folder, models=[]) as server, Client(server) as raw:
                client = triton.InferenceServerClient(server.grpc)
                write_sum(os.path.join(folder, "b.onnx"))
                index = {each.name: each.state for each in client.get_model_repository_index().models}
                self.assertEqual(index, {"a": "READY", "b": "UNAVAILABLE"})
                ready = raw.stub.RepositoryIndex(service_pb2.RepositoryIndexRequest(ready=True))
                self.assertEqual([each.name for each in ready.models], ["a"])
                self.refused(CODES.INVALID_ARGUMENT, lambda: raw.stub.RepositoryModelLoad(service_pb2.RepositoryModelLoadRequest(
                    model_name="b", parameters={"config": service_pb2.ModelRepositoryParameter(string_param="{}")})),
                             "'config' is not supported")
                client.load_model("b")
                open(os.path.join(folder, "b.plan"), "wb").close()
                self.refused(CODES.INVALID_ARGUMENT, lambda: raw.stub.RepositoryModelLoad(service_pb2.RepositoryModelLoadRequest(
                    model_name="b")), "two files of a model 'b'")
                os.remove(os.path.join(folder, "b.plan"))
                client.unload_model("a")
                self.assertEqual((client.is_model_ready("a"), client.is_model_ready("b")), (False, True))
                for name in ("c", "../a", "a.onnx", "."):
                    self.refused(CODES.INVALID_ARGUMENT, lambda: raw.stub.RepositoryModelLoad(service_pb2.RepositoryModelLoadRequest(model_name=name)),
                                 "no file of a model")
                self.refused(CODES.INVALID_ARGUMENT, lambda: raw.stub.RepositoryModelUnload(service_pb2.RepositoryModelUnloadRequest(model_name="a")))
                client.close()
        with serve() as server, Client(server) as raw:
            self.refused(CODES.INVALID_ARGUMENT, lambda: raw.stub.RepositoryModelUnload(service_pb2.RepositoryModelUnloadRequest(model_name=SMALL)),
                         "--model-dir")

    def test_what_is_wrong_with_a_model_is_logged_with_the_trace(self):
        with tempfile.TemporaryDirectory() as folder:
            write_sum(os.path.join(folder, "a.onnx"))
            with serve("--model-dir", folder, models=[]) as server, Client(server) as client:
                with open(os.path.join(folder, "b.onnx"), "wb") as file:
                    file.write(b"broken")
                load = service_pb2.RepositoryModelLoadRequest(model_name="b")
                trace = [("traceparent", f"00-{'4b' * 16}-{'0f' * 8}-01")]
                self.refused(CODES.INVALID_ARGUMENT, lambda: client.stub.RepositoryModelLoad(load, metadata=trace))
                server.finish()
            [line] = [line for line in server.errors if "'b' is not loaded" in line]
            self.assertTrue(line.endswith(f" (trace_id={'4b' * 16} span_id={'0f' * 8})\n"), line)

    def test_a_model_is_replaced_under_load(self):
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(network(), folder)
            with serve("--model-dir", folder, "--batch", "4", models=[]) as server, Client(server) as client:
                expected = logits(client.stub.ModelInfer(message()))
                is_over = threading.Event()

                def work():
                    count = 0
                    while not is_over.is_set():
                        numpy.testing.assert_allclose(logits(client.stub.ModelInfer(message())), expected, rtol=1e-4, atol=1e-4)
                        count += 1
                    return count

                with concurrent.futures.ThreadPoolExecutor(4) as pool:
                    futures = [pool.submit(work) for _ in range(4)]
                    for _ in range(10):
                        client.stub.RepositoryModelLoad(service_pb2.RepositoryModelLoadRequest(model_name=SMALL))
                    is_over.set()
                    count = sum(future.result() for future in futures)
                self.assertIn(f"{SMALL}: {count + 1} requests run, 0 failed, 0 refused", server.finish())

    def test_sigterm_serves_what_was_taken(self):
        for flags in ((), ("--batch", "8", "--batch-wait", "50")):
            with serve(*flags) as server:

                def work():
                    taken = 0
                    with Client(server, options=[("grpc.use_local_subchannel_pool", 1)]) as client:
                        try:
                            while True:
                                assert len(client.stub.ModelInfer(message()).raw_output_contents[0]) == 40
                                taken += 1
                        except grpc.RpcError as error:
                            return taken, error.code()

                with concurrent.futures.ThreadPoolExecutor(8) as pool:
                    futures = [pool.submit(work) for _ in range(50)]
                    time.sleep(1)
                    report = server.finish()
                    ends = [future.result() for future in futures]
                self.assertEqual({code for _, code in ends}, {CODES.UNAVAILABLE})
                expected = sum(taken for taken, _ in ends)
                self.assertGreater(expected, 8)
                self.assertIn(f"{SMALL}: {expected} requests run, 0 failed, 0 refused", report)

    def test_an_open_stream_does_not_delay_the_end(self):
        with serve() as server, Client(server) as client:
            is_over = threading.Event()

            def silence():
                yield b"\x3a\x00"
                is_over.wait()

            reflect = client.channel.stream_stream("/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo")(silence())
            watch = client.channel.unary_stream("/grpc.health.v1.Health/Watch")(b"")
            next(reflect)
            self.assertEqual(next(watch), b"\x08\x01")
            start = time.monotonic()
            server.finish()
            self.assertLess(time.monotonic() - start, 10)
            is_over.set()


if __name__ == "__main__":
    serving.main()
