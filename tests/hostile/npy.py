""".npy files with inconsistent headers or unexpected types, or that are not .npy files."""
import io
import struct

import numpy as np

from attempt import Attempt


def header(text, version=(1, 0), length=None):
    data = text.encode("latin1", "replace")
    size = struct.pack("<H" if version[0] == 1 else "<I", len(data) if length is None else length)
    return b"\x93NUMPY" + bytes(version) + size + data


def npy(descr="'<f4'", shape="(2, 3)", order="False", **more):
    return header(f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}\n", **more) + bytes(24)


def saved(array, **more):
    file = io.BytesIO()
    np.save(file, array, **more)
    return file.getvalue()


BASE = np.arange(6, dtype=np.float32).reshape(2, 3)
GOOD = saved(BASE)
# (name, bytes, numpy's reading of it if it may be accepted)
CASES = [("good", GOOD, BASE), ("fortran", saved(np.asfortranarray(BASE)), BASE),
         ("big endian", saved(BASE.astype(">f4")), BASE), ("double", saved(BASE.astype(np.float64)), None),
         ("integers", saved(BASE.astype(np.int64)), None),
         ("objects", saved(np.asarray([[1, "a", {}]], object), allow_pickle=True), None),
         ("text", saved(np.asarray(["abc"] * 6).reshape(2, 3)), None),
         ("complex", saved(BASE.astype(np.complex64)), None),
         ("structure", saved(np.zeros((2, 3), [("x", "<f4")])), None), ("other shape", saved(BASE.T.copy()), None),
         ("flat", saved(BASE.ravel()), None), ("scalar", saved(np.float32(3)), None),
         ("NaN", saved(BASE * np.nan), BASE * np.nan), ("infinite", saved(np.full((2, 3), np.inf, np.float32)), None),
         ("huge shape", npy(shape="(4294967296, 4294967296)"), None),
         ("overflow", npy(shape="(9223372036854775807, 4)"), None),
         ("more digits", npy(shape="(99999999999999999999999,)"), None), ("negative", npy(shape="(-2, -3)"), None),
         ("negative and more", npy(shape="(-1, 3)"), None), ("no numbers", npy(shape="(a, b)"), None),
         ("open shape", npy(shape="(2, 3"), None),
         ("no shape", header("{'descr': '<f4', 'fortran_order': False}") + bytes(24), None),
         ("long shape", npy(shape="(" + "1, " * 5000 + ")", version=(2, 0)), None),
         ("empty shape", npy(shape="()"), None), ("zeros", npy(shape="(0, 3)"), None),
         ("descr unknown", npy(descr="'<f3'"), None), ("descr a list", npy(descr="[('a', '<f4')]"), None),
         ("descr missing end", npy(descr="'<f4"), None), ("descr half", saved(BASE.astype(np.float16)), None),
         ("order a number", npy(order="7"), None), ("version 9", npy(version=(9, 0)), None),
         ("header too long", npy(length=60000), None),
         ("header longer than memory", npy(version=(2, 0), length=0xffffffff), None),
         ("header empty", npy(length=0), None), ("nested", header("{" * 8000) + bytes(24), None),
         ("escape", npy(descr="'\x1b[31m'"), None),
         ("newlines", header("{\n'descr'\n:\n'<f4', 'fortran_order': False, 'shape': (2, 3)}\n") + bytes(24), None),
         ("doubled keys",
          header("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), 'shape': (9, 9)}") + bytes(24), None),
         ("appended", GOOD + b"x" * 100, None), ("empty", b"", None), ("magic alone", b"\x93NUMPY", None),
         ("zip", b"PK\x03\x04" + bytes(100), None), ("bool", saved(BASE > 2), None),
         ("NUL", npy(descr="'<f4\0'"), None), ]

KNOWN = {name for name, *_ in CASES}


def draw(place, number):
    rng = place.rng
    if number % 3 == 2:
        at = rng.randrange(len(GOOD))
        name, data, value = rng.choice([(f"flip at {at}",
                                         GOOD[:at] + bytes([GOOD[at] ^ 1 << rng.randrange(8)]) + GOOD[at + 1:], None),
                                        (f"cut at {at}", GOOD[:at], None)])
    else:
        name, data, value = CASES[(number - number // 3) % len(CASES)]
    place.write("x.npy", data)
    attempt = Attempt(f"a tensor: {name}", [
        "infer", "tensors.onnx", "--input", "a=x.npy", "--input", "b=b.npy", "--output", "o", "--max-model-memory",
        "256M"
    ], {"o": "folder"}, expect=(0, 1, 2))

    def check(at, done):
        if done.code != 0:
            return []
        try:
            given = np.load(io.BytesIO(data), allow_pickle=False)
        except Exception as why:
            return [("wrong", f"taken, where numpy says: {why}")] if name in KNOWN else []
        if given.shape != (2, 3) or given.dtype.kind != "f" or given.dtype.itemsize != 4:
            return [("wrong", f"{given.dtype} {given.shape} taken for float32 (2, 3)")]
        told = np.load(at.folder / "o" / "sum.npy")
        with np.errstate(all="ignore"):
            wanted = given.astype(np.float32) + np.load(at.folder / "b.npy")
        return [] if np.array_equal(told, wanted, equal_nan=True) else [("wrong",
                                                                         f"{told.tolist()}, not {wanted.tolist()}")]

    attempt.check = check
    return attempt
