#!/usr/bin/env python3
"""Runs networks as torch's options and other tools write them: quantised, halved, simplified, unfused, turned.

    rewrites.py --binary build/saccade --shared ../shared [--rewrite NAME,...] [NETWORK...]
    rewrites.py --list

Compares with ONNX Runtime on the same file.  A float32 file passes with a drift of at most 1e-3; one of half precision
with 2e-2, as where it rounds is up to an engine; a quantised one with twice what ONNX Runtime's own optimisations make
it drift, or 0.05.  Runs in the environment of script/bootstrap --exporters.  Exit status 77: skipped.
"""
import argparse
import copy
import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "parity"))
try:
    if "--shared" in sys.argv:
        sys.path.insert(0, str(pathlib.Path(sys.argv[sys.argv.index("--shared") + 1]) / "tools"))
    import numpy as np
    import onnx
    import onnxslim
    import torch
    from onnxconverter_common import float16
    from onnxruntime import quantization
    from onnxruntime.quantization.shape_inference import quant_pre_process
    from onnxruntime.quantization import QuantFormat, QuantType

    import export
    import networks
    from compare import largest_drift, own_drift, pictures
except ImportError as missing:
    print(f"SKIPPED: needs ../shared/tools and Python's packages: ./script/bootstrap --exporters ({missing})")
    sys.exit(77)

NETWORKS = ("shufflenet_v2_x0_5", "mobilenet_v3_small", "timm.efficientvit_b0")
REWRITES = {}


def rewrite(limit):
    """Lists MAKE(network, path), which writes the network to PATH and returns two inputs for it."""
    def listed(make):
        REWRITES[make.__name__] = (make, limit)
        return make
    return listed


def exact(*_):
    return 1e-3


def half(*_):
    return 2e-2


def rounded(path, feeds):
    return max(0.05, 2 * own_drift(path, *feeds))


def exported(module, example, path, opset=17, **options):
    with export.silenced():
        torch.onnx.export(module, (example,), path, dynamo=False, opset_version=opset, input_names=["image"], **options)


def plain(network, path, **options):
    exported(network.module, network.examples(1), path, **options)
    return pictures(network, 1)


class Photographs:
    """What static quantisation calibrates on."""

    def __init__(self, photographs):
        self.left = list(photographs)

    def get_next(self):
        return {"image": self.left.pop()} if self.left else None


def statically(network, path, **options):
    photographs = plain(network, path)
    quant_pre_process(path, path, skip_symbolic_shape=True)
    quantization.quantize_static(path, path, Photographs(photographs), **options)
    return photographs


@rewrite(rounded)
def static_qdq(network, path):
    return statically(network, path, quant_format=QuantFormat.QDQ, activation_type=QuantType.QUInt8,
                      weight_type=QuantType.QInt8)


@rewrite(rounded)
def static_qdq_int8_per_channel(network, path):
    return statically(network, path, quant_format=QuantFormat.QDQ, activation_type=QuantType.QInt8,
                      weight_type=QuantType.QInt8, per_channel=True)


@rewrite(rounded)
def static_qoperator(network, path):
    return statically(network, path, quant_format=QuantFormat.QOperator, activation_type=QuantType.QUInt8,
                      weight_type=QuantType.QUInt8)


@rewrite(rounded)
def static_qoperator_int8_per_channel(network, path):
    return statically(network, path, quant_format=QuantFormat.QOperator, activation_type=QuantType.QInt8,
                      weight_type=QuantType.QInt8, per_channel=True)


@rewrite(rounded)
def dynamic(network, path):
    photographs = plain(network, path)
    quantization.quantize_dynamic(path, path, weight_type=QuantType.QUInt8)
    return photographs


@rewrite(rounded)
def dynamic_products(network, path):
    photographs = plain(network, path)
    quantization.quantize_dynamic(path, path, weight_type=QuantType.QInt8, op_types_to_quantize=["MatMul", "Gemm"])
    return photographs


class FakeQuantised(torch.nn.Module):
    """A convolution as quantisation-aware training leaves it: its input and its weights rounded to eight bits."""

    def __init__(self, layer):
        super().__init__()
        self.layer = layer
        scale = layer.weight.detach().abs().amax(dim=(1, 2, 3)).clamp(min=1e-3) / 127
        self.register_buffer("scale", scale)
        self.register_buffer("zero", torch.zeros(len(scale), dtype=torch.int32))

    def forward(self, x):
        x = torch.fake_quantize_per_tensor_affine(x, 0.03, 120, 0, 255)
        layer = self.layer
        weight = torch.fake_quantize_per_channel_affine(layer.weight, self.scale, self.zero, 0, -128, 127)
        return torch.nn.functional.conv2d(x, weight, layer.bias, layer.stride, layer.padding, layer.dilation,
                                          layer.groups)


@rewrite(rounded)
def quantisation_aware(network, path):
    module = copy.deepcopy(network.module)
    for parent in list(module.modules()):
        for name, child in list(parent.named_children()):
            if type(child) is torch.nn.Conv2d:
                setattr(parent, name, FakeQuantised(child))
    exported(module, network.examples(1), path)
    return pictures(network, 1)


@rewrite(half)
def half_precision(network, path):
    photographs = plain(network, path)
    onnx.save(float16.convert_float_to_float16(onnx.load(path)), path)
    return [p.astype(np.float16) for p in photographs]


@rewrite(half)
def half_precision_inside(network, path):
    photographs = plain(network, path)
    onnx.save(float16.convert_float_to_float16(onnx.load(path), keep_io_types=True), path)
    return photographs


@rewrite(half)
def mixed_precision(network, path):
    photographs = plain(network, path)
    kept = [*float16.DEFAULT_OP_BLOCK_LIST, "Gemm", "ReduceMean", "Softmax"]
    mixed = float16.convert_float_to_float16(onnx.load(path), keep_io_types=True, op_block_list=kept)
    onnx.save(mixed, path)
    return photographs


@rewrite(half)
def exported_in_half(network, path):
    module = copy.deepcopy(network.module).half()
    exported(module, network.examples(1).half(), path)
    return [p.astype(np.float16) for p in pictures(network, 1)]


@rewrite(exact)
def slimmed(network, path):
    photographs = plain(network, path)
    onnx.save(onnxslim.slim(onnx.load(path)), path)
    return photographs


@rewrite(exact)
def unsimplified(network, path):
    return plain(network, path, do_constant_folding=False, dynamic_axes={"image": {0: "n", 2: "height", 3: "width"}})


@rewrite(exact)
def batch_norm_unfused(network, path):
    return plain(network, path, training=torch.onnx.TrainingMode.PRESERVE, do_constant_folding=False)


@rewrite(exact)
def weights_as_inputs(network, path):
    return plain(network, path, opset=11, keep_initializers_as_inputs=True)


@rewrite(exact)
def without_names(network, path):
    photographs = plain(network, path)
    model = onnx.load(path)
    for node in model.graph.node:
        node.name = ""
    onnx.save(model, path)
    return photographs


class Turned(torch.nn.Module):
    """A network that takes NHWC, as bytes."""

    def __init__(self, module):
        super().__init__()
        self.module = module

    def forward(self, pixels):
        return self.module((pixels.permute(0, 3, 1, 2).float() - 115.0) / 57.0)


@rewrite(exact)
def pixels_channels_last(network, path):
    bytes_of = [(p * 57 + 115).clip(0, 255).round().astype(np.uint8) for p in pictures(network, 1)]
    feeds = [np.ascontiguousarray(pixels.transpose(0, 2, 3, 1)) for pixels in bytes_of]
    exported(Turned(network.module), torch.from_numpy(feeds[0]), path)
    return feeds


class Single(torch.nn.Module):
    """A network that takes one picture without a batch."""

    def __init__(self, module):
        super().__init__()
        self.module = module

    def forward(self, picture):
        return self.module(picture.unsqueeze(0)).squeeze(0)


@rewrite(exact)
def without_batch(network, path):
    exported(Single(network.module), network.examples(1)[0], path)
    return [p[0] for p in pictures(network, 1)]


def run(args, name, network, key):
    """Whether it passes; what an other tool can't write says nothing about us."""
    make, limit = REWRITES[key]
    with tempfile.TemporaryDirectory() as folder:
        path = str(pathlib.Path(folder) / "model.onnx")
        try:
            with export.silenced():
                feeds = make(network, path)
                bound = limit(path, feeds)
        except Exception as error:
            print(f"{name} {key}: not written, {export.one_line(error)}", flush=True)
            return True
        try:
            value = largest_drift(args.binary, path, *feeds)
        except Exception as error:  # of ONNX Runtime, of saccade: either is a finding
            print(f"{name} {key}: failed, {' '.join(str(error).split())[:600]}", flush=True)
            return False
    verdict = "passed" if value <= bound else "failed"
    print(f"{name} {key}: {verdict}, drift {value:.2e} of at most {bound:.0e}", flush=True)
    return value <= bound


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required="--list" not in sys.argv)
    parser.add_argument("--shared")
    parser.add_argument("--rewrite", type=lambda text: text.split(","), default=list(REWRITES))
    parser.add_argument("--list", action="store_true")
    parser.add_argument("networks", nargs="*", default=NETWORKS)
    args = parser.parse_args()
    if args.list:
        print("\n".join(REWRITES))
        return 0
    results = []
    for name in args.networks:
        network = networks.make(name)
        results += [run(args, name, network, key) for key in args.rewrite]
    print(f"{len(results)} files: {results.count(False)} failed")
    return int(False in results)


if __name__ == "__main__":
    sys.exit(main())
