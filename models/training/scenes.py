"""Pictures of the synthetic scene with their truth: rendered by `saccade demo --render`, read into one set of tensors."""
import concurrent.futures
import dataclasses
import json
import os
import random
import subprocess

import numpy
import torch
from torchvision.io import decode_jpeg, read_file

from truth import CELL, PLACES, SETTINGS, owners_runs, truth_of


@dataclasses.dataclass
class Scenes:
    """N pictures on one device. An object's number is its place among the PLACES of its picture."""
    pictures: torch.Tensor  # [N, 3, H, W] uint8
    owners: torch.Tensor    # [N, H, W] uint8: the number plus one of the object that shows; 0: none
    nearness: torch.Tensor  # [N, H / CELL, W / CELL] one over the metres, of each square's middle pixel; 0: sky
    settings: torch.Tensor  # [N] which of SETTINGS
    boxes: torch.Tensor     # [N, PLACES, 4] x1, y1, x2, y2
    kinds: torch.Tensor     # [N, PLACES] class; -1: no object
    counts: torch.Tensor    # [N, PLACES] whether the object is one to be found

    @staticmethod
    def empty(number, height, width, device):
        return Scenes(torch.empty(number, 3, height, width, dtype=torch.uint8, device=device),
                      torch.empty(number, height, width, dtype=torch.uint8, device=device),
                      torch.empty(number, height // CELL, width // CELL, device=device),
                      torch.empty(number, dtype=torch.long, device=device),
                      torch.empty(number, PLACES, 4, device=device),
                      torch.empty(number, PLACES, dtype=torch.long, device=device),
                      torch.empty(number, PLACES, dtype=torch.bool, device=device))

    def tensors(self):
        return [getattr(self, field.name) for field in dataclasses.fields(self)]

    def of(self, chosen):
        return Scenes(*(tensor[chosen] for tensor in self.tensors()))

    def __len__(self):
        return len(self.pictures)


def clip_options(seed):
    """Half of the clips under conditions drawn anew, half as the scene itself has them. Frames five seconds
    apart, so that no two look alike and each clip sees day and night."""
    draw = random.Random(seed)
    options = [f"seed={seed}", "fps=0.2", f"objects={draw.randint(12, 36)}"]
    if draw.random() < 0.5:
        options += [f"night={draw.random():.2f}", f"blur={draw.random() ** 2:.2f}"]
    return "synthetic:?" + "&".join(options)


def render(binary, clip, seed, frames):
    """CLIP, a folder with FRAMES pictures and their truth; one that is there already is left as it is."""
    if not os.path.exists(os.path.join(clip, "instances.json")):
        subprocess.run([binary, "demo", "--render", str(frames), "--output", clip, "--format", "jpg", "--depth",
                        str(CELL), "--source", clip_options(seed)], check=True, stdout=subprocess.DEVNULL)


def paint(runs, frames, height, width, device):
    """owners_runs() of FRAMES pictures as maps [FRAMES, H, W]: what rises and falls along the columns, added up."""
    places, changes = (torch.from_numpy(part).to(device) for part in runs)
    steps = torch.zeros(frames * height * width + 1, dtype=torch.int32, device=device)
    steps.index_add_(0, places, changes)
    return steps[:-1].cumsum(0).to(torch.uint8).view(frames, width, height).transpose(1, 2)


def read(clip, scenes, start):
    """Reads CLIP into SCENES from picture number START on; gives the names of the classes."""
    with open(os.path.join(clip, "instances.json"), encoding="utf-8") as file:
        coco = json.load(file)
    truth = truth_of(coco)
    images = coco["images"]
    _, _, height, width = scenes.pictures.shape
    place = slice(start, start + len(images))
    device = scenes.pictures.device
    names = [os.path.splitext(image["file_name"])[0] for image in images]
    depth = numpy.stack([numpy.load(os.path.join(clip, "depth", name + ".npy")) for name in names])
    scenes.pictures[place] = torch.stack([decode_jpeg(read_file(os.path.join(clip, image["file_name"])))
                                          for image in images]).to(device)
    scenes.owners[place] = paint(owners_runs(coco), len(images), height, width, device)
    scenes.nearness[place] = torch.from_numpy(1 / depth).to(device)
    scenes.settings[place] = torch.from_numpy(truth.settings).to(device)
    scenes.boxes[place] = torch.from_numpy(truth.boxes).to(device)
    scenes.kinds[place] = torch.from_numpy(truth.kinds).to(device)
    scenes.counts[place] = torch.from_numpy(truth.counts).to(device)
    return truth.names


def load(binary, folder, seeds, frames, device, height=480, width=640):
    """FRAMES pictures of each of SEEDS, rendered into FOLDER: Scenes, and the names of the classes."""
    scenes = Scenes.empty(len(seeds) * frames, height, width, device)

    def one(number):
        clip = os.path.join(folder, str(seeds[number]))
        render(binary, clip, seeds[number], frames)
        return read(clip, scenes, number * frames)

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        names = list(pool.map(one, range(len(seeds))))
    return scenes, names[0]
