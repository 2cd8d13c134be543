"""Damaged plans: flipped bits, truncation, false sizes, and parts of other plans."""
from attempt import Attempt

COMMANDS = [["run", "p.plan", "--source", "one.png", "--jsonl", "o.jsonl"], ["inspect", "p.plan"],
         ["infer", "p.plan", "--output", "o"], ["compile", "p.plan", "-o", "again.plan", "--device", "cpu"]]


def flip(rng, data):
    at = rng.randrange(len(data))
    return data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1:]


def cut(rng, data):
    return data[:rng.randrange(len(data))]


def append(rng, data):
    return data + rng.randbytes(rng.choice([1, 7, 4096]))


def overwrite(rng, data):
    """A run of bytes, or an excessive number."""
    at = rng.randrange(len(data) - 8)
    what = rng.choice(
        [b"\xff" * 8, b"\x00" * 8, b"\xff\xff\xff\x7f", (1 << 40).to_bytes(8, "little"),
         rng.randbytes(8)])
    return data[:at] + what + data[at + len(what):]


def leave_out(rng, data):
    at = rng.randrange(len(data))
    return data[:at] + data[at + rng.randrange(1, 65):]


def twice(rng, data):
    return data + data


def swap(rng, data):
    a, b = sorted(rng.sample(range(len(data)), 2))
    n = min(64, b - a, len(data) - b)
    return data[:a] + data[b:b + n] + data[a + n:b] + data[a:a + n] + data[b + n:]


DAMAGES = [flip, flip, flip, cut, append, overwrite, leave_out, twice, swap]


def draw(place, number):
    rng = place.rng
    source = rng.choice(["detector.plan", "tensors.plan"])
    damage = rng.choice(DAMAGES)
    data = place.read(source)
    damaged = damage(rng, data)
    place.write("p.plan", damaged)
    command = list(rng.choice(COMMANDS[:2] + COMMANDS[3:] if source == "detector.plan" else COMMANDS[1:]))
    outputs = {"o.jsonl": "jsonl", "o": "folder", "again.plan": "some"}
    # The checksum covers the whole plan: a damaged one must not run.
    return Attempt(f"{source}, {damage.__name__}", [*command, "--max-model-memory", "256M"],
                   {name: kind
                    for name, kind in outputs.items() if name in command}, expect=(0, ) if damaged == data else (1, ))
