"""Generates a graph node by node. Every node is computed at once, so that the next one knows its inputs."""
import numpy as np

from case import BOOL, FLOATS, Case, Leaf, Node, Value, is_float
from oracle import Refused, expected_outputs
from schemas import is_optional, schema_of, types_of

DIMENSIONS = (1, 1, 2, 2, 3, 3, 4, 5, 6, 7, 8, 9, 16, 17)
MOST_ELEMENTS = 1500
LARGEST_VALUE = {"float16": 2e3, "bfloat16": 1e4, "float32": 1e6, "float64": 1e6}


class Impossible(Exception):
    """A rule can't use its inputs or attributes."""


def text_of(value):
    """An attribute's value as text in the coverage table."""
    return "absent" if value is None else str(value)


class Draft:
    """A case under construction. Rules choose values, attributes and nodes through it."""

    def __init__(self, seed, opset, kind, refused=frozenset()):
        """KIND is the element type of most values. REFUSED are (operator, label, value) to exclude."""
        self.rng = np.random.default_rng(seed)
        self.case = Case(opset)
        self.opset = opset
        self.kind = kind
        self.refused = refused
        self.drawn = []  # (row, version, {(label, value)}) of the accepted nodes
        self.row = None
        self.schema = None
        self.want = None  # the (label, value) that the node must cover
        self._pending = {}
        self._notes = {}
        self._count = 0

    # Random choices
    def chance(self, probability):
        return self.rng.random() < probability

    def integer(self, low, high):
        """LOW to HIGH, inclusive."""
        return int(self.rng.integers(low, high + 1))

    def choose(self, options):
        options = list(options)
        if not options:
            raise Impossible("nothing to choose from")
        return options[self.rng.integers(len(options))]

    def some_of(self, options, least=0, most=None):
        options = list(options)
        count = self.integer(least, len(options) if most is None else min(most, len(options)))
        return [options[i] for i in self.rng.permutation(len(options))[:count]]

    def shape(self, rank=None, least=0, most=5):
        rank = self.choose([r for r in (0, 1, 1, 2, 2, 3, 3, 4, 4, 5) if least <= r <= most]) if rank is None else rank
        while True:
            dims = [self.choose(DIMENSIONS) for _ in range(rank)]
            if self.chance(0.01) and rank:
                dims[self.integer(0, rank - 1)] = 0
            if np.prod(dims) <= MOST_ELEMENTS:
                return tuple(dims)

    # Types
    def type_for(self, argument, among=None, is_output=False):
        """A type of this argument, uniformly, but for a requested one."""
        parameters = self.schema.outputs if is_output else self.schema.inputs
        label = f"type {parameters[min(argument, len(parameters) - 1)].type_str}"
        allowed = [t for t in self.row.types or types_of(self.schema, argument, is_output)
                   if (among is None or t in among) and (self.row.name, label, t.name) not in self.refused]
        if self.want and self.want[0] == label:
            allowed = [t for t in allowed if t.name == self.want[1]]
        return self.choose(allowed)

    def element_type(self, argument=0, among=None):
        """A type that the operator's argument may have, often the graph's own."""
        label = f"type {self.schema.inputs[min(argument, len(self.schema.inputs) - 1)].type_str}"
        if self.want and self.want[0] == label:
            return self.type_for(argument, among)
        allowed = [t for t in self.row.types or types_of(self.schema, argument)
                   if (among is None or t in among) and (self.row.name, label, t.name) not in self.refused]
        if self.kind in allowed and self.chance(0.55):
            return self.kind
        there = [t for t in {value.array.dtype for value in self.case.values.values()} if t in allowed]
        if there and self.chance(0.5):
            return self.choose(sorted(there, key=lambda t: t.name))
        others = [t for t in allowed if t not in FLOATS or t == self.kind]
        return self.choose(others if others and self.chance(0.85) else allowed)

    # Values
    def array(self, name):
        return self._pending[name].array if name in self._pending else self.case.values[name].array

    def dtype(self, name):
        return self.array(name).dtype

    def dims(self, name):
        return self.array(name).shape

    def pick(self, dtype, shape=None, rank=None, least=0, most=5, within=(-4, 4), apart=0.0, fits=None, fresh=0.3,
             role=None):
        """A value of this type with elements WITHIN bounds, at least APART from zero: an existing one or a new leaf."""
        def suits(name):
            array = self.case.values[name].array
            if array.dtype != dtype or (shape is not None and array.shape != tuple(shape)):
                return False
            if (rank is not None and array.ndim != rank) or not least <= array.ndim <= most:
                return False
            if fits is not None and not fits(array.shape):
                return False
            if array.size == 0 or dtype == BOOL:
                return array.size > 0
            size = np.abs(array.astype(np.float64))
            if np.isnan(size).any():
                return False
            low, high = float(array.min()), float(array.max())
            return within[0] <= low and high <= within[1] and float(size.min()) >= apart

        if not self.chance(fresh):
            found = [name for name in list(self.case.values)[-12:] if suits(name)]
            if found:
                return found[min(self.rng.integers(len(found)) + self.integer(0, 2), len(found) - 1)]
        for _ in range(30):
            dims = tuple(shape) if shape is not None else self.shape(rank, least, most)
            if fits is None or fits(dims):
                return self.leaf(self.draw(dtype, dims, within, apart), role)
        raise Impossible("no shape fits")

    def draw(self, dtype, shape, within=(-4, 4), apart=0.0):
        """An array of numbers. Floats are often multiples of an eighth, so that ties occur."""
        low, high = max(within[0], -4), min(within[1], 4)
        if high <= low:
            low, high = within
        if dtype == BOOL:
            return self.rng.random(shape) < 0.6
        if not is_float(dtype):
            least = max(np.iinfo(dtype).min, within[0] if within != (-4, 4) else -8)
            most = min(np.iinfo(dtype).max, within[1] if within != (-4, 4) else 8)
            array = self.rng.integers(int(np.ceil(least)), int(np.floor(most)) + 1, shape)
            return np.where(np.abs(array) < apart, np.ceil(apart), array).astype(dtype)
        array = self.rng.uniform(low, high, shape)
        if self.chance(0.3):
            array = np.clip(np.round(array * 8) / 8, low, high)
        array = np.where(np.abs(array) < apart, np.clip(np.copysign(apart * 2, array), low, high), array)
        array = np.where(np.abs(array) < apart, apart * 2, array).astype(dtype)
        # Rounding to a narrow type must stay within the bounds.
        return np.clip(array, np.asarray(low, dtype), np.asarray(high, dtype)).astype(dtype) if array.size else array

    def leaf(self, array, role=None):
        name = f"x{self._count}"
        self._count += 1
        array = np.asarray(array)
        role = role or self.rng.choice(("input", "initializer", "constant"), p=(0.7, 0.2, 0.1))
        if role == "constant" and array.dtype not in types_of(schema_of("Constant", "", self.opset), is_output=True):
            role = "initializer"
        self._pending[name] = Leaf(array, str(role))
        return name

    def integers(self, numbers, dtype="int64"):
        """A parameter argument as exporters write it: a constant, rarely an input."""
        role = self.rng.choice(("initializer", "constant", "input"), p=(0.6, 0.3, 0.1))
        return self.leaf(np.asarray(numbers, dtype), role)

    def same_shape_or_broadcast(self, shape):
        """A shape that broadcasts with SHAPE, which may grow by it."""
        dims = [d if self.chance(0.75) else 1 for d in shape]
        dims = dims[self.integer(0, len(dims)) if self.chance(0.25) else 0:]
        grown = [self.choose((2, 3, 5)) if d == 1 and own == 1 and self.chance(0.3) else d
                 for d, own in zip(dims, shape[len(shape) - len(dims):])]
        if len(grown) == len(shape) and len(grown) < 5 and self.chance(0.1):
            grown = [self.choose((1, 2, 3)), *grown]
        return tuple(grown) if np.prod(grown, initial=1) * max(1, np.prod(shape)) < 4 * MOST_ELEMENTS else tuple(shape)

    # Nodes
    def has_attribute(self, name):
        return name in self.schema.attributes

    def note(self, label, value):
        self._notes[label] = str(value)

    def attributes(self, **set_by_rule):
        """Random values of the attributes in the vocabulary's line, and those of the rule. Attributes unknown to the
        opset are dropped."""
        attributes = {}
        for name, values in self.row.attributes.items():
            if name not in set_by_rule and self.has_attribute(name):
                wanted = [v for v in values if (name, text_of(v)) == self.want]
                attributes[name] = self.choose(wanted or values)
        attributes.update({name: value for name, value in set_by_rule.items() if self.has_attribute(name)})
        return {name: value for name, value in attributes.items() if value is not None}

    def node(self, inputs, outputs=1, captured=(), body=None, **attributes):
        """OUTPUTS is their number, or for each whether it is used."""
        while inputs and inputs[-1] == "":
            inputs = inputs[:-1]
        wanted = [True] * outputs if isinstance(outputs, int) else list(outputs)
        names = [f"y{self._count + i}" if is_wanted else "" for i, is_wanted in enumerate(wanted)]
        self._count += len(names)
        return Node(self.row.op, [*inputs, *captured], names, attributes, self.row.domain, len(captured), body)

    def add(self, row, want=None):
        """Generates one node of ROW that covers WANT, (label, value). Returns whether it was accepted."""
        self.row, self.want, self.schema = row, want, schema_of(row.op, row.domain, self.opset)
        self._pending, self._notes = {}, {}
        try:
            node = row.rule(self)
            values = [self._value(name) for name in node.inputs]
            arrays = [value and value.array for value in values]
            self._check_wanted(node, arrays, None)
            outputs = expected_outputs(row, node, values, self.opset, self.rng)
            self._check(outputs)
            self._check_wanted(node, arrays, [array for array, _ in outputs])
        except (Impossible, Refused) as why:
            self.why = why
            return False
        self.case.nodes.append(node)
        for name, leaf in self._pending.items():
            if name in node.inputs:
                self.case.leaves[name] = leaf
                self.case.values[name] = Value(leaf.array, np.zeros(leaf.array.shape))
        for name, (array, error) in zip(node.outputs, outputs):
            if name:
                self.case.values[name] = Value(array, error)
        self.drawn.append((row, self.schema.since_version, self._shown(node, arrays, [array for array, _ in outputs])))
        return True

    def _shown(self, node, inputs, outputs):
        """Every (label, value) that NODE covers."""
        shown = set(self._notes.items())
        for name in self.schema.attributes:
            if name in self.row.attributes:
                shown.add((name, text_of(node.attributes.get(name))))
            elif name not in self.row.classes:
                shown.add((name, "given" if name in node.attributes or node.body else "absent"))
        for word, parameters, arrays in (("input", self.schema.inputs, inputs),
                                         ("output", self.schema.outputs, outputs or [])):
            for i, array in enumerate(arrays):
                if array is not None:
                    parameter = parameters[min(i, len(parameters) - 1)]
                    shown.add((f"type {parameter.type_str}", array.dtype.name))
            for i, parameter in enumerate(parameters):
                if is_optional(parameter):
                    is_there = i < len(arrays) and arrays[i] is not None
                    shown.add((f"{word} {parameter.name}", "given" if is_there else "absent"))
        return shown

    def _check_wanted(self, node, inputs, outputs):
        """OUTPUTS: None before they are known."""
        if self.want is None:
            return
        label, value = self.want
        shown = self._shown(node, inputs, outputs)
        if self.want in shown or (outputs is None and (label.startswith("output ") or label not in dict(shown))):
            return
        raise Impossible(f"{label} is not {value}")

    def _value(self, name):
        if name == "":
            return None
        if name in self._pending:
            return Value(self._pending[name].array, np.zeros(self._pending[name].array.shape))
        return self.case.values[name]

    def _check(self, outputs):
        for array, _ in outputs:
            if array is None:
                continue
            if array.size > 4 * MOST_ELEMENTS or array.ndim > 6:
                raise Impossible("grew too large")
            if is_float(array.dtype) and not self.row.not_finite:
                size = np.abs(array.astype(np.float64))
                if not np.isfinite(size).all() or np.max(size, initial=0) > LARGEST_VALUE[array.dtype.name]:
                    raise Impossible("values too large")

    def finish(self):
        """Chooses the outputs: values without a reader, and rarely ones with a reader."""
        read = {name for node in self.case.nodes for name in node.inputs}
        names = [name for node in self.case.nodes for name in node.outputs if name]
        self.case.outputs = [name for name in names if name not in read or self.chance(0.08)]
        return self.case
