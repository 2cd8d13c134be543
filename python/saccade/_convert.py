"""Results in the forms of other packages."""
from __future__ import annotations

import inspect
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

    data: dict[str, Any] = {"class_name": numpy.array(result.class_name)}
    # For supervision, 0 is a track as any other.
    tracks = numpy.where(result.track_id > 0, result.track_id, -1) if result.track_id.any() else None
    classes = result.class_id.astype(int)
    if result.keypoints is not None:
        if tracks is not None:
            data["tracker_id"] = tracks
        return _key_points(supervision.KeyPoints, xy=result.keypoints[:, :, :2].copy(), class_id=classes, data=data,
                           keypoint_confidence=result.keypoints[:, :, 2].copy(),
                           detection_confidence=result.confidence.copy())
    if result.obb is not None:
        data["xyxyxyxy"] = _corners(result.obb)
    return supervision.Detections(xyxy=result.boxes.copy(), confidence=result.confidence.copy(), class_id=classes,
                                  mask=result.masks.bitmaps if result.masks is not None and len(result) > 0 else None,
                                  tracker_id=tracks, data=data)


def _key_points(kind: Any, *, keypoint_confidence: Any, detection_confidence: Any, **fields: Any) -> Any:
    """supervision.KeyPoints, which before 0.29 has one confidence."""
    if "keypoint_confidence" not in inspect.signature(kind).parameters:
        return kind(confidence=keypoint_confidence, **fields)
    return kind(keypoint_confidence=keypoint_confidence, detection_confidence=detection_confidence, **fields)


def _corners(boxes: Any) -> Any:
    """The corners of oriented boxes, (objects, 4, 2), in order around each."""
    import numpy

    x, y, width, height, angle = boxes.T
    right = numpy.stack([numpy.cos(angle), numpy.sin(angle)], axis=-1) * (width / 2)[:, None]
    down = numpy.stack([-numpy.sin(angle), numpy.cos(angle)], axis=-1) * (height / 2)[:, None]
    centre = numpy.stack([x, y], axis=-1)
    return numpy.stack([centre + right + down, centre + right - down, centre - right - down, centre - right + down], axis=1)
