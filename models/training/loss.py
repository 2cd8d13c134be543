"""Which cell answers for which object, and what a wrong answer costs."""
import torch
from torch.nn import functional

from network import FAR

CANDIDATES = 10  # cells an object
MASKS = 24       # cells a picture whose masks are judged
POINTS = 32      # a side of the grid of points where they are
AROUND = 1.2     # sides of that grid, in sides of the box


def area(sides):
    return sides[..., 0] * sides[..., 1]


def overlap(a, b):
    """Intersection over union and its enclosing-box penalty (GIoU, Rezatofighi et al. 2019) of boxes [..., 4]."""
    low, high = torch.maximum(a[..., :2], b[..., :2]), torch.minimum(a[..., 2:], b[..., 2:])
    common = area((high - low).clamp(min=0))
    total = area(a[..., 2:] - a[..., :2]) + area(b[..., 2:] - b[..., :2]) - common
    hull = area(torch.maximum(a[..., 2:], b[..., 2:]) - torch.minimum(a[..., :2], b[..., :2]))
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


def boxes_loss(logits, boxes, batch, centres):
    """LOGITS [N, C, A] and BOXES [N, 4, A]: what wrong scores and wrong sides cost. Objects that do not count cost
    nothing, found or not. Gives each cell's object [N, A] (-1: none), too."""
    truth, kinds, counts = batch.boxes, batch.kinds, batch.counts
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
    return score_loss / scale, box_loss / scale, owner


def silhouettes(coefficients, prototypes, batch, owner, generator):
    """Mask logits of a few cells of each picture that answer for an object, at points of a jittered grid over the
    object's box and what is around it, and whether the object shows there: [N, M, K] each, and which cells count
    [N, M].

    COEFFICIENTS [N, P, A], PROTOTYPES [N, P, h, w], OWNER [N, A].
    """
    number, device = len(owner), owner.device
    answers = owner >= 0
    draw = torch.rand(owner.shape, generator=generator, device=device)
    luck, cells = (draw * answers).topk(MASKS, 1)
    objects = owner.gather(1, cells).clamp(min=0)
    count = prototypes.shape[1]
    chosen = coefficients.gather(2, cells[:, None].expand(-1, count, -1)).transpose(1, 2)
    maps = torch.bmm(chosen, prototypes.flatten(2)).view(number, MASKS, *prototypes.shape[2:])

    box = batch.boxes.gather(1, objects[..., None].expand(-1, -1, 4))
    middle, side = (box[..., :2] + box[..., 2:]) / 2, (box[..., 2:] - box[..., :2]) * AROUND
    line = torch.arange(POINTS, device=device)
    grid = torch.stack(torch.meshgrid(line, line, indexing="xy"), -1).view(1, 1, -1, 2)
    jitter = torch.rand(number, MASKS, POINTS * POINTS, 2, generator=generator, device=device)
    points = middle[:, :, None] + side[:, :, None] * ((grid + jitter) / POINTS - 0.5)

    size = batch.size()
    logits = functional.grid_sample(maps.flatten(0, 1)[:, None], (points / size * 2 - 1).flatten(0, 1)[:, None],
                                    padding_mode="border", align_corners=False).view(number, MASKS, -1)
    shows = batch.owners_at(points.flatten(1, 2)).view(number, MASKS, -1) == objects[..., None] + 1
    within = ((points > 0) & (points < size)).all(-1)
    return logits, shows, within & (luck > 0)[..., None]


def masks_loss(coefficients, prototypes, batch, owner, generator):
    logits, shows, counted = silhouettes(coefficients, prototypes, batch, owner, generator)
    cost = functional.binary_cross_entropy_with_logits(logits, shows.float(), reduction="none")
    return (cost * counted).sum() / counted.sum().clamp(min=1)


def depth_loss(logarithm, nearness):
    """LOGARITHM [N, 1, h, w] of the metres against NEARNESS [N, h, w]: how far the logarithms are apart, everything
    beyond FAR being at FAR; about the mean relative error."""
    known = nearness.isfinite()
    aim = -nearness.nan_to_num(1).clamp(1 / FAR, 1).log()
    return ((logarithm[:, 0] - aim).abs() * known).sum() / known.sum()


def loss(answers, batch, centres, generator):
    """ANSWERS of the network: the costs of scores, boxes, masks, depth and setting."""
    scores, boxes, owner = boxes_loss(answers.scores, answers.boxes, batch, centres)
    masks = masks_loss(answers.coefficients, answers.prototypes, batch, owner, generator)
    depth = depth_loss(answers.depth, batch.nearness)
    return torch.stack((scores, boxes, masks, depth, functional.cross_entropy(answers.settings, batch.settings)))
