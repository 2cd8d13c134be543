"""What `saccade demo --render --depth` says of a clip, as arrays."""
import dataclasses

import numpy

PLACES = 48  # objects a picture, at most
CELL = 4     # pixels a side of the squares that masks and depth are predicted for
SETTINGS = ("street", "meadow", "desert", "snow")  # where a scene may take place, in the order of the model's answers


@dataclasses.dataclass
class Truth:
    """Of N pictures; see Scenes."""
    settings: numpy.ndarray  # [N]
    boxes: numpy.ndarray     # [N, PLACES, 4]
    kinds: numpy.ndarray     # [N, PLACES]
    counts: numpy.ndarray    # [N, PLACES]
    names: list


def objects_of(coco):
    """The annotations of each picture, in the order of their numbers."""
    objects = {image["id"]: [] for image in coco["images"]}
    for annotation in coco["annotations"]:
        objects[annotation["image_id"]].append(annotation)
    return [objects[image["id"]][:PLACES] for image in coco["images"]]


def truth_of(coco):
    number = len(coco["images"])
    truth = Truth(numpy.array([SETTINGS.index(image["place"]) for image in coco["images"]]),
                  numpy.zeros((number, PLACES, 4), numpy.float32), numpy.full((number, PLACES), -1),
                  numpy.zeros((number, PLACES), bool),
                  [category["name"] for category in sorted(coco["categories"], key=lambda category: category["id"])])
    first = min(category["id"] for category in coco["categories"])
    for picture, objects in enumerate(objects_of(coco)):
        for place, annotation in enumerate(objects):
            x, y, width, height = annotation["bbox"]
            truth.boxes[picture, place] = x, y, x + width, y + height
            truth.kinds[picture, place] = annotation["category_id"] - first
            truth.counts[picture, place] = not annotation["iscrowd"]
    return truth


def owners_runs(coco):
    """Which object shows where, as places in the pictures one after the other, each column by column, and by how much
    the object's number plus one rises or falls there."""
    places, changes = [numpy.zeros(0, numpy.int64)], [numpy.zeros(0, numpy.int32)]
    start = 0
    for image, objects in zip(coco["images"], objects_of(coco)):
        for place, annotation in enumerate(objects):
            edges = numpy.cumsum(annotation["segmentation"]["counts"]) + start
            change = numpy.full(len(edges), place + 1, numpy.int32)
            change[1::2] *= -1
            # The last run ends with the picture: a run of the object falls there, one of what is around it does not rise.
            if len(edges) % 2 == 1:
                edges, change = edges[:-1], change[:-1]
            places.append(edges)
            changes.append(change)
        start += image["width"] * image["height"]
    return numpy.concatenate(places), numpy.concatenate(changes)
