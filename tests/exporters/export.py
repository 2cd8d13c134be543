"""One exporter on one network. Frameworks derive their own classes."""
import contextlib
import dataclasses
import logging
import os
import pathlib
import sys
import typing
import warnings

import onnx
from compare import exact, sample_images

BATCHES = ("static", "dynamic")
# A dynamic batch runs with another size than it was exported with, because an exporter may fold it to a constant.
EXAMPLE_BATCH = {"static": 1, "dynamic": 2}
RUN_BATCH = {"static": 1, "dynamic": 3}


class CannotExport(Exception):
    """An error or a limitation of the exporter."""


@dataclasses.dataclass
class Network:
    """A framework's network and the shape of one image, channels first, without the batch. Some take a single image."""
    module: typing.Any
    image_shape: tuple
    batched: bool = True


class Exporter:
    """One of a framework's exporters on one network, with a static or a dynamic batch."""

    def __init__(self, network, exporter, batch):
        self.network, self.exporter, self.batch = network, exporter, batch
        self.too_old = 0

    def write(self, path: pathlib.Path, opset: int):
        """Writes the network in that opset. Any exception may occur."""
        raise NotImplementedError

    def feeds(self):
        """Two inputs for the comparison."""
        return sample_images(self.network, RUN_BATCH[self.batch])

    def check(self, binary, path):
        """Whether saccade runs the written file correctly, and its drift."""
        return exact(binary, path, self.feeds())

    def save(self, path: pathlib.Path, opset: int):
        """Writes the network in that opset, or raises the reason why the exporter can't."""
        if opset <= self.too_old:
            raise CannotExport(f"leaves it at a set newer than {self.too_old}")
        with silenced():
            try:
                self.write(path, opset)
                imports = onnx.load(path, load_external_data=False).opset_import
            except Exception as error:  # an exporter may raise anything
                raise CannotExport(one_line(error)) from None
        written = {imported.domain: imported.version for imported in imports}[""]
        if written != opset:
            # An exporter that writes only newer opsets also fails for older ones.
            self.too_old = opset
            raise CannotExport(f"leaves it at set {written}")


def one_line(error):
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0] if lines else ''}"[:200]


@contextlib.contextmanager
def silenced():
    """Suppresses the exporters' messages, from Python and from native libraries."""
    logging.disable(logging.CRITICAL)
    sys.stdout.flush()
    saved = {fd: os.dup(fd) for fd in (1, 2)}
    with warnings.catch_warnings(), open(os.devnull, "w", encoding="utf-8") as nothing, \
            contextlib.redirect_stdout(nothing), contextlib.redirect_stderr(nothing):
        warnings.simplefilter("ignore")
        for fd in saved:
            os.dup2(nothing.fileno(), fd)
        try:
            yield
        finally:
            for fd, kept in saved.items():
                os.dup2(kept, fd)
                os.close(kept)
            logging.disable(logging.NOTSET)


def redrawn(random, value, key, of_product):
    """Reinitialises parameters that start at zeros, ones or nearly zero and would hide errors of an engine: biases of
    convolutions and GEMMs, scales of norms and branches."""
    if of_product:
        return random.normal(0, 0.2, value.shape) if key == "bias" else value
    if value.ndim == 1 and key in ("weight", "gamma"):
        return random.uniform(0.5, 1.5, value.shape)
    if abs(value).max() < 0.1:
        return random.normal(0, 0.2 if key in ("bias", "beta") else 1, value.shape)
    return value
