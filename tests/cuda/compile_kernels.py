#!/usr/bin/env python3
"""Compiles kernels with NVRTC, without a GPU, and prints their resource usage by family.

    compile_kernels.py --sources DIR --headers src/backends/cuda/kernels [--architecture sm_90a ...] [--cache DIR]
                       [--sample N]

DIR holds CUDA C++ files as the emulated NVRTC writes them (SACCADE_EMULATOR_SOURCES).  Fails if a kernel does not compile,
spills registers, uses local memory (unless its source has a comment "local memory: WHY") or serialises its wgmmas
(ptxas' warnings C75xx).  Results are cached by source and NVRTC version.  --sample takes at most N kernels per family.
Exit status 77: skipped, there is no NVRTC.
"""
import argparse
import collections
import ctypes
import glob
import hashlib
import json
import multiprocessing
import os
import re
import site
import sys

SKIPPED = 77
OPTIONS = ["--std=c++17", "--device-as-default-execution-space", "--fmad=true"]  # as the backend has them
SLACK = 16  # registers above the tactic's estimate before a kernel is reported


def open_nvrtc():
    """NVRTC of the Python package nvidia-cuda-nvrtc, of a toolkit, or of the system; None if there is none."""
    folders = [os.path.join(s, "nvidia", "*", "lib") for s in site.getsitepackages()]
    folders += ["/usr/local/cuda*/lib64", "/usr/local/cuda*/lib"]
    places = [p for f in folders for p in sorted(glob.glob(os.path.join(f, "libnvrtc.so.1[0-9]")), reverse=True)]
    for place in places + ["libnvrtc.so.13", "libnvrtc.so.12"]:
        try:
            return ctypes.CDLL(place)
        except OSError:
            pass
    return None


def skip():
    print("SKIPPED: needs NVRTC (a CUDA toolkit, or the Python package nvidia-cuda-nvrtc of script/bootstrap --peers)")
    sys.exit(SKIPPED)


class Compiler:
    def __init__(self, nvrtc, headers, cache=None):
        self.nvrtc = nvrtc
        paths = sorted(glob.glob(os.path.join(headers, "*.cuh")) + glob.glob(os.path.join(headers, "*.hpp")))
        self.headers = {os.path.basename(path).encode(): open(path, "rb").read() for path in paths}
        self.cache = cache
        major, minor = ctypes.c_int(), ctypes.c_int()
        nvrtc.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor))
        self.version = f"{major.value}.{minor.value}"

    def log(self, program):
        size = ctypes.c_size_t()
        self.nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
        text = ctypes.create_string_buffer(size.value + 1)
        self.nvrtc.nvrtcGetProgramLog(program, text)
        return text.value.decode()

    def compile(self, source, architecture):
        """(whether it compiles, the compiler's log with the resource usage)"""
        count = len(self.headers)
        array = ctypes.c_char_p * count
        program = ctypes.c_void_p()
        self.nvrtc.nvrtcCreateProgram(ctypes.byref(program), source, b"kernel.cu", count, array(*self.headers.values()),
                                      array(*self.headers))
        options = [o.encode() for o in [f"--gpu-architecture={architecture}", "--ptxas-options=-v", *OPTIONS]]
        failed = self.nvrtc.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options))
        log = self.log(program)
        self.nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
        return not failed, log

    def included(self, source):
        """The headers that SOURCE includes, directly or not."""
        seen = {}
        texts = [source]
        while texts:
            for name in re.findall(rb'#include "([^"]+)"', texts.pop()):
                if name in self.headers and name not in seen:
                    seen[name] = self.headers[name]
                    texts.append(seen[name])
        return [seen[name] for name in sorted(seen)]

    def measure(self, source, architecture):
        """Resource usage of the kernels of SOURCE, from the cache if possible."""
        parts = [source, architecture.encode(), self.version.encode(), " ".join(OPTIONS).encode()]
        key = hashlib.sha256(b"\0".join(parts + self.included(source))).hexdigest()
        path = os.path.join(self.cache, key[:2], key + ".json") if self.cache else None
        if path and os.path.exists(path):
            with open(path) as file:
                return json.load(file)
        compiles, log = self.compile(source, architecture)
        result = {"compiles": compiles, "log": "" if compiles else log, **usage_of(log)}
        if path:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(f"{path}.{os.getpid()}", "w") as file:
                json.dump(result, file)
            os.replace(file.name, path)
        return result


def usage_of(log):
    """Registers, static shared memory, spills and stack of the kernels in a log of ptxas."""
    def most(pattern):
        return max([int(n) for n in re.findall(pattern, log)], default=0)
    return {"registers": most(r"Used (\d+) registers"), "shared": most(r"(\d+) bytes smem"),
            "spills": most(r"(\d+) bytes spill stores"), "stack": most(r"(\d+) bytes stack frame"),
            "serialised": len(re.findall(r"\(C75\d\d\)", log))}


def number(source, pattern):
    found = re.search(pattern, source)
    return int(found.group(1)) if found else 0


def family_of(source):
    """The name of the first kernel, its header, and its element type if it has one."""
    head = source[source.index("__global__"):]
    # The first name before a parenthesis that does not belong to an attribute.
    name = re.search(r"(?!__)\b(\w+)\s*\(", re.sub(r"__\w+__\s*\([^()]*(\([^()]*\))?[^()]*\)", "", head)).group(1)
    header = re.findall(r'#include "(\w+)\.cuh"', source)[:1]
    element = re.findall(r"using Element = ([^;]+);", source)[:1]
    return " ".join([name] + [h for h in header if h != name] + element)


def start_worker(headers, cache):
    global compiler
    compiler = Compiler(open_nvrtc(), headers, cache)


def measure_file(task):
    path, architecture = task
    with open(path, "rb") as file:
        source = file.read()
    text = source.decode()
    used = compiler.measure(source, architecture)
    used["shared"] += number(text, r"// (\d+) bytes of dynamic shared memory")
    return {"path": path, "family": family_of(text), "estimate": number(text, r"// about (\d+) registers"),
            "means": "local memory: " in text, **used}


def known_faults():
    """Names of sources in known_faults.txt, which have known faults."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "known_faults.txt")
    with open(path) as file:
        return {line.strip() for line in file if line.strip() and not line.startswith("#")}


def fault_of(kernel):
    """The fault in one line; None if there is none."""
    if not kernel["compiles"]:
        return "it does not compile\n" + kernel["log"]
    if kernel["serialised"]:
        return "its wgmmas are serialised (ptxas' warnings C75xx)"
    if (kernel["spills"] or kernel["stack"]) and not kernel["means"]:
        return f"{kernel['spills']} bytes spilled, a stack of {kernel['stack']}"
    return None


def sample_of(sources, most):
    """At most MOST per family, evenly spaced over the list."""
    families = collections.defaultdict(list)
    for path in sources:
        with open(path) as file:
            families[family_of(file.read())].append(path)
    return [p for paths in families.values() for p in paths[::-(-len(paths) // most)]]


def print_table(architecture, kernels):
    families = collections.defaultdict(list)
    for kernel in kernels:
        families[kernel["family"]].append(kernel)
    print(f"{architecture + ': family':40} kernels  registers  shared  spilled  stack")
    for name, members in sorted(families.items()):
        def most(what):
            return max(k[what] for k in members)
        print(f"  {name:38} {len(members):7} {most('registers'):10} {most('shared'):7} {most('spills'):8} "
              f"{most('stack'):6}")
        excess = [k["registers"] - k["estimate"] for k in members if k["estimate"]]
        beyond = [more for more in excess if more > SLACK]
        if beyond:
            print(f"    {len(beyond)} of {len(excess)} take over {SLACK} registers more than estimated, at most "
                  f"{max(beyond)}")


def compile_all(sources, architecture, headers, cache):
    """Compiles on all cores, prints the table and the faults, and returns their number."""
    with multiprocessing.Pool(initializer=start_worker, initargs=(headers, cache)) as pool:
        kernels = pool.map(measure_file, [(path, architecture) for path in sources], chunksize=4)
    print_table(architecture, kernels)
    known = known_faults()
    faults = 0
    for kernel in kernels:
        fault = fault_of(kernel)
        if fault:
            is_known = os.path.basename(kernel["path"])[:-len(".cu")] in known
            print(f"{kernel['path']}, {architecture}: {fault}{' (known)' if is_known else ''}")
            faults += not is_known
    return faults


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sources", required=True)
    parser.add_argument("--headers", required=True)
    parser.add_argument("--architecture", nargs="+", default=["sm_90a"])
    parser.add_argument("--cache")
    parser.add_argument("--sample", type=int)
    args = parser.parse_args()
    if open_nvrtc() is None:
        skip()
    sources = sorted(glob.glob(os.path.join(args.sources, "**", "*.cu"), recursive=True))
    if not sources:
        sys.exit(f"{args.sources} holds no .cu files")
    if args.sample:
        sources = sample_of(sources, args.sample)
    faults = sum(compile_all(sources, a, args.headers, args.cache) for a in args.architecture)
    print(f"{len(sources)} kernels for {', '.join(args.architecture)}: {faults} faults")
    return int(faults > 0)


if __name__ == "__main__":
    sys.exit(main())
