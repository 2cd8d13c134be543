#!/usr/bin/env python3
"""Whether `saccade recognise` finds the preprocessing of models whose own is another: the real classifiers and a
detector of ../shared, with another normalization, channel order or layout in front, so that the right card is known.

    recognition.py --binary build/saccade --shared ../shared [NAME...]

A card with another channel order, normalization or decoder than the right one is an error. So is none, but where 20
images may be too few. Exit status 77: skipped.
"""
import dataclasses
import json
import pathlib
import tempfile

from script import arguments, conclude, needs

with needs("--peers"):
    import onnx
    import rewritten


@dataclasses.dataclass
class Variant:
    model: str
    pixels: rewritten.Pixels
    decoder: str = "classify"
    may_be_open: bool = False  # whether 20 images may be too few

    @property
    def name(self):
        layout = " channels-last" if self.pixels.channels_last else ""
        return f"{self.model} {self.pixels.color} {self.pixels.normalization}{layout}"


Pixels = rewritten.Pixels
VARIANTS = [Variant("mobilenetv2_v1_224", Pixels("bgr", "0..255")),
            Variant("mobilenetv2_v1_224", Pixels("bgr", "ImageNet")),
            Variant("mobilenetv2_v1_224", Pixels("rgb", "-1..1", channels_last=True)),
            # Too large pixels leave its best class and make it certain.
            Variant("squeezenet1.1_224", Pixels("rgb", "-1..1"), may_be_open=True),
            Variant("yolox_nano_416", Pixels("rgb", "0..1"), "yolox")]


def write(shared, variant, path):
    """The model with its own preprocessing after an input that wants VARIANT's."""
    model = onnx.load(shared / "models" / "real" / f"{variant.model}.onnx")
    rewritten.put_pixels_before(model, variant.model, variant.pixels)
    onnx.save(model, path)


def what_is_wrong(variant, found):
    card = rewritten.card_in(found)
    if card is None:
        return "" if variant.may_be_open and found["verdict"] == "tie" else f"no card ({found['verdict']})"
    if card["output"]["decoder"] != variant.decoder:
        return card["output"]["decoder"]
    return rewritten.what_is_wrong(variant.pixels, card["input"])


def main():
    args = arguments(__doc__)
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
            try:
                found, messages = rewritten.recognise(args.binary, path, data)
            except RuntimeError as error:
                complaints.append(f"{variant.name}: {error}")
                continue
        if wrong := what_is_wrong(variant, found):
            complaints.append(f"{variant.name}: {wrong}; {json.dumps(found['trials'][:3])}")
        if messages:
            complaints.append(f"{variant.name}: a message of a card that was only tried: {messages.strip()[:300]}")
        print(rewritten.summary_of(variant.name, found), flush=True)
    conclude(complaints, len(chosen), "variants")


main()
