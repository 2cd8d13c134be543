#!/usr/bin/env python3
"""Compares preprocessing with torchvision's and timm's own transforms: for each configuration, the tensor that saccade
feeds the model must equal the transform's within one step of 255 in every value, on images of random sizes and on the
photographs of ../shared. So must what it does by Hugging Face's preprocessor_config.json and timm's config.json. A step
that no card describes must be refused.

    transforms.py --binary build/saccade [--shared ../shared] [NAME...]

configurations.py lists the configurations: each has a card, timm's config.json or Hugging Face's
preprocessor_config.json. No weights are needed. Runs in the environment of script/bootstrap --exporters. Exit status
77: skipped.
"""
import argparse
import contextlib
import dataclasses
import json
import pathlib
import subprocess
import sys
import tempfile

from script import conclude, needs

with needs("--exporters"):
    import numpy as np
    import onnx
    from configurations import CONFIGURATIONS, REFUSED
    from onnx import helper, numpy_helper
    from PIL import Image

MOST_VALUES = 90_000  # of one embedding; a tensor is fed to several models
MANY_VALUES = 400_000  # of a tensor: the fewest images see it
SIZES = [(640, 480), (431, 577), (37, 53), (1201, 803), (96, 640), (225, 224)]
STEP = 1 + 1e-3  # of 255, and what float32 rounds


def write_images(folder, shared):
    """Noise on gradients, in random sizes; photographs as PNG files, because JPEG decoders differ."""
    rng = np.random.default_rng(11)
    for number, (width, height) in enumerate([*SIZES, *rng.integers(50, 900, (3, 2)).tolist()]):
        y, x = np.mgrid[0:height, 0:width]
        ramp = np.stack([x * 255 / width, y * 255 / height, 255 - x * 255 / width], -1)
        noise = rng.integers(0, 256, (height, width, 3))
        pixels = np.where((x // 40 + y // 40)[..., None] % 2, noise, ramp).astype(np.uint8)
        Image.fromarray(pixels).save(folder / f"{number:02}.png", compress_level=1)
    for path in sorted((shared / "images").glob("*.jpg")) if shared else []:
        Image.open(path).convert("RGB").save(folder / f"photograph_{path.stem}.png", compress_level=1)


def save_identity(path, width, height, begin, end):
    """A model whose embedding is the values BEGIN to END of its image, and a 1, so that its norm does not matter."""
    def constant(name, values):
        return numpy_helper.from_array(np.array(values), name)
    nodes = [helper.make_node("Reshape", ["image", "all"], ["flat"]),
             helper.make_node("Slice", ["flat", "begin", "end", "axis"], ["part"]),
             helper.make_node("Concat", ["part", "one"], ["embedding"], axis=1)]
    graph = helper.make_graph(
        nodes, "identity",
        [helper.make_tensor_value_info("image", onnx.TensorProto.FLOAT, [1, 3, height, width])],
        [helper.make_tensor_value_info("embedding", onnx.TensorProto.FLOAT, [1, end - begin + 1])],
        [constant("all", [1, -1]), constant("begin", [begin]), constant("end", [end]), constant("axis", [1]),
         numpy_helper.from_array(np.ones((1, 1), np.float32), "one")])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


def save_models(folder, configuration):
    """The models that together show a tensor, with the files that describe it."""
    width, height = configuration.size
    values = 3 * width * height
    models = []
    for begin in range(0, values, MOST_VALUES):
        models.append(folder / f"part{begin:08}.onnx")
        save_identity(models[-1], width, height, begin, min(values, begin + MOST_VALUES))
        if configuration.card:
            models[-1].with_suffix(".toml").write_text(configuration.card + '[output]\ndecoder = "embed"\n')
    if not configuration.card:
        (folder / configuration.file).write_text(json.dumps(configuration.settings))
    return models


def run(binary, models, images):
    command = [binary, "run", *map(str, models), "--source", str(images), "--jsonl", "-", "--no-summary", "--quiet",
               "--device", "cpu", "--log-level", "error"]
    return subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)


def fed(binary, models, images):
    """File name to the tensor that saccade feeds the models, flat."""
    done = run(binary, models, images)
    if done.returncode != 0:
        raise RuntimeError(f"saccade run exited with {done.returncode}: {done.stderr.strip()[-500:]}")
    parts = {}
    for line in map(json.loads, done.stdout.splitlines()):
        vector = np.array(line["embedding"])
        parts.setdefault(line["name"], {})[line["model"]] = vector[:-1] / vector[-1]
    return {name: np.concatenate([each[model.stem] for model in models]) for name, each in parts.items()}


def check(binary, configuration, folder):
    """What differs by more than a step; prints the largest difference and the number of values that differ."""
    images = folder / "images"
    (work := folder / "models").mkdir()
    width, height = configuration.size
    if len(configuration.only) > 0 or 3 * width * height > MANY_VALUES:
        kept = configuration.only or ("01.png", "02.png", "photograph_bus.png")
        images = folder / "some"
        images.mkdir()
        for name in filter(lambda each: (folder / "images" / each).exists(), kept):
            (images / name).symlink_to(folder / "images" / name)
    std, mean = (np.reshape(each, (3, 1, 1)) for each in (configuration.std, configuration.mean))
    largest, differing, complaints, tensors = 0, 0, [], fed(binary, save_models(work, configuration), images)
    for name, ours in sorted(tensors.items()):
        theirs = np.asarray(configuration.transform(Image.open(images / name).convert("RGB")), np.float64)
        apart = np.abs(ours.reshape(3, height, width) - theirs) * std * 255
        largest, differing = max(largest, apart.max()), differing + int((apart > 0.5).sum())
        if not apart.max() <= STEP:
            complaints.append(f"{configuration.name}: {name} differs by {apart.max():.2f} of 255")
    if len(tensors) != len(list(images.iterdir())):
        complaints.append(f"{configuration.name}: {len(tensors)} results")
    print(f"{configuration.name} ({configuration.read_from}): largest difference {largest:.3f} of 255, {differing} of "
          f"{3 * width * height * len(tensors)} values differ, {len(tensors)} images", flush=True)
    return complaints


def is_told_apart(binary, folder):
    """Whether the check fails for a wrong card."""
    right, wrong = CONFIGURATIONS[:2]
    return bool(check(binary, dataclasses.replace(right, name="a wrong card", card=wrong.card), folder))


def check_refusal(binary, configuration, key, folder):
    """What is wrong with the message about a step that a card cannot describe."""
    done = run(binary, save_models(folder, configuration), folder / "images")
    if done.returncode == 1 and f"'{key}'" in done.stderr:
        return []
    return [f"{configuration.name} ({configuration.file}) is not refused for its {key}: {done.stderr.strip()[-300:]}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--shared", type=pathlib.Path)
    parser.add_argument("name", nargs="*")
    args = parser.parse_args()
    chosen = [each for each in CONFIGURATIONS if not args.name or each.name in args.name]
    if args.name and len(chosen) < len(args.name):
        sys.exit(f"the configurations are {', '.join(each.name for each in CONFIGURATIONS)}")
    complaints = []
    with tempfile.TemporaryDirectory() as made:
        (images := pathlib.Path(made) / "images").mkdir()
        write_images(images, args.shared)

        @contextlib.contextmanager
        def work():
            with tempfile.TemporaryDirectory() as folder:
                (pathlib.Path(folder) / "images").symlink_to(images)
                yield pathlib.Path(folder)
        for configuration in chosen:
            with work() as folder:
                complaints += check(args.binary, configuration, folder)
        for configuration, key in REFUSED:
            with work() as folder:
                complaints += check_refusal(args.binary, configuration, key, folder)
        with work() as folder:
            if not is_told_apart(args.binary, folder):
                complaints.append("a wrong card is not told apart")
    conclude(complaints, len(chosen), "configurations")


main()
