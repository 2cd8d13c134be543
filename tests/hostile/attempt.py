"""One attempt: a command line with its files in a temporary folder, the expected effects, and how it is run.

It runs as an unprivileged user with limits of time, memory and files, so that no fault can harm the machine.
"""
import dataclasses
import hashlib
import os
import pathlib
import random
import resource
import shutil
import signal
import stat
import subprocess
import time

UNPRIVILEGED = 65534
STATED = 256 << 20  # --max-model-memory, and an allowance for libraries and images
BESIDE = 192 << 20
FILE_LIMIT = 200 << 20
DEADLINE = 20  # seconds
OUTPUT_KEPT = 1 << 20


@dataclasses.dataclass
class Attempt:
    what: str
    command: list  # without the binary; str or bytes
    outputs: dict = dataclasses.field(default_factory=dict)  # written if the exit code is 0: path -> reader's name
    writable: tuple = ()  # existing files that may change
    expect: tuple = (0, 1, 2, 3)
    stop: tuple = ()  # (seconds, signal) to send, in order
    endless: bool = False  # may not end by itself: it is then ended by SIGINT
    rlimits: dict = dataclasses.field(default_factory=dict)
    # "stdout", "stderr", "stdin": "closed", "full", "broken", or "file NAME", which is appended to.
    streams: dict = dataclasses.field(default_factory=dict)
    readers: tuple = ()  # FIFOs with a reader
    check: object = None  # a further check: (place, done) -> faults
    environment: dict = dataclasses.field(default_factory=dict)
    is_bounded: bool = True  # --max-model-memory is given


@dataclasses.dataclass
class Done:
    code: int  # negative: the signal that ended it
    stdout: bytes
    stderr: bytes
    seconds: float
    peak: int
    hung: bool = False
    hungry: bool = False
    stopped: bool = False


class Place:
    """The folder of an attempt, with copies of the fixtures, and its random values."""
    def __init__(self, folder, fixtures, key, binary, scale):
        self.folder, self.fixtures, self.binary, self.scale = pathlib.Path(folder), fixtures, binary, scale
        self.rng = random.Random(key)
        shutil.copytree(fixtures, self.folder, dirs_exist_ok=True, symlinks=True)
        self.tmp = self.folder.with_name(self.folder.name + ".tmp")
        self.home = self.folder.with_name(self.folder.name + ".home")
        for path in (self.tmp, self.home):
            path.mkdir(exist_ok=True)

    def write(self, name, content):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return name

    def read(self, name):
        return (self.folder / name).read_bytes()

    def hand_over(self):
        """The user that runs the command owns the files."""
        if os.geteuid() == 0:
            for path in [self.folder, self.tmp, self.home, *everything(self.folder)]:
                os.chown(path, UNPRIVILEGED, UNPRIVILEGED, follow_symlinks=False)

    def run(self, attempt, command=None, cwd=None):
        return run(self, attempt, command or attempt.command, cwd or self.folder)


def everything(folder):
    """Paths below the folder. Links are not followed. Unreadable folders are included as far as possible."""
    found = []
    for root, folders, files in os.walk(os.fsencode(folder)):
        found += [os.path.join(root, name) for name in folders + files]
    return sorted(found)


def fingerprint(path):
    status = os.lstat(path)
    if stat.S_ISREG(status.st_mode):
        with open(path, "rb") as file:
            return "file", hashlib.blake2b(file.read()).hexdigest()
    if stat.S_ISLNK(status.st_mode):
        return "link", os.readlink(path)
    return stat.S_IFMT(status.st_mode), ""


def snapshot(folder):
    return {os.path.relpath(path, os.fsencode(folder)): fingerprint(path) for path in everything(folder)}


def bound(attempt):
    """Runs in the child before the command."""
    def apply():
        resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_LIMIT, FILE_LIMIT))
        resource.setrlimit(resource.RLIMIT_CPU, (180, 180))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):  # nohup and background jobs ignore some signals
            signal.signal(number, signal.SIG_DFL)
        for name, value in attempt.rlimits.items():
            resource.setrlimit(getattr(resource, name), (value, value))
        for number, name in enumerate(("stdin", "stdout", "stderr")):
            if attempt.streams.get(name) == "closed":
                os.close(number)

    return apply


def opened(place, attempt, name, capture):
    """The file descriptor of a standard stream."""
    how = attempt.streams.get(name)
    if how and how.startswith("file "):
        return open(place.folder / how[len("file "):], "ab")
    if how == "full":
        return open("/dev/full", "wb")
    if how == "broken":  # the pipe has no reader
        reading, writing = os.pipe()
        os.close(reading)
        return os.fdopen(writing, "wb")
    return capture


def resident(pid):
    try:
        with open(f"/proc/{pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError, ValueError):
        return 0


def watch(process, attempt, scale, limit):
    """Waits for the process, sends the signals, and kills it if it exceeds a limit."""
    start = time.monotonic()
    deadline = DEADLINE * scale
    signals = list(attempt.stop)
    if attempt.endless:
        signals.append((deadline / 4, signal.SIGINT))
    hung = hungry = stopped = False
    while True:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        seconds = time.monotonic() - start
        if pid:
            process.returncode = os.waitstatus_to_exitcode(status)
            return seconds, usage.ru_maxrss * 1024, hung, hungry, stopped
        if signals and seconds >= signals[0][0]:
            os.kill(process.pid, signals.pop(0)[1])
            stopped = True
        hungry = hungry or resident(process.pid) > 2 * limit
        hung = hung or seconds > deadline
        if hung or hungry:
            os.killpg(process.pid, signal.SIGKILL)
        time.sleep(0.004)


def run(place, attempt, command, cwd):
    user = {"user": UNPRIVILEGED, "group": UNPRIVILEGED, "extra_groups": []} if os.geteuid() == 0 else {}
    environment = {
        "PATH": os.environ.get("PATH", ""), "HOME": str(place.home), "TMPDIR": str(place.tmp), "SACCADE_CACHE": "",
        "CUDA_VISIBLE_DEVICES": "", "LC_ALL": "C.UTF-8",
        **{k: v
           for k, v in os.environ.items() if k.startswith(("ASAN_", "LSAN_", "UBSAN_", "SACCADE_", "LD_"))},
        **attempt.environment
    }
    capture = {name: place.tmp.with_suffix(f".{name}") for name in ("stdout", "stderr")}
    cats = [subprocess.Popen(["cat", place.folder / fifo], stdout=subprocess.DEVNULL) for fifo in attempt.readers]
    try:
        with open(capture["stdout"], "wb") as out, open(capture["stderr"], "wb") as err:
            process = subprocess.Popen([place.binary, *command], cwd=cwd, env=environment, stdin=subprocess.DEVNULL,
                                       stdout=opened(place, attempt, "stdout", out), stderr=opened(place, attempt, "stderr", err),
                                       start_new_session=True, preexec_fn=bound(attempt), **user)
            result = watch(process, attempt, place.scale, limit_of(attempt, place.scale))
    finally:
        for cat in cats:
            cat.kill()
            cat.wait()
        end_group(process.pid)
    texts = []
    for path in capture.values():
        with open(path, "rb") as file:
            texts.append(file.read(OUTPUT_KEPT))
        path.unlink()
    return Done(process.returncode, *texts, *result)


def end_group(group):
    """Processes that the command left running."""
    try:
        os.killpg(group, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass


def caches():
    """Bytes of the data caches of the first processor; 0: unknown."""
    units = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
    total = 0
    for index in pathlib.Path("/sys/devices/system/cpu/cpu0/cache").glob("index*"):
        try:
            if (index / "type").read_text().strip() != "Instruction":
                size = (index / "size").read_text().strip()
                total += int(size[:-1]) * units[size[-1]]
        except (OSError, KeyError, ValueError):
            pass
    return total


def limit_of(attempt, scale):
    """The memory limit of a command. Shadow memory, red zones and quarantine of sanitizers are added."""
    limit = STATED + BESIDE if scale == 1 else 3 * STATED + (1 << 30)
    # The rate of the memory is measured on several times what the caches hold, which are large on servers.
    measures = attempt.command[:1] in (["profile"], ["limits"])
    return limit + (4 * max(0, caches() - (32 << 20)) if measures else 0)
