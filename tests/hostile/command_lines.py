"""Every verb's every path and number, from its --help: a flag that is new is tried, or is an error here."""
import functools
import os
import re
import subprocess

from attempt import Attempt

# What runs in milliseconds, for each verb; the flag that is tried is put in its place.
BASES = {
    "run": ["detector.onnx", "--source",
            "pictures"], "infer": ["tensors.onnx", "--output-dir",
                                   "o"], "bench": ["tensors.onnx", "--runs", "1", "--seconds", "0", "--loads", "1"],
    "inspect": ["detector.onnx"], "check": ["tests"], "compile": ["detector.onnx", "-o", "new.plan", "--device", "cpu"],
    "validate": ["detector.onnx", "--data",
                 "coco:data"], "profile": ["detector.onnx", "--frames", "2", "--source", "pictures"],
    "limits": ["detector.onnx", "--device-file", "ceilings.json", "--seconds",
               "0.01"], "demo": ["--render", "1", "--source", "synthetic:?size=64x48", "--output", "scene"],
    "generate": ["man"],
}
# What a path is for: what is written there, by its reader's name, or "in".  INPUT is the form that it is given in.
PATHS = {
    "run --source": "in", "run --jsonl": "jsonl", "run --coco": "coco", "run --csv": "csv", "run --yolo": "folder",
    "run --video": "video", "run --frames": "folder", "infer --input": "in", "infer --output-dir": "folder",
    "bench --peers-python": "in", "bench --peers-model": "in", "bench --compare": "in", "inspect --graphviz": "folder",
    "inspect --write-card": "text", "compile --output": "some", "validate --data": "in", "validate --results": "coco",
    "validate --against": "in", "validate --against-card": "in", "profile --source": "in", "profile --trace": "json",
    "profile --html": "text", "profile --jsonl": "jsonl", "limits --device-file": "in", "limits --save": "some",
    "demo --model": "in", "demo --output": "folder", "demo --source": "in", "* --card": "in", "* MODEL": "in",
    "check DIR": "in",
}
FORMS = {"--input": b"a=%s", "--data": b"coco:%s"}
EXTENSIONS = {"--video": ".mp4", "--trace": ".json", "--html": ".html", "--output": ".plan"}
NUMBER = re.compile(r"^(N|X|S|SECONDS|POINTS|SIZE|STEP|RATE|TIME|X,Y,W,H|WxH@RATE:FORMAT|WIDTHxHEIGHT:FORMAT|"
                    r"NAME=SHAPE)(=|$)")
PATH = re.compile(r"^(FILE|DIR|PLAN|PATH|SRC|MODEL|A\.json|KIND:DIR|NAME=FILE|synthetic:)")
WORD = re.compile(r"^(auto|cpu|NAME|error|wait|true|CLASS|onnxruntime|png|Needs)")
NUMBERS = ["010", "-1", "1e3", "nan", "inf", "", "99999999999999999999", "0x10", "-0", "1e400", "+5", "1;2", "0"]
# Flags that all verbs share are tried on these alone; the others are tried where they are.
SHARED = ("run", "infer", "validate")
# Measured for seconds, or for minutes where a number is taken: SIGINT ends what has not ended.
SLOW = ("profile", "demo")


@functools.cache
def flags(binary, verb):
    """{flag: what stands behind it} of a verb, the positional argument under its own name."""
    text = subprocess.run([binary, verb, "--help"], capture_output=True, text=True, check=True).stdout
    found = {}
    for line in text.splitlines():
        match = re.match(r"  (?:-\w,)?(--[\w-]+|MODEL|DIR)(?: (.*))?$", line)
        if match:
            found[match[1]] = re.split(r"  +", match[2] or "")[0].removeprefix("TEXT").strip() or match[1]
    return found


def verbs(binary):
    text = subprocess.run([binary, "--help"], capture_output=True, text=True, check=True).stdout
    return re.findall(r"^  (\w+) {3,}", text.split("Commands:")[1], re.M)


def is_shared(binary, flag):
    return sum(flag in flags(binary, verb) for verb in BASES) > 4


def role(verb, flag):
    return PATHS.get(f"{verb} {flag}", PATHS.get(f"* {flag}"))


@functools.cache
def table(binary):
    """All (verb, flag, how): how is a number's text, a path's trick, or what it collides with."""
    rows, unknown = [], []
    for verb in verbs(binary):
        if verb not in BASES:
            unknown.append(f"the verb {verb}")
            continue
        for flag, form in flags(binary, verb).items():
            if is_shared(binary, flag) and verb not in SHARED and flag != "MODEL":
                continue
            if role(verb, flag):
                tricks = INPUT_TRICKS if role(verb, flag) == "in" else OUTPUT_TRICKS
                rows += [(verb, flag, trick) for trick in tricks]
            elif NUMBER.match(form):
                rows += [(verb, flag, f"={text}") for text in NUMBERS]
            elif PATH.match(form):
                unknown.append(f"{verb} {flag} {form}")
    if unknown:
        raise SystemExit(f"tests/hostile/command_lines.py does not know {', '.join(unknown)}: add to BASES or PATHS")
    return rows


def replaced(verb, flag, value, joined):
    """The verb's base with FLAG and VALUE, in their place where the base has them."""
    command = list(BASES[verb])
    if flag in ("MODEL", "DIR"):
        if command[0].startswith("-"):
            return [verb, value, *command]
        return [verb, value, *command[1:]]
    for own in (flag, {"--output": "-o"}.get(flag)):
        if own in command:
            at = command.index(own)
            del command[at:at + 2]
    if verb == "demo" and flag in ("--seconds", "--frames", "--condition-frames", "--model"):
        command = ["--output", "scene"]
    more = {"--yolo-conf": ["--yolo", "y"], "--depth": [], "--peers-model": ["--against", "onnxruntime"]}.get(flag, [])
    if joined:
        return [verb, *command, *more, os.fsencode(flag) + b"=" + os.fsencode(value)]
    return [verb, *command, *more, flag, value, *(["bench.json"] if flag == "--compare" else [])]


def number(place, verb, flag, text):
    attempt = Attempt(f"{verb} {flag} {text!r}", replaced(verb, flag, text, place.rng.random() < 0.5))
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
    """SOURCE, a file of the fixtures, under another NAME of bytes."""
    path = os.path.join(os.fsencode(place.folder), name)
    with open(path, "wb") as file:
        file.write(place.read(source))
    return name


def good(flag, verb):
    """A file that the flag would take."""
    if verb == "demo" and flag == "--source":
        return "one.png"
    return {
        "--source": "one.png", "--input": "a.npy", "--card": "detector.toml", "--against-card": "detector.toml",
        "--device-file": "ceilings.json", "--compare": "bench.json", "--data": "data/instances.json",
        "DIR": "tests/add/model.onnx"
    }.get(flag, "tensors.onnx" if verb in ("infer", "bench") else "detector.onnx")


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
    "a picture": lambda p, f, v: "one.png", "proc": lambda p, f, v: "/proc/self/mem",
}
OUTPUT_TRICKS = {
    "nothing": lambda p, f, v: "", "the pictures": lambda p, f, v: "pictures", "null": lambda p, f, v: "/dev/null",
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


def path(place, verb, flag, trick):
    kind = role(verb, flag)
    tricks = INPUT_TRICKS if kind == "in" else OUTPUT_TRICKS
    name = os.fsencode(tricks[trick](place, flag, verb))
    if trick in ("new", "a newline", "no UTF-8", "old", "hard") and kind != "in":
        renamed = name + os.fsencode(EXTENSIONS.get(flag, "") if verb != "demo" else "")
        if os.path.exists(place.folder / os.fsdecode(name)) and name != renamed:
            os.rename(place.folder / os.fsdecode(name), place.folder / os.fsdecode(renamed))
        name = renamed
    joined = flag.startswith("--") and flag != "--compare" and place.rng.random() < 0.5
    value = FORMS.get(flag, b"%s") % name
    attempt = Attempt(f"{verb} {flag} {trick}", replaced(verb, flag, value, joined))
    attempt.endless = verb in SLOW or trick in ("zero", "urandom")
    if trick == "nothing" and flag not in FORMS:
        attempt.expect = (2, ) if flag.startswith("-") else (1, 2)
    elif trick in ("the model", "the card", "a link to the model", "a hard link"):
        attempt.expect = (0, 1, 2)
    if kind != "in":
        bind_output(place, attempt, kind, name, trick)
    return attempt


def bind_output(place, attempt, kind, name, trick):
    """What may become of the path NAME."""
    if trick == "fifo":
        attempt.readers = ("fifo", )
    if trick in ("old", "the pictures", "a folder"):
        attempt.writable = (name, )
    if trick in ("a link", "a dangling link"):
        attempt.writable = (b"old", b"new")
    if trick in ("new", "old", "a newline", "no UTF-8"):
        attempt.outputs[name] = kind
    if "o" in attempt.command:
        attempt.outputs["o"] = "folder"


def draw(place, number_of):
    """The attempt of that number in the table, whose order is the seed's."""
    verb, flag, how = number_of
    attempt = number(place, verb, flag, how[1:]) if how.startswith("=") else path(place, verb, flag, how)
    if "--max-model-memory" not in flag:
        attempt.command += ["--max-model-memory", "256M"]
    return attempt
