"""Arguments, types and attributes of operators, from the standard's schemas and, for its own operators, ONNX
Runtime's."""
import dataclasses
import functools

import numpy as np
import onnx
from onnxruntime.capi import onnxruntime_pybind11_state as runtime

from case import BFLOAT16

TYPES = {f"tensor({name})": np.dtype(name) for name in
         ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "bool")}
TYPES |= {"tensor(float)": np.dtype("float32"), "tensor(double)": np.dtype("float64"), "tensor(bfloat16)": BFLOAT16}


@dataclasses.dataclass(frozen=True)
class Argument:
    name: str
    type_str: str  # the type parameter, or the type if it is fixed
    types: frozenset
    option: object


@dataclasses.dataclass(frozen=True, eq=False)
class RuntimeSchema:
    """The used part of onnx's OpSchema, for an operator that only ONNX Runtime defines."""
    inputs: tuple
    outputs: tuple
    attributes: dict
    since_version: int = 1


@functools.cache
def _runtime_schemas():
    schemas = {}
    for schema in runtime.get_all_operator_schema():
        types = {c.type_param_str: frozenset(c.allowed_type_strs) for c in schema.type_constraints}
        arguments = [tuple(Argument(a.name, a.typeStr, types.get(a.typeStr, frozenset((a.typeStr,))), a.option)
                           for a in side) for side in (schema.inputs, schema.outputs)]
        schemas[schema.domain, schema.name] = RuntimeSchema(*arguments, schema.attributes)
    return schemas


@functools.cache
def schema_of(op, domain, opset):
    """The operator's version in OPSET; None if it has none."""
    try:
        schema = onnx.defs.get_schema(op, max_inclusive_version=opset, domain=domain)
    except onnx.defs.SchemaError:
        # ONNX Runtime also has operators of its own in ONNX's domain.
        is_known = any(s.name == op and s.domain == domain for s in onnx.defs.get_all_schemas_with_history())
        return None if is_known else _runtime_schemas().get((domain, op))
    return None if schema.deprecated else schema


def types_of(schema, argument=0, is_output=False):
    """The element types that an argument may have. Variadic arguments repeat the last."""
    parameters = schema.outputs if is_output else schema.inputs
    parameter = parameters[min(argument, len(parameters) - 1)]
    return [TYPES[name] for name in sorted(parameter.types) if name in TYPES]


def parameters_of(schema):
    """Type parameter -> its types, of parameters with several."""
    found = {a.type_str: types_of(schema, i, is_output) for is_output, side in ((False, schema.inputs),
                                                                             (True, schema.outputs))
             for i, a in enumerate(side)}
    return {name: types for name, types in found.items() if len(types) > 1}


def is_optional(argument):
    return str(argument.option).endswith("Optional")


def like_before(op, domain, opset):
    """The newest opset before OPSET's version of the operator, if that version only changes types."""
    schema = schema_of(op, domain, opset)
    if domain or schema is None or schema.since_version == 1:
        return None
    before = schema_of(op, domain, schema.since_version - 1)
    if before is None or before.doc != schema.doc or before.attributes.keys() != schema.attributes.keys() or \
            [a.name for a in before.inputs] != [a.name for a in schema.inputs]:
        return None
    return schema.since_version - 1
