"""The published heads of families that select boxes themselves: built-in NMS, and the queries of DETRs. Each function
gives a Rewriter the outputs that the family's export has."""
import numpy as np
from onnx import TensorProto

from rewriter import CLASSES, IOU, MOST, NEVER, SCORE


def end_to_end(to, first=0, has_class_first=False):
    """YOLOv10's rows; Ultralytics' export with `nms=True` has the same. FIRST is the first class ID."""
    boxes, scores, classes = to.chosen(300)
    classes = to.cast(to.op("Add", classes, to.constant(first, np.int64)))
    columns = [to.shaped(each, -1, 1) for each in (scores, classes)]
    rows = to.joined(boxes, *(reversed(columns) if has_class_first else columns), axis=1)
    to.give("output0", to.shaped(rows, 1, 300, 6), [1, 300, 6])


def class_first(to):
    """No family's: the class before the score."""
    end_to_end(to, has_class_first=True)


def after_background(to):
    """Class 0 is the background."""
    end_to_end(to, first=1)


def yolov7_end_to_end(to):
    """YOLOv7's export for ONNX Runtime: the best class of each box, one NMS with boxes moved apart by class."""
    best = to.op("ReduceMax", to.scores, axes=[2], keepdims=1)
    classes = to.cast(to.op("ArgMax", to.scores, axis=2, keepdims=1))
    corners = to.corners()
    apart = to.op("Add", corners, to.op("Mul", classes, float(to.width)))
    chosen = to.op("NonMaxSuppression", apart, to.op("Transpose", best, perm=[0, 2, 1]),
                   to.constant([MOST], np.int64), [IOU], [SCORE])
    rows = to.shaped(to.cut(chosen, 2, 3, 1), -1)
    image = to.cast(to.cut(chosen, 0, 1, 1))
    taken = [to.op("Gather", to.shaped(each, -1, width), rows, axis=0)
             for each, width in ((corners, 4), (classes, 1), (best, 1))]
    to.give("output", to.joined(image, *taken, axis=1), ["N", 7])


def tensorrt(to, prefix="det", count_name="num_dets"):
    """The outputs of TensorRT's EfficientNMS plugin."""
    boxes, scores, classes = to.chosen()
    count = to.op("ReduceSum", to.cast(to.op("Greater", scores, 0.0), TensorProto.INT32),
                  to.constant([0], np.int64), keepdims=1)
    to.give(count_name, to.shaped(count, 1, 1), [1, 1], TensorProto.INT32)
    to.give(f"{prefix}_boxes", to.shaped(boxes, 1, MOST, 4), [1, MOST, 4])
    to.give(f"{prefix}_scores", to.shaped(scores, 1, MOST), [1, MOST])
    classes = to.shaped(to.cast(classes, TensorProto.INT32), 1, MOST)
    to.give(f"{prefix}_classes", classes, [1, MOST], TensorProto.INT32)


def yolo_nas_batch(to):
    """SuperGradients' batch format."""
    tensorrt(to, "graph2_pred", "graph2_num_predictions")


def yolo_nas_flat(to):
    """SuperGradients' flat format."""
    boxes, scores, classes = to.best(*to.suppressed(), MOST, False)
    scores = to.shaped(scores, -1, 1)
    rows = to.joined(to.op("Mul", scores, 0.0), boxes, scores, to.shaped(to.cast(classes), -1, 1), axis=1)
    to.give("graph2_flat_predictions", rows, ["N", 7])


def ppyoloe_end_to_end(to):
    boxes, scores, classes = to.best(*to.suppressed(), MOST, False)
    _, factor = (to.add_input(name, [1, 2]) for name in ("im_shape", "scale_factor"))
    boxes = to.op("Div", boxes, to.gathered(factor, [1, 0, 1, 0], 1))
    rows = to.joined(to.shaped(to.cast(classes), -1, 1), to.shaped(scores, -1, 1), boxes, axis=1)
    to.give("multiclass_nms3_0.tmp_0", rows, ["N", 6])
    count = to.cast(to.op("Shape", scores), TensorProto.INT32)
    to.give("multiclass_nms3_0.tmp_2", count, [1], TensorProto.INT32)


def rtdetr_rows(to):
    """Ultralytics' RT-DETR."""
    to.give("output0", to.joined(to.normalized, to.scores), [1, to.rows, 84])


def rtdetr_end_to_end(to):
    """Ultralytics' RT-DETR with its choice: normalized boxes, score, class."""
    scores, flat = to.op("TopK", to.shaped(to.scores, -1), to.constant([300], np.int64), outputs=2, axis=0)
    rows, classes = to.pairs(flat)
    boxes = to.op("Gather", to.shaped(to.normalized, -1, 4), rows, axis=0)
    rows = to.joined(boxes, to.shaped(scores, -1, 1), to.shaped(to.cast(classes), -1, 1), axis=1)
    to.give("output0", to.shaped(rows, 1, 300, 6), [1, 300, 6])


def rtdetr(to):
    """RT-DETR, D-FINE of Hugging Face."""
    to.give("logits", to.logits, [1, to.rows, CLASSES])
    to.give("pred_boxes", to.normalized, [1, to.rows, 4])


def detr(to):
    """DETR: the softmax of COCO's category IDs and "no object", the last."""
    logits = to.by_category(to.op("Neg", to.op("Softplus", to.op("Neg", to.logits))), 91, NEVER)
    rest = to.op("Sub", 1.0, to.op("ReduceSum", to.scores, to.constant([2], np.int64), keepdims=1))
    to.give("logits", to.joined(logits, to.op("Log", to.op("Max", rest, 1e-4))), [1, to.rows, 92])
    to.give("pred_boxes", to.normalized, [1, to.rows, 4])


def rfdetr(to):
    to.give("dets", to.normalized, [1, to.rows, 4])
    to.give("labels", to.by_category(to.logits, 91, NEVER), [1, to.rows, 91])


def detr_end_to_end(to):
    """D-FINE, RT-DETR and DEIM with their post-processing: boxes in the pixels that orig_target_sizes names."""
    size = to.cast(to.add_input("orig_target_sizes", [1, 2], TensorProto.INT64))
    boxes, scores, classes = to.chosen(300)
    shares = to.shaped(to.shares(boxes), 1, 300, 4)
    to.give("labels", to.shaped(classes, 1, 300), [1, 300], TensorProto.INT64)
    to.give("boxes", to.op("Mul", shares, to.joined(size, size, axis=1)), [1, 300, 4])
    to.give("scores", to.shaped(scores, 1, 300), [1, 300])


def torchvision(to):
    """RetinaNet: a sigmoid over COCO's category IDs, lists of dynamic length."""
    logits = to.by_category(to.logits_of(to.scores), 91, NEVER)
    scores = to.op("Sigmoid", to.shaped(logits, -1, 91))
    boxes, scores, classes = to.best(*to.suppressed(to.shaped(scores, 1, -1, 91), 91), 300, False)
    to.give("boxes", boxes, ["N", 4])
    to.give("scores", scores, ["N"])
    to.give("labels", classes, ["N"], TensorProto.INT64)


def tensorflow(to):
    """TensorFlow's Object Detection API: shares y1, x1, y2, x2, COCO's category IDs."""
    boxes, scores, classes = to.chosen()
    shares = to.gathered(to.shares(boxes), [1, 0, 3, 2], 1)
    to.give("detection_boxes", to.shaped(shares, 1, MOST, 4), [1, MOST, 4])
    to.give("detection_classes", to.shaped(to.cast(to.categories(classes)), 1, MOST), [1, MOST])
    to.give("detection_scores", to.shaped(scores, 1, MOST), [1, MOST])
    count = to.op("ReduceSum", to.cast(to.op("Greater", scores, 0.0)), to.constant([0], np.int64), keepdims=1)
    to.give("num_detections", count, [1])


def zoo_ssd(to):
    """The SSD of ONNX's model zoo: shares x1, y1, x2, y2, classes from 1."""
    boxes, scores, classes = to.chosen(200)
    to.give("bboxes", to.shaped(to.shares(boxes), 1, 200, 4), [1, 200, 4])
    labels = to.op("Add", classes, to.constant(1, np.int64))
    to.give("labels", to.shaped(labels, 1, 200), [1, 200], TensorProto.INT64)
    to.give("scores", to.shaped(scores, 1, 200), [1, 200])


def efficientdet(to):
    """automl's EfficientDet: rows image, y1, x1, y2, x2, score and COCO's category ID."""
    boxes, scores, classes = to.chosen()
    image = to.op("Mul", to.shaped(scores, -1, 1), 0.0)
    rows = to.joined(image, to.gathered(boxes, [1, 0, 3, 2], 1), to.shaped(scores, -1, 1),
                     to.shaped(to.cast(to.categories(classes)), -1, 1), axis=1)
    to.give("detections:0", to.shaped(rows, 1, MOST, 7), [1, MOST, 7])
