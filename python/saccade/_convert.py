"""Results in the forms of other packages."""
from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._saccade import Result


def to_coco(result: Result, image_id: int) -> list[dict[str, Any]]:
    """COCO's results format, as `saccade run --coco` writes it."""
    keypoints = result.keypoints
    rles = result.masks.rle if result.masks is not None else None
    categories = result.category_id
    rows = []
    for i, (x1, y1, x2, y2) in enumerate(result.boxes.tolist()):
        row: dict[str, Any] = {"image_id": image_id, "category_id": categories[i], "bbox": [x1, y1, x2 - x1, y2 - y1]}
        if rles is not None:
            row["segmentation"] = rles[i]
        if keypoints is not None:
            row["keypoints"] = [
                value for x, y, _ in keypoints[i].tolist()
                for value in ((x, y, 2) if math.isfinite(x) and math.isfinite(y) else (0, 0, 0))
            ]
        row["score"] = float(result.confidence[i])
        rows.append(row)
    return rows


def to_supervision(result: Result) -> Any:
    """supervision.Detections, or KeyPoints of a pose model."""
    import numpy
    import supervision

    names = numpy.array(result.class_name)
    if result.keypoints is not None:
        return supervision.KeyPoints(xy=result.keypoints[:, :, :2].copy(), confidence=result.keypoints[:, :, 2].copy(),
                                     class_id=result.class_id.astype(int), data={"class_name": names})
    data = {"class_name": names}
    if result.obb is not None:
        data["xyxyxyxy"] = _corners(result.obb)
    tracked = result.track_id
    return supervision.Detections(xyxy=result.boxes.copy(), confidence=result.confidence.copy(),
                                  class_id=result.class_id.astype(int),
                                  mask=result.masks.bitmaps if result.masks is not None and len(result) > 0 else None,
                                  tracker_id=tracked.copy() if tracked.any() else None, data=data)


def _corners(boxes: Any) -> Any:
    """The corners of oriented boxes, (objects, 4, 2), in order around each."""
    import numpy

    x, y, width, height, angle = boxes.T
    right = numpy.stack([numpy.cos(angle), numpy.sin(angle)], axis=-1) * (width / 2)[:, None]
    down = numpy.stack([-numpy.sin(angle), numpy.cos(angle)], axis=-1) * (height / 2)[:, None]
    centre = numpy.stack([x, y], axis=-1)
    return numpy.stack([centre + right + down, centre + right - down, centre - right - down, centre - right + down], axis=1)
