"""torch's two exporters, over operator sets and static and dynamic batches."""
import contextlib
import io
import logging
import pathlib
import warnings

import onnx
import torch

EXPORTERS = ("torchscript", "dynamo")
BATCHES = ("static", "dynamic")
# Where a dynamic batch is exported with an example of two: an exporter may take one for a constant.
EXAMPLE_BATCH = {"static": 1, "dynamic": 2}


class CannotExport(Exception):
    """The exporter's fault, or its limit."""


class Exporter:
    """One of the exporters on one network, with a static or a dynamic batch."""

    def __init__(self, network, exporter, batch):
        self.network, self.exporter, self.batch = network, exporter, batch
        self.example = (network.examples(EXAMPLE_BATCH[batch]),)
        self.program = None
        self.too_old = 0

    def save(self, path: pathlib.Path, opset: int):
        """Writes the network in that operator set, or says why the exporter can't."""
        if opset <= self.too_old:
            raise CannotExport(f"leaves it at a set newer than {self.too_old}")
        with silenced():
            try:
                (self._torchscript if self.exporter == "torchscript" else self._dynamo)(path, opset)
            except Exception as error:  # whatever an exporter may raise
                raise CannotExport(one_line(error)) from None
        imports = onnx.load(path, load_external_data=False).opset_import
        written = {imported.domain: imported.version for imported in imports}[""]
        if written != opset:
            # It can write only newer ones: so it will for older ones.
            self.too_old = opset
            raise CannotExport(f"leaves it at set {written}")

    def _torchscript(self, path, opset):
        dynamic = {"image": {0: "batch"}} if self.batch == "dynamic" else None
        torch.onnx.export(self.network.module, self.example, path, dynamo=False, opset_version=opset,
                          input_names=["image"], dynamic_axes=dynamic)

    def _dynamo(self, path, opset):
        if self.program is None:
            dynamic = ({0: torch.export.Dim("batch")},) if self.batch == "dynamic" else None
            self.program = torch.export.export(self.network.module, self.example, dynamic_shapes=dynamic, strict=False)
        torch.onnx.export(self.program, (), path, dynamo=True, opset_version=opset, input_names=["image"],
                          external_data=False, verbose=False)


def one_line(error):
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0] if lines else ''}"[:200]


@contextlib.contextmanager
def silenced():
    """Without what exporters have to say."""
    logging.disable(logging.CRITICAL)
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()), \
            contextlib.redirect_stderr(io.StringIO()):
        warnings.simplefilter("ignore")
        try:
            yield
        finally:
            logging.disable(logging.NOTSET)
