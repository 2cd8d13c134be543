"""Models whose right card is known by construction: a real model, with nodes before its input that turn another
family's pixels into its own. And what `saccade recognise` makes of such a model."""
import dataclasses
import json
import subprocess
import tomllib

import numpy as np
import onnx
from onnx import helper, numpy_helper

# tensor = (pixel * scale - mean) / std, for RGB
NORMALIZATIONS = {
    "0..1": (1 / 255, (0, 0, 0), (1, 1, 1)), "0..255": (1, (0, 0, 0), (1, 1, 1)),
    "-1..1": (1 / 127.5, (1, 1, 1), (1, 1, 1)), "Caffe": (1, (123, 117, 104), (1, 1, 1)),
    "pytorch-ssd": (1, (127, 127, 127), (128, 128, 128)),
    "ImageNet": (1 / 255, (0.485, 0.456, 0.406), (0.229, 0.224, 0.225))}
# The color, the normalization and the resize that the weights were trained with.
OWN = {"mobilenetv2_v1_224": ("rgb", "ImageNet", "resize-crop"),
       "squeezenet1.1_224": ("bgr", "Caffe", "resize-crop"),
       "yolox_nano_416": ("bgr", "0..255", "letterbox-topleft"),
       "deimv2_atto_coco_320": ("rgb", "0..1", "stretch"),
       "yolov8n-seg_640": ("rgb", "0..1", "letterbox")}


@dataclasses.dataclass
class Pixels:
    """The image input that a family's export has."""
    color: str = "rgb"
    normalization: str = "0..1"
    input: str = "images"
    channels_last: bool = False
    is_uint8: bool = False
    has_batch: bool = True


def affine(color, normalization):
    """The factor and the offset of each channel, in the tensor's order: tensor = pixel * factor + offset."""
    scale, mean, std = (np.broadcast_to(each, 3).astype(float) for each in NORMALIZATIONS[normalization])
    order = slice(None, None, -1 if color == "bgr" else 1)
    return (scale / std)[order], (-mean / std)[order]


def shape_of(value):
    return [dim.dim_value for dim in value.type.tensor_type.shape.dim]


def put_pixels_before(model, name, pixels):
    """Replaces the image input of MODEL, the file NAME, by one of PIXELS."""
    graph = model.graph
    own = graph.input[0]
    factor, offset = affine(pixels.color, pixels.normalization)
    own_factor, own_offset = affine(*OWN[name][:2])
    _, channels, height, width = shape_of(own)
    batch = [1, height, width, channels] if pixels.channels_last else [1, channels, height, width]
    value, before = pixels.input, []

    def add(kind, *more, **attributes):
        nonlocal value
        before.append(helper.make_node(kind, [value, *more], [f"pixels_{len(before)}"], **attributes))
        value = before[-1].output[0]

    if pixels.is_uint8:
        add("Cast", to=onnx.TensorProto.FLOAT)
    if not pixels.has_batch:
        add("Reshape", "pixels_batch")
    if pixels.channels_last:
        add("Transpose", perm=[0, 3, 1, 2])
    if pixels.color != OWN[name][0]:
        add("Gather", "pixels_reversed", axis=1)
    add("Mul", "pixels_factor")
    add("Add", "pixels_offset")
    constants = {"pixels_reversed": np.array([2, 1, 0]), "pixels_batch": np.array(batch),
                 "pixels_factor": (own_factor / factor).astype(np.float32).reshape(1, 3, 1, 1),
                 "pixels_offset": (own_offset - offset * own_factor / factor).astype(np.float32).reshape(1, 3, 1, 1)}
    graph.initializer.extend(numpy_helper.from_array(array, key) for key, array in constants.items()
                             if any(key in node.input for node in before))
    for node in graph.node:
        node.input[:] = [value if each == own.name else each for each in node.input]
    nodes = before + list(graph.node)
    del graph.node[:]
    graph.node.extend(nodes)
    graph.input.remove(own)
    kind = onnx.TensorProto.UINT8 if pixels.is_uint8 else onnx.TensorProto.FLOAT
    shape = batch if pixels.has_batch else batch[1:]
    graph.input.insert(0, helper.make_tensor_value_info(pixels.input, kind, shape))


def what_is_wrong(pixels, section):
    """What is wrong in the section [input] of a card, but for the resize; empty: nothing."""
    if section["color"] != pixels.color:
        return section["color"]
    mean, std = (np.broadcast_to(section[key], 3) for key in ("mean", "std"))
    wanted = affine(pixels.color, pixels.normalization)
    for ours, right in zip((section["scale"] / std, -mean / std), wanted):
        if not np.allclose(ours, right, rtol=1e-3, atol=1e-6):
            return f"scale {section['scale']}, mean {section['mean']}, std {section['std']}"
    return ""


def card_in(found):
    return None if found["card"] is None else tomllib.loads(found["card"])


def recognise(binary, path, data, *flags):
    """The report of `saccade recognise`, and its messages. Throws RuntimeError if the command fails."""
    done = subprocess.run([binary, "recognise", path, "--data", data, "--device", "cpu", "--json", *flags],
                          capture_output=True, text=True, timeout=900, check=False)
    if done.returncode not in (0, 3):
        raise RuntimeError(f"exit status {done.returncode}: {done.stderr.strip()[-300:]}")
    return json.loads(done.stdout), done.stderr


def summary_of(name, found):
    """One line."""
    return (f"{name}: {found['verdict']}, undecided: {', '.join(found['undecided']) or 'nothing'}, "
            f"{len(found['trials'])} cards")
