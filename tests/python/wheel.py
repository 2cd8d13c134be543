#!/usr/bin/env python3
"""wheel.py WHEEL: installs it into an empty environment; a detector runs on an image and draws it.

Uses the model of the demo, which the wheel contains. The wheel may need none of the repository's files.
"""
import os
import re
import subprocess
import sys
import tempfile
import zipfile

TEN_LINES = """
import saccade

model = saccade.Model(MODEL, device="cpu")
for result in saccade.Pipeline("synthetic:?seed=3&frames=3&objects=12", model, frames=True):
    print(result.frame, result.boxes.shape, result.class_name)
result.save("drawn.png")
again = model("drawn.png")
print(len(again), saccade.__file__)
"""


# What every system with this Python has, and what optional modules take from the system.
EXPECTED = ("libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2", "libstdc++.so.6", "libgcc_s.so.1", "libz.so.1", "libexpat.so.1", "libdl.so.2",
            "libpthread.so.0", "librt.so.1", "libresolv.so.2", "libavcodec.so.59", "libavformat.so.59", "libavutil.so.57", "libswscale.so.6",
            "libSDL2-2.0.so.0")


def missing_libraries(wheel):
    """The libraries that WHEEL needs and that are neither in it nor expected."""
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(wheel) as opened:
        binaries = [name for name in opened.namelist() if ".so" in os.path.basename(name) or re.match("saccade/bin/.", name)]
        needed = set()
        for name in binaries:
            printed = subprocess.run(["readelf", "-d", opened.extract(name, folder)], check=True, capture_output=True, text=True).stdout
            needed |= set(re.findall(r"\(NEEDED\).*\[(.*)\]", printed))
    return sorted(needed - {os.path.basename(name) for name in binaries} - set(EXPECTED))


def main():
    (wheel,) = sys.argv[1:]
    names = zipfile.ZipFile(wheel).namelist()
    libraries = [name for name in names if name.startswith("saccade/lib/libsaccade")]
    if len(libraries) != 1:
        sys.exit(f"{wheel} has {libraries}, not one libsaccade")
    if foreign := [name for name in names if "libav" in name or "libSDL" in name]:
        sys.exit(f"{wheel} contains {foreign}, which are taken from the system")
    if missing := missing_libraries(wheel):
        sys.exit(f"{wheel} needs {', '.join(missing)}, which a server may lack")
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "LD_LIBRARY_PATH")}
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["/usr/bin/python3", "-m", "venv", folder + "/venv"], check=True)
        subprocess.run([folder + "/venv/bin/pip", "install", "--quiet", "--disable-pip-version-check", wheel], check=True)

        def run(*command):
            return subprocess.run([folder + "/venv/bin/" + command[0], *command[1:]], check=True, capture_output=True,
                                  text=True, cwd=folder, env=environment).stdout

        package = run("python", "-c", "import saccade, os; print(os.path.dirname(saccade.__file__))").strip()
        printed = run("python", "-c", TEN_LINES.replace("MODEL", repr(package + "/share/saccade/scene_model.onnx")))
        lines = printed.splitlines()
        if len(lines) != 4 or not lines[-1].split()[-1].startswith(folder) or not os.path.exists(folder + "/drawn.png"):
            sys.exit(f"the package of {wheel} printed:\n{printed}")
        for command in (("saccade", "--version"), ("python", "-m", "saccade", "--version")):
            if not run(*command).startswith("saccade "):
                sys.exit(f"{' '.join(command)} does not run the command")
    print(f"{os.path.basename(wheel)}: {os.path.getsize(wheel) >> 20} MB, runs in an empty environment")


if __name__ == "__main__":
    main()
