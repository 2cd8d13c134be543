"""The command of the installation."""
import os
import sys


def path() -> str:
    """Where it is: in the package, or in the build tree."""
    here = os.path.dirname(os.path.abspath(__file__))
    for folder in (os.path.join(here, "bin"), os.path.join(here, "..", "..", "bin")):
        command = os.path.join(folder, "saccade")
        if os.access(command, os.X_OK):
            return command
    raise FileNotFoundError("the command saccade is not in this installation")


def main() -> None:
    """Becomes the command, with the arguments of this process."""
    os.execv(path(), ["saccade", *sys.argv[1:]])
