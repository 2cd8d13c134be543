"""The registry of supported operators: the other files register converters, graph.py looks them up."""

OPERATORS = {}


class Unsupported(Exception):
    """The model needs something that the converter does not support."""


def op(*names):
    """Registers a function for these operators: (graph, node, *inputs) to an expression, a Value or a list of Values."""
    def add(function):
        OPERATORS.update({name: function for name in names})
        return function
    return add


def unary(patterns):
    """Registers operators of one input. {} in the expression is the input."""
    for name, pattern in patterns.items():
        OPERATORS[name] = lambda graph, node, x, pattern=pattern: pattern.format(x)
