#!/usr/bin/env python3
"""Runs networks as torch's options and other tools rewrite them: quantised, in half precision, simplified, unfused,
NHWC.

    rewrites.py --binary build/saccade --shared ../shared [--rewrite NAME,...] [NETWORK...] [FILE.onnx...]
    rewrites.py --list

A file (with its weights) is rewritten by the tools that take files. Outputs are compared with ONNX Runtime on the
rewritten file, by compare.exact, half and eight_bits. Runs in the environment of script/bootstrap --exporters. Exit
status 77: skipped.
"""
import argparse
import copy
import dataclasses
import functools
import pathlib
import shutil
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "parity"))
from script import needs

with needs("--exporters"):
    import numpy as np
    import onnx
    import onnxsim
    import onnxslim
    import torch
    import torch_networks
    from compare import eight_bits, exact, half, sample_images
    from engines import session
    from export import CannotExport, one_line, silenced
    from onnxconverter_common import float16
    from onnxruntime import quantization
    from onnxruntime.quantization import QuantFormat, QuantType
    from onnxruntime.quantization.shape_inference import quant_pre_process
    from torch.ao import quantization as torch_quantization
    from torch.ao.quantization import quantize_fx

NETWORKS = ("shufflenet_v2_x0_5", "mobilenet_v3_small", "timm.efficientvit_b0")
REWRITES = {}


def rewrite(compare):
    """Registers MAKE(network, path), which writes the network to PATH and returns two inputs for it."""
    def listed(make):
        REWRITES[make.__name__] = (make, compare)
        return make
    return listed


def exported(module, example, path, opset=17, **options):
    with silenced():
        torch.onnx.export(module, (example,), path, dynamo=False, opset_version=opset, input_names=["image"], **options)


@dataclasses.dataclass
class File:
    """A network that is an ONNX file with one input."""
    path: str
    image_shape: tuple
    batched: bool = True
    module: None = None


def opened(path):
    """The file at PATH. Symbolic image sizes become 224."""
    (image,) = session(path).get_inputs()
    return File(path, tuple(size if isinstance(size, int) else 224 for size in image.shape[1:]))


def plain(network, path, **options):
    if network.module is not None:
        exported(network.module, network.examples(1), path, **options)
    elif options:
        raise CannotExport("a file can't be exported otherwise")
    else:
        shutil.copyfile(network.path, path)
    return sample_images(network, 1)


class Photographs:
    """The calibration data of static quantisation."""

    def __init__(self, path, photographs):
        self.name = session(path).get_inputs()[0].name
        self.left = list(photographs)

    def get_next(self):
        return {self.name: self.left.pop()} if self.left else None


def statically(network, path, **options):
    photographs = plain(network, path)
    quant_pre_process(path, path, skip_symbolic_shape=True)
    quantization.quantize_static(path, path, Photographs(path, photographs), **options)
    return photographs


for activations, weights in (("QUInt8", "QInt8"), ("QInt8", "QInt8"), ("QUInt8", "QUInt8")):
    for layout in QuantFormat:
        for per_channel in (False, True):
            key = f"static_{layout.name}_{activations}_{weights}{'_per_channel' if per_channel else ''}".lower()
            REWRITES[key] = (functools.partial(
                statically, quant_format=layout, activation_type=QuantType[activations],
                weight_type=QuantType[weights], per_channel=per_channel), eight_bits)


@rewrite(eight_bits)
def dynamic(network, path):
    photographs = plain(network, path)
    quantization.quantize_dynamic(path, path, weight_type=QuantType.QUInt8)
    return photographs


@rewrite(eight_bits)
def dynamic_products(network, path):
    photographs = plain(network, path)
    quantization.quantize_dynamic(path, path, weight_type=QuantType.QInt8, op_types_to_quantize=["MatMul", "Gemm"])
    return photographs


@rewrite(eight_bits)
def quantisation_aware(network, path):
    """torch's preparation for quantisation-aware training, with scales from the photographs."""
    photographs = sample_images(network, 1)
    mapping = torch_quantization.QConfigMapping().set_global(torch_quantization.get_default_qat_qconfig(version=0))
    example = (torch.from_numpy(photographs[0]),)
    module = quantize_fx.prepare_qat_fx(copy.deepcopy(network.module).train(), mapping, example).eval()
    with torch.no_grad():
        for image in photographs:
            module(torch.from_numpy(image))
    module.apply(torch_quantization.disable_observer)
    exported(module, example[0], path)
    return photographs


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
    return [p.astype(np.float16) for p in sample_images(network, 1)]


@rewrite(exact)
def slimmed(network, path):
    photographs = plain(network, path)
    onnx.save(onnxslim.slim(onnx.load(path)), path)
    return photographs


@rewrite(exact)
def simplified(network, path):
    photographs = plain(network, path)
    onnx.save(onnxsim.simplify(onnx.load(path))[0], path)
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
    """A network with a uint8 NHWC input."""

    def __init__(self, module):
        super().__init__()
        self.module = module

    def forward(self, pixels):
        return self.module((pixels.permute(0, 3, 1, 2).float() - 115.0) / 57.0)


@rewrite(exact)
def pixels_channels_last(network, path):
    bytes_of = [(p * 57 + 115).clip(0, 255).round().astype(np.uint8) for p in sample_images(network, 1)]
    feeds = [np.ascontiguousarray(pixels.transpose(0, 2, 3, 1)) for pixels in bytes_of]
    exported(Turned(network.module), torch.from_numpy(feeds[0]), path)
    return feeds


class Single(torch.nn.Module):
    """A network that takes one image without a batch dimension."""

    def __init__(self, module):
        super().__init__()
        self.module = module

    def forward(self, image):
        return self.module(image.unsqueeze(0)).squeeze(0)


@rewrite(exact)
def without_batch(network, path):
    exported(Single(network.module), network.examples(1)[0], path)
    return [p[0] for p in sample_images(network, 1)]


def run(args, name, network, key):
    """Whether it passes. None if the tool can't write it so that ONNX Runtime reads it."""
    make, compare = REWRITES[key]
    with tempfile.TemporaryDirectory() as folder:
        path = str(pathlib.Path(folder) / "model.onnx")
        try:
            with silenced():
                feeds = make(network, path)
                session(path)
        except Exception as error:
            print(f"{name} {key}: not written, {one_line(error)}", flush=True)
            return None
        try:
            good, text = compare(args.binary, path, feeds)
        except Exception as error:  # Either an error of ONNX Runtime or of saccade is a finding.
            print(f"{name} {key}: failed, {' '.join(str(error).split())[:600]}", flush=True)
            return False
    print(f"{name} {key}: {'passed' if good else 'failed'}, {text}", flush=True)
    return good


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
        network = opened(name) if name.endswith(".onnx") else torch_networks.make(name)
        results += [run(args, name, network, key) for key in args.rewrite]
    print(f"{len(results)} files: {results.count(False)} failed, {results.count(None)} not written")
    return int(False in results or True not in results)


if __name__ == "__main__":
    sys.exit(main())
