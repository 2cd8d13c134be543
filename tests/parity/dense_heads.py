"""The published heads of families with a row per cell or anchor. Each function gives a Rewriter the outputs that the
family's export has."""
import numpy as np
from onnx import TensorProto

from rewriter import CLASSES, NEVER, cells_of


def anchors(to, *more):
    """YOLOv5's rows: three anchors per cell, level by level, anchor by anchor; the second and third see nothing. MORE
    columns follow the probabilities."""
    rows = to.joined(to.boxes, to.objectness, to.probabilities, *more)
    unseen = to.joined(to.boxes, to.op("Mul", to.objectness, 0.0), to.probabilities, *more)
    levels, begin = [], 0
    for stride in (8, 16, 32):
        end = begin + (to.width // stride) * (to.height // stride)
        levels += [to.cut(each, begin, end, 1) for each in (rows, unseen, unseen)]
        begin = end
    return to.joined(*levels, axis=1)


def yolov5(to):
    to.give("output0", anchors(to), [1, 3 * to.rows, 85])


def yolov5_seg(to):
    to.give("output0", anchors(to, to.coefficients), [1, 3 * to.rows, 117])
    to.give("output1", to.prototypes, [1, 32, to.height // 4, to.width // 4])


def yolov5_heads(to):
    """YOLOv5's heads before their sigmoid, level by level: every box has the level's last anchor."""
    begin = 0
    for level, (stride, anchor) in enumerate({8: (33, 23), 16: (59, 119), 32: (373, 326)}.items()):
        high, wide = to.height // stride, to.width // stride
        end = begin + high * wide
        cells = cells_of(to.width, to.height, (stride,))[0][None]
        boxes, objectness, probabilities = (to.cut(each, begin, end, 1)
                                            for each in (to.boxes, to.objectness, to.probabilities))
        offsets = to.op("Sub", to.op("Div", to.cut(boxes, 0, 2), float(stride)), cells - 0.5)
        sizes = to.op("Sqrt", to.op("Div", to.cut(boxes, 2, 4), anchor))
        rest = to.logits_of(to.joined(objectness, probabilities))
        rows = to.joined(to.logits_of(to.op("Mul", to.joined(offsets, sizes), 0.5)), rest)
        unseen = to.op("Sub", to.op("Mul", rows, 0.0), -NEVER)
        anchors_of = [to.shaped(each, 1, 1, high, wide, 85) for each in (unseen, unseen, rows)]
        to.give(f"output{level}", to.joined(*anchors_of, axis=1), [1, 3, high, wide, 85])
        begin = end


def nanodet(to):
    """NanoDet-Plus: probabilities, and for each side the distribution of its distance over eight bins; a fourth level
    sees nothing."""
    points, strides = to.cells * to.strides, to.strides.astype(float)
    corners = to.corners()
    distances = to.joined(to.op("Sub", points, to.cut(corners, 0, 2)), to.op("Sub", to.cut(corners, 2, 4), points))
    distances = to.op("Clip", to.op("Div", distances, strides), to.constant(0), to.constant(7))
    apart = to.op("Abs", to.op("Sub", to.shaped(distances, 1, -1, 4, 1), np.arange(8.0)))
    bins = to.op("Log", to.op("Max", to.op("Sub", 1.0, apart), 1e-6))
    rows = to.joined(to.scores, to.shaped(bins, 1, -1, 32))
    more = -(-to.height // 64) * -(-to.width // 64)
    to.give("output", to.joined(rows, np.zeros((1, more, 112)), axis=1), [1, to.rows + more, 112])


def yolox_decoded(to):
    to.give("output", to.joined(to.boxes, to.objectness, to.probabilities), [1, to.rows, 85])


def yolov8(to):
    columns = to.op("Transpose", to.joined(to.boxes, to.scores), perm=[0, 2, 1])
    to.give("output0", columns, [1, 84, to.rows])


def swapped_columns(to):
    """No family's: YOLOv8's columns with y before x."""
    columns = to.joined(to.gathered(to.boxes, [1, 0, 3, 2], 2), to.scores)
    to.give("output0", to.op("Transpose", columns, perm=[0, 2, 1]), [1, 84, to.rows])


def yolo_nas(to):
    """SuperGradients' export without preprocessing and post-processing."""
    to.give("pred_bboxes", to.corners(), [1, to.rows, 4])
    to.give("pred_scores", to.scores, [1, to.rows, CLASSES])


def paddle_boxes(to):
    """Corners in the pixels of the image that im_shape and scale_factor (y, x) name."""
    shape, factor = (to.add_input(name, [1, 2]) for name in ("im_shape", "scale_factor"))
    nothing = to.op("Mul", to.gathered(shape, [0, 0, 0, 0], 1), 0.0)  # PaddleDetection reads im_shape for clipping
    scale = to.op("Add", to.gathered(factor, [1, 0, 1, 0], 1), nothing)
    return to.op("Div", to.corners(), scale)


def ppyoloe(to):
    to.give("tmp_16", paddle_boxes(to), [1, to.rows, 4])
    to.give("concat_14.tmp_0", to.op("Transpose", to.scores, perm=[0, 2, 1]), [1, CLASSES, to.rows])


def keras_yolov3(to):
    """keras-yolo3's boxes y1, x1, y2, x2 in the pixels that image_shape (height, width) names, its scores, and the
    indices of its own choice."""
    shape = to.add_input("image_shape", [1, 2])
    rows = anchors(to)
    corners = to.corners(to.cut(rows, 0, 4))
    scores = to.op("Transpose", to.op("Mul", to.cut(rows, 4, 5), to.cut(rows, 5, 85)), perm=[0, 2, 1])
    shares = to.gathered(to.shares(corners), [1, 0, 3, 2], 2)
    boxes = to.op("Mul", shares, to.joined(shape, shape, axis=1))
    chosen = to.op("NonMaxSuppression", boxes, scores, to.constant([20], np.int64), [0.5], [0.6])
    to.give("yolonms_layer_1/ExpandDims_1:0", boxes, [1, 3 * to.rows, 4])
    to.give("yolonms_layer_1/ExpandDims_3:0", scores, [1, CLASSES, 3 * to.rows])
    to.give("yolonms_layer_1/concat_2:0", to.cast(chosen, TensorProto.INT32), ["N", 3], TensorProto.INT32)


def darknet(to):
    """pytorch-YOLOv4's boxes, as shares, and confidences."""
    rows = anchors(to)
    corners = to.shares(to.corners(to.cut(rows, 0, 4)))
    to.give("boxes", to.shaped(corners, 1, 3 * to.rows, 1, 4), [1, 3 * to.rows, 1, 4])
    confidences = to.op("Mul", to.cut(rows, 4, 5), to.cut(rows, 5, 85))
    to.give("confs", confidences, [1, 3 * to.rows, CLASSES])


def pytorch_ssd(to):
    """A softmax with the background first, and boxes as shares."""
    rest = to.op("Sub", 1.0, to.op("ReduceSum", to.scores, to.constant([2], np.int64), keepdims=1))
    logits = to.op("Log", to.op("Max", to.joined(rest, to.scores), 1e-6))
    to.give("scores", to.op("Softmax", logits, axis=2), [1, to.rows, 1 + CLASSES])
    to.give("boxes", to.shares(to.corners()), [1, to.rows, 4])
