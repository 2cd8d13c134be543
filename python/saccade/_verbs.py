"""Functions that run the command: what is measured in a process of its own is not disturbed by this one."""
from __future__ import annotations

import json
import os
import subprocess
import threading
from collections.abc import Iterable
from concurrent.futures import Future
from typing import Any

from ._command import path
from ._errors import Error

Value = str | os.PathLike[str] | int | float | bool | None | Iterable[str | os.PathLike[str] | int | float]


def _flags(options: dict[str, Value]) -> list[str]:
    """max_frames=10 is --max-frames 10; True is the flag alone, False and None nothing, a list repeats the flag."""
    flags = []
    for name, value in options.items():
        flag = "--" + name.replace("_", "-")
        if value is True:
            flags.append(flag)
        elif isinstance(value, (str, os.PathLike, int, float)) and value is not False:
            flags += [flag, os.fspath(value) if isinstance(value, os.PathLike) else str(value)]
        elif value is not None and value is not False:
            for each in value:
                flags += [flag, str(each)]
    return flags


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


def _run(verb: str, models: Iterable[str | os.PathLike[str]], options: dict[str, Value]) -> dict[str, Any]:
    command = [path(), verb, *(os.fspath(model) for model in models), *_flags(options), "--json", "--color", "never"]
    read, write = os.pipe()
    shown = threading.Thread(target=_show, args=(read, verb), daemon=True)
    started: Future[subprocess.Popen[str]] = Future()

    # An interrupt is raised in the main thread. Inside of Popen() it would leave a process that no one knows.
    def start() -> None:
        if not started.set_running_or_notify_cancel():
            return
        try:
            started.set_result(subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, pass_fds=[write],
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
        errors = [line.removeprefix("saccade: error: ") for line in err.splitlines() if line.startswith("saccade: error: ")]
        raise Error("\n".join(errors) or err.strip() or f"saccade {verb} ended with {process.returncode}")
    report: dict[str, Any] = json.loads(out)
    return report


def compile(model: str | os.PathLike[str], output: str | os.PathLike[str], **flags: Value) -> dict[str, Any]:
    """Compiles MODEL into the plan OUTPUT, tuned for the device. FLAGS are those of `saccade compile`: device="cuda",
    precision="fp16". Returns its report. Raises saccade.Error."""
    return _run("compile", [model], {"output": output, **flags})


def validate(model: str | os.PathLike[str], data: str, **flags: Value) -> dict[str, Any]:
    """Measures MODEL's accuracy on DATA. FLAGS are those of `saccade validate`. Returns its report. Raises
    saccade.Error."""
    return _run("validate", [model], {"data": data, **flags})


def bench(model: str | os.PathLike[str], *more: str | os.PathLike[str], **flags: Value) -> dict[str, Any]:
    """Measures the latency of models in a process of its own. FLAGS are those of `saccade bench`: against="onnxruntime".
    Returns its report. Raises saccade.Error."""
    return _run("bench", [model, *more], flags)
