#!/usr/bin/python3
"""Compares ways to compile one room: its files alone, with a precompiled header, and as the unity batches of the build.

    bench/compile_times.py [--build build] [--room passes] [--compiler c++] [--ccache]

Uses the options of BUILD's compile_commands.json.  The precompiled header has the standard headers, fmt, and those headers
of the project that four or more files of the room include.  Prints the processor seconds of each way, which other work on
the machine disturbs little.  --ccache adds the batches through ccache, into an empty cache and out of it.
"""
import argparse
import json
import os
import re
import resource
import shlex
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

STANDARD = """fmt/format.h algorithm array cstdint cstring functional map memory mutex optional set span string
string_view tuple unordered_map utility variant vector""".split()
SHARED_BY = 4


def seconds(command, **options):
    """Processor time of COMMAND and its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, **options)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def options_of(entry, compiler):
    """The command of ENTRY without its files."""
    words = shlex.split(entry["command"])
    output = words.index("-o")
    return [compiler, *words[1:output]]


def batches_of(build, room):
    with open(build / "compile_commands.json") as file:
        entries = json.load(file)
    target = f"room_{room.replace('/', '_')}.dir"
    found = [entry for entry in entries if f"/{target}/" in entry["file"] and entry["file"].endswith("_cxx.cxx")]
    if not found:
        sys.exit(f"{build} has no batches of the room {room}: is it a build of the preset release or asan?")
    return found


def files_of(batch):
    return re.findall(r'^#include "(.+)"$', Path(batch).read_text(), re.MULTILINE)


def precompiled(files):
    """The text of a header that all FILES begin with."""
    own = Counter(name for file in files for name in re.findall(r'^#include "(.+)"$', Path(file).read_text(), re.MULTILINE))
    lines = [f"#include <{name}>" for name in STANDARD]
    return "\n".join(lines + [f'#include "{name}"' for name, count in own.items() if count >= SHARED_BY]) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default="build")
    parser.add_argument("--room", default="passes")
    parser.add_argument("--compiler", default="c++")
    parser.add_argument("--ccache", action="store_true")
    args = parser.parse_args()
    batches = batches_of(args.build, args.room)
    files = [file for entry in batches for file in files_of(entry["file"])]
    options = options_of(batches[0], args.compiler)
    with tempfile.TemporaryDirectory() as folder:
        output = ["-o", f"{folder}/object.o"]
        compile_file = lambda file, *more: seconds([*options, *more, "-c", file, *output])  # noqa: E731
        rows = {"batches": sum(compile_file(entry["file"]) for entry in batches), "alone": sum(map(compile_file, files))}
        header = Path(folder, "precompiled.hpp")
        header.write_text(precompiled(files))
        made = seconds([*options, "-x", "c++-header", str(header), "-o", f"{header}.gch"])
        rows["precompiled header"] = made + sum(compile_file(file, "-include", str(header)) for file in files)
        if args.ccache:
            options.insert(0, "ccache")
            environment = dict(os.environ, CCACHE_DIR=f"{folder}/cache")
            through = lambda: sum(seconds([*options, "-c", entry["file"], *output], env=environment)  # noqa: E731
                                  for entry in batches)
            rows["batches through an empty ccache"] = through()
            rows["batches out of ccache"] = through()
    print(f"room {args.room}, {len(files)} files, {args.compiler}: processor seconds")
    for name, value in rows.items():
        print(f"{value:8.1f}  {value / rows['batches']:5.2f}  {name}")


if __name__ == "__main__":
    main()
