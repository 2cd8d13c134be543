"""Networks of paddle.vision with random weights that give every layer unit variance, and paddle2onnx."""
import pathlib
import tempfile

import export
import numpy as np
import paddle
import paddle2onnx
from compare import sample_images
from export import Network, redrawn

# The network, and the image's side.
NETWORKS = {
    "alexnet": 224, "densenet121": 96, "googlenet": 224, "inception_v3": 128, "mobilenet_v1": 96, "mobilenet_v2": 96,
    "mobilenet_v3_large": 96, "mobilenet_v3_small": 96, "resnet18": 96, "resnet50": 96, "resnext50_32x4d": 96,
    "shufflenet_v2_swish": 96, "shufflenet_v2_x0_5": 96, "squeezenet1_0": 96, "squeezenet1_1": 96, "vgg11": 224,
    "wide_resnet50_2": 96,
}
# With constants folded by Polygraphy (the default), and as paddle2onnx writes it.
EXPORTERS = ("paddle", "paddle_plain")
OPSETS = (19, 17, 15, 13, 11, 9)
QUICK = {"names": ("paddle.mobilenet_v3_small",), "opset": (11,), "batch": ("dynamic",)}
PRODUCTS = (paddle.nn.Conv2D, paddle.nn.Linear)


def names():
    return [f"paddle.{name}" for name in NETWORKS]


def make(name):
    """The network NAME with deterministic random weights."""
    paddle.seed(0)
    name = name.removeprefix("paddle.")
    network = Network(getattr(paddle.vision.models, name)(), (3, NETWORKS[name], NETWORKS[name]))
    network.module.eval()
    photographs = sample_images(network, 2)[0]
    give_unit_variance(network.module, np.concatenate([photographs, photographs[..., ::-1]]))
    return network


def measure_statistics(layer, inputs):
    """Sets a batch norm's statistics to those of its input. A channel that is always zero keeps some variance."""
    x = inputs[0].numpy()
    variance = x.var((0, 2, 3))
    layer._mean.set_value(x.mean((0, 2, 3)))
    layer._variance.set_value(variance.clip(min=variance.mean() * 0.1))


def scale(layer, inputs, output):
    """Scales a layer's weights to unit variance of its output."""
    deviation = float(output.std())
    if deviation < 1e-6 or abs(deviation - 1) < 1e-3:
        return output
    for parameter in layer.parameters(include_sublayers=False):
        parameter.set_value(parameter / deviation)
    return layer.forward(*inputs)


@paddle.no_grad()
def give_unit_variance(module, inputs):
    random = np.random.default_rng(0)
    hooks = []
    for layer in module.sublayers():
        for key, parameter in layer.named_parameters(include_sublayers=False):
            drawn = redrawn(random, parameter.numpy(), key, isinstance(layer, PRODUCTS))
            parameter.set_value(drawn.astype(np.float32))
        if isinstance(layer, PRODUCTS):
            hooks.append(layer.register_forward_post_hook(scale))
        elif isinstance(layer, paddle.nn.BatchNorm2D):
            hooks.append(layer.register_forward_pre_hook(measure_statistics))
    module(paddle.to_tensor(inputs))
    for hook in hooks:
        hook.remove()


class Exporter(export.Exporter):
    """paddle2onnx, with and without its post-optimisation."""

    def __init__(self, network, exporter, batch):
        super().__init__(network, exporter, batch)
        self.folder = None

    def write(self, path, opset):
        if self.folder is None:
            self.folder = tempfile.TemporaryDirectory()
            shape = [1 if self.batch == "static" else None, *self.network.image_shape]
            signature = [paddle.static.InputSpec(shape, "float32", "image")]
            paddle.jit.save(self.network.module, str(pathlib.Path(self.folder.name) / "model"), signature)
        folder = pathlib.Path(self.folder.name)
        folded = self.exporter == "paddle"
        paddle2onnx.export(str(folder / "model.json"), str(folder / "model.pdiparams"), str(path), opset_version=opset,
                           auto_upgrade_opset=False, enable_optimize=folded,
                           optimize_tool="polygraphy" if folded else "None")
