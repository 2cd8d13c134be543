"""PyTorch as a measured engine: an ONNX file as torch calls, in the requested mode.

eager runs the calls from Python. graph captures them in a CUDA graph. compile captures torch.compile's code. autotune
is compile with max-autotune: freezing, layout optimisation, GEMMs and convolutions of ATen and Triton. Half precision
and compiled code run channels-last, with cudnn.benchmark on. Inputs are copied to the device once, in the precision's
type. Outputs stay there. A measured run is the launch and the wait.
"""
import onnx
import torch

from torch_peer import elements, integers, layers, resize, shapes  # noqa: F401: they register their operators
from torch_peer.graph import Converter
from torch_peer.table import Unsupported

FLOATS = {"fp16": torch.float16, "bf16": torch.bfloat16}


class Torch:
    def __init__(self, mode):
        self.mode, self.version = mode, torch.__version__
        self.on_gpu, self.stream = False, None

    def load(self, request, feed):
        device, precision = request["device"], request["precision"]
        self.on_gpu = device.startswith("cuda")
        if self.on_gpu and not torch.cuda.is_available():
            raise Unsupported("torch finds no GPU")
        if self.on_gpu:
            torch.cuda.set_device(device if ":" in device else "cuda:0")
        torch.set_num_threads(request["threads"])
        if self.mode == "graph" and not self.on_gpu:
            raise Unsupported("a CUDA graph needs a GPU: use torch-eager or torch-compile")
        float_type = FLOATS.get(precision, torch.float32)
        torch.set_float32_matmul_precision("high" if precision == "tf32" else "highest")
        torch.backends.cudnn.allow_tf32 = precision == "tf32"
        torch.backends.cudnn.benchmark, torch.backends.cudnn.benchmark_limit = True, 0
        torch.set_grad_enabled(False)
        converter = Converter(onnx.load(request["model"]), {name: array.shape for name, array in feed.items()}, float_type)
        self.inputs = converter.inputs
        module = converter.module()
        self.channels_last = self.mode in ("compile", "autotune") or float_type != torch.float32
        module = (converter.to_channels_last(module) if self.channels_last else module).to("cuda" if self.on_gpu else "cpu")
        self.placed = [self.place(array) for array in self.in_order(feed)]
        self.start(self.compiled(module))

    def in_order(self, feed):
        return [torch.from_numpy(feed[name]).to(value.meta.dtype) for name, value in self.inputs]

    def place(self, tensor):
        tensor = tensor.to("cuda" if self.on_gpu else "cpu")
        is_image = self.channels_last and tensor.ndim == 4
        return tensor.contiguous(memory_format=torch.channels_last) if is_image else tensor

    def compiled(self, module):
        if self.mode == "compile":
            return torch.compile(module, dynamic=False, fullgraph=True)
        if self.mode != "autotune":
            return module
        from torch._inductor import config
        config.freezing = config.layout_optimization = config.epilogue_fusion = True
        config.max_autotune_gemm_backends = config.max_autotune_conv_backends = "ATEN,TRITON"
        return torch.compile(module, dynamic=False, fullgraph=True, mode="max-autotune-no-cudagraphs")

    def start(self, module):
        """Compiles, warms up and captures."""
        def call():
            self.results = module(*self.placed)
        self.call, self.wait = call, lambda: None
        if not self.on_gpu:
            call()
            return
        self.stream = torch.cuda.Stream()
        self.stream.wait_stream(torch.cuda.current_stream())
        torch.cuda.set_stream(self.stream)  # all further work is on this stream
        self.wait = self.stream.synchronize
        for _ in range(4):
            self.run()
        if self.mode != "eager":
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph, stream=self.stream):
                call()
            self.call = graph.replay

    def bind(self, feed):
        for placed, tensor in zip(self.placed, self.in_order(feed)):
            placed.copy_(tensor)

    def run(self):
        self.call()
        self.wait()

    def outputs(self):
        return [output.float().cpu().numpy() if output.is_floating_point() else output.cpu().numpy()
                for output in self.results]
