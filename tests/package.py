#!/usr/bin/env python3
"""package.py --build BUILD --cpack CPACK --work WORK: packs the build tree as script/package does, and uses the result.

Neither archive is installed: each is unpacked into a folder and must run from there. Checks the Debian package's
dependencies and the places of its files, too.
"""
import argparse
import gzip
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
FILES = """bin/saccade
include/saccade/saccade.hpp
lib/cmake/saccade/saccadeConfig.cmake
lib/libsaccade.so
lib/pkgconfig/saccade.pc
lib/saccade/cpu.so
lib/saccade/cuda.so
lib/saccade/draw.so
lib/saccade/ffmpeg.so
lib/saccade/grpc.so
lib/saccade/images.so
lib/saccade/mqtt.so
lib/saccade/nvdec.so
lib/saccade/onnx.so
lib/saccade/show.so
lib/saccade/saccade-source
share/bash-completion/completions/saccade
share/doc/saccade/LICENSE
share/doc/saccade/README.md
share/doc/saccade/changelog.gz
share/doc/saccade/copyright
share/doc/saccade/docs/command.md
share/doc/saccade/examples/video/main.cpp
share/fish/vendor_completions.d/saccade.fish
share/man/man1/saccade.1.gz
share/saccade/scene_model.onnx
share/saccade/scene_model.toml""".splitlines()


def call(*command, **options):
    environment = {key: value for key, value in os.environ.items() if key != "LD_LIBRARY_PATH"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False, **options)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\nexited with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def check(holds, complaint):
    if not holds:
        sys.exit(complaint)


def only(folder, ending):
    names = [name for name in os.listdir(folder) if name.endswith(ending)]
    check(len(names) == 1, f"{folder} has {names}, not one file *{ending}")
    return os.path.join(folder, names[0])


def check_tree(prefix, zsh):
    """What was unpacked at PREFIX is complete and runs from there."""
    for name in FILES + [f"share/zsh/{zsh}/_saccade"]:
        check(os.path.exists(os.path.join(prefix, name)), f"{prefix} lacks {name}")
    with gzip.open(os.path.join(prefix, "share/man/man1/saccade.1.gz"), "rt") as page:
        check(".TH" in page.read(), "the manual page has no title")
    print(call(sys.executable, os.path.join(HERE, "runpaths.py"), prefix).strip())
    binary = os.path.join(prefix, "bin/saccade")
    model = os.path.join(prefix, "share/saccade/scene_model.onnx")
    version = call(binary, "--version")
    check("scene_model" in call(binary, "inspect", model), "inspect does not name the model")
    lines = call(binary, "run", model, "--source", "synthetic:?frames=2&size=160x120", "--device", "cpu", "--jsonl", "-")
    check(lines.count('"detections"') == 2, f"two frames have printed:\n{lines}")
    return version


def check_dependencies(package):
    """Every dependency is a package of Debian; those of the libraries that modules link are there."""
    depends = call("dpkg-deb", "--field", package, "Depends")
    names = {re.split(r"[ (|]", each.strip())[0] for each in depends.split(",")}
    for name in ("libc6", "libstdc++6", "libdnnl2", "libprotobuf-lite32", "libavcodec59", "libcairo2", "libssl3",
                 "libprometheus-cpp-core1.0", "libgrpc++1.51"):
        check(name in names, f"the package does not depend on {name}: {depends}")
    for name in names:
        check(not re.search("cuda|nvidia|nvrtc", name), f"the package depends on {name}, which a CPU does not need")
    print("depends on", depends.strip())


def check_places(package):
    """All files are below /usr, of root, and writable by root alone."""
    for line in call("dpkg-deb", "--contents", package).splitlines():
        mode, owner, _, _, _, path = line.split(None, 5)
        check(path == "./" or path.startswith("./usr/"), f"{path} is outside of /usr")
        check(owner == "root/root", f"{path} belongs to {owner}")
        check(mode[0] == "l" or (mode[5] != "w" and mode[8] != "w"), f"{path} has the mode {mode}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("--build", "--cpack", "--work"):
        parser.add_argument(name, required=True)
    args = parser.parse_args()
    shutil.rmtree(args.work, ignore_errors=True)
    os.makedirs(args.work)
    os.umask(0o022)
    # Fast compression: the contents are the same.
    call(args.cpack, "--config", os.path.join(args.build, "CPackConfig.cmake"), "-G", "DEB;TGZ", "-B", args.work,
         "-D", "CPACK_DEBIAN_COMPRESSION_TYPE=zstd")
    package = only(args.work, ".deb")
    check_dependencies(package)
    check_places(package)
    call("dpkg-deb", "--extract", package, os.path.join(args.work, "root"))
    call("tar", "-xf", only(args.work, ".tar.gz"), "-C", args.work)
    (folder,) = (entry for entry in os.scandir(args.work) if entry.name.startswith("saccade-") and entry.is_dir())
    # Anywhere: the path has a space, and the tree was moved.
    moved = os.path.join(args.work, "moved here")
    os.rename(folder.path, moved)
    versions = {check_tree(os.path.join(args.work, "root/usr"), "vendor-completions"),
                check_tree(moved, "site-functions")}
    check(len(versions) == 1, f"the versions differ: {versions}")
    field = call("dpkg-deb", "--field", package, "Version").strip()
    check(field in versions.pop(), f"the package has the version {field}")


if __name__ == "__main__":
    main()
