"""Functions that run the command: what is measured in a process of its own is not disturbed by this one."""
from __future__ import annotations

import json
import numbers
import os
import subprocess
import threading
import warnings
from collections.abc import Iterable, Sequence
from concurrent.futures import Future
from typing import Any, SupportsFloat, cast

from ._command import path
from ._errors import Error, InvalidArgumentError, NotFoundError

Value = str | os.PathLike[str] | SupportsFloat | None | Iterable[str | os.PathLike[str] | SupportsFloat]


def _flags(options: dict[str, Value]) -> list[str]:
    """max_frames=10 is --max-frames 10; True is the flag alone, False and None nothing, a list repeats the flag."""
    flags = []
    for name, value in options.items():
        flag = "--" + name.replace("_", "-")
        if value is True:
            flags.append(flag)
        elif value is not None and value is not False:
            is_many = isinstance(value, Iterable) and not isinstance(value, (str, bytes, os.PathLike))
            for each in cast(Iterable[object], value) if is_many else [value]:
                flags += [flag, _text(name, each)]
    return flags


def _text(name: str, value: object) -> str:
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if isinstance(value, (str, numbers.Number)):  # NumPy's numbers are of no other common class
        return str(value)
    raise TypeError(f"the option '{name}' can't be {type(value).__name__}")


def _show(file: int, verb: str) -> None:
    """Shows the command's progress, of which it writes lines "SHARE STEP" to the pipe FILE, as a bar of tqdm where that is
    installed and there is a terminal or a notebook."""
    with open(file, encoding="utf-8", errors="replace") as lines:
        try:
            from tqdm.auto import tqdm  # type: ignore[import-not-found,import-untyped,unused-ignore]
        except ImportError:
            for _ in lines:  # the command must not wait for a full pipe
                pass
            return
        with tqdm(total=1.0, desc=verb, disable=None, leave=False,
                  bar_format="{desc} {percentage:3.0f} % |{bar}| {elapsed}") as bar:
            for line in lines:
                share, _, step = line.strip().partition(" ")
                bar.set_description_str(step, refresh=False)
                bar.update(float(share) - bar.n)


def _messages(text: str, level: str) -> list[str]:
    """Those of LEVEL among the lines that the command has written."""
    start = f"saccade: {level}: "
    return [line.removeprefix(start) for line in text.splitlines() if line.startswith(start)]


def _error(verb: str, models: Sequence[str], code: int, text: str) -> Error:
    """Of the command, which ended with CODE and wrote TEXT. It writes no category."""
    message = "\n".join(_messages(text, "error")) or text.strip() or f"saccade {verb} ended with {code}"
    if code == 2:  # the command line is invalid
        return InvalidArgumentError(message)
    if code == 1 and not all(map(os.path.exists, models)):
        return NotFoundError(message)
    return Error(message)


def _run(verb: str, models: Sequence[str], options: dict[str, Value]) -> dict[str, Any]:
    command = [path(), verb, *models, *_flags(options), "--json", "--color", "never"]
    read, write = os.pipe()
    shown = threading.Thread(target=_show, args=(read, verb), daemon=True)
    started: Future[subprocess.Popen[str]] = Future()

    # An interrupt is raised in the main thread. Inside of Popen() it would leave a process that no one knows.
    def start() -> None:
        if not started.set_running_or_notify_cancel():
            return
        try:
            started.set_result(subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8",
                                                errors="replace", pass_fds=[write],
                                                env={**os.environ, "SACCADE_STATUS_FD": str(write)}))
        except BaseException as error:
            started.set_exception(error)
        finally:
            os.close(write)

    try:
        shown.start()
        threading.Thread(target=start, daemon=True).start()
        out, err = started.result().communicate()
    except BaseException:
        if started.cancel():
            os.close(write)
        else:
            with started.result() as process:
                process.terminate()
        raise
    process = started.result()
    shown.join()
    # 3 is a verdict, which the report has: predictions or accuracy differ.
    if process.returncode not in (0, 3):
        raise _error(verb, models, process.returncode, err)
    try:
        report: dict[str, Any] = json.loads(out)
    except json.JSONDecodeError:
        raise InvalidArgumentError(f"saccade {verb} prints no report with the options {', '.join(options)}") from None
    for message in _messages(err, "warning"):
        warnings.warn(message, stacklevel=3)
    return report


def compile(model: str | os.PathLike[str], output: str | os.PathLike[str], **flags: Value) -> dict[str, Any]:
    """Compiles MODEL into the plan OUTPUT, tuned for the device. FLAGS are those of `saccade compile`: device="cuda",
    precision="fp16". Returns its report; its warnings are Python's. Raises NotFoundError for a missing model,
    InvalidArgumentError for an invalid flag or value, else saccade.Error."""
    return _run("compile", [os.fspath(model)], {"output": output, **flags})


def validate(model: str | os.PathLike[str], data: str, **flags: Value) -> dict[str, Any]:
    """Measures MODEL's accuracy on DATA. FLAGS are those of `saccade validate`. Returns its report. Warnings and errors are
    those of compile()."""
    return _run("validate", [os.fspath(model)], {"data": data, **flags})


def bench(model: str | os.PathLike[str], *more: str | os.PathLike[str], **flags: Value) -> dict[str, Any]:
    """Measures the latency of models in a process of its own. FLAGS are those of `saccade bench`: against="onnxruntime".
    Returns its report. Warnings and errors are those of compile()."""
    return _run("bench", [os.fspath(each) for each in (model, *more)], flags)
