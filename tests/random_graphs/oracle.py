"""The expected output of a node, and the bound of its rounding error.

A node is computed by ONNX Runtime without its optimisations. If that has no kernel for the node's types, half precision
is computed in float32 and rounded once, and everything else by the onnx package's own implementation. The package also
computes the nodes of which ONNX Runtime is known to be wrong (known.py).

The error of a value is bounded element by element from the errors of the node's inputs (a forward error analysis,
N. Higham, Accuracy and Stability of Numerical Algorithms, 2002, chapters 1 and 3):
- a node that sums products (`sums`) has the error of its inputs through absolute values, and gamma(n) = n u / (1 - n u)
  of the sum of absolute products, for any order of summation;
- any other node runs again on inputs perturbed by their errors, or by one rounding at least, because a backward stable
  algorithm is exact for such inputs. All go up, all go down, and all move at random, one input after the other. The
  largest changes of the output are summed;
- the roundings of the output itself are added, as many as the vocabulary grants the operator;
- an operator that is defined by others (`meaning`) has their errors in sequence.
A discontinuous output (a comparison, an index, a rounding) must be the same for all of these, else the node is
rejected.
"""
import collections
import dataclasses
import functools

import numpy as np
import onnxruntime
from onnx import helper
from onnx.reference import ReferenceEvaluator
from onnx.shape_inference import infer_shapes

from case import BFLOAT16, BOOL, UNIT, Value, is_float, make_model
from known import is_wrong, is_wrong_in_package
from schemas import like_before, schema_of

onnxruntime.set_default_logger_severity(4)
INT32 = np.dtype("int32")
FLOAT16, FLOAT32, FLOAT64 = (np.dtype(name) for name in ("float16", "float32", "float64"))
RUNTIME_OPSET = 26  # the newest that ONNX Runtime 1.31 reads
MEANING_OPSET = 24  # the opset of definitions by other operators
MOVERS = ("Resize", "Upsample")  # data movement: integers stay unchanged
# Half of the smallest subnormal step.
TINY = {FLOAT16: 2.0**-25, BFLOAT16: 2.0**-134}
ROWS = {}  # the vocabulary's rows by domain and operator
# Safety factor of random perturbations: first-order terms only, and one sample of many.
SAFETY = 2.0
# An error that leaves no significant digits, relative to the tensor's largest element.
# A node that computes in floats may output doubles.
LARGEST_ERROR = {FLOAT64: 1e-5, FLOAT32: 1e-3, FLOAT16: 0.05, BFLOAT16: 0.15}


class Refused(Exception):
    """A node that can't be compared: neither oracle computes it, or rounding decides its output."""


class Contradiction(Exception):
    """The two oracles contradict each other: one is wrong, or the bound is."""


def options(optimised=False):
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = settings.inter_op_num_threads = 1
    level = onnxruntime.GraphOptimizationLevel
    settings.graph_optimization_level = level.ORT_ENABLE_ALL if optimised else level.ORT_DISABLE_ALL
    settings.log_severity_level = 4
    return settings


def session(model, optimised=False):
    """ONNX Runtime's session; None if it can't run the model."""
    try:
        return onnxruntime.InferenceSession(model.SerializeToString(), options(optimised),
                                            providers=["CPUExecutionProvider"])
    except Exception:  # its exceptions have no common base
        return None


class Evaluator:
    """Computes single nodes and counts which oracle did."""

    def __init__(self):
        self.sessions = {}
        self.is_coarse = False  # the last node computed doubles as floats
        self.used = collections.Counter()
        self.disagreed = collections.Counter()  # operators on which the package and ONNX Runtime differ

    def outputs(self, node, arrays, opset):
        """Every output of NODE for ARRAYS (None: omitted), in ONNX's element types."""
        named, feeds = self._named(node, arrays)
        with np.errstate(all="ignore"):
            found = self._try(named, feeds, opset)
        results = iter(found)
        return [np.asarray(next(results)) if name else None for name in node.outputs]

    def by_runtime(self, node, arrays, opset):
        """ONNX Runtime's outputs of NODE; None if it can't run it, or is wrong."""
        found = self._ask_runtime(*self._named(node, arrays), opset)
        if found is None:
            return None
        results = iter(found)
        return [np.asarray(next(results)) if name else None for name in node.outputs]

    @staticmethod
    def _named(node, arrays):
        """NODE with inputs i0, i1, ... and outputs o0, o1, ..., and its operands by name."""
        inputs = [f"i{i}" if array is not None else "" for i, array in enumerate(arrays)]
        outputs = [f"o{i}" if name else "" for i, name in enumerate(node.outputs)]
        return (dataclasses.replace(node, inputs=inputs, outputs=outputs),
                {name: array for name, array in zip(inputs, arrays) if name})

    def _ask_runtime(self, named, feeds, opset):
        if any(array.dtype == BFLOAT16 for array in feeds.values()) or is_wrong(named, feeds, opset):
            return None
        run = self._session(named, feeds, opset)
        if run is None:
            return None
        self.used["onnxruntime"] += 1
        return self._run(run, feeds)

    def _try(self, named, feeds, opset):
        found = self._ask_runtime(named, feeds, opset)
        if found is not None:
            return found
        if any(array.dtype in (BFLOAT16, FLOAT16) for array in feeds.values()) and "to" not in named.attributes:
            return self._by_floats(named, feeds, opset)
        if named.op in MOVERS and feeds["i0"].dtype.kind in "biu" and feeds["i0"].dtype != INT32:
            wide = feeds | {"i0": feeds["i0"].astype(INT32)}
            return [output.astype(feeds["i0"].dtype) for output in self._try(named, wide, opset)]
        if is_wrong_in_package(named, feeds, opset):
            return self._by_floats(named, feeds, opset, FLOAT64)
        self.used["onnx"] += 1
        try:
            model = self._model(named, feeds, opset, ranks=True)
            outputs = ReferenceEvaluator(model).run(None, feeds)
        except Exception as error:
            if any(array.dtype == FLOAT64 for array in feeds.values()):
                return self._by_floats(named, feeds, opset, FLOAT64)
            if named.op == "OneHot" and feeds["i2"].dtype == BOOL:
                numbers = feeds | {"i2": feeds["i2"].astype(INT32)}
                return [output.astype(BOOL) for output in self._try(named, numbers, opset)]
            raise Refused(f"{named.op}: {error}") from error
        # NumPy widens some sums; ONNX's types are used.
        types = [info.type.tensor_type for info in infer_shapes(model).graph.output]
        if any(t.HasField("shape") and len(t.shape.dim) != np.ndim(output) for output, t in zip(outputs, types)):
            raise Refused(f"{named.op}: the onnx package's own output has the wrong rank")
        outputs = [np.asarray(output).astype(helper.tensor_dtype_to_np_dtype(t.elem_type)) if t.elem_type else output
                   for output, t in zip(outputs, types)]
        return self._confirmed(named, feeds, opset, outputs)

    def _confirmed(self, named, feeds, opset, outputs):
        """The package's OUTPUTS. For doubles ONNX Runtime's in float, if the two contradict each other."""
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
        """In float32, rounded once if an input was narrower. The type is the output's."""
        others = others or (BFLOAT16, FLOAT16)
        own = next((array.dtype for array in feeds.values() if array.dtype in others), None)
        if own is None:
            raise Refused(f"{named.op}: no oracle computes it")
        self.is_coarse |= own == FLOAT64 and not only_runtime
        original = named
        if named.body:
            named = dataclasses.replace(named, body=functools.partial(named.body, as_floats=True))
        floats = {name: array.astype(FLOAT32) if array.dtype in others else array for name, array in feeds.items()}
        if only_runtime:
            run = self._session(named, floats, opset)
            if run is None or is_wrong(named, floats, opset):
                raise Refused(f"{named.op}: no other oracle computes it")
            outputs = self._run(run, floats)
        else:
            outputs = self._try(named, floats, opset)
        types = self._types(original, feeds, opset)
        return [output.astype(own if told is None else told) if output.dtype == FLOAT32 else output
                for output, told in zip(outputs, types)]

    def _types(self, named, feeds, opset):
        """The outputs' types, if the standard defines them; else None."""
        key = (named.proto().SerializeToString(), tuple((n, a.dtype.name) for n, a in feeds.items()), opset, "types")
        if key not in self.sessions:
            infos = infer_shapes(self._model(named, feeds, opset)).graph.output
            self.sessions[key] = [helper.tensor_dtype_to_np_dtype(number) if number else None
                                  for number in (info.type.tensor_type.elem_type for info in infos)]
        return self.sessions[key]

    def _session(self, named, feeds, opset):
        opset = min(opset, RUNTIME_OPSET)
        if schema_of(named.op, named.domain, opset) is None:
            return None
        key = (named.proto().SerializeToString(), tuple((n, a.dtype.name) for n, a in feeds.items()), opset)
        if key not in self.sessions:
            if len(self.sessions) > 2000:
                self.sessions.clear()
            found = session(self._model(named, feeds, opset))
            while found is None and (opset := like_before(named.op, named.domain, opset)):
                found = session(self._model(named, feeds, opset))
            self.sessions[key] = found
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
    """ARRAY with every element perturbed by about BY."""
    return np.asarray(array.astype(np.float64) + by).astype(array.dtype)


def expected_outputs(row, node, values, opset, rng):
    """NODE's outputs as (array, error), from VALUES with errors (None: omitted). ROW is its row of the vocabulary."""
    meaning = row.meaning and row.meaning(node, [value and value.array for value in values])
    if meaning:
        return _by_meaning(node, values, *meaning, opset, rng)
    arrays = [value and value.array for value in values]
    EVALUATOR.is_coarse = False
    outputs = EVALUATOR.outputs(node, arrays, opset)
    is_coarse = EVALUATOR.is_coarse or row.stashes
    unit = {dtype: max(own, UNIT[FLOAT32]) if is_coarse else own for dtype, own in UNIT.items()}
    if row.overflows:
        _refuse_overflow(row, node, arrays, outputs, opset)
    errors = [np.zeros(output.shape) if output is not None else None for output in outputs]
    with np.errstate(all="ignore"):
        has_floats = any(output is not None and is_float(output.dtype) for output in outputs)
        if has_floats and row.sums and row.sums(node, values):
            _by_absolute_values(row, node, values, outputs, errors, opset, unit)
        else:
            _by_moves(row, node, values, outputs, errors, opset, unit, rng)
        for output, error in zip(outputs, errors):
            if output is not None and is_float(output.dtype):
                error += _own_roundings(row, output, unit[output.dtype])
                _refuse_noise(node, output, error)
    return list(zip(outputs, errors))


def _own_roundings(row, output, unit):
    """The error that a node's own roundings add to OUTPUT. Half precision is computed in float32 and rounded once."""
    size = np.abs(output.astype(FLOAT64))
    error = min(unit, UNIT[FLOAT32]) * (row.roundings * size + row.floor)
    if unit > UNIT[FLOAT32] and not row.jumps:
        error += 2 * (unit * size + TINY[output.dtype])  # once in either engine
    return error


def _by_meaning(node, values, steps, constants, opset, rng):
    arrays = [value and value.array for value in values]
    table = {f"i{i}": value for i, value in enumerate(values)}
    table |= {name: Value(array, np.zeros(array.shape)) for name, array in constants.items()}
    for step in steps:
        inputs = [table[name] if name else None for name in step.inputs]
        found = expected_outputs(ROWS[step.domain, step.op], step, inputs, MEANING_OPSET, rng)
        table |= {name: Value(array, error) for name, (array, error) in zip(step.outputs, found) if name}
    meant = [table[f"o{i}"] if name else None for i, name in enumerate(node.outputs)]
    told = EVALUATOR.by_runtime(node, arrays, opset)
    for array, value in zip(told or [], meant):
        if array is None:
            continue
        apart = np.abs(array.astype(FLOAT64) - value.array.astype(FLOAT64))
        if array.shape != value.array.shape or np.any(np.where(array == value.array, 0, apart) > 2 * value.error):
            raise Contradiction(f"{node.op}: ONNX Runtime is {np.max(apart, initial=0):.3g} from its definition")
    return [(None, None) if value is None else (value.array if told is None else told[i], value.error)
            for i, value in enumerate(meant)]


def _refuse_noise(node, output, error):
    size = np.abs(output.astype(np.float64))
    finite = np.isfinite(size)
    if not np.isfinite(error[finite]).all() or np.isnan(error[~finite]).any():
        raise Refused(f"{node.op}: an error without bound")
    error[~finite] = 0
    if np.max(error, initial=0) > LARGEST_ERROR[output.dtype] * max(1e-3, np.max(size[finite], initial=0)):
        raise Refused(f"{node.op}: no digits left")


def _refuse_overflow(row, node, arrays, outputs, opset):
    """Integers must fit: overflow is undefined."""
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
        absolute = dataclasses.replace(node, attributes=attributes)
        return EVALUATOR.outputs(absolute, arrays, opset)

    exact, wide = run(False), run(True)
    for output, error, low, high in zip(outputs, errors, exact, wide):
        if output is None or not is_float(output.dtype):
            continue
        # Half precision is summed in float32.
        size = np.abs(low.astype(np.float64))
        step = unit[output.dtype] if row.rounds_halves else min(unit[output.dtype], UNIT[FLOAT32])
        gamma = row.sums(node, values) * step
        error += np.maximum(high.astype(np.float64) - low.astype(np.float64), 0) + gamma / (1 - gamma) * size
        error += 2 * unit[output.dtype] * size


def _by_moves(row, node, values, outputs, errors, opset, unit, rng):
    for i, value in enumerate(values):
        if value is None or not is_float(value.array.dtype) or value.array.size == 0:
            continue
        is_exact = row.jumps and not EVALUATOR.is_coarse
        by, safety = value.error, 1.0 if row.jumps else SAFETY
        if not is_exact and i in row.moves:
            own = unit[value.array.dtype]
            if own > UNIT[FLOAT32] and not by.any():
                # A float32 rounding does not move a half-precision value. The effect of a half-precision rounding is
                # scaled accordingly.
                safety *= UNIT[FLOAT32] / own
            by = np.maximum(by, own * np.abs(value.array.astype(np.float64)))
        by = np.where(np.isfinite(by), by, 0)
        if not by.any():
            continue
        changes = [np.zeros(error.shape) if error is not None else None for error in errors]
        # Half-precision steps are discrete: few samples miss the maximum, and SAFETY covers nearly linear functions
        # only.
        draws = 8 if unit[value.array.dtype] > UNIT[FLOAT32] else 1
        for signs in (1.0, -1.0, *rng.choice([-1.0, 1.0], (draws, *by.shape))):
            arrays = [v and v.array for v in values]
            arrays[i] = moved(value.array, signs * by)
            for output, change, other in zip(outputs, changes, EVALUATOR.outputs(node, arrays, opset)):
                if output is None:
                    continue
                if other.shape != output.shape or (not is_float(output.dtype) and np.any(other != output)):
                    raise Refused(f"{node.op}: rounding decides its output")
                if is_float(output.dtype):
                    difference = np.abs(other.astype(np.float64) - output.astype(np.float64))
                    np.maximum(change, np.where(other == output, 0, difference), out=change)
        for error, change in zip(errors, changes):
            if error is not None:
                error += safety * change


def run_whole(model, case):
    """ONNX Runtime's outputs for the whole model; None if it can't run it."""
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
