"""What was drawn: operator by element type and by attribute value, and what never was."""
import collections

from draft import schema_of, types_of


class Coverage:
    def __init__(self):
        self.types = collections.defaultdict(collections.Counter)
        self.values = collections.defaultdict(collections.Counter)
        self.versions = collections.defaultdict(collections.Counter)

    def add(self, drawn):
        for row, dtype, version, notes in drawn:
            self.types[row.name][dtype.name] += 1
            self.versions[row.name][version] += 1
            for attribute, value in notes.items():
                self.values[row.name, attribute][value] += 1

    def expected_types(self, row, newest):
        if row.types:
            return [t.name for t in row.types]
        schema = schema_of(row.op, row.domain, newest) or schema_of(row.op, row.domain, 9)
        if not schema.inputs:
            return []
        return [t.name for t in types_of(schema)]

    def holes(self, operators, newest, refused):
        """(operator, what was never drawn)"""
        for row in operators:
            for name in self.expected_types(row, newest):
                if not self.types[row.name][name] and (row.name, name) not in refused:
                    yield row.name, f"type {name}"
            listed = {name: ["absent" if v is None else str(v) for v in values] for name,
                      values in row.attributes.items()}
            listed |= {name: [str(v) for v in values] for name, values in row.classes.items()}
            for attribute, values in listed.items():
                for value in values:
                    if not self.values[row.name, attribute][value]:
                        yield row.name, f"{attribute} {value}"

    def table(self, operators):
        for row in operators:
            types = ", ".join(f"{name} {n}" for name, n in sorted(self.types[row.name].items()))
            versions = ", ".join(f"{v}: {n}" for v, n in sorted(self.versions[row.name].items()))
            yield f"{row.name}: {sum(self.types[row.name].values())} drawn; versions {versions or 'none'}"
            yield f"    types: {types}"
            for (op, attribute), counts in sorted(self.values.items()):
                if op == row.name:
                    yield f"    {attribute}: " + ", ".join(f"{value} {n}" for value, n in sorted(counts.items()))
