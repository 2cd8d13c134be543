"""What a node has to answer, and how far rounding may move its answer.

A node is computed by ONNX Runtime without its optimisations.  Where that has no kernel for the node's types, halves are
computed as floats and rounded once, and everything else by the onnx package's own implementation; so it is, too, for
the nodes of which ONNX Runtime is known to be wrong (known.py).

The error of a value is bounded element by element, from the errors of what the node reads (a forward error analysis,
N. Higham, Accuracy and Stability of Numerical Algorithms, 2002, chapters 1 and 3):
- a node that sums products (`sums`) has the error of its inputs through absolute values, and gamma(n) = n u / (1 - n u)
  of the sum of absolute products, for whatever order they are added in;
- any other node is run again on inputs moved by their errors (by one rounding at least, as an algorithm that is
  backward stable answers exactly for such inputs): all up, all down, and both ways at random, one input after the
  other; what this changes in the answer is added up;
- then come as many roundings of the answer itself as the vocabulary grants the operator.
An answer that jumps (a comparison, an index, a rounding) must be the same for all of these, else the node is refused.
"""
import collections

import numpy as np
import onnxruntime
from onnx import helper
from onnx.reference import ReferenceEvaluator
from onnx.shape_inference import infer_shapes

from case import BFLOAT16, UNIT, Node, is_float, make_model
from known import is_wrong, is_wrong_in_package

onnxruntime.set_default_logger_severity(4)
FLOAT16, FLOAT32, FLOAT64 = (np.dtype(name) for name in ("float16", "float32", "float64"))
# How many times its bound a random move is taken to be: first-order terms only, and one sample of many.
SAFETY = 2.0
# What counts as an answer with no digits left, relatively to the tensor's largest element.
LARGEST_ERROR = {FLOAT64: 1e-6, FLOAT32: 1e-3, FLOAT16: 0.05, BFLOAT16: 0.15}


class Refused(Exception):
    """A node that can't be compared: nobody computes it, or rounding decides its answer."""


def options(optimised=False):
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = settings.inter_op_num_threads = 1
    level = onnxruntime.GraphOptimizationLevel
    settings.graph_optimization_level = level.ORT_ENABLE_ALL if optimised else level.ORT_DISABLE_ALL
    settings.log_severity_level = 4
    return settings


def session(model, optimised=False):
    """ONNX Runtime's session, or nothing where it can't run the model."""
    try:
        return onnxruntime.InferenceSession(model.SerializeToString(), options(optimised),
                                            providers=["CPUExecutionProvider"])
    except Exception:  # its exceptions have no common base
        return None


class Evaluator:
    """Computes single nodes, and remembers how."""

    def __init__(self):
        self.sessions = {}
        self.is_coarse = False  # doubles were computed as floats by the last node
        self.used = collections.Counter()
        self.disagreed = collections.Counter()  # operators of which the package and ONNX Runtime say different things

    def outputs(self, node, arrays, opset):
        """Every output of NODE for ARRAYS (None: left out), in ONNX's element types."""
        kept = [f"i{i}" if array is not None else "" for i, array in enumerate(arrays)]
        named = Node(node.op, kept, [f"o{i}" if name else "" for i, name in enumerate(node.outputs)], node.attributes,
                     node.domain)
        feeds = {name: array for name, array in zip(kept, arrays) if name}
        with np.errstate(all="ignore"):
            found = self._try(named, feeds, opset)
        results = iter(found)
        return [np.asarray(next(results)) if name else None for name in node.outputs]

    def _try(self, named, feeds, opset):
        if not any(array.dtype == BFLOAT16 for array in feeds.values()) and not is_wrong(named, feeds, opset):
            run = self._session(named, feeds, opset)
            if run is not None:
                self.used["onnxruntime"] += 1
                return self._run(run, feeds)
        if any(array.dtype in (BFLOAT16, FLOAT16) for array in feeds.values()) and "to" not in named.attributes:
            return self._by_floats(named, feeds, opset)
        if is_wrong_in_package(named, feeds, opset):
            return self._by_floats(named, feeds, opset, FLOAT64)
        self.used["onnx"] += 1
        try:
            model = self._model(named, feeds, opset, ranks=True)
            outputs = ReferenceEvaluator(model).run(None, feeds)
        except Exception as error:
            raise Refused(f"{named.op}: {error}") from error
        # NumPy widens some sums; what ONNX says of the types holds.
        types = [info.type.tensor_type for info in infer_shapes(model).graph.output]
        if any(t.HasField("shape") and len(t.shape.dim) != np.ndim(output) for output, t in zip(outputs, types)):
            raise Refused(f"{named.op}: the onnx package's own answer has the wrong rank")
        outputs = [np.asarray(output).astype(helper.tensor_dtype_to_np_dtype(t.elem_type)) if t.elem_type else output
                   for output, t in zip(outputs, types)]
        return self._confirmed(named, feeds, opset, outputs)

    def _confirmed(self, named, feeds, opset, outputs):
        """The package's OUTPUTS; of doubles, ONNX Runtime's in float where the two have nothing in common."""
        if not any(array.dtype == FLOAT64 for array in feeds.values()) or "to" in named.attributes:
            return outputs
        try:
            floats = self._by_floats(named, feeds, opset, FLOAT64, only_runtime=True)
        except Refused:
            return outputs
        agree = all(a.shape == b.shape and np.allclose(a.astype(FLOAT64), b.astype(FLOAT64), 1e-2, 1e-3, equal_nan=True)
                    for a, b in zip(outputs, floats))
        self.is_coarse |= not agree
        self.disagreed.update([] if agree else [named.op])
        return outputs if agree else floats

    def _by_floats(self, named, feeds, opset, *others, only_runtime=False):
        """As float32, and rounded once where an input was smaller: its type is the output's."""
        others = others or (BFLOAT16, FLOAT16)
        own = next((array.dtype for array in feeds.values() if array.dtype in others), None)
        if own is None:
            raise Refused(f"{named.op}: nobody computes it")
        self.is_coarse |= own == FLOAT64 and not only_runtime
        floats = {name: array.astype(FLOAT32) if array.dtype in others else array for name, array in feeds.items()}
        if only_runtime:
            run = self._session(named, floats, opset)
            if run is None or is_wrong(named, floats, opset):
                raise Refused(f"{named.op}: nobody else computes it")
            outputs = self._run(run, floats)
        else:
            outputs = self._try(named, floats, opset)
        return [output.astype(own) if output.dtype == FLOAT32 else output for output in outputs]

    def _session(self, named, feeds, opset):
        key = (named.proto().SerializeToString(), tuple((n, a.dtype.name) for n, a in feeds.items()), opset)
        if key not in self.sessions:
            if len(self.sessions) > 4000:
                self.sessions.clear()
            self.sessions[key] = session(self._model(named, feeds, opset))
        return self.sessions[key]

    @staticmethod
    def _model(named, feeds, opset, ranks=False):
        infos = [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype),
                                               [None] * array.ndim if ranks else None)
                 for name, array in feeds.items()]
        outputs = [helper.make_empty_tensor_value_info(name) for name in named.outputs if name]
        return make_model(helper.make_graph([named.proto()], "node", infos, outputs), opset, {named.domain})

    @staticmethod
    def _run(run, feeds):
        try:
            return run.run(None, feeds)
        except Exception as error:
            raise Refused(str(error)) from error


EVALUATOR = Evaluator()


def moved(array, by):
    """ARRAY with every element moved by about BY."""
    return np.asarray(array.astype(np.float64) + by).astype(array.dtype)


def answer(row, node, values, opset, rng):
    """NODE's outputs as (array, error), from VALUES with errors (None: left out); ROW is its line of the vocabulary."""
    arrays = [value and value.array for value in values]
    EVALUATOR.is_coarse = False
    outputs = EVALUATOR.outputs(node, arrays, opset)
    is_coarse = EVALUATOR.is_coarse or row.stashes
    unit = {dtype: max(own, UNIT[FLOAT32]) if is_coarse else own for dtype, own in UNIT.items()}
    if row.overflows:
        _refuse_overflow(row, node, arrays, outputs, opset)
    errors = [np.zeros(output.shape) if output is not None else None for output in outputs]
    with np.errstate(all="ignore"):
        if any(output is not None and is_float(output.dtype) for output in outputs) and row.sums:
            _by_absolute_values(row, node, values, outputs, errors, opset, unit)
        else:
            _by_moves(row, node, values, outputs, errors, opset, unit, rng)
        for output, error in zip(outputs, errors):
            if output is not None and is_float(output.dtype):
                error += unit[output.dtype] * (row.roundings * np.abs(output.astype(np.float64)) + row.floor)
                _refuse_noise(node, output, error)
    return list(zip(outputs, errors))


def _refuse_noise(node, output, error):
    size = np.abs(output.astype(np.float64))
    finite = np.isfinite(size)
    if not np.isfinite(error[finite]).all() or np.isnan(error[~finite]).any():
        raise Refused(f"{node.op}: an error without bound")
    error[~finite] = 0
    if np.max(error, initial=0) > LARGEST_ERROR[output.dtype] * max(1e-3, np.max(size[finite], initial=0)):
        raise Refused(f"{node.op}: no digits left")


def _refuse_overflow(row, node, arrays, outputs, opset):
    """Whole numbers must fit: what a type does beyond its range is nobody's promise."""
    wide = [array.astype(FLOAT64) if array is not None and i in row.overflows and array.dtype.kind in "iu" else array
            for i, array in enumerate(arrays)]
    if all(a is b for a, b in zip(wide, arrays)):
        return
    for output, right in zip(outputs, EVALUATOR.outputs(node, wide, opset)):
        if output is not None and np.any(np.abs(output.astype(FLOAT64) - right.astype(FLOAT64)) >= 1):
            raise Refused(f"{node.op}: overflow")


def _by_absolute_values(row, node, values, outputs, errors, opset, unit):
    def run(with_errors):
        arrays = [None if v is None else v.array if not is_float(v.array.dtype) else
                  moved(np.abs(v.array), v.error if with_errors else 0) for v in values]
        attributes = {key: abs(value) if isinstance(value, float) else value for key, value in node.attributes.items()}
        absolute = Node(node.op, node.inputs, node.outputs, attributes, node.domain)
        return EVALUATOR.outputs(absolute, arrays, opset)

    exact, wide = run(False), run(True)
    for output, error, low, high in zip(outputs, errors, exact, wide):
        if output is None or not is_float(output.dtype):
            continue
        # Halves are summed as floats.
        size = np.abs(low.astype(np.float64))
        gamma = row.sums(node, values) * min(unit[output.dtype], UNIT[FLOAT32])
        error += np.maximum(high.astype(np.float64) - low.astype(np.float64), 0) + gamma / (1 - gamma) * size
        error += 2 * unit[output.dtype] * size


def _by_moves(row, node, values, outputs, errors, opset, unit, rng):
    for i, value in enumerate(values):
        if value is None or not is_float(value.array.dtype) or value.array.size == 0:
            continue
        is_exact = row.jumps and not EVALUATOR.is_coarse
        by = value.error if is_exact or i not in row.moves else np.maximum(value.error, unit[value.array.dtype] *
                                                      np.abs(value.array.astype(np.float64)))
        by = np.where(np.isfinite(by), by, 0)
        if not by.any():
            continue
        changes = [np.zeros(error.shape) if error is not None else None for error in errors]
        for signs in (1.0, -1.0, rng.choice([-1.0, 1.0], by.shape)):
            arrays = [v and v.array for v in values]
            arrays[i] = moved(value.array, signs * by)
            for output, change, other in zip(outputs, changes, EVALUATOR.outputs(node, arrays, opset)):
                if output is None:
                    continue
                if other.shape != output.shape or (not is_float(output.dtype) and np.any(other != output)):
                    raise Refused(f"{node.op}: rounding decides its answer")
                if is_float(output.dtype):
                    difference = np.abs(other.astype(np.float64) - output.astype(np.float64))
                    np.maximum(change, np.where(other == output, 0, difference), out=change)
        for error, change in zip(errors, changes):
            if error is not None:
                error += change if row.jumps else SAFETY * change


def run_whole(model, case):
    """ONNX Runtime's outputs for the whole model; nothing where it can't run it."""
    feeds = {name: leaf.array for name, leaf in case.leaves.items() if leaf.role == "input"}
    if any(array.dtype == BFLOAT16 for array in feeds.values()):
        return None
    run = session(model)
    if run is None or any(output.type == "tensor(bfloat16)" for output in run.get_outputs()):
        return None
    try:
        return run.run(None, feeds)
    except Exception:
        return None
