"""The features of every operator and those that were generated: types by parameter, values by attribute, optional
arguments."""
import collections

from draft import text_of
from schemas import is_optional, parameters_of, schema_of


def expected(row, opsets):
    """Every (label, value) of ROW that OPSETS know."""
    found = filter(None, (schema_of(row.op, row.domain, opset) for opset in opsets))
    schemas = list({schema.since_version: schema for schema in found}.values())
    newest = schemas[-1]
    types = {}
    for schema in schemas:
        for parameter, allowed in parameters_of(schema).items():
            types.setdefault(parameter, {}).update(dict.fromkeys(allowed))
    for i, (parameter, allowed) in enumerate(types.items()):
        for dtype in row.types if row.types and i == 0 else allowed:
            yield f"type {parameter}", dtype.name
    for name, values in row.attributes.items():
        yield from ((name, text_of(value)) for value in values)
    for name, values in row.classes.items():
        yield from ((name, text_of(value)) for value in values)
    listed = {*row.attributes, *row.classes}
    for name in dict.fromkeys(name for schema in schemas for name in schema.attributes if name not in listed):
        yield name, "given"
        if any(name in schema.attributes and not schema.attributes[name].required for schema in schemas):
            yield name, "absent"
    for word, parameters in (("input", newest.inputs), ("output", newest.outputs)):
        for parameter in filter(is_optional, parameters):
            yield f"{word} {parameter.name}", "given"
            yield f"{word} {parameter.name}", "absent"


class Coverage:
    def __init__(self):
        self.drawn = collections.Counter()
        self.values = collections.defaultdict(collections.Counter)
        self.versions = collections.defaultdict(collections.Counter)

    def add(self, drawn):
        for row, version, shown in drawn:
            self.drawn[row.name] += 1
            self.versions[row.name][version] += 1
            for label, value in shown:
                self.values[row.name, label][value] += 1

    def holes(self, operators, opsets):
        """(operator, label, value) that were never generated"""
        for row in operators:
            for label, value in expected(row, opsets):
                if not self.values[row.name, label][value]:
                    yield row.name, label, value

    def table(self, operators):
        for row in operators:
            versions = ", ".join(f"{v}: {n}" for v, n in sorted(self.versions[row.name].items()))
            yield f"{row.name}: {self.drawn[row.name]} drawn; versions {versions or 'none'}"
            for (op, label), counts in sorted(self.values.items()):
                if op == row.name and counts:
                    yield f"    {label}: " + ", ".join(f"{value} {n}" for value, n in sorted(counts.items()) if n)
