"""Common parts of comparison scripts: finding dependencies, reporting, exit statuses."""
import argparse
import contextlib
import functools
import pathlib
import sys


def option(name, default=None):
    """The value of an option that must be known before the modules are imported."""
    return sys.argv[sys.argv.index(name) + 1] if name in sys.argv else default


@contextlib.contextmanager
def needs(environment):
    """Imports modules of script/bootstrap ENVIRONMENT and of ../shared/tools, or skips the script."""
    if option("--shared"):
        sys.path.insert(0, str(pathlib.Path(option("--shared")) / "tools"))
    try:
        yield
    except ImportError as missing:
        print(f"SKIPPED: needs Python's {missing.name}: ./script/bootstrap {environment}; ../shared for drift")
        sys.exit(77)


@functools.cache
def has_vnni():
    """Without VNNI, ONNX Runtime adds pairs of products of bytes in 16 bits, which saturates."""
    with open("/proc/cpuinfo") as file:
        return "vnni" in file.read()


def without_optimisations(options, levels, model):
    """Sets ONNX Runtime's OPTIONS for a serialised MODEL. On a processor without VNNI the optimisation stays that keeps
    the sums of operators on bytes exact. LEVELS: onnxruntime.GraphOptimizationLevel."""
    saturates = not has_vnni() and (b"QLinear" in model or b"QGemm" in model)
    options.graph_optimization_level = levels.ORT_ENABLE_EXTENDED if saturates else levels.ORT_DISABLE_ALL


def arguments(text, *numbers):
    """The command line of a script described by TEXT: the binary, ../shared, and the names of the items to check; and
    NUMBERS, options that are 1 by default."""
    parser = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--shared", type=pathlib.Path, required=True)
    for option in numbers:
        parser.add_argument(option, type=int, default=1)
    parser.add_argument("name", nargs="*")
    return parser.parse_args()


def conclude(complaints, count, what):
    """Ends a script that checked COUNT items, and prints the COMPLAINTS."""
    print("\n".join(complaints))
    if complaints:
        sys.exit(f"{len(complaints)} complaints about {count} {what}")
    print(f"{count} {what}")
