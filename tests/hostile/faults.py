"""The faults of an attempt: a list of (kind, sentence), empty if the command behaved."""
import os
import pathlib
import re
import signal
import stat

import readers
from attempt import limit_of, snapshot

SANITIZER = re.compile(rb"ERROR: (Address|Leak)Sanitizer|runtime error:|Sanitizer: CHECK failed|SUMMARY: \w+Sanitizer")
CONTROL = re.compile(rb"[\x00-\x08\x0b-\x1f\x7f]")
ERROR = b"saccade: error: "
LEVELS = (b"saccade: warning: ", b"saccade: info: ", b"saccade: debug: ")
PEERS = (b".ses", )  # messages of ONNX Runtime, where it is benchmarked beside ours
DEVICES = ("/dev/null", "/dev/full", "/dev/zero", "/dev/urandom", "/dev/stdout", "/dev/stderr")


def shown(data):
    return repr(data[:300].decode("utf-8", "backslashreplace"))


def end_faults(attempt, done, scale):
    faults = []
    found = SANITIZER.search(done.stderr)
    if found:
        faults.append(("crash", shown(done.stderr[max(0, found.start() - 100):])))
    if done.hungry or done.peak > limit_of(attempt, scale) and attempt.is_bounded:
        faults.append(("memory", f"{done.peak >> 20} MB at its peak, of {limit_of(attempt, scale) >> 20}"))
    if done.hung:
        return [*faults, ("hang", f"still running after {done.seconds:.0f} s")]
    if done.code < 0 and not done.hungry:
        sent = [number for _, number in attempt.stop] + ([signal.SIGINT] if attempt.endless else [])
        if not (done.stopped and -done.code in sent):
            faults.append(("crash", f"ended by {signal.Signals(-done.code).name}: {shown(done.stderr[-200:])}"))
    elif done.code >= 0 and done.code not in attempt.expect and not done.stopped:
        faults.append(("code", f"exit code {done.code}, not {' or '.join(map(str, attempt.expect))}: "
                       f"{shown(done.stderr[-300:])}"))
    return faults


def message_faults(attempt, done):
    """Messages are single-sentence lines without control characters."""
    faults = []
    for name, text in (("stderr", done.stderr), ("stdout", done.stdout)):
        if b"bug in saccade" in text:
            faults.append(("message", f"a bug of ours: {shown(text)}"))
        control = CONTROL.search(text)
        if control:
            faults.append(("escape", f"{name} has a control character: {shown(text[max(0, control.start() - 80):])}"))
        try:
            text.decode()
        except UnicodeDecodeError as why:
            if len(text) < 1 << 20:
                faults.append(("escape", f"{name} is no UTF-8: {shown(text[max(0, why.start - 80):])}"))
    lines = done.stderr.splitlines()
    errors = [line for line in lines if line.startswith(ERROR)]
    is_heard = attempt.streams.get("stderr") is None
    if done.code in (1, 2) and is_heard and not SANITIZER.search(done.stderr):
        if len(errors) != 1:
            faults.append(("message", f"{len(errors)} errors with exit code {done.code}: {shown(done.stderr)}"))
        elif lines[-1] != errors[0] and b"the model is not recognised" not in errors[0]:  # a card follows
            faults.append(("message", f"the error goes on for lines: {shown(done.stderr)}"))
    return faults


def file_faults(attempt, place, before, done):
    after = snapshot(place.folder)
    writable = {os.fsencode(name) for name in attempt.writable}
    named = {os.fsencode(name) for name in attempt.outputs}
    faults = []
    for name, was in before.items():
        if after.get(name) != was and name not in writable:
            became = after.get(name)
            how = "is gone" if became is None else "was replaced" if became[0] != was[0] else "was changed"
            faults.append(("changed", f"{shown(name)} {how} (exit code {done.code})"))
    is_killed = done.code == -signal.SIGKILL
    for name in after.keys() - before.keys():
        is_output = any(name == own or name.startswith(own + b"/") for own in named) or name in writable
        if done.code == 2 and after[name][0] == "file":
            faults.append(("left", f"{shown(name)} was made, though the command line was refused"))
        elif not is_output and not is_killed and (re.search(rb"\.(part|tmp)|~$", name)):
            faults.append(("left", f"{shown(name)} stayed"))
        elif done.code == 1 and after[name][0] == "file" and not os.path.getsize(
                os.fsencode(place.folder) + b"/" + name):
            faults.append(("left", f"{shown(name)} is an empty file of a run that failed"))
    if not is_killed:
        faults += [("left", f"{shown(name)} stayed in the temporary folder") for name in snapshot(place.tmp)
                   if name not in PEERS]
    return faults


def output_faults(attempt, place, done):
    """Files that exit code 0 reports as written exist and can be read. So do those of a stopped run."""
    faults = []
    is_cut = done.code == -signal.SIGKILL
    for name, kind in attempt.outputs.items():
        if is_cut and kind == "video":  # checked where the moment is known
            continue
        path = pathlib.Path(os.fsdecode(os.path.join(os.fsencode(place.folder), os.fsencode(name))))
        if not os.path.lexists(path):
            if done.code == 0 and not done.stopped:
                faults.append(("output", f"{shown(os.fsencode(name))} was not written, exit code 0"))
        elif path.exists() and (path.is_dir() or stat.S_ISREG(path.stat().st_mode)) and done.code in (0, -9):
            found = readers.read(kind, path, is_cut)
            faults += [("wrong" if "invalid" in fault else "output", f"{name}: {fault}") for fault in found[:2]]
    if "--json" in attempt.command and done.code in (0, 3) and "stdout" not in attempt.streams:
        faults += [("output", f"--json: {fault}") for fault in parse_report(done.stdout)]
    return faults


def parse_report(data):
    try:
        readers.parse(data.decode())
        return []
    except ValueError as why:
        return [str(why)[:120]]


def device_faults():
    """Device files of this machine that were replaced."""
    return [("device", f"{name} is not a device any more") for name in DEVICES
            if os.path.exists(name) and name.startswith("/dev/") and os.path.isfile(name) and not os.path.islink(name)]


def faults_of(attempt, place, before, done):
    faults = end_faults(attempt, done, place.scale) + file_faults(attempt, place, before, done) + device_faults()
    if not done.hung and not done.hungry:
        faults += message_faults(attempt, done) + output_faults(attempt, place, done)
        faults += attempt.check(place, done) if attempt.check else []
    return faults
