"""Which cell answers for which object, and what a wrong answer costs."""
import torch
from torch.nn import functional

CANDIDATES = 10  # cells an object


def overlap(a, b):
    """Intersection over union and its enclosing-box penalty (GIoU, Rezatofighi et al. 2019) of boxes [..., 4]."""
    low, high = torch.maximum(a[..., :2], b[..., :2]), torch.minimum(a[..., 2:], b[..., 2:])
    common = (high - low).clamp(min=0).prod(-1)
    total = (a[..., 2:] - a[..., :2]).prod(-1) + (b[..., 2:] - b[..., :2]).prod(-1) - common
    hull = (torch.maximum(a[..., 2:], b[..., 2:]) - torch.minimum(a[..., :2], b[..., :2])).prod(-1)
    iou = common / (total + 1e-9)
    return iou, iou - (hull - total) / (hull + 1e-9)


def inside(centres, boxes):
    """Whether the cells' CENTRES [2, A] lie in BOXES [N, G, 4]: [N, G, A]."""
    x, y = centres[0], centres[1]
    return ((x > boxes[..., 0:1]) & (y > boxes[..., 1:2]) & (x < boxes[..., 2:3]) & (y < boxes[..., 3:4]))


@torch.no_grad()
def assign(scores, boxes, truth, kinds, counts, centres):
    """Task-aligned assignment (TOOD, Feng et al. 2021): of the cells in an object, those that already answer best.

    SCORES [N, C, A] (0 to 1), BOXES [N, A, 4], TRUTH [N, G, 4], KINDS [N, G], COUNTS [N, G] (the object is one to be
    found).  Gives each cell's object [N, A] (-1: none) and the score that it should reach [N, A].
    """
    iou = overlap(truth[:, :, None], boxes[:, None])[0]
    score = scores.gather(1, kinds[:, :, None].expand(-1, -1, scores.shape[2]))
    allowed = inside(centres, truth) & counts[:, :, None]
    # An object smaller than a cell has no centre inside: its nearest cell answers.
    middle = (truth[..., :2] + truth[..., 2:]) / 2
    distance = (middle[..., None] - centres).square().sum(2)
    nearest = functional.one_hot(distance.argmin(2), distance.shape[2]).bool()
    allowed |= nearest & counts[:, :, None] & ~allowed.any(2, keepdim=True)
    fit = (score.sqrt() * iou.pow(6) + 1e-9) * allowed
    top = fit.topk(CANDIDATES, 2)
    chosen = torch.zeros_like(allowed).scatter(2, top.indices, top.values > 0)
    # Where two objects want a cell, it goes to the one that it overlaps more.
    owner = (iou * chosen + chosen).argmax(1)
    taken = chosen.any(1)
    chosen &= functional.one_hot(owner, chosen.shape[1]).permute(0, 2, 1).bool()
    fit = fit * chosen
    peak_fit = fit.amax(2, keepdim=True)
    peak_iou = (iou * chosen).amax(2, keepdim=True)
    target = (fit / (peak_fit + 1e-9) * peak_iou).amax(1)
    return torch.where(taken, owner, -1), target


def loss(logits, boxes, truth, kinds, counts, centres):
    """LOGITS [N, C, A] and BOXES [N, 4, A] against TRUTH [N, G, 4], KINDS [N, G] (-1: no object in this place) and
    COUNTS [N, G]: objects that do not count cost nothing, found or not."""
    boxes = boxes.transpose(1, 2)
    place = kinds.clamp(min=0)
    owner, target = assign(logits.sigmoid(), boxes, truth, place, counts & (kinds >= 0), centres)
    taken = owner >= 0
    index = owner.clamp(min=0)
    kind = place.gather(1, index)
    wanted = torch.zeros_like(logits).scatter(1, kind[:, None], (target * taken)[:, None])
    left_out = (inside(centres, truth) & ((kinds >= 0) & ~counts)[:, :, None]).any(1) & ~taken
    score_loss = functional.binary_cross_entropy_with_logits(logits, wanted, reduction="none")
    score_loss = (score_loss * ~left_out[:, None]).sum()
    aim = truth.gather(1, index[..., None].expand(-1, -1, 4))
    weight = (target * taken)
    box_loss = ((1 - overlap(boxes, aim)[1]) * weight).sum()
    scale = weight.sum().clamp(min=1)
    return score_loss / scale, box_loss / scale
