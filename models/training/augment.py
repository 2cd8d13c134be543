"""Pictures as the network sees them in training: flipped, zoomed, shifted and recoloured, their truth with them."""
import dataclasses

import torch
from torch.nn import functional

from truth import CELL


@dataclasses.dataclass
class Batch:
    pictures: torch.Tensor  # [N, 3, H, W], 0 to 1
    boxes: torch.Tensor     # [N, PLACES, 4] x1, y1, x2, y2
    kinds: torch.Tensor     # [N, PLACES] class; -1: no object
    counts: torch.Tensor    # [N, PLACES] whether the object is one to be found
    settings: torch.Tensor  # [N]
    nearness: torch.Tensor  # [N, H / CELL, W / CELL] one over the metres; 0: sky; NaN: outside the scene's picture
    owners: torch.Tensor    # [N, H, W] uint8, of the scene's picture: see Scenes
    theta: torch.Tensor     # [N, 2, 3] from where we look, -1 to 1 each way, to where that is in the scene's picture

    def owners_at(self, points):
        """The owner of POINTS [N, K, 2] (x, y in pixels of what the network sees); 0 outside."""
        number, height, width = self.owners.shape
        x, y = moved(points / self.size() * 2 - 1, self.theta).unbind(-1)
        x, y = ((x + 1) / 2 * width).floor().long(), ((y + 1) / 2 * height).floor().long()
        inside = (x >= 0) & (y >= 0) & (x < width) & (y < height)
        index = y.clamp(0, height - 1) * width + x.clamp(0, width - 1)
        return self.owners.view(number, -1).gather(1, index) * inside

    def size(self):
        """Width and height."""
        return pair(*self.pictures.shape[:1:-1], self.pictures.device)


def pair(x, y, device):
    """Made on the device: a step of the training is captured, and may copy nothing to it."""
    return torch.stack((torch.full((), float(x), device=device), torch.full((), float(y), device=device)))


def moved(points, theta):
    """POINTS [N, K, 2] through THETA [N, 2, 3]."""
    return points @ theta[:, :, :2].transpose(1, 2) + theta[:, None, :, 2]


def look(scenes, theta):
    """Pictures and nearness as they are seen through THETA."""
    grid = functional.affine_grid(theta, scenes.pictures.shape, align_corners=False)
    pictures = functional.grid_sample(scenes.pictures.float() / 255, grid, padding_mode="zeros", align_corners=False)
    number, rows, columns = scenes.nearness.shape
    grid = functional.affine_grid(theta, (number, 1, rows, columns), align_corners=False)
    # A square's number is that of the pixel after its middle, so that it lies half a pixel off.
    shift = pair(1 / (columns * CELL), 1 / (rows * CELL), grid.device)
    inside = (grid.abs() <= 1).all(-1)
    near = scenes.nearness[:, None]
    # One over the depth is linear on a plane; where the neighbours are no plane, the nearest counts alone.
    smooth = functional.grid_sample(near, grid - shift, padding_mode="border", align_corners=False)[:, 0]
    nearest = functional.grid_sample(near, grid, mode="nearest", padding_mode="border", align_corners=False)[:, 0]
    flat = (smooth - nearest).abs() < 0.1 * nearest
    return pictures, torch.where(flat, smooth, nearest).masked_fill(~inside, torch.nan)


def plain(scenes):
    theta = torch.eye(2, 3, device=scenes.pictures.device).expand(len(scenes), 2, 3)
    return Batch(scenes.pictures.float() / 255, scenes.boxes, scenes.kinds, scenes.counts, scenes.settings,
                 look(scenes, theta)[1], scenes.owners, theta)


def augment(scenes, generator):
    """What mostly left the picture no longer counts. A zoom is a lens's, so that the camera, were it the scene's own,
    would be as much nearer: depth is divided by it."""
    number, _, height, width = scenes.pictures.shape
    device = scenes.pictures.device

    def draw(low, high):
        return torch.rand(number, generator=generator, device=device) * (high - low) + low

    flip = torch.where(draw(0, 1) < 0.5, -1.0, 1.0)
    zoom = torch.where(draw(0, 1) < 0.3, torch.ones(number, device=device), draw(0.7, 1.5))
    shift_x, shift_y = draw(-0.25, 0.25), draw(-0.25, 0.25)
    still = zoom == 1
    shift_x, shift_y = shift_x.masked_fill(still, 0), shift_y.masked_fill(still, 0)
    theta = torch.zeros(number, 2, 3, device=device)
    theta[:, 0, 0], theta[:, 1, 1] = flip / zoom, 1 / zoom
    theta[:, 0, 2], theta[:, 1, 2] = shift_x, shift_y
    pictures, nearness = look(scenes, theta)
    gain, offset, gamma = draw(0.7, 1.4), draw(-0.08, 0.08), draw(0.8, 1.25)
    tint = torch.rand(number, 3, generator=generator, device=device) * 0.2 + 0.9
    pictures = (pictures * (gain[:, None] * tint)[..., None, None] + offset[:, None, None, None]).clamp(1e-4, 1)
    pictures = pictures ** gamma[:, None, None, None]

    size = pair(width, height, device)
    factor = torch.stack((zoom * flip, zoom), 1)[:, None]
    shift = torch.stack((shift_x, shift_y), 1)[:, None]

    def placed(points):
        return ((points / size * 2 - 1 - shift) * factor + 1) / 2 * size

    a, b = placed(scenes.boxes[..., :2]), placed(scenes.boxes[..., 2:])
    low, high = torch.minimum(a, b), torch.maximum(a, b)
    whole = (high - low).prod(-1)
    limit = size.expand_as(low)
    clipped = torch.cat((torch.minimum(low.clamp(min=0), limit), torch.minimum(high.clamp(min=0), limit)), -1)
    sides = clipped[..., 2:] - clipped[..., :2]
    seen = sides.prod(-1) / (whole + 1e-9)
    kinds = torch.where(seen > 0.02, scenes.kinds, -1)
    counts = scenes.counts & (seen > 0.4) & (sides.amin(-1) >= 7)
    return Batch(pictures, clipped, kinds, counts, scenes.settings, nearness * zoom[:, None, None], scenes.owners, theta)
