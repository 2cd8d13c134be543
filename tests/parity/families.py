#!/usr/bin/env python3
"""Whether `saccade recognise` finds the card of other families: the real detectors of ../shared, with their predictions
in the form of another family's export (dense_heads.py, chosen_heads.py) and its usual pixels in front (rewritten.py),
so that the right card is known.

    families.py --binary build/saccade --shared ../shared [--every N] [NAME...]

--every N takes every Nth variant.

The decoder, the numbers of the classes, the channel order, the normalization and, where the images tell it, the resize
must be right, and the AP must be the detector's own. A variant without a card is an error, but where 20 images may be
too few to tell the keys that it names. Exit status 77: skipped.
"""
import concurrent.futures
import dataclasses
import functools
import json
import pathlib
import subprocess
import tempfile
import typing

from script import arguments, conclude, needs

with needs("--peers"):
    import onnx
    import chosen_heads as chosen
    import dense_heads as dense
    import rewriter
    import rewritten

YOLOX, DEIM, YOLOV8_SEG = "yolox_nano_416", "deimv2_atto_coco_320", "yolov8n-seg_640"
# What a head may lose of the AP: its built-in NMS has another threshold and gives at most 100 boxes.
LOSS = 0.015
# Of all variants.
FEWEST = 20


@dataclasses.dataclass
class Variant:
    name: str
    model: str
    head: typing.Callable
    decoder: str | None  # none reads it
    pixels: rewritten.Pixels
    first_category: int | None = None  # the classes are COCO's category IDs from this on
    has_background: bool = False  # class 0
    loss: float = LOSS
    may_be_open: tuple = ()  # the keys that 20 images may be too few to tell


# DEIM chooses pairs of query and class, these heads one class per query.
ONE_CLASS = 0.035


def pixels(name, normalization="0..1", color="rgb", **form):
    return rewritten.Pixels(color, normalization, name, **form)


VARIANTS = [
    Variant("YOLOv5", YOLOX, dense.yolov5, "yolov5", pixels("images")),
    Variant("YOLOX decoded", YOLOX, dense.yolox_decoded, "yolov5", pixels("images", "0..255", "bgr")),
    Variant("YOLOv8", YOLOX, dense.yolov8, "yolov8", pixels("images")),
    Variant("YOLOv10", YOLOX, chosen.end_to_end, "yolo-e2e", pixels("images")),
    Variant("rows with a background class", YOLOX, chosen.after_background, "yolo-e2e", pixels("images"),
            has_background=True),
    Variant("rows with the class first", YOLOX, chosen.class_first, None, pixels("images")),
    Variant("columns with y first", YOLOX, dense.swapped_columns, None, pixels("images")),
    Variant("YOLOv7 end-to-end", YOLOX, chosen.yolov7_end_to_end, "yolov7-e2e", pixels("images")),
    Variant("TensorRT EfficientNMS", YOLOX, chosen.tensorrt, "tensorrt", pixels("images")),
    Variant("YOLO-NAS", YOLOX, dense.yolo_nas, "yolo-nas", pixels("input.1")),
    Variant("YOLO-NAS in its flat format", YOLOX, chosen.yolo_nas_flat, "yolo-nas-e2e",
            pixels("input", "0..255", is_uint8=True)),
    Variant("YOLO-NAS in its batch format", YOLOX, chosen.yolo_nas_batch, "tensorrt",
            pixels("input", "0..255", is_uint8=True)),
    Variant("NanoDet-Plus", YOLOX, dense.nanodet, "nanodet", pixels("data", "ImageNet", "bgr")),
    Variant("YOLOv5's heads", YOLOX, dense.yolov5_heads, "yolov5-heads", pixels("images"), may_be_open=("color",)),
    Variant("PP-YOLOE+", YOLOX, chosen.ppyoloe_end_to_end, "ppyoloe-e2e", pixels("image")),
    # The default is PP-YOLOE+'s; -1..1 is as good on some images.
    Variant("PP-YOLOE", YOLOX, chosen.ppyoloe_end_to_end, "ppyoloe-e2e", pixels("image", "ImageNet"),
            may_be_open=("normalization",)),
    Variant("PP-YOLOE without NMS", YOLOX, dense.ppyoloe, "ppyoloe", pixels("image", "ImageNet")),
    Variant("torchvision RetinaNet", YOLOX, chosen.torchvision, "torchvision", pixels("images", has_batch=False), 0),
    Variant("TensorFlow SSD", YOLOX, chosen.tensorflow, "tensorflow",
            pixels("image_tensor:0", "0..255", channels_last=True, is_uint8=True), 1),
    Variant("EfficientDet of automl", YOLOX, chosen.efficientdet, "efficientdet-e2e",
            pixels("image_arrays:0", "0..255", channels_last=True, is_uint8=True), 1),
    Variant("YOLOv3 of Keras", YOLOX, dense.keras_yolov3, "keras-yolov3", pixels("input_1")),
    Variant("pytorch-YOLOv4", YOLOX, dense.darknet, "darknet", pixels("input")),
    Variant("pytorch-ssd", YOLOX, dense.pytorch_ssd, "ssd", pixels("input.1", "pytorch-ssd")),
    # BGR is better on some images.
    Variant("RT-DETR of Ultralytics", DEIM, chosen.rtdetr_rows, "rtdetr-rows", pixels("images"), loss=ONE_CLASS,
            may_be_open=("color",)),
    Variant("RT-DETR of Ultralytics with its choice", DEIM, chosen.rtdetr_end_to_end, "rtdetr-e2e", pixels("images")),
    Variant("RT-DETR of Hugging Face", DEIM, chosen.rtdetr, "rtdetr", pixels("pixel_values"), loss=ONE_CLASS),
    Variant("DETR", DEIM, chosen.detr, "detr", pixels("pixel_values", "ImageNet"), 0, loss=ONE_CLASS),
    Variant("RF-DETR", DEIM, chosen.rfdetr, "rfdetr", pixels("input", "ImageNet"), 0, loss=ONE_CLASS),
    Variant("D-FINE", DEIM, chosen.detr_end_to_end, "detr-e2e", pixels("images")),
    Variant("SSD of ONNX's zoo", DEIM, chosen.zoo_ssd, "ssd-zoo", pixels("image", "ImageNet")),
    Variant("YOLOv5-seg", YOLOV8_SEG, dense.yolov5_seg, "yolov5-seg", pixels("images")),
]


def write(shared, variant, path):
    model = rewriter.load(shared, variant.model)
    detector = rewriter.Rewriter(model, variant.model)
    variant.head(detector)
    detector.finish()
    rewritten.put_pixels_before(model, variant.model, variant.pixels)
    onnx.checker.check_model(model)
    onnx.save(model, path)


def wanted_remap(variant):
    if variant.has_background:
        return list(range(-1, rewriter.CLASSES))
    if variant.first_category is None:
        return None
    numbers = range(variant.first_category, rewriter.COCO[-1] + 1)
    return [rewriter.COCO.index(each) if each in rewriter.COCO else -1 for each in numbers]


def what_is_wrong(variant, found):
    card = rewritten.card_in(found)
    if variant.decoder is None:
        return "" if found["verdict"] == "none" else f"{found['verdict']}, though no decoder reads it"
    if card is None:
        is_known = found["verdict"] == "tie" and variant.may_be_open and {*variant.may_be_open} <= {*found["undecided"]}
        return "" if is_known else f"no card ({found['verdict']}, undecided: {', '.join(found['undecided'])})"
    output = card["output"]
    if output["decoder"] != variant.decoder:
        return f"the decoder {output['decoder']}"
    if output.get("remap") != wanted_remap(variant) or output["labels"][:2] != ["person", "bicycle"]:
        return f"the classes {output['labels'][:2]} by {output.get('remap')}"
    if wrong := rewritten.what_is_wrong(variant.pixels, card["input"]):
        return wrong
    resize = card["input"]["resize"]
    if resize != rewritten.OWN[variant.model][2] and "resize" not in found["undecided"]:
        return f"the resize {resize}, which the images are said to tell"
    return ""


@functools.cache
def own_ap(binary, shared, model, keys):
    """The AP of a real model on the same images by its own card, but with the KEYS and values of the resize."""
    with tempfile.TemporaryDirectory() as folder:
        onnx.save(rewriter.load(shared, model), path := pathlib.Path(folder) / "model.onnx")
        path.with_suffix(".toml").write_text("\n".join(["[input]", *(f"{key} = {value}" for key, value in keys)]),
                                             encoding="utf-8")
        command = [binary, "validate", path, "--data", f"coco:{shared / 'coco'}", "--device", "cpu", "--threads", "1",
                   "--max-frames", "20", "--multi-label", "false", "--json"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=900, check=True)
    return json.loads(done.stdout)["models"][0]["scores"]["box"]["ap"]


def resize_of(card):
    """What own_ap() takes of CARD."""
    section = card["input"]
    return tuple((key, json.dumps(section[key])) for key in ("resize", "interpolation", "pad") if key in section)


def examine(args, variant):
    """Prints a line about VARIANT. Whether there is a card, and what is wrong."""
    with tempfile.TemporaryDirectory() as folder:
        write(args.shared, variant, path := pathlib.Path(folder) / "model.onnx")
        try:
            found, messages = rewritten.recognise(args.binary, path, f"coco:{args.shared / 'coco'}", "--threads", "1")
        except RuntimeError as error:
            return False, [f"{variant.name}: {error}"]
    wrong = [what_is_wrong(variant, found)]
    line = rewritten.summary_of(variant.name, found)
    card = rewritten.card_in(found)
    if card is not None:
        ap = found["trials"][found["chosen"]]["ap"]
        own = own_ap(args.binary, args.shared, variant.model, resize_of(card))
        line += f", AP {ap:.3f} (the detector itself: {own:.3f})"
        if ap < own - variant.loss:
            wrong.append(f"AP {ap:.3f}, but the detector itself has {own:.3f}")
    if messages:
        wrong.append(f"a message of a card that was only tried: {messages.strip()[:300]}")
    print(line, flush=True)
    return card is not None, [f"{variant.name}: {each}; {json.dumps(found['trials'][:3])}" for each in wrong if each]


def main():
    args = arguments(__doc__, "--every")
    if not (args.shared / "models" / "real").exists():
        print(f"SKIPPED: there are no models in {args.shared}")
        raise SystemExit(77)
    selected = [each for each in VARIANTS if not args.name or each.name in args.name][::args.every]
    # One thread each: most of the time goes into many short runs.
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        examined = list(pool.map(lambda variant: examine(args, variant), selected))
    complaints = [each for _, wrong in examined for each in wrong]
    cards = sum(has_card for has_card, _ in examined)
    if len(selected) == len(VARIANTS) and cards < FEWEST:
        complaints.append(f"only {cards} cards")
    print(f"{cards} cards")
    conclude(complaints, len(selected), "families")


main()
