"""Pictures of the synthetic scene with their truth: rendered by `saccade demo --render`, read into one tensor."""
import concurrent.futures
import json
import os
import random
import subprocess

import torch
from torchvision.io import decode_jpeg, read_file

PLACES = 48  # objects a picture, at most


def clip_options(seed):
    """Half of the clips under conditions drawn anew, half as the scene itself has them. Frames five seconds
    apart, so that no two look alike and each clip sees day and night."""
    draw = random.Random(seed)
    options = [f"seed={seed}", "fps=0.2", f"objects={draw.randint(12, 36)}"]
    if draw.random() < 0.5:
        options += [f"night={draw.random():.2f}", f"blur={draw.random() ** 2:.2f}"]
    return "synthetic:?" + "&".join(options)


def render(binary, folder, seeds, frames):
    """One folder a seed with FRAMES pictures and instances.json."""
    def one(seed):
        clip = os.path.join(folder, str(seed))
        subprocess.run([binary, "demo", "--render", str(frames), "--output", clip, "--format", "jpg", "--source",
                        clip_options(seed)], check=True, stdout=subprocess.DEVNULL)
        return clip

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(one, seeds))


def read_clip(clip):
    with open(os.path.join(clip, "instances.json"), encoding="utf-8") as file:
        truth = json.load(file)
    objects = {image["id"]: [] for image in truth["images"]}
    for annotation in truth["annotations"]:
        objects[annotation["image_id"]].append(annotation)
    names = [category["name"] for category in sorted(truth["categories"], key=lambda category: category["id"])]
    first = min(category["id"] for category in truth["categories"])
    pictures, boxes, kinds, counts = [], [], [], []
    for image in truth["images"]:
        pictures.append(decode_jpeg(read_file(os.path.join(clip, image["file_name"]))))
        box, kind, count = torch.zeros(PLACES, 4), torch.full((PLACES,), -1), torch.zeros(PLACES, dtype=torch.bool)
        for place, annotation in enumerate(objects[image["id"]][:PLACES]):
            x, y, width, height = annotation["bbox"]
            box[place] = torch.tensor([x, y, x + width, y + height])
            kind[place] = annotation["category_id"] - first
            count[place] = not annotation["iscrowd"]
        boxes.append(box)
        kinds.append(kind)
        counts.append(count)
    return torch.stack(pictures), torch.stack(boxes), torch.stack(kinds), torch.stack(counts), names


def read(clips, device):
    """Pictures [N, 3, H, W] uint8, boxes [N, PLACES, 4], kinds [N, PLACES] (-1: none), counts [N, PLACES]; the names of
    the classes."""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        parts = list(pool.map(read_clip, clips))
    tensors = [torch.cat([part[i] for part in parts]).to(device) for i in range(4)]
    return (*tensors, parts[0][4])


def augment(pictures, boxes, kinds, counts, generator):
    """Flips, zooms, shifts and recolours a batch on its device; PICTURES come out 0 to 1. What mostly left the picture no
    longer counts."""
    number, _, height, width = pictures.shape
    device = pictures.device

    def draw(low, high):
        return torch.rand(number, generator=generator, device=device) * (high - low) + low

    flip = torch.where(draw(0, 1) < 0.5, -1.0, 1.0)
    zoom = torch.where(draw(0, 1) < 0.3, torch.ones(number, device=device), draw(0.7, 1.5))
    shift_x, shift_y = draw(-0.25, 0.25), draw(-0.25, 0.25)
    still = zoom == 1
    shift_x, shift_y = shift_x.masked_fill(still, 0), shift_y.masked_fill(still, 0)
    # grid_sample asks, for every output pixel, where it comes from.
    theta = torch.zeros(number, 2, 3, device=device)
    theta[:, 0, 0], theta[:, 1, 1] = flip / zoom, 1 / zoom
    theta[:, 0, 2], theta[:, 1, 2] = shift_x, shift_y
    grid = torch.nn.functional.affine_grid(theta, pictures.shape, align_corners=False)
    pictures = torch.nn.functional.grid_sample(pictures.float() / 255, grid, padding_mode="zeros",
                                               align_corners=False)
    gain, offset, gamma = draw(0.7, 1.4), draw(-0.08, 0.08), draw(0.8, 1.25)
    tint = torch.rand(number, 3, generator=generator, device=device) * 0.2 + 0.9
    pictures = (pictures * (gain[:, None] * tint)[..., None, None] + offset[:, None, None, None]).clamp(1e-4, 1)
    pictures = pictures ** gamma[:, None, None, None]

    size = torch.tensor([width, height], device=device, dtype=torch.float32)
    factor = torch.stack((zoom * flip, zoom), 1)[:, None]
    shift = torch.stack((shift_x, shift_y), 1)[:, None]

    def moved(points):
        return ((points / size * 2 - 1 - shift) * factor + 1) / 2 * size

    a, b = moved(boxes[..., :2]), moved(boxes[..., 2:])
    low, high = torch.minimum(a, b), torch.maximum(a, b)
    whole = (high - low).prod(-1)
    limit = size.expand_as(low)
    clipped = torch.cat((torch.minimum(low.clamp(min=0), limit), torch.minimum(high.clamp(min=0), limit)), -1)
    sides = clipped[..., 2:] - clipped[..., :2]
    seen = sides.prod(-1) / (whole + 1e-9)
    kinds = torch.where(seen > 0.02, kinds, -1)
    counts = counts & (seen > 0.4) & (sides.amin(-1) >= 7)
    return pictures, clipped, kinds, counts
