#!/usr/bin/env python3
"""Compiles kernels with NVRTC, without a GPU, and prints what they take.

    compile_kernels.py --sources DIR --headers src/backends/cuda/kernels [--architecture sm_90a ...] [--cache DIR]

DIR holds CUDA C++ files, as the emulated NVRTC leaves them there (SACCADE_EMULATOR_SOURCES).  Fails where one does not
compile, spills registers, keeps anything in local memory or makes the tensor cores' warpgroup instructions wait for each
other (ptxas' warnings C75xx).  What was compiled before is known by its contents.
Exit status 77: skipped, there is no NVRTC.
"""
import argparse
import ctypes
import glob
import hashlib
import json
import os
import re
import site
import sys

SKIPPED = 77


def open_nvrtc():
    """NVRTC of the system, of a toolkit, or of the Python package nvidia-cuda-nvrtc."""
    places = ["libnvrtc.so.13", "libnvrtc.so.12"]
    for folder in ["/usr/local/cuda/lib64"] + [os.path.join(s, "nvidia", "*", "lib") for s in site.getsitepackages()]:
        places += sorted(glob.glob(os.path.join(folder, "libnvrtc.so.1[0-9]")), reverse=True)
    for place in places:
        try:
            return ctypes.CDLL(place)
        except OSError:
            pass
    print("SKIPPED: needs NVRTC (a CUDA toolkit, or the Python package nvidia-cuda-nvrtc of script/bootstrap --peers)")
    sys.exit(SKIPPED)


class Compiler:
    def __init__(self, nvrtc, headers):
        self.nvrtc = nvrtc
        self.names = [os.path.basename(path).encode() for path in headers]
        self.texts = [open(path, "rb").read() for path in headers]

    def log(self, program):
        size = ctypes.c_size_t()
        self.nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
        text = ctypes.create_string_buffer(size.value + 1)
        self.nvrtc.nvrtcGetProgramLog(program, text)
        return text.value.decode()

    def compile(self, source, architecture):
        """(whether it compiles, the compiler's log with what each kernel takes)"""
        count = len(self.names)
        array = ctypes.c_char_p * count
        program = ctypes.c_void_p()
        self.nvrtc.nvrtcCreateProgram(ctypes.byref(program), source, b"kernel.cu", count, array(*self.texts),
                                      array(*self.names))
        options = [f"--gpu-architecture={architecture}".encode(), b"--std=c++17", b"--device-as-default-execution-space",
                   b"--ptxas-options=-v"]
        failed = self.nvrtc.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options))
        log = self.log(program)
        self.nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
        return not failed, log


def usage_of(log):
    """Registers, static shared memory, spills and stack of the kernels in a log of ptxas."""
    def most(pattern):
        return max([int(n) for n in re.findall(pattern, log)], default=0)
    return {"registers": most(r"Used (\d+) registers"), "shared": most(r"(\d+) bytes smem"),
            "spills": most(r"(\d+) bytes spill stores"), "stack": most(r"(\d+) bytes stack frame"),
            "serialised": len(re.findall(r"\(C75\d\d\)", log))}


def kernel_name(source):
    """Of its first kernel, behind whatever stands between __global__ and it."""
    head = source[source.index("__global__"):]
    return re.search(r"(?!__)\b(\w+)\s*\(", re.sub(r"__\w+__\s*\([^()]*(\([^()]*\))?[^()]*\)", "", head)).group(1)


def measured(compiler, source, architecture, cache):
    key = hashlib.sha256(b"\0".join([source, architecture.encode(), *compiler.texts])).hexdigest()
    path = os.path.join(cache, key + ".json") if cache else None
    if path and os.path.exists(path):
        with open(path) as file:
            return json.load(file)
    compiles, log = compiler.compile(source, architecture)
    usage = usage_of(log)
    result = {"compiles": compiles, "log": log if not compiles or usage["serialised"] else "", **usage}
    if path:
        os.makedirs(cache, exist_ok=True)
        with open(f"{path}.{os.getpid()}", "w") as file:
            json.dump(result, file)
        os.replace(file.name, path)
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sources", required=True)
    parser.add_argument("--headers", required=True)
    parser.add_argument("--architecture", nargs="+", default=["sm_90a"])
    parser.add_argument("--cache")
    args = parser.parse_args()
    compiler = Compiler(open_nvrtc(), sorted(glob.glob(os.path.join(args.headers, "*.cuh"))))
    sources = sorted(glob.glob(os.path.join(args.sources, "**", "*.cu"), recursive=True))
    if not sources:
        sys.exit(f"{args.sources} holds no .cu files")
    faults = 0
    for architecture in args.architecture:
        families = {}
        for path in sources:
            with open(path, "rb") as file:
                source = file.read()
            used = measured(compiler, source, architecture, args.cache)
            families.setdefault(kernel_name(source.decode()), []).append(used)
            if not used["compiles"] or used["spills"] or used["stack"] or used.get("serialised"):
                faults += 1
                print(f"{path} for {architecture}: {used['spills']} bytes spilled, a stack of {used['stack']}\n{used['log']}")
        print(f"{architecture}: kernel                kernels  registers  shared")
        for name, kernels in sorted(families.items()):
            print(f"  {name:28} {len(kernels):7} {max(k['registers'] for k in kernels):10} "
                  f"{max(k['shared'] for k in kernels):7}")
    print(f"{len(sources)} kernels for {', '.join(args.architecture)}: {faults} faults")
    return int(faults > 0)


if __name__ == "__main__":
    sys.exit(main())
