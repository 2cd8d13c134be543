#!/usr/bin/env python3
"""runpaths.py TREE [--without FOLDER...]: checks the library search paths of the ELF files below TREE.

Every path must be relative to the file itself ($ORIGIN) and inside TREE. An empty path is the current folder and an
absolute one may be anyone's folder on another machine: both would load foreign libraries. Dependencies must be plain
file names. Exits with 1 if a file violates this, or if there are no files.
"""
import argparse
import os
import re
import subprocess
import sys

ENTRY = re.compile(r"\((RPATH|RUNPATH|NEEDED)\).*?\[(.*)\]")


def elf_files(tree, left_out):
    for folder, folders, files in os.walk(tree):
        folders[:] = [name for name in folders if os.path.join(folder, name) not in left_out]
        for name in files:
            path = os.path.join(folder, name)
            if os.path.islink(path) or not os.path.isfile(path):
                continue
            with open(path, "rb") as file:
                # Relocatable objects (type 1) are not loaded.
                start = file.read(18)
            if start[:4] == b"\x7fELF" and start[16:18] != b"\x01\x00":
                yield path


def faults(path, tree):
    listed = subprocess.run(["readelf", "--dynamic", "--wide", path], check=True, capture_output=True, text=True,
                            errors="replace", env={**os.environ, "LC_ALL": "C"}).stdout
    for kind, value in ENTRY.findall(listed):
        if kind == "NEEDED":
            if "/" in value:
                yield f"needs {value} by its path"
            continue
        for place in value.split(":"):
            if place != "$ORIGIN" and not place.startswith("$ORIGIN/"):
                yield f"{kind} [{value}] has '{place}', which is not relative to the file"
                continue
            found = os.path.realpath(place.replace("$ORIGIN", os.path.dirname(os.path.realpath(path))))
            if os.path.commonpath([found, os.path.realpath(tree)]) != os.path.realpath(tree):
                yield f"{kind} [{value}] leads out of {tree}: {found}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tree")
    parser.add_argument("--without", nargs="*", default=[])
    args = parser.parse_args()
    count = 0
    found = []
    for path in elf_files(args.tree, {os.path.normpath(folder) for folder in args.without}):
        count += 1
        found += [f"{path}: {fault}" for fault in faults(path, args.tree)]
    print("\n".join(found + [f"{count} ELF files, {len(found)} faults"]))
    return 1 if found or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
