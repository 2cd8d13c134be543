"""Plans that processes share: compiled once, by the first that needs one."""
from __future__ import annotations

import ctypes
import fcntl
import hashlib
import mmap
import os
import re
import socket
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from .._errors import NotFoundError
from .._saccade import version
from .._verbs import compile

# protobuf: the key "location" of an external tensor, and the field of its value.
_LOCATION = re.compile(rb"\x0a\x08location\x12([\x01-\x7f])", re.DOTALL)


def cache_folder() -> Path | None:
    """$SACCADE_CACHE, else the user's cache; None: the cache is disabled."""
    own = os.environ.get("SACCADE_CACHE")
    if own is not None:
        return Path(own) if own else None
    base = os.environ.get("XDG_CACHE_HOME", "")
    if base.startswith("/"):
        return Path(base) / "saccade"
    home = os.environ.get("HOME", "")
    return Path(home) / ".cache" / "saccade" if home.startswith("/") else None


def shared_plan(model: Path, folder: Path, device: str, options: Mapping[str, Any]) -> Path:
    """The plan of MODEL in FOLDER, which may be a disk that machines share. It is compiled if there is none for this
    device and OPTIONS, by one process: the others wait. A process that dies leaves none."""
    while True:
        key = _key(model, device, options)
        plan = folder / key / (model.stem + ".plan")
        if plan.exists():
            return plan
        plan.parent.mkdir(parents=True, exist_ok=True)
        with _locked(plan.parent / "lock"):
            if plan.exists():
                return plan
            with TemporaryDirectory(dir=plan.parent) as own:
                made = Path(own, plan.name)
                compile(model, made, device=device, **_flags(options))
                # Else the model was replaced meanwhile, and this may be the plan of either.
                if _key(model, device, options) == key:
                    os.replace(made, plan)
                    return plan


def _flags(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options of saccade.Model as flags of `saccade compile`."""
    flags = dict(options)
    shapes = ["{}={}".format(name, "x".join(map(str, sides))) for name, sides in flags.pop("shapes", {}).items()]
    shapes += [f"{name}={size}" for name, size in flags.pop("dimensions", {}).items()]
    if flags.pop("fallback", False):
        flags["fallback"] = "cpu"
    if (memory := flags.pop("max_memory", 0)) != 0:
        flags["max_model_memory"] = memory
    return {**flags, "shape": shapes}


def has_second(model: Path, card: str) -> bool:
    """Whether a second model belongs to MODEL. A plan names it by a path beside itself, where it is not."""
    file = _card_file(model, card)
    return file.is_file() and "second" in tomllib.loads(file.read_text())


def _card_file(model: Path, card: str) -> Path:
    return Path(card) if card else model.with_suffix(".toml")


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Holds the lock PATH, which ends with the process."""
    with open(path, "w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX)
        except OSError:
            # A file system without locks: several may compile, and the last one's plan stays.
            pass
        yield


def _key(model: Path, device: str, options: Mapping[str, Any]) -> str:
    """Of all that the plan depends on."""
    digest = hashlib.sha256(repr((version, _hardware(device), sorted(options.items()))).encode())
    for file in _files(model, options.get("card", "")):
        with open(file, "rb") as opened:
            digest.update(f"{file.name} {os.fstat(opened.fileno()).st_size} ".encode())
            while block := opened.read(1 << 20):
                digest.update(block)
    return digest.hexdigest()[:32]


def _files(model: Path, card: str) -> list[Path]:
    """MODEL and the files that it is read with: external data, its card, and what that names."""
    if not model.is_file():
        raise NotFoundError(f"{model} is not on the machine {socket.gethostname()}: a replica needs the model's file "
                            "under the same path on every machine, as on a shared disk or in its image")
    files = [model]
    with open(model, "rb") as opened, mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as data:
        names = {data[found.end():found.end() + found[1][0]] for found in _LOCATION.finditer(data)}
    files += [model.parent / os.fsdecode(name) for name in sorted(names)]
    # The preprocessing of models from Hugging Face.
    files += [model.parent / name for name in ("preprocessor_config.json", "config.json")]
    card_file = _card_file(model, card)
    if card_file.is_file():
        files.append(card_file)
        files += [card_file.parent / text for text in _strings(tomllib.loads(card_file.read_text()))]
    return [file for file in files if file.is_file()]


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        # Of what a name of a file may be.
        if 0 < len(value) < 256 and "\0" not in value:
            yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _strings(each)
    elif isinstance(value, list):
        for each in value:
            yield from _strings(each)


def _hardware(device: str) -> tuple[object, ...]:
    """What a plan for DEVICE is tuned for."""
    if device != "cpu":
        return ("cuda", *_gpu())
    wanted = ("model name", "flags")
    with open("/proc/cpuinfo") as file:
        first = [line for line in file.read().split("\n\n")[0].splitlines() if line.startswith(wanted)]
    return ("cpu", *first)


def _gpu() -> tuple[object, ...]:
    """Name, compute capability and driver of the first GPU that this process may use."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return ()
    number, name = ctypes.c_int(), ctypes.create_string_buffer(256)
    if driver.cuInit(0) != 0 or driver.cuDeviceGetName(name, len(name), 0) != 0:
        return ()
    numbers = []
    for attribute in (75, 76):
        driver.cuDeviceGetAttribute(ctypes.byref(number), attribute, 0)
        numbers.append(number.value)
    driver.cuDriverGetVersion(ctypes.byref(number))
    return (os.fsdecode(name.value), *numbers, number.value)
