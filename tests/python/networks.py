"""Models with known predictions, which the tests write without a library for ONNX."""
import numpy

FLOAT, INT64 = 1, 7


def _varint(number):
    return bytes([number]) if number < 128 else bytes([number & 127 | 128]) + _varint(number >> 7)


def _integer(number, value):
    return _varint(number << 3) + _varint(value)


def _field(number, *parts):
    """A length-delimited field of a protocol message."""
    body = b"".join(parts)
    return _varint(number << 3 | 2) + _varint(len(body)) + body


def _value(name, *sizes):
    shape = _field(2, *(_field(1, _integer(1, size)) for size in sizes))
    return _field(1, name) + _field(2, _field(1, _integer(1, FLOAT), shape))


def _tensor(name, kind, array):
    return _field(5, *(_integer(1, size) for size in array.shape), _integer(2, kind), _field(8, name), _field(9, array.tobytes()))


def _node(operator, inputs, output):
    return _field(1, *(_field(1, name) for name in inputs), _field(2, output), _field(4, operator))


def write_rows(path, rows, card):
    """A model for images of 64x64 that gives ROWS for each, and its CARD beside it."""
    rows = numpy.asarray(rows, numpy.float32)
    graph = (_node(b"GlobalAveragePool", [b"images"], b"mean") + _node(b"Conv", [b"mean", b"zero", b"rows"], b"wide") +
             _node(b"Reshape", [b"wide", b"shape"], b"output") + _field(2, b"rows") +
             _tensor(b"zero", FLOAT, numpy.zeros((rows.size, 3, 1, 1), numpy.float32)) +
             _tensor(b"rows", FLOAT, rows.reshape(-1)) + _tensor(b"shape", INT64, numpy.array([1, *rows.shape], numpy.int64)) +
             _field(11, _value(b"images", 1, 3, 64, 64)) + _field(12, _value(b"output", 1, *rows.shape)))
    path.write_bytes(_integer(1, 8) + _field(7, graph) + _field(8, _integer(2, 13)))
    path.with_suffix(".toml").write_text(card)
    return path
