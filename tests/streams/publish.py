#!/usr/bin/env python3
"""publish.py --binary SACCADE --model MODEL --only NAME: what `saccade run --publish` sends, received by real servers. NAME
is rtmp, rtsp, srt or any. Prints "Skipped: WHY" without the server.
"""
import json
import os
import signal
import socket
import subprocess
import threading
import time
import unittest

from program import parser_of, require_srt, run_cases
from running import Run
from servers import Nginx, Process, free_port, require, temporary

ARGS = None
SCENE = "synthetic:?size=320x240&fps=15"


class PublishCase(unittest.TestCase):
    def setUp(self):
        folder = temporary()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def publish(self, url, *sources, name="sent", flags=()):
        """A run of live scenes that is published."""
        folder = os.path.join(self.folder, name)
        os.mkdir(folder)
        run = Run(ARGS.binary, ARGS.model, folder, sources or (SCENE, ), "--realtime", "--publish", url, *flags)
        self.addCleanup(run.__exit__)
        return run

    def fails(self, *flags):
        return subprocess.run([ARGS.binary, "run", ARGS.model, "--device", "cpu", *flags], capture_output=True, text=True,
                              timeout=120, check=False)

    @staticmethod
    def end(run):
        """The exit code and the summary of a run that is interrupted."""
        run.process.send_signal(signal.SIGINT)
        output = run.process.stdout.read()
        return run.process.wait(), json.loads(output)

    def receive(self, url, *options):
        """What FFmpeg receives at URL, where it listens."""
        path = os.path.join(self.folder, "received.ts")
        listener = Process(["ffmpeg", "-v", "error", *options, "-i", url, "-c", "copy", "-f", "mpegts", "-y", path],
                           stderr=subprocess.DEVNULL)
        listener.start()
        self.addCleanup(listener.stop)
        return path

    def check_received(self, path):
        def has_come():
            return os.path.exists(path) and os.path.getsize(path) > 20_000

        end = time.monotonic() + 60
        while not has_come():
            self.assertLess(time.monotonic(), end, "nothing is received")
            time.sleep(0.2)
        text = subprocess.run(["ffprobe", "-v", "error", "-select_streams", "v", "-show_entries",
                               "stream=codec_name,width,height", "-of", "csv=p=0", path], capture_output=True, text=True,
                              check=True).stdout
        self.assertIn("h264,320,240", text)


class RtmpTest(PublishCase):
    def setUp(self):
        super().setUp()
        self.server = Nginx(self.folder)
        self.server.start()
        self.addCleanup(self.server.stop)
        self.url = f"rtmp://127.0.0.1:{self.server.port}/live/"

    def read(self, name):
        folder = os.path.join(self.folder, f"read-{name}")
        os.mkdir(folder)
        run = Run(ARGS.binary, ARGS.model, folder, (f"{self.url}{name}#timeout=3s", ), "--start", "any")
        self.addCleanup(run.__exit__)
        return run

    def test_each_source_has_its_address(self):
        sent = self.publish(self.url + "{stream}", SCENE, "synthetic:?size=160x120&fps=10&seed=2")
        sent.wait_for_frames(10, streams=2)
        for name, size in (("0", (320, 240)), ("1", (160, 120))):
            seen = self.read(name)
            seen.wait_for_frames(15)
            line = seen.lines()[-1]
            self.assertEqual((line["width"], line["height"]), size)
            seen.finish()
        summary = sent.finish()
        self.assertEqual([sink["failed"] for sink in summary["sinks"] if sink["sink"].startswith("rtmp")], [0, 0])

    def test_a_server_that_was_away_is_connected_again(self):
        sent = self.publish(self.url + "key")
        seen = self.read("key")
        seen.wait_for_frames(15)
        self.server.stop()
        sent.wait_for(lambda: "/live/***" in sent.text(), "word of the server")
        before = len(sent.lines())
        self.server.start()
        seen.wait_for_frames(30)
        code, summary = self.end(sent)
        self.assertEqual(code, 1, "it was away")
        [sink] = [sink for sink in summary["sinks"] if sink["sink"].startswith("rtmp")]
        self.assertGreater(sink["failed"], 0)
        self.assertGreater(sink["written"], 30)
        self.assertGreater(len(sent.lines()), before, "results go on")
        self.assertEqual(summary["ledger"]["unaccounted"], 0)
        self.assertNotIn("/live/key", sent.text() + json.dumps(summary))


class RtspTest(PublishCase):
    def test_is_recorded(self):
        url = f"rtsp://127.0.0.1:{free_port()}/a"
        path = self.receive(url, "-rtsp_flags", "listen")
        sent = self.publish(url)
        self.check_received(path)
        self.end(sent)


class SrtTest(PublishCase):
    def test_is_received(self):
        url = f"srt://127.0.0.1:{free_port(socket.SOCK_DGRAM)}"
        path = self.receive(url + "?mode=listener")
        sent = self.publish(url)
        self.check_received(path)
        self.end(sent)


class AnyTest(PublishCase):
    def test_a_server_that_never_responds_costs_no_result(self):
        with socket.create_server(("127.0.0.1", 0)) as silent:
            held = []
            threading.Thread(target=lambda: held.append(silent.accept()), daemon=True).start()
            url = f"rtmp://user:secret@127.0.0.1:{silent.getsockname()[1]}/live/a#timeout=500ms"
            # So slow that a busy machine drops no frame.
            sent = self.publish(url, "synthetic:?size=320x240&fps=10&seed=2", flags=("--max-frames", "30", "--drop", "wait"))
            sent.wait_for(lambda: len(sent.lines()) == 30, "30 results")
            code, summary = sent.process.wait(), json.loads(sent.process.stdout.read())
            self.assertEqual(code, 1)
            self.assertEqual(summary["ledger"]["processed"], 30)
            [sink] = [sink for sink in summary["sinks"] if sink["sink"].startswith("rtmp")]
            self.assertEqual(sink["written"], 0)
            self.assertIn("no response for 0.5 s", sent.text())
            self.assertNotIn("secret", sent.text() + json.dumps(summary))

    def test_what_is_wrong_is_named(self):
        url = "rtmp://127.0.0.1/live/a"
        for flags, code, words in (
            (("--source", "synthetic:?frames=1", "--publish", url), 1, "--realtime"),
            (("--source", SCENE, SCENE, "--realtime", "--publish", url), 1, "{stream}"),
            (("--source", SCENE, "--realtime", "--publish", "http://127.0.0.1/a"), 1, "rtsp, rtsps, rtmp, rtmps or srt"),
            (("--source", SCENE, "--realtime", "--publish", "out.mp4"), 1, "rtmp://HOST/PATH"),
            (("--source", SCENE, "--realtime", "--publish", url + "#frames=key"), 1, "'frames'"),
            (("--source", SCENE, "--realtime", "--publish", url + "#speed=2"), 1, "'speed'"),
        ):
            done = self.fails(*flags)
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertIn(words, done.stderr)


CASES = {"rtmp": RtmpTest, "rtsp": RtspTest, "srt": SrtTest, "any": AnyTest}


def find_servers():
    with temporary() as folder:
        if ARGS.only == "rtmp":
            Nginx(folder)
    if ARGS.only != "any":
        require("ffmpeg", "ffmpeg")
    if ARGS.only == "srt":
        require_srt()


def main():
    global ARGS
    parser = parser_of(__doc__)
    parser.add_argument("--only", choices=CASES, required=True)
    ARGS = parser.parse_args()
    run_cases([CASES[ARGS.only]], find_servers)


if __name__ == "__main__":
    main()
