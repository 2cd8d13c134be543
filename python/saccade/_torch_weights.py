"""Whether the weights that a build has taken as constants are still the same.

Tensor._version, by which autograd notices writes, has no public form. It misses an assignment to Tensor.data, which
data_ptr() shows, and writes through Tensor.data and by fused optimizers. These change nearly every number, so that a few
bytes of each tensor show them; comparing all would cost as much as the network."""
from __future__ import annotations

import operator
import time
import weakref
from collections.abc import Sequence
from typing import Any

import torch  # type: ignore[import-not-found,unused-ignore]
from torch.optim.optimizer import register_optimizer_step_post_hook  # type: ignore[import-not-found,unused-ignore]

from . import _torch_report as reports
from . import _torch_tensors as tensors

SECONDS_BETWEEN_SAMPLES = 1.0
"""Of tensors on a GPU, whose numbers cost the caller some 50 us to read."""

_bytes = operator.attrgetter("raw")


class _Steps:
    """Counts the steps of all optimizers."""

    count = 0

    @classmethod
    def note(cls, *_: Any) -> None:
        cls.count += 1


register_optimizer_step_post_hook(_Steps.note)


class _GpuSamples:
    """A number of each of several tensors on one GPU, read in the caller's stream: after an optimizer's step, and once a
    second without waiting for it."""

    def __init__(self, taken: Sequence[torch.Tensor]) -> None:
        self._steps, self._checked = _Steps.count, time.monotonic()
        # Views keep the memory, not the tensors: it is free once one of these is gone. None: they are not the same.
        self._views = [tensors.middle_of(tensor) for tensor in taken]
        self._references = [weakref.ref(tensor, self._drop) for tensor in taken]
        self._expected = torch.cat(self._views)
        self._differs = torch.zeros(1, dtype=torch.bool, device="cpu", pin_memory=True)
        self._read: Any = None

    def _drop(self, _: Any) -> None:
        self._views = []

    def are_same(self) -> bool:
        if self._views and self._steps != _Steps.count:
            self._steps = _Steps.count
            if not torch.equal(torch.cat(self._views), self._expected):
                self._views = []
        if self._read is not None and self._read.query():
            self._read = None
            if self._differs.item():
                self._views = []
                reports.say("weights on a GPU were written past PyTorch's version counter: calls of up to a second before have "
                            "used the old ones")
        if not self._views:
            return False
        now = time.monotonic()
        if self._read is None and now - self._checked >= SECONDS_BETWEEN_SAMPLES:
            self._checked = now
            self._differs.copy_((torch.cat(self._views) != self._expected).any().reshape(1), non_blocking=True)
            self._read = torch.cuda.Event()
            self._read.record()
        return True


class Weights:
    """Which tensors a build has taken, and in which state. The checks are at every call: 0.2 us per tensor."""

    def __init__(self, given: Sequence[Any], places: Sequence[int]) -> None:
        taken = [given[place] for place in places]
        self._places = places
        self._references = list(map(weakref.ref, taken))
        self._versions = [tensor._version for tensor in taken]
        self._addresses = list(map(torch.Tensor.data_ptr, taken))
        # They do not own the memory: what they read is valid while the tensors have these addresses.
        self._memory = [tensors.sample_of(tensor) for tensor in taken if tensor.device.type == "cpu"]
        self._samples = list(map(_bytes, self._memory))
        on_gpu = [tensor for tensor in taken if tensor.device.type == "cuda" and tensor.numel()]
        self._on_gpus = [_GpuSamples([tensor for tensor in on_gpu if tensor.device == device])
                         for device in {tensor.device for tensor in on_gpu}]

    def are_in(self, given: Sequence[Any]) -> bool:
        """Whether GIVEN has the same tensors, unchanged."""
        return self._are([given[place] for place in self._places])

    def are_outdated(self) -> bool:
        """Whether a tensor is gone or has changed, so that no call will have them again."""
        alive = list(map(operator.call, self._references))
        return any(tensor is None for tensor in alive) or not self._are(alive)

    def _are(self, taken: list[Any]) -> bool:
        # The samples are read last, when their memory is known to belong to these tensors.
        return (all(map(operator.is_, taken, map(operator.call, self._references))) and
                [tensor._version for tensor in taken] == self._versions and
                list(map(torch.Tensor.data_ptr, taken)) == self._addresses and
                list(map(_bytes, self._memory)) == self._samples and
                all(each.are_same() for each in self._on_gpus))
