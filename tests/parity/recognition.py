#!/usr/bin/env python3
"""Whether `saccade recognise` finds the preprocessing of models whose own is another: the real classifiers and a
detector of ../shared, with another normalization, channel order or layout in front, so that the right card is known.

    recognition.py --binary build/saccade --shared ../shared [NAME...]

A card with another channel order, normalization or decoder than the right one is an error. So is none, but where 20
images may be too few. Exit status 77: skipped.
"""
import argparse
import dataclasses
import json
import pathlib
import subprocess
import tempfile
import tomllib

from script import conclude, needs

with needs("--peers"):
    import numpy as np
    import onnx
    from onnx import helper, numpy_helper

# tensor = (pixel * scale - mean) / std, for RGB
NORMALIZATIONS = {
    "0..1": (1 / 255, (0, 0, 0), (1, 1, 1)), "0..255": (1, (0, 0, 0), (1, 1, 1)),
    "-1..1": (1 / 127.5, (1, 1, 1), (1, 1, 1)), "Caffe": (1, (123, 117, 104), (1, 1, 1)),
    "ImageNet": (1 / 255, (0.485, 0.456, 0.406), (0.229, 0.224, 0.225))}
OWN = {"mobilenetv2_v1_224": ("rgb", "ImageNet"), "squeezenet1.1_224": ("bgr", "Caffe"),
       "yolox_nano_416": ("bgr", "0..255")}


@dataclasses.dataclass
class Variant:
    model: str
    color: str
    normalization: str
    decoder: str = "classify"
    channels_last: bool = False
    may_be_open: bool = False  # whether 20 images may be too few

    @property
    def name(self):
        return f"{self.model} {self.color} {self.normalization}" + (" channels-last" if self.channels_last else "")


VARIANTS = [Variant("mobilenetv2_v1_224", "bgr", "0..255"), Variant("mobilenetv2_v1_224", "bgr", "ImageNet"),
            Variant("mobilenetv2_v1_224", "rgb", "-1..1", channels_last=True),
            # Too large pixels leave its best class and make it certain.
            Variant("squeezenet1.1_224", "rgb", "-1..1", may_be_open=True), Variant("yolox_nano_416", "rgb", "0..1", "yolox")]


def affine(color, normalization):
    """The factor and the offset of each channel, in the tensor's order: tensor = pixel * factor + offset."""
    scale, mean, std = (np.broadcast_to(each, 3).astype(float) for each in NORMALIZATIONS[normalization])
    order = slice(None, None, -1 if color == "bgr" else 1)
    return (scale / std)[order], (-mean / std)[order]


def write(shared, variant, path):
    """The model with its own preprocessing after an input that wants VARIANT's."""
    model = onnx.load(shared / "models" / "real" / f"{variant.model}.onnx")
    graph = model.graph
    own = graph.input[0]
    color, normalization = OWN[variant.model]
    factor, offset = affine(color, variant.normalization)
    own_factor, own_offset = affine(color, normalization)
    _, channels, height, width = (dim.dim_value for dim in own.type.tensor_type.shape.dim)
    shape = [1, height, width, channels] if variant.channels_last else [1, channels, height, width]
    before, value = [], "pixels"
    if variant.channels_last:
        before.append(helper.make_node("Transpose", [value], [value := "planes"], perm=[0, 3, 1, 2]))
    if variant.color != color:
        before.append(helper.make_node("Gather", [value, "reversed"], [value := "swapped"], axis=1))
    before += [helper.make_node("Mul", [value, "factor"], ["multiplied"]),
               helper.make_node("Add", ["multiplied", "offset"], [own.name])]
    constants = {"reversed": np.array([2, 1, 0]),
                 "factor": (own_factor / factor).astype(np.float32).reshape(1, 3, 1, 1),
                 "offset": (own_offset - offset * own_factor / factor).astype(np.float32).reshape(1, 3, 1, 1)}
    graph.initializer.extend(numpy_helper.from_array(array, name) for name, array in constants.items()
                             if any(name in node.input for node in before))
    nodes = before + list(graph.node)
    del graph.node[:]
    graph.node.extend(nodes)
    graph.input.remove(own)
    graph.input.insert(0, helper.make_tensor_value_info("pixels", onnx.TensorProto.FLOAT, shape))
    onnx.save(model, path)


def what_is_wrong(variant, found):
    if found["card"] is None:
        return "" if variant.may_be_open and found["verdict"] == "tie" else f"no card ({found['verdict']})"
    card = tomllib.loads(found["card"])
    section = card["input"]
    if (section["color"], card["output"]["decoder"]) != (variant.color, variant.decoder):
        return f"{section['color']}, {card['output']['decoder']}"
    mean, std = (np.broadcast_to(section[key], 3) for key in ("mean", "std"))
    wanted = affine(variant.color, variant.normalization)
    for ours, right in zip((section["scale"] / std, -mean / std), wanted):
        if not np.allclose(ours, right, rtol=1e-3, atol=1e-6):
            return f"scale {section['scale']}, mean {section['mean']}, std {section['std']}"
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--shared", type=pathlib.Path, required=True)
    parser.add_argument("name", nargs="*")
    args = parser.parse_args()
    if not (args.shared / "models" / "real").exists():
        print(f"SKIPPED: there are no models in {args.shared}")
        raise SystemExit(77)
    complaints = []
    chosen = [each for each in VARIANTS if not args.name or each.name in args.name]
    for variant in chosen:
        kind = "imagenet" if variant.decoder == "classify" else "coco"
        data = f"{kind}:{args.shared / kind}"
        with tempfile.TemporaryDirectory() as folder:
            write(args.shared, variant, path := pathlib.Path(folder) / "model.onnx")
            done = subprocess.run([args.binary, "recognise", path, "--data", data, "--device", "cpu", "--json"],
                                  capture_output=True, text=True, timeout=900, check=False)
        if done.returncode not in (0, 3):
            complaints.append(f"{variant.name}: exit status {done.returncode}: {done.stderr.strip()[-300:]}")
            continue
        found = json.loads(done.stdout)
        if wrong := what_is_wrong(variant, found):
            complaints.append(f"{variant.name}: {wrong}; {json.dumps(found['trials'][:3])}")
        if done.stderr:
            complaints.append(f"{variant.name}: a message of a card that was only tried: {done.stderr.strip()[:300]}")
        print(f"{variant.name}: {found['verdict']}, undecided: {', '.join(found['undecided']) or 'nothing'}, "
              f"{len(found['trials'])} cards", flush=True)
    conclude(complaints, len(chosen), "variants")


main()
