"""Networks of torchvision and timm with random weights that give every layer unit variance, and torch's exporters."""
import typing

import export
import timm
import torch
import torchvision
from compare import sample_images, row_by_row
from export import EXAMPLE_BATCH
from torch import nn

EXPORTERS = ("torchscript", "dynamo")
OPSETS = (21, 18, 17, 13, 11)
# One residual network and one with attention, in both exporters' newest common opset.
QUICK = {"names": ("shufflenet_v2_x0_5", "timm.efficientvit_b0"), "opset": (18,), "batch": ("dynamic",)}

# Of torchvision: the network, and the shape of one image (or clip).
TORCHVISION = {
    "alexnet": (3, 224, 224), "convnext_tiny": (3, 96, 96), "densenet121": (3, 96, 96), "efficientnet_b1": (3, 96, 96),
    "efficientnet_v2_s": (3, 96, 96), "googlenet": (3, 96, 96), "inception_v3": (3, 128, 128),
    "maxvit_t": (3, 224, 224), "mnasnet0_5": (3, 96, 96), "mobilenet_v3_small": (3, 96, 96),
    "regnet_x_400mf": (3, 96, 96), "regnet_y_400mf": (3, 96, 96), "resnet34": (3, 96, 96),
    "resnext50_32x4d": (3, 96, 96), "shufflenet_v2_x0_5": (3, 96, 96), "shufflenet_v2_x1_5": (3, 96, 96),
    "squeezenet1_0": (3, 96, 96), "swin_t": (3, 96, 96), "swin_v2_t": (3, 96, 96), "vgg11_bn": (3, 224, 224),
    "vit_b_32": (3, 224, 224), "wide_resnet50_2": (3, 96, 96),
    "segmentation.deeplabv3_mobilenet_v3_large": (3, 96, 96), "segmentation.fcn_resnet50": (3, 64, 64),
    "segmentation.lraspp_mobilenet_v3_large": (3, 96, 96),
    "video.mc3_18": (3, 8, 56, 56), "video.mvit_v1_b": (3, 16, 224, 224), "video.r2plus1d_18": (3, 8, 56, 56),
    "video.r3d_18": (3, 8, 56, 56), "video.s3d": (3, 16, 224, 224),
}
# Detectors take one image without a batch dimension. Their number of boxes depends on the data.
DETECTORS = ("fasterrcnn_mobilenet_v3_large_320_fpn", "fcos_resnet50_fpn", "keypointrcnn_resnet50_fpn",
             "maskrcnn_resnet50_fpn", "retinanet_resnet50_fpn", "ssdlite320_mobilenet_v3_large")
# Of timm: the network, and the image's side.
TIMM = {
    "cait_xxs24_224": 224, "coat_lite_tiny": 224, "convit_tiny": 224, "convnextv2_atto": 96, "cspresnet50": 96,
    "davit_tiny": 96, "deit_tiny_patch16_224": 224, "dla34": 96, "dpn48b": 96, "edgenext_xx_small": 96,
    "efficientformer_l1": 224, "efficientvit_b0": 96, "ese_vovnet19b_dw": 96, "eva02_tiny_patch14_224": 224,
    "fastvit_t8": 96, "focalnet_tiny_srf": 96, "ghostnet_100": 96, "halonet26t": 256, "hgnetv2_b0": 96,
    "hrnet_w18_small": 96, "inception_next_atto": 96, "lambda_resnet26t": 256, "lcnet_050": 96, "levit_128s": 224,
    "mambaout_femto": 96, "mixer_s32_224": 224, "mixnet_s": 96, "mobilenetv4_conv_small": 96, "mobileone_s0": 96,
    "mobilevit_xxs": 96, "mobilevitv2_050": 96, "nfnet_l0": 96, "pit_ti_224": 224, "poolformer_s12": 96,
    "pvt_v2_b0": 96, "repvgg_a0": 96, "res2net50_26w_4s": 96, "resnest14d": 96, "rexnet_100": 96,
    "selecsls42b": 96, "skresnet18": 96, "starnet_s1": 96, "tiny_vit_5m_224": 224, "twins_pcpvt_small": 224,
    "visformer_tiny": 224, "xcit_nano_12_p16_224": 224,
}


class Network(export.Network):
    def examples(self, batch):
        return torch.randn(batch, *self.image_shape) if self.batched else torch.randn(*self.image_shape)


class Detector(nn.Module):
    """A detector of torchvision as a network from one image to tensors."""

    def __init__(self, module):
        super().__init__()
        self.module = module

    def forward(self, image):
        found = self.module([image])[0]
        return tuple(found[key] for key in sorted(found))


def names():
    """All networks: torchvision's by name, others prefixed with their origin."""
    return [*TORCHVISION, *(f"detection.{name}" for name in DETECTORS), *(f"timm.{name}" for name in TIMM)]


def make(name):
    """The network NAME with deterministic random weights."""
    torch.manual_seed(0)
    room, _, last = name.rpartition(".")
    if room == "timm":
        network = Network(timm.create_model(last), (3, TIMM[last], TIMM[last]))
    elif room == "detection":
        small = {} if last.startswith("ssdlite") else {"min_size": 160, "max_size": 224}
        module = getattr(torchvision.models.detection, last)(weights=None, weights_backbone=None, **small)
        network = Network(Detector(module), (3, 160, 200), batched=False)
    else:
        rooms = getattr(torchvision.models, room) if room else torchvision.models
        options = {"weights_backbone": None} if room == "segmentation" else {}
        if last in ("googlenet", "inception_v3"):
            options["init_weights"] = False
        network = Network(getattr(rooms, last)(weights=None, **options), TORCHVISION[name])
    network.module.eval()
    # On the compared images: with statistics of other images, deep networks amplify every rounding.
    photographs = torch.tensor(sample_images(network, 2)[0])
    if network.batched:
        photographs = torch.cat([photographs, photographs.flip(-1)])
    give_unit_variance(network.module, photographs)
    return network


def draw_silent(module: nn.Module):
    """Reinitialises parameters that start at zeros, ones or nearly zero and would hide errors of an engine: biases,
    scales of branches, position embeddings, tokens."""
    layers = (nn.Linear, nn.modules.conv._ConvNd)
    for layer in module.modules():
        for key, parameter in layer.named_parameters(recurse=False):
            if isinstance(layer, layers):
                if key == "bias":
                    parameter.normal_(0, 0.2)
            elif parameter.ndim == 1 and key == "weight":
                parameter.uniform_(0.5, 1.5)
            elif parameter.abs().max() < 0.1:
                parameter.normal_(0, 0.2 if key == "bias" else 1)


def measure_statistics(layer, inputs):
    """Sets a batch norm's statistics to those of its input. A channel that is always zero keeps some variance."""
    x = inputs[0].transpose(0, 1).flatten(1)
    variance = x.var(1, unbiased=False)
    layer.running_mean.copy_(x.mean(1))
    layer.running_var.copy_(variance.clamp(min=float(variance.mean()) * 0.1))


class ScaleOnce:
    """A hook that scales a layer's weights to unit variance of its first output."""

    def __init__(self):
        self.done = False

    def __call__(self, layer: nn.Module, inputs: typing.Any, output: torch.Tensor):
        deviation = float(output.std())
        if self.done or not deviation > 1e-6:
            return output
        self.done = True
        for parameter in layer.parameters(recurse=False):
            parameter.div_(deviation)
        return layer.forward(*inputs)


@torch.no_grad()
def give_unit_variance(module: nn.Module, images: torch.Tensor):
    draw_silent(module)
    hooks = []
    for layer in module.modules():
        if hasattr(layer, "running_mean") and layer.running_mean is not None:
            hooks.append(layer.register_forward_pre_hook(measure_statistics))
        elif isinstance(layer, (nn.Linear, nn.modules.conv._ConvNd)):
            hooks.append(layer.register_forward_hook(ScaleOnce()))
    module(images)
    for hook in hooks:
        hook.remove()


class Exporter(export.Exporter):
    """torch's two exporters."""

    def __init__(self, network, exporter, batch):
        super().__init__(network, exporter, batch)
        self.example = (network.examples(EXAMPLE_BATCH[batch]),)
        self.program = None

    def write(self, path, opset):
        (self._torchscript if self.exporter == "torchscript" else self._dynamo)(path, opset)

    def check(self, binary, path):
        if not self.network.batched:  # a detector
            return row_by_row(binary, path, self.feeds())
        return super().check(binary, path)

    def _torchscript(self, path, opset):
        dynamic = {"image": {0: "batch"}} if self.batch == "dynamic" else None
        torch.onnx.export(self.network.module, self.example, path, dynamo=False, opset_version=opset,
                          input_names=["image"], dynamic_axes=dynamic)

    def _dynamo(self, path, opset):
        if self.program is None:
            dynamic = ({0: torch.export.Dim("batch")},) if self.batch == "dynamic" else None
            self.program = torch.export.export(self.network.module, self.example, dynamic_shapes=dynamic, strict=False)
        torch.onnx.export(self.program, (), path, dynamo=True, opset_version=opset, input_names=["image"],
                          external_data=False, verbose=False)
