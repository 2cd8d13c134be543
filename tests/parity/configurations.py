"""The configurations of transforms.py: presets of torchvision's weights and of timm's pretrained models, and Hugging
Face's image processors, each with what describes it to saccade. Nothing is downloaded."""
import dataclasses
import json
import math

import timm
import torchvision
import transformers
from timm.data import create_transform, resolve_data_config
from torchvision.transforms._presets import SemanticSegmentation


@dataclasses.dataclass
class Configuration:
    name: str
    transform: object  # of an image of Pillow
    size: tuple        # width and height of the tensor
    mean: tuple        # of pixels of 0..1
    std: tuple         # a step of 255 is 1 / 255 / std
    card: str = ""
    file: str = ""     # in place of a card: another tool's file
    settings: dict = dataclasses.field(default_factory=dict)
    only: tuple = ()   # images, where the tensor's size depends on the image

    @property
    def read_from(self):
        return self.file or "card"


def card(size, resize, interpolation, mean, std, **keys):
    lines = {"resize": resize, "size": list(size), "interpolation": f"{interpolation}-antialias", "scale": 1 / 255,
             "mean": list(mean), "std": list(std), **keys}
    return "[input]\n" + "".join(f"{key} = {str(value)!r}\n" if isinstance(value, str) else f"{key} = {value}\n"
                                 for key, value in lines.items())


def of_torchvision(model, weights):
    """The preset of torchvision's WEIGHTS."""
    preset = torchvision.models.get_model_weights(model)[weights].transforms()
    interpolation, mean, std = preset.interpolation.value, preset.mean, preset.std
    name = f"torchvision {model} {weights}"
    if isinstance(preset, SemanticSegmentation):
        # The short side alone is resized: a model of a fixed size takes images of one aspect ratio.
        size = (int(preset.resize_size[0] * 640 / 480), preset.resize_size[0])
        return Configuration(name, preset, size, mean, std, card(size, "stretch", interpolation, mean, std),
                             only=("00.png",))
    size = (preset.crop_size[0],) * 2
    return Configuration(name, preset, size, mean, std,
                         card(size, "resize-crop", interpolation, mean, std, resize_to=preset.resize_size[0]))


def timm_settings(model, **changes):
    pretrained = timm.models.get_pretrained_cfg(model)
    return resolve_data_config({**changes}, pretrained_cfg=pretrained.to_dict())


def timm_card(settings):
    """The card of timm's SETTINGS."""
    (_, height, width), share = settings["input_size"], settings["crop_pct"]
    pixels = settings["interpolation"], settings["mean"], settings["std"]
    if settings["crop_mode"] == "center":
        return card((width, height), "resize-crop", *pixels, resize_to=math.floor(width / share))
    if settings["crop_mode"] == "squash":
        return card((width, height), "stretch", *pixels)
    return card((width, height), "letterbox", *pixels, pad=[round(255 * value) for value in settings["mean"]])


def of_timm(model, file="", **changes):
    """timm's preset of MODEL with CHANGES, described by a card or by FILE."""
    settings = timm_settings(model, **changes)
    _, height, width = settings["input_size"]
    name = " ".join(["timm", model, *map(str, changes.values())])
    made = Configuration(name, create_transform(**settings), (width, height), settings["mean"], settings["std"],
                         file=file)
    if file:
        made.settings = {"architecture": model, "pretrained_cfg": settings}
    else:
        made.card = timm_card(settings)
    return made


def of_hugging_face(kind, of, **changes):
    """Hugging Face's processor KIND with CHANGES for tensors OF a size, by the file that it writes. Its variant on
    Pillow: the one on tensors resizes by torchvision's arithmetic."""
    processor = getattr(transformers, kind + "ImageProcessorPil")(**changes)
    written = json.loads(processor.to_json_string())
    std = [(value**2 if written.get("include_top") else value) / written["rescale_factor"] / 255
           for value in written["image_std"]]

    def transform(image):
        return processor(image, return_tensors="np")["pixel_values"][0]
    return Configuration(f"{kind}ImageProcessor", transform, of, written["image_mean"], std,
                         file="preprocessor_config.json", settings=written)


TORCHVISION = [
    ("resnet50", "IMAGENET1K_V1"), ("resnet50", "IMAGENET1K_V2"), ("mobilenet_v3_large", "IMAGENET1K_V2"),
    ("convnext_tiny", "IMAGENET1K_V1"), ("swin_t", "IMAGENET1K_V1"), ("swin_v2_b", "IMAGENET1K_V1"),
    ("vit_b_16", "IMAGENET1K_V1"), ("vit_b_16", "IMAGENET1K_SWAG_E2E_V1"), ("maxvit_t", "IMAGENET1K_V1"),
    ("regnet_y_16gf", "IMAGENET1K_SWAG_LINEAR_V1"), ("inception_v3", "IMAGENET1K_V1"),
    ("efficientnet_v2_s", "IMAGENET1K_V1"), ("efficientnet_b1", "IMAGENET1K_V2"),
    *((f"efficientnet_b{i}", "IMAGENET1K_V1") for i in range(8)),
    ("deeplabv3_resnet50", "COCO_WITH_VOC_LABELS_V1"), ("lraspp_mobilenet_v3_large", "COCO_WITH_VOC_LABELS_V1")]
TIMM = ["resnet50.a1_in1k", "resnet50.tv2_in1k", "dla34.in1k", "cspdarknet53.ra_in1k", "mobileone_s1.apple_in1k",
        "inception_v3.tf_adv_in1k", "dpn68.mx_in1k", "mobilevit_s.cvnets_in1k", "efficientnet_b3_pruned.in1k",
        "vit_base_patch16_clip_224.openai", "beitv2_large_patch16_224.in1k_ft_in1k", "convmixer_768_32.in1k",
        "regnetx_004_tv.tv2_in1k", "vit_7b_patch16_dinov3.sat493m", "volo_d4_448.sail_in1k",
        "coat_lite_medium_384.in1k", "convnext_base.clip_laion2b_augreg_ft_in12k_in1k_384"]

CONFIGURATIONS = [
    *(of_torchvision(*each) for each in TORCHVISION),
    *(of_timm(each) for each in TIMM),
    # No model of timm's is that small: a tensor that is not square, and padded ones.
    of_timm("vit_5b_patch16_sapiens2.fb", input_size=(3, 256, 192)),
    of_timm("deepseek_vit_412m.deepseek_v4_1_flash", input_size=(3, 224, 224)),
    of_timm("deepseek_vit_412m.deepseek_v4_1_flash", input_size=(3, 160, 256)),
    # Other tools' files.
    *(of_timm(each, "config.json") for each in (
        "resnet50.a1_in1k", "inception_v3.tf_adv_in1k", "vit_base_patch16_clip_224.openai", "mobilevit_s.cvnets_in1k",
        "coat_lite_medium_384.in1k", "volo_d4_448.sail_in1k")),
    of_timm("deepseek_vit_412m.deepseek_v4_1_flash", "config.json", input_size=(3, 224, 224)),
    *(of_hugging_face(kind, (224, 224)) for kind in (
        "CLIP", "ViT", "MobileNetV2", "Bit", "Siglip", "Levit", "PoolFormer")),
    of_hugging_face("ConvNext", (224, 224), size={"shortest_edge": 224}),
    of_hugging_face("ConvNext", (384, 384)),
    of_hugging_face("EfficientNet", (224, 224), size={"height": 224, "width": 224}, resample=3),
    of_hugging_face("EfficientNet", (240, 240), size={"height": 240, "width": 240}, rescale_offset=True,
                    rescale_factor=1 / 127.5, include_top=False),
]

# Steps that a card cannot describe, in a file that saccade must refuse: the key that its message names.
REFUSED = [(of_timm("dm_nfnet_f0.dm_in1k", "config.json"), "crop_mode"),  # crops a stretched image
           (of_timm("resnet50.a1_in1k", "config.json", input_size=(3, 192, 256)), "crop_mode"),
           (of_hugging_face("DeiT", (224, 224)), "crop_size")]  # crops a stretched image, too
