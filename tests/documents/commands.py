#!/usr/bin/env python3
"""Runs the commands of README.md and docs/, and checks the flags, cards and C++ that they show.

    commands.py --binary build/saccade --compiler c++ [--list]

A command is a line of a fenced block, or inline code that begins with `saccade`. Names that stand for a file are
replaced by small files that this makes: stand-ins below. Every command must exit with 0. One that no rule knows how to
run fails. Those that install or build are not run; their scripts, and the options that they are given, must exist.
"""
import argparse
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import tomllib

import stand_ins

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCUMENTS = [
    ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "models/README.md",
    *sorted(path for path in (ROOT / "docs").rglob("*.md") if path.name not in ("flags.md", "benchmarks.md"))
]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)
INLINE = re.compile(r"`([^`\n]+(?:\n[^`\n]+)?)`")
TOOLS = ("saccade ", "build/saccade ", "./script/", "script/", "apt", "python3", ".venv")

# Not run, by how they begin, and why.
NOT_RUN = {
    "apt": "installs packages",
    "python3 -m venv": "installs packages",
    ".venv": "trains or evaluates the bundled model",
    "script/": "builds and installs",
    "saccade check DIR": "conformance runs it on ONNX's cases",
    "saccade run vittrack.onnx": "needs a tracker of one object; the test track runs one",
    "saccade serve": "serves until it is stopped; the test serve runs one",
    "saccade bench MODEL... --against": "script/benchmarks runs it; the peers need minutes",
    "saccade bench MODEL --tensors --threads 2 --precision bf16 --against": "the peer compiles for a minute",
}
# Exit statuses beside 0 that a command may end with.
OTHER_STATUS = {"recognise": 3}  # the stand-ins are too few images to tell cards apart
# Flags whose verdict is about measured times, which no test may depend on: 3 is a verdict, too.
MEASURED_VERDICTS = {"limits": "--check"}
# Alternatives that have no stand-in, and why.
NO_STAND_IN = {"imagenet:DIR": "needs a classifier of ImageNet"}
# Flags of other tools that the text names: pkg-config's, CMake's, an exporter's.
OTHER_TOOLS = ("--cflags", "--libs", "--install", "--decode_in_inference")
# Appended, so that a command ends soon.
SHORTER = {
    "bench": ["--duration", "0.2", "--loads", "1", "--device", "cpu"],
    "demo": ["--duration", "2", "--device", "cpu"],
    "profile": ["--duration", "0.5", "--device", "cpu"],
    "recognise": ["--device", "cpu"],
    "validate": ["--device", "cpu"],
}


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


def without_fences(text):
    """TEXT with empty lines in the place of its fenced blocks."""
    return FENCE.sub(lambda found: "\n" * found.group().count("\n"), text)


def commands_of_block(block):
    """The command lines of a block: those after `$ ` if there are any, else those that begin with a tool."""
    joined = block.replace("\\\n", " ")
    lines = [line.strip() for line in joined.splitlines()]
    prompted = [line[2:] for line in lines if line.startswith("$ ")]
    found = prompted or [line for line in lines if line.startswith(TOOLS)]
    return [re.sub(r"\s+#.*$", "", line) for line in found]


def commands_of(path):
    """(line, command) of each command in a document."""
    text = path.read_text()
    for found in FENCE.finditer(text):
        if found.group(1) in ("", "sh", "bash", "console"):
            for command in commands_of_block(found.group(2)):
                yield line_of(text, found.start()), command
    rest = without_fences(text)
    for found in INLINE.finditer(rest):
        command = " ".join(found.group(1).split())
        if re.match(r"(build/)?saccade [a-z-]", command):
            yield line_of(rest, found.start()), command


def normalized(command):
    """Without the folder of the command, the rest of a pipeline, and what is optional."""
    command = re.sub(r"^(build/|\./)", "", command)
    command = re.sub(r"\s[>|]\s.*$", "", command)
    return re.sub(r"\[(OPTIONS|MODEL(\.\.\.)?)\]", lambda found: "" if found.group(1) == "OPTIONS" else "MODEL",
                  command).strip()


def variants(words):
    """One command for each alternative of WORDS such as coco:DIR|DIR."""
    for i, word in enumerate(words):
        if "|" in word:
            return [one for each in word.split("|") for one in variants([*words[:i], each, *words[i + 1:]])]
    return [words]


def reason_not_to_run(command):
    return next((why for start, why in NOT_RUN.items() if command.startswith(start)), None)


def script_problems(command):
    """What is wrong with a command of script/ that is not run."""
    words = shlex.split(command)
    script = ROOT / words[0]
    if not os.access(script, os.X_OK):
        return [f"there is no {words[0]}"]
    text = script.read_text()
    return [f"{words[0]} has no option {word}" for word in words[1:] if word.startswith("-") and word not in text]


class Runner:
    """Runs commands in folders of their own beside the stand-ins."""

    def __init__(self, binary, folder):
        self.binary = str(binary)
        self.folder = folder
        self.files = stand_ins.make(self.binary, folder)

    def run(self, words):
        """What is wrong with a command; empty: nothing."""
        command = words[1]
        if len(words) == 2 and not command.startswith("-"):
            words = [*words, "--help"]
        else:
            words = [*words, *(SHORTER.get(command, []))]
        try:
            arguments = [self.binary, *(self.files.replaced(word, words[i]) for i, word in enumerate(words[1:]))]
        except KeyError as unknown:
            return f"no rule says what {unknown} stands for: tests/documents/stand_ins.py"
        done = subprocess.run(arguments, cwd=self.folder, capture_output=True, text=True, timeout=300,
                              env={**os.environ, "SACCADE_CACHE": str(self.folder / "cache"), "NO_COLOR": "1"})
        verdict = 3 if MEASURED_VERDICTS.get(command) in words else 0
        if done.returncode in (0, verdict, OTHER_STATUS.get(command, 0)) and done.stdout + done.stderr:
            return ""
        return f"exit status {done.returncode}: {shlex.join(arguments[1:])}\n{done.stderr[-600:]}"


def check_commands(runner, only_list):
    """(number of commands run, what is wrong)."""
    count, wrong, seen, skipped = 0, [], set(), {}
    for path in DOCUMENTS:
        for line, written in commands_of(path):
            command = normalized(written)
            where = f"{path.relative_to(ROOT)}:{line}"
            if command in seen:
                continue
            seen.add(command)
            why = reason_not_to_run(command)
            if only_list:
                print(f"{where}: {command}" + (f"   (not run: {why})" if why else ""))
                continue
            if why:
                skipped.setdefault(why, []).append(command)
                if command.startswith("script/"):
                    wrong += [f"{where}: {problem}" for problem in script_problems(command)]
                continue
            for words in variants(shlex.split(command)):
                if missing := [NO_STAND_IN[word] for word in words if word in NO_STAND_IN]:
                    skipped.setdefault(missing[0], []).append(shlex.join(words))
                    continue
                count += 1
                problem = runner.run(words)
                if problem:
                    wrong.append(f"{where}: {command}: {problem}")
    for why, commands in skipped.items():
        print(f"not run, {why}: {len(commands)}")
    return count, wrong


def check_flags(binary):
    """Flags in inline code exist: in the command, a script, or another Python tool."""
    known = subprocess.run([str(binary), "generate", "markdown"], capture_output=True, text=True, check=True).stdout
    folders = ("script", "bench", "tests", "models", "apps/saccade/flags")
    tools = [path for folder in folders for path in (ROOT / folder).rglob("*")
             if path.is_file() and (path.suffix in (".py", ".cpp") or path.parent.name == "script")]
    known += "".join(path.read_text() for path in tools) + " ".join(OTHER_TOOLS)
    count, wrong = 0, []
    for path in DOCUMENTS:
        text = without_fences(path.read_text())
        for found in INLINE.finditer(text):
            for flag in re.findall(r"(?<![\w-])--[a-z][a-z0-9_-]+", found.group(1)):
                count += 1
                if not re.search(re.escape(flag) + r"(?![\w-])", known):
                    wrong.append(f"{path.relative_to(ROOT)}:{line_of(text, found.start())}: there is no flag {flag}")
    return count, wrong


def check_cards():
    """Cards in TOML blocks have keys that docs/cards.md describes, goals and zones those that their readers know."""
    described = set(re.findall(r"^\| `([\w.]+)`", (ROOT / "docs/cards.md").read_text(), re.M))
    goals = set(re.findall(r'"([a-z_0-9]+)"', (ROOT / "src/measure/goals/goals.cpp").read_text()))
    zones = set(re.findall(r'"([a-z]+)"', (ROOT / "src/vision/zones/read_zones.cpp").read_text()))
    count, wrong = 0, []
    for path in DOCUMENTS:
        text = path.read_text()
        for found in FENCE.finditer(text):
            if found.group(1) != "toml":
                continue
            count += 1
            where = f"{path.relative_to(ROOT)}:{line_of(text, found.start())}"
            try:
                card = tomllib.loads(found.group(2))
            except tomllib.TOMLDecodeError as error:
                wrong.append(f"{where}: {error}")
                continue
            if "latency_p99" in card:
                wrong += [f"{where}: no goal {key}" for key in sorted(set(card) - goals)]
                continue
            if "line" in card or "area" in card:
                keys = {key for kind in ("line", "area") for zone in card.get(kind, []) for key in zone}
                wrong += [f"{where}: no key {key} of a zone" for key in sorted(keys - zones)]
                continue
            for section, value in card.items():
                tables = value if isinstance(value, list) else [value]
                keys = {f"{section}.{key}" for table in tables if isinstance(table, dict) for key in table}
                wrong += [f"{where}: no key {key}" for key in sorted((keys or {section}) - described)]
    return count, wrong


# What fragments of C++ take for granted.
PRELUDE = """#include <saccade/saccade.hpp>
#include <iostream>
namespace cv { struct Mat { Mat(int, int, int, const void*) {} }; }
constexpr int CV_8UC3 = 16;
void fragment(saccade::Pipeline& pipeline, int width, int height, const std::uint8_t* pixels_) {
  [[maybe_unused]] auto* pixels = pixels_;
  static_cast<void>(pipeline), static_cast<void>(width), static_cast<void>(height);
  {
"""


def check_cpp(compiler):
    count, wrong = 0, []
    for path in DOCUMENTS:
        text = path.read_text()
        for found in FENCE.finditer(text):
            if found.group(1) != "cpp":
                continue
            count += 1
            code = found.group(2)
            program = code if "int main" in code else f"{PRELUDE}{code}\n  }}\n}}\n"
            done = subprocess.run([compiler, "-std=c++20", "-fsyntax-only", "-I", ROOT / "include", "-x", "c++", "-"],
                                  input=program, capture_output=True, text=True)
            if done.returncode != 0:
                wrong.append(f"{path.relative_to(ROOT)}:{line_of(text, found.start())}: {done.stderr[-800:]}")
    return count, wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=pathlib.Path, required=True)
    parser.add_argument("--compiler", default="c++")
    parser.add_argument("--list", action="store_true", help="print the commands, run none")
    flags = parser.parse_args()
    binary = flags.binary.resolve()
    with tempfile.TemporaryDirectory() as folder:
        runner = None if flags.list else Runner(binary, pathlib.Path(folder))
        checks = {"commands run": check_commands(runner, flags.list)}
    if flags.list:
        return 0
    checks |= {"flags": check_flags(binary), "cards": check_cards(), "C++ snippets": check_cpp(flags.compiler)}
    wrong = [each for _, problems in checks.values() for each in problems]
    print("\n".join(wrong))
    print(", ".join(f"{what} {count}" for what, (count, _) in checks.items()) + f"; {len(wrong)} wrong")
    empty = [what for what, (count, _) in checks.items() if count == 0]
    if empty:
        print(f"none found: {', '.join(empty)}")
    return 1 if wrong or empty else 0


if __name__ == "__main__":
    sys.exit(main())
