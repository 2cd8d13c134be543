#!/usr/bin/env python3
"""streams.py --binary SACCADE --model MODEL --only NAME: network streams of real servers, also through a proxy that harms
them (proxy.py). NAME is rtsp, http, udp, srt or rtmp. Prints "Skipped: WHY" without the server.
"""
import base64
import os
import re
import socket
import statistics
import subprocess
import time
import unittest

from program import parser_of, require_srt, run_cases
from proxy import Proxy
from running import Run
from servers import Http, Nginx, Rtsp, free_port, make_clip, publisher, temporary

ARGS = None
CAPTURED_AT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")


class StreamCase(unittest.TestCase):
    def setUp(self):
        folder = temporary()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def run_on(self, *sources, flags=()):
        run = Run(ARGS.binary, ARGS.model, self.folder, sources, *flags)
        self.addCleanup(run.__exit__)
        return run

    def serve(self, server):
        server.__enter__()
        self.addCleanup(server.__exit__, None, None, None)
        return server

    def fails(self, *sources, flags=()):
        """What a run says that can't begin."""
        done = subprocess.run([ARGS.binary, "run", ARGS.model, "--device", "cpu", "--no-save", "--source", *sources, *flags],
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


class RtspTest(StreamCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Rtsp()
        cls.server.start()
        cls.addClassCleanup(cls.server.stop)

    def setUp(self):
        super().setUp()
        self.proxy = Proxy(self.server.port)
        self.addCleanup(self.proxy.close)
        self.uri = f"rtsp://127.0.0.1:{self.proxy.port}/a"

    def harmed(self, fault, seconds, options="#timeout=2s", flags=()):
        """A run during which the proxy does FAULT for SECONDS: the stream comes back."""
        run = self.run_on(self.uri + options, flags=flags)
        run.wait_for_frames(15)
        self.proxy.harm(fault)
        time.sleep(seconds)
        self.proxy.heal()
        run.wait_for_frames(30)
        return run, self.check(run)

    def test_is_read(self):
        run, stream = self.reads(self.uri)
        line = run.lines()[-1]
        self.assertEqual((line["width"], line["height"], line["source"]), (640, 360, self.uri))
        self.assertEqual(stream["outages"]["count"], 0)

    def test_is_read_over_udp(self):
        self.reads(f"rtsp://127.0.0.1:{self.server.port}/a#transport=udp")

    def test_has_the_senders_clock(self):
        run = self.run_on(self.uri)
        # The server's first report comes after a few seconds.
        run.wait_for(lambda: any(line["latency_ms"]["sensor"] is not None for line in run.lines()), "sensor's latency")
        self.check(run)
        sensor = [line["latency_ms"]["sensor"] for line in run.lines() if line["latency_ms"]["sensor"] is not None]
        self.assertLess(min(sensor), 10_000)

    def test_only_key_frames(self):
        run, _ = self.reads(self.uri + "#frames=key", frames=6)
        times = [line["timestamp_ns"] for line in run.lines()]
        # The server makes one more where a client joins.
        self.assertGreater(statistics.median(b - a for a, b in zip(times, times[1:])), 400_000_000, "one each second")

    def test_isolated(self):
        self.reads(self.uri, flags=("--isolate", ))

    def test_a_cut_connection_is_opened_again(self):
        run, stream = self.harmed("cut", 4)
        self.assertGreaterEqual(stream["faults"]["restarts"], 1)
        self.assertEqual(stream["outages"]["count"], 1, stream["outages"])
        self.assertIn("frames arrive again", run.text())

    def test_a_stalled_stream_is_opened_again(self):
        run, stream = self.harmed("stall", 6)
        self.assertGreaterEqual(stream["faults"]["restarts"], 1)
        self.assertIn("no video for 2 s", run.text())

    def test_a_throttled_stream_comes_back(self):
        self.harmed("throttle", 4)

    def test_a_flood_is_survived(self):
        self.harmed("flood", 4)

    def test_damage_is_corrupt_up_to_a_key_frame(self):
        self.harmed("damage", 5)

    def test_an_isolated_stream_comes_back(self):
        self.harmed("cut", 3, flags=("--isolate", ))

    def test_a_restarted_server_is_found(self):
        run = self.run_on(self.uri)
        run.wait_for_frames(10)
        self.server.stop()
        time.sleep(2)
        self.server.start()
        run.wait_for_frames(20)
        self.check(run)

    def test_two_hundred_reconnects_leak_nothing(self):
        run = self.run_on(self.uri)
        run.wait_for_frames(5)

        def held():
            with open(f"/proc/{run.process.pid}/statm") as file:
                pages = int(file.read().split()[1])
            return pages * os.sysconf("SC_PAGESIZE"), len(os.listdir(f"/proc/{run.process.pid}/fd"))

        def reconnect(times):
            for _ in range(times):
                before = self.proxy.connections
                self.proxy.cut_once()
                run.wait_for(lambda count=before: self.proxy.connections > count, "connection")
                run.wait_for_frames(3)
            run.wait_for_frames(15)
            return held()

        count = 200 if ARGS.long else 20
        bytes_before, files_before = reconnect(10)
        bytes_after, files_after = reconnect(count - 10)
        self.assertLessEqual(files_after, files_before + 1)
        self.assertLess(bytes_after, bytes_before + (16 << 20))
        stream = self.check(run)
        self.assertGreaterEqual(stream["faults"]["restarts"], count)

    def test_what_is_wrong_is_named(self):
        self.assertIn("check that the server runs", self.fails("rtsp://127.0.0.1:1/a"))
        self.assertIn("no such stream", self.fails(f"rtsp://127.0.0.1:{self.server.port}/b"))
        self.assertIn("no video in it", self.fails(f"rtsp://127.0.0.1:{self.server.port}/sound"))
        self.assertIn("no option 'x'", self.fails(f"{self.uri}#x=1"))
        with socket.create_server(("127.0.0.1", 0)) as silent:
            uri = f"rtsp://127.0.0.1:{silent.getsockname()[1]}/a#timeout=1s"
            self.assertIn("nothing has come within 1 s", self.fails(uri))

    def test_any_goes_on_without(self):
        port = free_port()
        run = self.run_on(self.uri, f"rtsp://127.0.0.1:{port}/a", flags=("--start", "any"))
        run.wait_for_frames(10)
        late = self.serve(LateProxy(self.server.port, port))
        run.wait_for_frames(10, streams=2)
        late.proxy.heal()
        summary = run.finish()
        self.assertEqual([stream["ledger"]["unaccounted"] for stream in summary["streams"]], [0, 0])

    def test_sources_of_a_file(self):
        path = self.path("cameras.txt")
        with open(path, "w") as file:
            file.write(f"# both are one camera\n\n{self.uri}\n  {self.uri}#frames=key\r\n")
        run = Run(ARGS.binary, ARGS.model, self.folder, [self.uri], "--sources", path)
        self.addCleanup(run.__exit__)
        run.wait_for_frames(3, streams=3)
        self.assertEqual(len(run.finish()["streams"]), 3)
        with open(path, "a") as file:
            file.write("rtsp://127.0.0.1:1/a\n")
        done = subprocess.run([ARGS.binary, "run", ARGS.model, "--no-save", "--sources", path], capture_output=True,
                              text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("cameras.txt:5: rtsp://127.0.0.1:1/a: ", done.stderr)


class LateProxy:
    """A proxy that begins late on a port that is known before."""

    def __init__(self, to, port):
        self.to, self.port, self.proxy = to, port, None

    def __enter__(self):
        self.proxy = Proxy(self.to, self.port)
        return self

    def __exit__(self, *_):
        self.proxy.close()


class LoginTest(StreamCase):
    """In the class of rtsp: a server that wants a password."""

    PASSWORD = "hush%40hush"

    @classmethod
    def setUpClass(cls):
        cls.server = Rtsp("--login", "viewer:hush@hush")
        cls.server.start()
        cls.addClassCleanup(cls.server.stop)

    def uri(self, password):
        return f"rtsp://viewer:{password}@127.0.0.1:{self.server.port}/a"

    def test_no_output_has_the_password(self):
        telemetry = self.path("telemetry.jsonl")
        for flags in ((), ("--isolate", )):
            run = self.run_on(self.uri(self.PASSWORD), flags=("--telemetry", telemetry, *flags))
            run.wait_for_frames(20)
            stream = self.check(run)
            self.assertEqual(stream["source"], self.uri("***"))
            with open(telemetry) as file:
                said = [run.text(), file.read(), str(run.lines()), str(run.summary)]
            for text in said:
                self.assertNotIn("hush", text)

    def test_a_refused_login_is_named(self):
        for flags in ((), ("--isolate", )):
            text = self.fails(self.uri("wrongword"), flags=flags)
            self.assertIn("refuses the login", text)
            self.assertNotIn("wrongword", text)


class HttpTest(StreamCase):
    @classmethod
    def setUpClass(cls):
        folder = temporary()
        cls.addClassCleanup(folder.cleanup)
        cls.files = folder.name
        clip = make_clip(os.path.join(cls.files, "clip.ts"), seconds=20)
        subprocess.run(["ffmpeg", "-v", "error", "-i", clip, "-frames:v", "15", os.path.join(cls.files, "%02d.jpg")],
                       check=True)
        subprocess.run(["ffmpeg", "-v", "error", "-i", clip, "-c", "copy", "-f", "hls", "-hls_time", "2", "-hls_list_size",
                        "0", os.path.join(cls.files, "list.m3u8")], check=True)
        cls.server = Http(cls.files, clip)
        cls.server.__enter__()
        cls.addClassCleanup(cls.server.__exit__, None, None, None)
        cls.base = f"http://127.0.0.1:{cls.server.port}"

    def test_mjpeg(self):
        self.reads(f"{self.base}/mjpeg")

    def test_transport_stream(self):
        self.reads(f"{self.base}/live.ts")

    def test_a_finished_playlist_ends(self):
        run = self.run_on(f"{self.base}/list.m3u8", flags=("--max-frames", "60"))
        run.process.wait(60)
        stream = self.check(run)
        self.assertEqual(stream["ledger"]["captured"], 60)
        self.assertEqual(stream["ledger"]["dropped"]["decoder_behind"], 0, "it is read at its own rate")

    def test_a_live_playlist(self):
        segmenter = publisher(os.path.join(self.files, "clip.ts"), "-f", "hls", "-hls_time", "1", "-hls_list_size", "5",
                              "-hls_flags", "delete_segments+omit_endlist", os.path.join(self.files, "live.m3u8"))
        self.serve(segmenter)
        end = time.monotonic() + 60
        while not os.path.exists(os.path.join(self.files, "live.m3u8")):
            self.assertLess(time.monotonic(), end)
            time.sleep(0.1)
        _, stream = self.reads(f"{self.base}/live.m3u8", frames=60)
        self.assertLess(stream["ledger"]["dropped"]["decoder_behind"], 30)

    def test_a_playlist_opens_no_file(self):
        secret = os.path.join(self.files, "clip.ts")
        for i, address in enumerate((f"file://{secret}", secret, f"concat:{secret}", f"subfile,,start,0,end,0,,:{secret}",
                                     f"data:video/mp2t;base64,{base64.b64encode(b'G' * 188 * 20).decode()}",
                                     f"udp://127.0.0.1:{free_port(socket.SOCK_DGRAM)}")):
            name = f"evil{i}.m3u8"
            with open(os.path.join(self.files, name), "w") as file:
                file.write(f"#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:10,\n{address}\n#EXT-X-ENDLIST\n")
            self.fails(f"{self.base}/{name}#timeout=2s")

    def test_a_stream_that_is_closed_is_opened_again(self):
        proxy = Proxy(self.server.port)
        self.addCleanup(proxy.close)
        run = self.run_on(f"http://127.0.0.1:{proxy.port}/mjpeg")
        run.wait_for_frames(5)
        proxy.harm("cut")
        time.sleep(2)
        proxy.heal()
        run.wait_for_frames(10)
        self.assertGreaterEqual(self.check(run)["faults"]["restarts"], 1)

    def test_a_login(self):
        login = base64.b64encode(b"viewer:hush").decode()
        with Http(self.files, login=login) as server:
            address = f"@127.0.0.1:{server.port}/mjpeg"
            self.reads(f"http://viewer:hush{address}")
            text = self.fails(f"http://viewer:wrongword{address}")
            self.assertIn("refuses the login", text)
            self.assertNotIn("wrongword", text)

    def test_what_is_no_stream_is_named(self):
        with open(os.path.join(self.files, "page.html"), "w") as file:
            file.write("<html>" * 1000)
        self.assertIn("not a stream", self.fails(f"{self.base}/page.html"))
        self.assertIn("no such stream", self.fails(f"{self.base}/nowhere.ts"))


class SentStreamCase(StreamCase):
    """A stream that FFmpeg sends."""

    def setUp(self):
        super().setUp()
        self.clip = make_clip(self.path("clip.ts"))


class UdpTest(SentStreamCase):
    def test_is_read_and_waited_for(self):
        port = free_port(socket.SOCK_DGRAM)
        sender = publisher(self.clip, "-f", "mpegts", f"udp://127.0.0.1:{port}?pkt_size=1316")
        with sender:
            run = self.run_on(f"udp://127.0.0.1:{port}#timeout=2s")
            run.wait_for_frames(20)
            sender.stop()
            run.wait_for(lambda: "no video for 2 s" in run.text(), "end of the video")
            sender.start()
            run.wait_for_frames(20)
            self.check(run)

    def test_silence_is_named(self):
        port = free_port(socket.SOCK_DGRAM)
        self.assertIn("nothing has come", self.fails(f"udp://127.0.0.1:{port}#timeout=1s"))

    def test_another_size_and_codec(self):
        other = make_clip(self.path("other.ts"), size="160x96", codec="mpeg2video")
        port = free_port(socket.SOCK_DGRAM)
        address = f"udp://127.0.0.1:{port}?pkt_size=1316"
        with publisher(self.clip, "-f", "mpegts", address):
            run = self.run_on(f"udp://127.0.0.1:{port}#timeout=2s")
            run.wait_for_frames(10)
        with publisher(other, "-f", "mpegts", address):
            run.wait_for(lambda: run.lines()[-1]["width"] == 160, "frame of the other size")
            run.wait_for_frames(10)
        self.assertGreaterEqual(self.check(run)["faults"]["format_changes"], 1)


class SrtTest(SentStreamCase):
    def test_is_read_and_opened_again(self):
        port = free_port(socket.SOCK_DGRAM)
        sender = publisher(self.clip, "-f", "mpegts", f"srt://127.0.0.1:{port}?mode=listener")
        with sender:
            time.sleep(1)
            run = self.run_on(f"srt://127.0.0.1:{port}")
            run.wait_for_frames(20)
            sender.stop()
            sender.start()
            run.wait_for_frames(20)
            self.check(run)

    def test_nobody_is_named(self):
        self.fails(f"srt://127.0.0.1:{free_port(socket.SOCK_DGRAM)}#timeout=1s")


class RtmpTest(SentStreamCase):
    def test_is_read_and_opened_again(self):
        server = self.serve(Nginx(self.folder))
        uri = f"rtmp://127.0.0.1:{server.port}/live/a"
        sender = publisher(self.clip, "-f", "flv", uri)
        with sender:
            time.sleep(2)
            run = self.run_on(f"{uri}#timeout=3s")
            run.wait_for_frames(20)
            sender.stop()
            sender.start()
            run.wait_for_frames(20)
            self.check(run)


CASES = {"rtsp": (RtspTest, LoginTest), "http": (HttpTest, ), "udp": (UdpTest, ), "srt": (SrtTest, ), "rtmp": (RtmpTest, )}


def find_servers():
    with temporary() as folder:
        {"rtsp": Rtsp, "rtmp": lambda: Nginx(folder)}.get(ARGS.only, lambda: None)()
        make_clip(os.path.join(folder, "clip.ts"), seconds=1)
    if ARGS.only == "srt":
        require_srt()


def main():
    global ARGS
    parser = parser_of(__doc__)
    parser.add_argument("--only", choices=CASES, required=True)
    parser.add_argument("--long", action="store_true", help="200 reconnects instead of 20")
    parser.add_argument("tests", nargs="*", help="names of tests, all without")
    ARGS = parser.parse_args()
    # FFmpeg follows them, for addresses of this machine, too.
    for name in ("http_proxy", "https_proxy"):
        os.environ.pop(name, None)
    run_cases(CASES[ARGS.only], find_servers, ARGS.tests)


if __name__ == "__main__":
    main()
