"""What the tests of network streams have in common: runs on sources, and what holds for every run."""
import os
import re
import subprocess
import unittest

from running import Run
from servers import make_clip, temporary

CAPTURED_AT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")


class StreamCase(unittest.TestCase):
    arguments = None  # of the program

    def setUp(self):
        folder = temporary()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def run_on(self, *sources, flags=()):
        run = Run(self.arguments.binary, self.arguments.model, self.folder, sources, *flags)
        self.addCleanup(run.__exit__)
        return run

    def serve(self, server):
        server.__enter__()
        self.addCleanup(server.__exit__, None, None, None)
        return server

    def fails(self, *sources, flags=()):
        """What a run says that can't begin."""
        done = subprocess.run([self.arguments.binary, "run", self.arguments.model, "--device", "cpu", "--no-save", "--source", *sources, *flags],
                              capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, 1, done.stderr)
        return done.stderr

    def check(self, run):
        """The summary of RUN, which has one stream, after it was interrupted."""
        summary = run.finish()
        ledger = summary["streams"][0]["ledger"]
        self.assertEqual(ledger["unaccounted"], 0, ledger)
        self.assertEqual(ledger["lost"], 0, ledger)
        lines = run.lines()
        numbers = [line["frame"] for line in lines]
        self.assertEqual(numbers, sorted(set(numbers)), "numbers go on")
        times = [line["timestamp_ns"] for line in lines]
        self.assertEqual(times, sorted(set(times)), "so do timestamps")
        for line in lines:
            self.assertRegex(line["captured_at"], CAPTURED_AT)
        return summary["streams"][0]

    def reads(self, uri, frames=20, flags=()):
        run = self.run_on(uri, flags=flags)
        run.wait_for_frames(frames)
        return run, self.check(run)


class SentStreamCase(StreamCase):
    """A stream that FFmpeg sends."""

    def setUp(self):
        super().setUp()
        self.clip = make_clip(self.path("clip.ts"))
