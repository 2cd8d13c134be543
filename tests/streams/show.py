#!/usr/bin/env python3
"""show.py --binary SACCADE --model MODEL: the window of `saccade run --show` on an X server without a screen (Xvfb), with
keys pressed by xdotool. Prints "Skipped: WHY" without them.
"""
import json
import os
import subprocess
import unittest

from program import parser_of, run_cases
from running import Run
from servers import Process, require, temporary

ARGS = None
SCENE = "synthetic:?size=320x240&fps=15"


class Xvfb(Process):
    """`display` is the number that it has found free."""

    def __init__(self, folder):
        self.folder = folder
        super().__init__(["Xvfb", "-displayfd", "1", "-screen", "0", "800x600x24", "-fbdir", folder, "-nolisten", "tcp"],
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)

    def start(self):
        super().start()
        self.display = ":" + self.process.stdout.readline().strip()

    def image(self):
        """The screen's pixels, without the header."""
        with open(os.path.join(self.folder, "Xvfb_screen0"), "rb") as file:
            return file.read()[-800 * 600 * 4:]


class ShowTest(unittest.TestCase):
    def setUp(self):
        folder = temporary()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.screen = Xvfb(self.folder)
        self.screen.start()
        self.addCleanup(self.screen.stop)
        old = {name: os.environ.pop(name, None) for name in ("DISPLAY", "WAYLAND_DISPLAY", "SDL_VIDEODRIVER")}
        self.addCleanup(os.environ.update, {name: value for name, value in old.items() if value is not None})
        self.addCleanup(os.environ.pop, "DISPLAY", None)
        os.environ["DISPLAY"] = self.screen.display

    def show(self, *sources, flags=()):
        run = Run(ARGS.binary, ARGS.model, self.folder, sources, "--realtime", "--show", *flags)
        self.addCleanup(run.__exit__)
        run.wait_for_frames(5, streams=len(sources))
        return run

    @staticmethod
    def key(name):
        subprocess.run(["xdotool", "search", "--name", "^Saccade", "key", name], check=True, capture_output=True)

    def test_shows_moving_frames_until_q(self):
        run = self.show(SCENE, SCENE + "&seed=2")
        run.wait_for(lambda: len(set(self.screen.image())) > 50, "image")
        before = self.screen.image()
        run.wait_for(lambda: self.screen.image() != before, "movement")
        self.key("q")
        output = run.process.communicate(timeout=60)[0]
        self.assertEqual(run.process.returncode, 0, run.text())
        summary = json.loads(output)
        self.assertEqual([sink["failed"] for sink in summary["sinks"]], [0, 0, 0])
        self.assertEqual(summary["ledger"]["unaccounted"], 0)

    def test_the_space_bar_holds_the_image(self):
        run = self.show(SCENE)
        run.wait_for(lambda: len(set(self.screen.image())) > 50, "image")

        def title():
            found = subprocess.run(["xdotool", "search", "--name", "^Saccade", "getwindowname"], check=False,
                                   capture_output=True, text=True)
            return found.stdout

        self.key("space")
        run.wait_for(lambda: "(held)" in title(), "title")
        before = self.screen.image()
        run.wait_for_frames(5)
        self.assertEqual(self.screen.image(), before)
        self.key("space")
        run.wait_for(lambda: self.screen.image() != before, "movement")
        self.key("Escape")
        run.process.wait(timeout=60)
        self.assertEqual(run.process.returncode, 0, run.text())

    def test_a_missing_display_ends_it_at_once(self):
        environment = {name: value for name, value in os.environ.items() if name != "DISPLAY"}
        for driver in ({}, {"SDL_VIDEODRIVER": "x11"}):
            done = subprocess.run([ARGS.binary, "run", ARGS.model, "--device", "cpu", "--source", "synthetic:?frames=1",
                                   "--show"], env={**environment, **driver}, capture_output=True, text=True,
                                  timeout=120, check=False)
            self.assertEqual(done.returncode, 1)
            self.assertIn("no window can be opened", done.stderr)


def find_servers():
    require("Xvfb", "xvfb")
    require("xdotool", "xdotool")


def main():
    global ARGS
    ARGS = parser_of(__doc__).parse_args()
    run_cases([ShowTest], find_servers)


if __name__ == "__main__":
    main()
