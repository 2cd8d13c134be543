"""The scene model: boxes, masks, depth and the kind of place of 640x480 pictures, from one small network.

A convolutional backbone with cross-stage blocks (CSPNet, Wang et al. 2020), a feature pyramid with a path back down
(PANet, Liu et al. 2018), and one decoupled head shared by the strides 8, 16 and 32 that predicts, for every cell, a score
a class, the distances from its centre to the sides of the box (FCOS, Tian et al. 2019) and how to mix its object's mask
from the picture's prototypes (YOLACT, Bolya et al. 2019). Prototypes and depth come from a map of stride 4, the kind of
place from the mean over the coarsest features.
"""
import dataclasses

import torch
from torch import nn

STRIDES = (8, 16, 32)
PROTOTYPES = 16
FAR = 100.0  # metres: what is beyond is said to be here


def conv(inputs, outputs, kernel=3, stride=1):
    return nn.Sequential(nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, bias=False), nn.BatchNorm2d(outputs),
                         nn.ReLU(inplace=True))


class Residual(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.body = nn.Sequential(conv(width, width), conv(width, width))

    def forward(self, x):
        return x + self.body(x)


class CrossStage(nn.Module):
    """Half of the channels pass through DEPTH residual blocks; every stage's output goes into the mix."""

    def __init__(self, inputs, outputs, depth):
        super().__init__()
        self.half = outputs // 2
        self.split = conv(inputs, outputs, 1)
        self.blocks = nn.ModuleList(Residual(self.half) for _ in range(depth))
        self.mix = conv(outputs + depth * self.half, outputs, 1)

    def forward(self, x):
        parts = list(self.split(x).chunk(2, 1))
        for block in self.blocks:
            parts.append(block(parts[-1]))
        return self.mix(torch.cat(parts, 1))


class Backbone(nn.Module):
    def __init__(self, widths=(16, 24, 48, 72, 96), depths=(1, 2, 2, 1)):
        super().__init__()
        self.stem = conv(3, widths[0], 3, 2)
        self.stages = nn.ModuleList(
            nn.Sequential(conv(before, after, 3, 2), CrossStage(after, after, depth))
            for before, after, depth in zip(widths, widths[1:], depths))

    def forward(self, x):
        x = self.stem(x)
        outputs = []
        for stage in self.stages:
            x = stage(x)
            outputs.append(x)
        return outputs  # strides 4, 8, 16, 32


class Neck(nn.Module):
    def __init__(self, inputs=(48, 72, 96), width=48):
        super().__init__()
        self.lateral = nn.ModuleList(conv(channels, width, 1) for channels in inputs)
        self.up = nn.Upsample(scale_factor=2, mode="nearest")
        self.merge_down = nn.ModuleList(CrossStage(2 * width, width, 1) for _ in range(2))
        self.shrink = nn.ModuleList(conv(width, width, 3, 2) for _ in range(2))
        self.merge_up = nn.ModuleList(CrossStage(2 * width, width, 1) for _ in range(2))

    def forward(self, features):
        fine, middle, coarse = (layer(x) for layer, x in zip(self.lateral, features))
        middle = self.merge_down[0](torch.cat((self.up(coarse), middle), 1))
        fine = self.merge_down[1](torch.cat((self.up(middle), fine), 1))
        middle = self.merge_up[0](torch.cat((self.shrink[0](fine), middle), 1))
        coarse = self.merge_up[1](torch.cat((self.shrink[1](middle), coarse), 1))
        return fine, middle, coarse


class Head(nn.Module):
    def __init__(self, classes, width=48):
        super().__init__()
        self.score = nn.Sequential(conv(width, width), nn.Conv2d(width, classes, 1))
        self.sides = nn.Sequential(conv(width, width), nn.Conv2d(width, 4, 1))
        self.scale = nn.Parameter(torch.ones(len(STRIDES)))
        self.mix = nn.Sequential(conv(width, width), nn.Conv2d(width, PROTOTYPES, 1))
        nn.init.constant_(self.score[-1].bias, -4.6)  # a score of 0.01 everywhere (RetinaNet, Lin et al. 2017)

    def forward(self, features):
        scores = torch.cat([self.score(x).flatten(2) for x in features], 2)
        sides = torch.cat([(self.sides(x) * self.scale[i]).flatten(2) for i, x in enumerate(features)], 2)
        mixes = torch.cat([self.mix(x).flatten(2) for x in features], 2)
        return scores, sides, mixes


class Maps(nn.Module):
    """Prototypes of masks and the logarithm of the depth, from what the backbone sees at stride 4 and the neck knows at
    stride 8."""

    def __init__(self, inputs=24, neck=48, width=32):
        super().__init__()
        self.fine, self.known = conv(inputs, width, 1), conv(neck, width, 1)
        self.up = nn.Upsample(scale_factor=2, mode="nearest")
        self.merge = conv(width, width)
        self.prototypes = nn.Sequential(conv(width, width), nn.Conv2d(width, PROTOTYPES, 1))
        self.depth = nn.Sequential(conv(width, width // 2), nn.Conv2d(width // 2, 1, 1))
        nn.init.constant_(self.depth[-1].bias, 2.7)  # 15 m everywhere

    def forward(self, fine, known):
        x = self.merge(self.fine(fine) + self.up(self.known(known)))
        return self.prototypes(x), self.depth(x)


def cells(height, width):
    """Centres of all cells, [2, A] in pixels, and their strides, [A]; strides in order, row by row."""
    centres, strides = [], []
    for stride in STRIDES:
        y, x = torch.meshgrid(torch.arange(height // stride), torch.arange(width // stride), indexing="ij")
        centres.append((torch.stack((x.flatten(), y.flatten())) + 0.5) * stride)
        strides.append(torch.full((x.numel(),), float(stride)))
    return torch.cat(centres, 1), torch.cat(strides)


@dataclasses.dataclass
class Answers:
    scores: torch.Tensor        # [N, C, A] logits
    boxes: torch.Tensor         # [N, 4, A] x1, y1, x2, y2, pixels
    coefficients: torch.Tensor  # [N, PROTOTYPES, A]: a mask's logits are the prototypes, each times its number here
    prototypes: torch.Tensor    # [N, PROTOTYPES, H / 4, W / 4]
    depth: torch.Tensor         # [N, 1, H / 4, W / 4] logarithm of the metres
    settings: torch.Tensor      # [N, S] logits


class SceneModel(nn.Module):
    def __init__(self, classes, settings, height=480, width=640):
        super().__init__()
        self.backbone, self.neck, self.head, self.maps = Backbone(), Neck(), Head(classes), Maps()
        self.setting = nn.Linear(96, settings)
        centres, strides = cells(height, width)
        self.register_buffer("centres", centres, persistent=False)
        self.register_buffer("strides", strides, persistent=False)

    def forward(self, pictures):
        """The fields of Answers, for PICTURES [N, 3, H, W], RGB, 0 to 1."""
        quarter, *features = self.backbone(pictures)
        setting = self.setting(features[-1].mean((2, 3)))
        features = self.neck(features)
        scores, sides, mixes = self.head(features)
        prototypes, depth = self.maps(quarter, features[0])
        # Distances are in strides; the exponent keeps them positive, its limit keeps a wild start finite.
        sides = sides.float().clamp(max=6).exp() * self.strides
        boxes = torch.cat((self.centres - sides[:, :2], self.centres + sides[:, 2:]), 1)
        return scores.float(), boxes, mixes.float(), prototypes.float(), depth.float(), setting.float()


class Exported(nn.Module):
    """What the ONNX file computes: OUTPUTS, in their order.

    Answers [N, 4 + C + PROTOTYPES, A]: rows x, y, w, h (centre, pixels), a score a class, a coefficient a prototype;
    prototypes [N, PROTOTYPES, H / 4, W / 4]; depth [N, 1, H / 4, W / 4] in metres; the place's logits [N, S].
    """
    OUTPUTS = ("answers", "prototypes", "depth", "place")

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, images):
        scores, boxes, mixes, prototypes, depth, setting = self.model(images)
        corner, opposite = boxes[:, :2], boxes[:, 2:]
        answers = torch.cat(((corner + opposite) / 2, opposite - corner, scores.sigmoid(), mixes), 1)
        return answers, prototypes, depth.exp().clamp(1, FAR), setting
