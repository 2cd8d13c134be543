"""Every path and number of every command, from its --help. A new flag is tried, or is an error here."""
import functools
import os
import re
import subprocess

from attempt import Attempt

# A command line of each command that runs in milliseconds. The tried flag is inserted.
BASES = {
    "run": ["detector.onnx", "--no-save", "--source",
            "images"], "infer": ["tensors.onnx", "--output",
                                   "o"], "bench": ["tensors.onnx", "--runs", "1", "--duration", "0", "--loads", "1"],
    "inspect": ["detector.onnx"], "check": ["tests"], "compile": ["detector.onnx", "-o", "new.plan", "--device", "cpu"],
    "validate": ["detector.onnx", "--data",
                 "coco:data"], "recognise": ["detector.onnx", "--data", "images", "--max-frames", "1"],
    "profile": ["detector.onnx", "--max-frames", "2", "--source", "images"],
    "limits": ["detector.onnx", "--device-file", "ceilings.json", "--duration",
               "0.01"], "demo": ["--render", "1", "--source", "synthetic:?size=64x48", "--output", "scene"],
    "generate": ["man"], "cameras": ["--model", "detector.onnx"], "serve": ["detector.onnx", "--http", "0"],
}
# The use of a path: the reader's name of the file that is written there, or "in". INPUT is the form of the value.
PATHS = {
    "run --source": "in", "run --sources": "in", "run --jsonl": "jsonl", "run --coco": "coco", "run --mot": "some",
    "run --csv": "csv", "run --yolo": "folder", "run --video": "video", "run --frames": "folder", "run --goals": "in",
    "run --zones": "in", "run --telemetry": "jsonl",
    "run --tls": "in", "run --token-file": "in", "infer --input": "in", "infer --output": "folder",
    "bench --peers-python": "in", "bench --peers-model": "in", "bench --compare": "in", "inspect --graphviz": "folder",
    "inspect --write-card": "text", "compile --output": "some", "compile --data": "in", "validate --data": "in",
    "validate --results": "coco", "validate --against": "in", "validate --against-card": "in", "recognise --data": "in",
    "recognise --write-card": "text", "profile --source": "in", "profile --trace": "json",
    "profile --html": "text", "profile --jsonl": "jsonl", "limits --device-file": "in", "limits --output": "some",
    "demo --model": "in", "demo --output": "folder", "demo --source": "in", "* --card": "in", "* MODEL": "in",
    "check DIR": "in", "cameras --model": "in", "serve --tls": "in", "serve --client-ca": "in", "serve --token-file": "in",
    "serve --model-dir": "in", "serve --access-log": "text",
}
FORMS = {"--input": b"a=%s", "--data": b"coco:%s"}
EXTENSIONS = {"--video": ".mp4", "--trace": ".json", "--html": ".html", "--output": ".plan"}
NUMBER = re.compile(r"^(N|X|MS|\[HOST:\]PORT|\[NAME:\]X|S|SECONDS|POINTS|SIZE\|TIME|SIZE|STEP|RATE|TIME|X,Y,W,H|WxH@RATE:FORMAT|WIDTHxHEIGHT:FORMAT|"
                    r"NAME=SHAPE)(=|$)")
PATH = re.compile(r"^(FILE|DIR|PLAN|PATH|SRC|MODEL|A\.json|KIND:DIR|NAME=FILE|synthetic:)")
WORD = re.compile(r"^(auto|cpu|NAME|error|wait|true|CLASS|onnxruntime|png|Needs)")
NUMBERS = ["010", "-1", "1e3", "nan", "inf", "", "99999999999999999999", "0x10", "-0", "1e400", "+5", "1;2", "0"]
# Flags that all commands share are tried on these alone. The others are tried on every command that has them.
SHARED = ("run", "infer", "validate")
# These measure for seconds, or for minutes with a large number, or serve. SIGINT ends them.
SLOW = ("profile", "demo", "serve")


@functools.cache
def flags(binary, subcommand):
    """{flag: its value in --help} of a command. The positional argument has its own name."""
    text = subprocess.run([binary, subcommand, "--help"], capture_output=True, text=True, check=True).stdout
    found = {}
    for line in text.splitlines():
        match = re.match(r"  (?:-\w,)?(--[\w-]+|MODEL|DIR)(?: (.*))?$", line)
        if match:
            found[match[1]] = re.split(r"  +", match[2] or "")[0].removeprefix("TEXT").strip() or match[1]
    return found


def commands(binary):
    text = subprocess.run([binary, "--help"], capture_output=True, text=True, check=True).stdout
    return re.findall(r"^  (\w+) {3,}", text.split("Commands:")[1], re.M)


def is_shared(binary, flag):
    return sum(flag in flags(binary, subcommand) for subcommand in BASES) > 5


def role(subcommand, flag):
    return PATHS.get(f"{subcommand} {flag}", PATHS.get(f"* {flag}"))


@functools.cache
def table(binary):
    """All (command, flag, how): how is a number's text, a variant of a path, or the collision."""
    rows, unknown = [], []
    for subcommand in commands(binary):
        if subcommand not in BASES:
            unknown.append(f"the command {subcommand}")
            continue
        for flag, form in flags(binary, subcommand).items():
            if is_shared(binary, flag) and subcommand not in SHARED and flag != "MODEL":
                continue
            if role(subcommand, flag):
                tricks = INPUT_TRICKS if role(subcommand, flag) == "in" else OUTPUT_TRICKS
                rows += [(subcommand, flag, trick) for trick in tricks]
            elif NUMBER.match(form):
                rows += [(subcommand, flag, f"={text}") for text in NUMBERS]
            elif PATH.match(form):
                unknown.append(f"{subcommand} {flag} {form}")
    if unknown:
        raise SystemExit(f"tests/hostile/command_lines.py does not know {', '.join(unknown)}: add to BASES or PATHS")
    return rows


def replaced(subcommand, flag, value, joined):
    """The command's base with FLAG and VALUE, replacing those of the base."""
    command = list(BASES[subcommand])
    if flag in ("MODEL", "DIR"):
        if command[0].startswith("-"):
            return [subcommand, value, *command]
        return [subcommand, value, *command[1:]]
    for own in (flag, {"--output": "-o"}.get(flag)):
        if own in command:
            at = command.index(own)
            del command[at:at + 2]
    if subcommand == "demo" and flag in ("--duration", "--max-frames", "--condition-frames", "--model"):
        command = ["--output", "scene"]
    more = {"--yolo-conf": ["--yolo", "y"], "--depth": [], "--peers-model": ["--against", "onnxruntime"],
            "--peers-python": ["--against", "onnxruntime"],
            "--mot": ["--track", "sort"], "--zones": ["--track", "sort"],
            "--rotate": ["--jsonl", "o.jsonl"], "--keep": ["--jsonl", "o.jsonl", "--rotate", "1M"],
            "--client-ca": ["--tls", "cert.pem", "key.pem"],
            **({} if subcommand == "serve" else {"--tls": ["--metrics", "0"], "--token-file": ["--metrics", "0"]})}.get(flag, [])
    if joined:
        return [subcommand, *command, *more, os.fsencode(flag) + b"=" + os.fsencode(value)]
    return [subcommand, *command, *more, flag, value, *{"--compare": ["bench.json"], "--tls": ["key.pem"]}.get(flag, [])]


def number(place, subcommand, flag, text):
    attempt = Attempt(f"{subcommand} {flag} {text!r}", replaced(subcommand, flag, text, place.rng.random() < 0.5))
    attempt.endless = True
    attempt.is_bounded = flag != "--max-model-memory"
    attempt.outputs = {"o": "folder", "new.plan": "some", "scene": "folder", "y": "folder"}
    attempt.outputs = {name: kind for name, kind in attempt.outputs.items() if name in attempt.command}
    if text in ("", "nan", "1;2"):
        attempt.expect = (2, )
    return attempt


def folder(place, name):
    (place.folder / name).mkdir()
    return name


def linked(place, target, name="link"):
    os.symlink(target, place.folder / name)
    return name


def fifo(place, name="fifo"):
    os.mkfifo(place.folder / name)
    return name


def secret(place, name="secret"):
    place.write(name, "mine")
    os.chmod(place.folder / name, 0)
    return name


def copied(place, source, name):
    """SOURCE, a file of the fixtures, under another NAME (bytes)."""
    path = os.path.join(os.fsencode(place.folder), name)
    with open(path, "wb") as file:
        file.write(place.read(source))
    return name


def good(flag, subcommand):
    """A valid file for the flag."""
    if subcommand == "demo" and flag == "--source":
        return "one.png"
    return {
        "--source": "one.png", "--input": "a.npy", "--card": "detector.toml", "--against-card": "detector.toml",
        "--device-file": "ceilings.json", "--compare": "bench.json", "--data": "data/instances.json",
        "DIR": "tests/add/model.onnx"
    }.get(flag, "tensors.onnx" if subcommand in ("infer", "bench") else "detector.onnx")


INPUT_TRICKS = {
    "nothing": lambda p, f, v: "", "a folder": lambda p, f, v: folder(p, "d"), "null": lambda p, f, v: "/dev/null",
    "zero": lambda p, f, v: "/dev/zero", "urandom": lambda p, f, v: "/dev/urandom", "full": lambda p, f, v: "/dev/full",
    "fifo": lambda p, f, v: fifo(p), "a link to zero": lambda p, f, v: linked(p, "/dev/zero"),
    "a loop": lambda p, f, v: linked(p, "link"), "a dangling link": lambda p, f, v: linked(p, "nowhere"),
    "a link": lambda p, f, v: linked(p, good(f, v)), "missing": lambda p, f, v: "none/there",
    "no UTF-8": lambda p, f, v: copied(p, good(f, v), b"\xff\xfe.bin"),
    "a newline": lambda p, f, v: copied(p, good(f, v), b"a\nb\x1b[31m.bin"), "long": lambda p, f, v: "x" * 300,
    "unreadable": lambda p, f, v: secret(p), "empty": lambda p, f, v: p.write("empty", b""),
    "garbage": lambda p, f, v: p.write("garbage", p.rng.randbytes(3000)),
    "text": lambda p, f, v: p.write("text", "a = 1\n" * 50), "itself": lambda p, f, v: good(f, v),
    "an image": lambda p, f, v: "one.png", "proc": lambda p, f, v: "/proc/self/mem",
}
OUTPUT_TRICKS = {
    "nothing": lambda p, f, v: "", "the images": lambda p, f, v: "images", "null": lambda p, f, v: "/dev/null",
    "full": lambda p, f, v: "/dev/full", "stdout": lambda p, f, v: "/dev/stdout", "fifo": lambda p, f, v: fifo(p),
    "a link to null": lambda p, f, v: linked(p, "/dev/null"), "a link": lambda p, f, v: linked(p, "old"),
    "a loop": lambda p, f, v: linked(p, "link"), "a dangling link": lambda p, f, v: linked(p, "new"),
    "a link to the model": lambda p, f, v: linked(p, good("MODEL", v)), "new": lambda p, f, v: "new",
    "the model": lambda p, f, v: good("MODEL", v), "the card": lambda p, f, v: "detector.toml",
    "a hard link": lambda p, f, v: hard(p, good("MODEL", v)), "old": lambda p, f, v: p.write("old", "old\n"),
    "no UTF-8": lambda p, f, v: b"\xff\xfe", "a newline": lambda p, f, v: b"a\nb\x1b[31m",
    "long": lambda p, f, v: "x" * 300, "missing": lambda p, f, v: "none/there", "unwritable": lambda p, f, v: secret(p),
    "locked": lambda p, f, v: locked(p), "a folder": lambda p, f, v: folder(p, "d"), "dot": lambda p, f, v: ".",
    "under a file": lambda p, f, v: "one.png/x",
}


def hard(place, source):
    os.link(place.folder / source, place.folder / "hard")
    return "hard"


def locked(place):
    (place.folder / "locked").mkdir()
    os.chmod(place.folder / "locked", 0o555)
    return "locked/new"


def path(place, subcommand, flag, trick):
    kind = role(subcommand, flag)
    tricks = INPUT_TRICKS if kind == "in" else OUTPUT_TRICKS
    name = os.fsencode(tricks[trick](place, flag, subcommand))
    if trick in ("new", "a newline", "no UTF-8", "old", "hard") and kind != "in":
        renamed = name + os.fsencode(EXTENSIONS.get(flag, "") if subcommand != "demo" else "")
        if os.path.exists(place.folder / os.fsdecode(name)) and name != renamed:
            os.rename(place.folder / os.fsdecode(name), place.folder / os.fsdecode(renamed))
        name = renamed
    joined = flag.startswith("--") and flag != "--compare" and place.rng.random() < 0.5
    value = FORMS.get(flag, b"%s") % name
    attempt = Attempt(f"{subcommand} {flag} {trick}", replaced(subcommand, flag, value, joined))
    attempt.endless = subcommand in SLOW or trick in ("zero", "urandom")
    if trick == "nothing" and flag not in FORMS:
        attempt.expect = (2, ) if flag.startswith("-") else (1, 2)
    elif trick in ("the model", "the card", "a link to the model", "a hard link"):
        attempt.expect = (0, 1, 2)
    if kind != "in":
        bind_output(place, attempt, kind, name, trick)
    return attempt


def bind_output(place, attempt, kind, name, trick):
    """The expected effect on the path NAME."""
    if trick == "fifo":
        attempt.readers = ("fifo", )
    if trick in ("old", "the images", "a folder"):
        attempt.writable = (name, )
    if trick in ("a link", "a dangling link"):
        attempt.writable = (b"old", b"new")
    if trick in ("new", "old", "a newline", "no UTF-8"):
        attempt.outputs[name] = kind
    if "o" in attempt.command:
        attempt.outputs["o"] = "folder"


def draw(place, number_of):
    """The attempt of that number in the table, which the seed shuffles."""
    subcommand, flag, how = number_of
    attempt = number(place, subcommand, flag, how[1:]) if how.startswith("=") else path(place, subcommand, flag, how)
    if "--max-model-memory" not in flag:
        attempt.command += ["--max-model-memory", "256M"]
    return attempt
