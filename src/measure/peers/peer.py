"""Runs a model in another engine on request: one JSON object per line in, one out.

    peer.py onnxruntime|openvino|torch-eager|torch-graph|torch-compile|torch-autotune

{"do": "load", "model": FILE, "threads": N, "device": "cpu"|"cuda", "precision": "fp32"|"tf32"|"fp16"|"bf16",
 "inputs": [[NAME, FILE.npy], ...]}                                              -> {}
{"do": "infer", "inputs": [[NAME, FILE.npy], ...], "prefix": PATH}              -> {"files": [PATH0.npy, ...]}
{"do": "run", "unmeasured": N, "runs": N}                                        -> {"ns": [...], "wall_ns": N}
{"do": "memory"}                                                                 -> {"peak_bytes": N}

The first line out is {"version": ...}, or {"missing": ...} if the engine is not installed.  An error is reported
with {"error": ...}.  Engines run in their fastest mode: outputs stay where the engine put them, inputs are bound once.
ONNX Runtime and OpenVINO compute on the CPU, in fp32, OpenVINO also in bf16, which it does by default where the
processor has instructions for it; torch on the requested device and in the requested precision.
A response is sent once the engine's threads are asleep, so that they do not disturb other engines.
"""
import json
import os
import sys
import time

# Standard output is reserved for the line protocol. Output of libraries goes to standard error.
responses = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)


def respond(message):
    responses.write(json.dumps(message) + "\n")
    responses.flush()


class OnnxRuntime:
    def __init__(self):
        import onnxruntime
        self.engine = onnxruntime
        self.version = onnxruntime.__version__

    def load(self, request, feed):
        options = self.engine.SessionOptions()
        options.log_severity_level = 3
        options.intra_op_num_threads = request["threads"]
        options.inter_op_num_threads = 1
        # A static shape lets it plan its memory ahead.
        import onnx
        model = onnx.load(request["model"], load_external_data=False)
        for value in model.graph.input:
            for i, dim in enumerate(value.type.tensor_type.shape.dim):
                if dim.dim_param and value.name in feed:
                    options.add_free_dimension_override_by_name(dim.dim_param, feed[value.name].shape[i])
        self.session = self.engine.InferenceSession(request["model"], options, providers=["CPUExecutionProvider"])
        self.bind(feed)

    def bind(self, feed):
        self.binding = self.session.io_binding()
        self.feed = feed
        for name, array in feed.items():
            self.binding.bind_cpu_input(name, array)
        for output in self.session.get_outputs():
            self.binding.bind_output(output.name, "cpu")

    def run(self):
        self.session.run_with_iobinding(self.binding)

    def outputs(self):
        return self.binding.copy_outputs_to_cpu()


def name_of(port, feed):
    """The port's name in the ONNX file. OpenVINO may have several names for it."""
    return next(name for name in port.names if name in feed)


class OpenVino:
    def __init__(self):
        import openvino
        self.engine = openvino
        self.core = openvino.Core()
        self.version = openvino.__version__.split("-")[0]

    def load(self, request, feed):
        model = self.core.read_model(request["model"])
        if any(port.partial_shape.is_dynamic for port in model.inputs):
            model.reshape({port: list(feed[name_of(port, feed)].shape) for port in model.inputs})
        settings = {"INFERENCE_NUM_THREADS": request["threads"], "PERFORMANCE_HINT": "LATENCY",
                    "INFERENCE_PRECISION_HINT": "bf16" if request["precision"] == "bf16" else "f32"}
        self.model = self.core.compile_model(model, "CPU", settings)
        self.bind(feed)

    def bind(self, feed):
        self.feed = feed
        self.request = self.model.create_infer_request()
        for port in self.model.inputs:
            self.request.set_tensor(port, self.engine.Tensor(feed[name_of(port, feed)], shared_memory=True))

    def run(self):
        self.request.infer(share_outputs=True)

    def outputs(self):
        return [self.request.get_tensor(port).data.copy() for port in self.model.outputs]


def wait_until_idle():
    """Sleeps until the process uses hardly any processor time, at most half a second."""
    for _ in range(125):
        before = time.process_time()
        time.sleep(0.004)
        if time.process_time() - before < 0.0003:
            return


def run(engine, request):
    for _ in range(request["unmeasured"]):
        engine.run()
    times = []
    clock = time.perf_counter_ns
    first = clock()
    for _ in range(request["runs"]):
        start = clock()
        engine.run()
        times.append(clock() - start)
    wall = clock() - first
    wait_until_idle()
    return {"ns": times, "wall_ns": wall}


def read(inputs):
    import numpy
    return {name: numpy.load(path) for name, path in inputs}


def infer(engine, request):
    import numpy
    engine.bind(read(request["inputs"]))
    engine.run()
    files = []
    for i, array in enumerate(engine.outputs()):
        files.append(f"{request['prefix']}{i}.npy")
        numpy.save(files[-1], array)
    return {"files": files}


def peak_bytes():
    with open("/proc/self/status") as file:
        return 1024 * next(int(line.split()[1]) for line in file if line.startswith("VmHWM"))


def handle(engine, request):
    if request["do"] == "load":
        engine.load(request, read(request["inputs"]))
        return {}
    if request["do"] == "infer":
        return infer(engine, request)
    if request["do"] == "run":
        return run(engine, request)
    return {"peak_bytes": peak_bytes()}


def make_engine(name):
    import numpy  # noqa: F401
    if name.startswith("torch-"):
        from torch_peer.engine import Torch
        return Torch(name.removeprefix("torch-"))
    return {"onnxruntime": OnnxRuntime, "openvino": OpenVino}[name]()


def main():
    try:
        engine = make_engine(sys.argv[1])
    except ImportError as error:
        respond({"missing": str(error)})
        return
    respond({"version": engine.version})
    for line in sys.stdin:
        try:
            respond(handle(engine, json.loads(line)))
        except Exception as error:  # every exception becomes the response
            respond({"error": " ".join(str(error).split())[:500] or type(error).__name__})


if __name__ == "__main__":
    main()
