"""A real detector whose outputs are replaced: its boxes and scores as nodes, and new ones after them."""
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

COCO = [c for c in range(1, 91) if c not in (12, 26, 29, 30, 45, 66, 68, 69, 71, 83)]  # category IDs of class 0..79
CLASSES = len(COCO)
NEVER = -30.0  # the logit of what is never predicted
SCORE, IOU, MOST = 0.001, 0.65, 100  # thresholds and boxes of built-in NMS, as for an evaluation


def cells_of(width, height, strides=(8, 16, 32)):
    """The cells [A, 2] (x, y) of an image, stride by stride, and their strides [A, 1]."""
    cells, sizes = [], []
    for stride in strides:
        y, x = np.mgrid[:height // stride, :width // stride]
        cells.append(np.stack([x, y], -1).reshape(-1, 2))
        sizes.append(np.full((len(cells[-1]), 1), stride))
    return np.concatenate(cells), np.concatenate(sizes)


def shrink_yolov8(model, side):
    """An export of Ultralytics for images of SIDE pixels, which takes less time: its constants per cell."""
    image = model.graph.input[0].type.tensor_type.shape
    points, strides = cells_of(side, side)
    count = sum((image.dim[3].dim_value // stride) ** 2 for stride in (8, 16, 32))
    for dim in image.dim[2:]:
        dim.dim_value = side
    for constant in model.graph.initializer:
        values = numpy_helper.to_array(constant)
        if values.shape == (1, 2, count):
            values = (points.T[None] + 0.5).astype(np.float32)
        elif values.shape == (1, count):
            values = strides.T.astype(np.float32)
        elif values.dtype == np.int64 and count in values:
            values = np.where(values == count, len(points), values)
        constant.CopyFrom(numpy_helper.from_array(values, constant.name))
    del model.graph.value_info[:]
    for output, shape in zip(model.graph.output, ([1, 116, len(points)], [1, 32, side // 4, side // 4])):
        output.CopyFrom(helper.make_tensor_value_info(output.name, TensorProto.FLOAT, shape))


def load(shared, name):
    """A real detector of SHARED, the segmentation model for smaller images."""
    model = onnx.load(shared / "models" / "real" / f"{name}.onnx")
    if name == "yolov8n-seg_640":
        shrink_yolov8(model, 320)
    return model


class Rewriter:
    """A detector's graph with its boxes and scores as nodes: `boxes` [1, A, 4] (x, y, width, height of the centre, in
    pixels of the model's image), `objectness` [1, A, 1], `probabilities` [1, A, 80] and their product `scores`. Queries
    of a DETR have no objectness."""

    def __init__(self, model, name):
        self.model, self.graph, self.count = model, model.graph, 0
        self.objectness = None
        self.extra_inputs = []
        _, _, self.height, self.width = (d.dim_value for d in self.graph.input[0].type.tensor_type.shape.dim)
        model.opset_import[0].version = 16  # no operator of these files changed since theirs
        self.free_names()
        {"yolox_nano_416": self.read_yolox, "deimv2_atto_coco_320": self.read_deim,
         "yolov8n-seg_640": self.read_yolov8_seg}[name]()

    def free_names(self):
        """Takes the names of the outputs for new ones, and drops all inputs but the image."""
        own = {output.name for output in self.graph.output}
        for node in self.graph.node:
            for field in (node.input, node.output):
                field[:] = [f"{each}_own" if each in own else each for each in field]
        del self.graph.output[:]
        del self.graph.input[1:]

    def constant(self, values, dtype=np.float32):
        name = f"head_constant_{self.count}"
        self.count += 1
        self.graph.initializer.append(numpy_helper.from_array(np.asarray(values, dtype), name))
        return name

    def op(self, kind, *inputs, outputs=1, **attributes):
        """The name of the output of a new node, or their list. Numbers become constants."""
        inputs = [each if isinstance(each, str) else self.constant(each) for each in inputs]
        names = [f"head_{self.count}_{i}" for i in range(outputs)]
        self.count += 1
        self.graph.node.append(helper.make_node(kind, inputs, names, name=names[0], **attributes))
        return names[0] if outputs == 1 else names

    def cut(self, value, begin, end, axis=2):
        bounds = (self.constant([number], np.int64) for number in (begin, end, axis))
        return self.op("Slice", value, *bounds)

    def shaped(self, value, *shape):
        return self.op("Reshape", value, self.constant(shape, np.int64))

    def joined(self, *values, axis=2):
        return self.op("Concat", *values, axis=axis)

    def gathered(self, value, places, axis):
        return self.op("Gather", value, self.constant(places, np.int64), axis=axis)

    def cast(self, value, kind=TensorProto.FLOAT):
        return self.op("Cast", value, to=kind)

    def give(self, name, value, shape, kind=TensorProto.FLOAT):
        """VALUE becomes the output NAME; a text in SHAPE is a dynamic dimension."""
        self.graph.node.append(helper.make_node("Identity", [value], [name], name=f"head_{name}"))
        self.graph.output.append(helper.make_tensor_value_info(name, kind, shape))

    def add_input(self, name, shape, kind=TensorProto.FLOAT):
        self.extra_inputs.append(helper.make_tensor_value_info(name, kind, shape))
        return name

    def read_yolox(self):
        """Cells of strides 8, 16 and 32: offset of the centre and logarithm of the size, in strides."""
        self.cells, self.strides = (each[None] for each in cells_of(self.width, self.height))
        rows = "output_own"
        centres = self.op("Mul", self.op("Add", self.cut(rows, 0, 2), self.cells), self.strides)
        sizes = self.op("Mul", self.op("Exp", self.cut(rows, 2, 4)), self.strides)
        self.boxes = self.joined(centres, sizes)
        self.objectness, self.probabilities = self.cut(rows, 4, 5), self.cut(rows, 5, 85)
        self.scores = self.op("Mul", self.objectness, self.probabilities)
        self.rows = self.cells.shape[1]

    def read_deim(self):
        """The queries before its own selection."""
        made_by = {output: node for node in self.graph.node for output in node.output}
        self.normalized = made_by["/post/Split_output_0"].input[0]
        node = made_by["/post/TopK_output_1"]
        while node.op_type != "Sigmoid":
            node = made_by[node.input[0]]
        self.logits = node.input[0]
        self.boxes = self.op("Mul", self.normalized, [self.width, self.height] * 2)
        self.scores = self.probabilities = self.op("Sigmoid", self.logits)
        self.rows = 100

    def read_yolov8_seg(self):
        """Columns in pixels; the objectness is the best class's probability."""
        rows = self.op("Transpose", "output0_own", perm=[0, 2, 1])
        self.boxes, self.scores = self.cut(rows, 0, 4), self.cut(rows, 4, 84)
        self.objectness = self.op("ReduceMax", self.scores, axes=[2], keepdims=1)
        self.probabilities = self.op("Div", self.scores, self.op("Max", self.objectness, 1e-9))
        self.coefficients, self.prototypes = self.cut(rows, 84, 116), "output1_own"
        self.rows = len(cells_of(self.width, self.height)[0])

    def logits_of(self, probabilities):
        clipped = self.op("Clip", probabilities, self.constant(1e-6), self.constant(1 - 1e-6))
        return self.op("Log", self.op("Div", clipped, self.op("Sub", 1.0, clipped)))

    def corners(self, boxes=None):
        boxes = boxes or self.boxes
        centre, half = self.cut(boxes, 0, 2), self.op("Mul", self.cut(boxes, 2, 4), 0.5)
        return self.joined(self.op("Sub", centre, half), self.op("Add", centre, half))

    def shares(self, corners):
        """Pixels as shares of the image."""
        return self.op("Div", corners, [self.width, self.height] * 2)

    def categories(self, classes, first=0):
        """COCO's category IDs of CLASSES, minus FIRST; both int64."""
        return self.op("Gather", self.constant([each - first for each in COCO], np.int64), classes)

    def by_category(self, values, count, filler):
        """VALUES [..., A, 80] by category ID: [..., A, COUNT], FILLER where COCO has no category."""
        places = np.full(count, CLASSES)
        places[COCO] = np.arange(CLASSES)
        filling = self.op("Add", self.op("Mul", self.cut(values, 0, 1), 0.0), filler)
        return self.gathered(self.joined(values, filling), places, 2)

    def suppressed(self, scores=None, count=CLASSES):
        """Boxes [N, 4] (corners in pixels), scores [N] and classes int64 [N] that NMS by class leaves, N dynamic.
        SCORES of COUNT classes replace the own ones."""
        corners, scores = self.corners(), scores or self.scores
        chosen = self.op("NonMaxSuppression", corners, self.op("Transpose", scores, perm=[0, 2, 1]),
                         self.constant([MOST], np.int64), [IOU], [SCORE])
        classes, rows = (self.shaped(self.cut(chosen, i, i + 1, 1), -1) for i in (1, 2))
        boxes = self.op("Gather", self.shaped(corners, -1, 4), rows, axis=0)
        flat = self.op("Add", self.op("Mul", rows, self.constant(count, np.int64)), classes)
        return boxes, self.op("Gather", self.shaped(scores, -1), flat, axis=0), classes

    def best(self, boxes, scores, classes, count, is_padded):
        """The COUNT best of a list of dynamic length: with zeros behind, or fewer."""
        if is_padded:
            boxes = self.joined(boxes, np.zeros((count, 4)), axis=0)
            scores = self.joined(scores, np.zeros(count), axis=0)
            classes = self.joined(classes, self.constant(np.zeros(count), np.int64), axis=0)
            wanted = self.constant([count], np.int64)
        else:
            wanted = self.op("Min", self.constant([count], np.int64), self.op("Shape", scores))
        scores, places = self.op("TopK", scores, wanted, outputs=2, axis=0)
        return (self.op("Gather", boxes, places, axis=0), scores, self.op("Gather", classes, places, axis=0))

    def pairs(self, flat):
        """The rows and classes of places in [A * 80]."""
        every = self.constant(CLASSES, np.int64)
        rows = self.op("Div", flat, every)
        return rows, self.op("Sub", flat, self.op("Mul", rows, every))

    def chosen(self, count=MOST):
        """Boxes [COUNT, 4], scores and classes [COUNT] that the model chooses itself: a DETR the best pairs of query
        and class, others by NMS, with zeros behind."""
        if self.objectness:
            return self.best(*self.suppressed(), count, True)
        flat = self.shaped(self.scores, -1)
        scores, flat = self.op("TopK", flat, self.constant([count], np.int64), outputs=2, axis=0)
        rows, classes = self.pairs(flat)
        return self.op("Gather", self.shaped(self.corners(), -1, 4), rows, axis=0), scores, classes

    def finish(self):
        """Drops the nodes and inputs that no output needs."""
        needed, nodes = {output.name for output in self.graph.output}, []
        for node in reversed(self.graph.node):
            if needed & set(node.output):
                needed |= set(node.input)
                nodes.insert(0, node)
        constants = [each for each in self.graph.initializer if each.name in needed]
        inputs = [self.graph.input[0], *self.extra_inputs]
        for field, kept in (("node", nodes), ("input", inputs), ("initializer", constants)):
            copies = [type(each).FromString(each.SerializeToString()) for each in kept]
            del getattr(self.graph, field)[:]
            getattr(self.graph, field).extend(copies)
        del self.graph.value_info[:]
