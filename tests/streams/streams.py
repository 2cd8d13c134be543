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
import urllib.request

from http_streams import HttpTest
from program import parser_of, require_srt, run_cases
from proxy import Proxy, RtspProxy
from servers import Nginx, Rtsp, free_port, make_clip, publisher, temporary
from stream_case import SentStreamCase, StreamCase

ARGS = None


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

    def check_flood(self, reason, flags=()):
        """Frames of a flood are dropped for REASON, and little of it held."""
        run = self.run_on(self.uri, flags=flags)
        run.wait_for_frames(15)
        before = run.memory()
        ledger = lambda: run.snapshot()["streams"][0]["ledger"]
        self.assertLess(ledger()["captured"], 500)
        self.proxy.harm("flood")
        run.wait_for(lambda: ledger()["captured"] > 1000, "1000 frames of a flood")
        run.wait_for(lambda: ledger()["dropped"][reason] > 100, f"100 frames that are dropped ({reason})")
        self.assertLess(run.memory(), before + (128 << 20))
        self.proxy.heal()
        run.wait_for_frames(30)
        self.assertEqual(self.check(run)["faults"]["restarts"], 0)

    def test_a_flood_of_frames_is_dropped(self):
        self.check_flood("queue_full")

    def test_a_flood_of_packets_is_dropped(self):
        # The decoder waits for the models.
        self.check_flood("decoder_behind", flags=("--drop", "wait"))

    def test_a_damaged_stream_comes_back(self):
        self.harmed("damage", 5)

    def check_corrupt(self, fault, transport):
        """Every seventh packet of video is harmed."""
        proxy = RtspProxy(self.server.port)
        self.addCleanup(proxy.close)
        run = self.run_on(f"rtsp://127.0.0.1:{proxy.port}/a#transport={transport}")
        run.wait_for_frames(15)
        corrupt = lambda: run.snapshot()["streams"][0]["ledger"]["corrupt"]
        # It joins at any frame.
        at_start = corrupt()
        proxy.packet_fault = fault
        run.wait_for(lambda: corrupt() >= at_start + 10, "10 corrupt frames")
        proxy.packet_fault = None
        # What was harmed before may still be on its way.
        run.wait_for_frames(20)
        before = corrupt()
        run.wait_for_frames(10)
        stream = self.check(run)
        self.assertEqual(stream["ledger"]["corrupt"], before, "no frame after the key frame is corrupt")
        self.assertEqual(stream["faults"]["restarts"], 0)
        # The first ten are named, whichever they are.
        self.assertRegex(run.text(), "it refers to frames that are missing|packets of the network were lost")

    def test_damage_is_corrupt_up_to_a_key_frame(self):
        self.check_corrupt("alter", "tcp")

    def test_a_loss_is_corrupt_up_to_a_key_frame(self):
        for transport in ("tcp", "udp"):
            with self.subTest(transport):
                self.check_corrupt("lose", transport)

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
            return run.memory(), len(os.listdir(f"/proc/{run.process.pid}/fd"))

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
            self.assertIn("no data was received within 1 s", self.fails(uri))

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
        run = self.run_on(self.uri, flags=("--sources", path))
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
            run = self.run_on(self.uri(self.PASSWORD), flags=("--telemetry", telemetry, "--metrics", "0", "--preview", "0",
                                                              "--log-level", "debug", *flags))
            run.wait_for_frames(20)
            run.snapshot()
            metrics, preview = (re.search(rf"^{name}: (\S+)$", run.text(), re.MULTILINE)[1]
                                for name in ("metrics", "preview"))
            served = {path: urllib.request.urlopen(address, timeout=60).read().decode()
                      for path, address in (("metrics", metrics), ("page", preview), ("status", f"{preview}status.json"))}
            stream = self.check(run)
            self.assertEqual(stream["source"], self.uri("***"))
            self.assertIn(self.uri("***"), served["metrics"])
            self.assertIn(self.uri("***"), served["status"])
            with open(telemetry) as file:
                said = [run.text(), file.read(), str(run.lines()), str(run.summary), *served.values()]
            for text in said:
                self.assertNotIn("hush", text)
                self.assertNotIn(base64.b64encode(b"viewer:hush@hush").decode(), text)

    def test_a_refused_login_is_named(self):
        for flags in ((), ("--isolate", )):
            text = self.fails(self.uri("wrongword"), flags=flags)
            self.assertIn("refuses the login", text)
            self.assertNotIn("wrongword", text)


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
        self.assertIn("no data was received", self.fails(f"udp://127.0.0.1:{port}#timeout=1s"))

    def test_another_size_and_another_codec(self):
        small = make_clip(self.path("small.ts"), size="160x96")
        other = make_clip(self.path("other.ts"), size="160x96", codec="mpeg2video")
        port = free_port(socket.SOCK_DGRAM)
        address = f"udp://127.0.0.1:{port}?pkt_size=1316"
        changes = lambda: run.snapshot()["streams"][0]["faults"]["format_changes"]
        with publisher(self.clip, "-f", "mpegts", address):
            run = self.run_on(f"udp://127.0.0.1:{port}#timeout=2s")
            run.wait_for_frames(10)
        self.assertEqual(changes(), 0)
        with publisher(small, "-f", "mpegts", address):
            run.wait_for(lambda: run.lines()[-1]["width"] == 160, "frame of the other size")
            run.wait_for_frames(10)
        self.assertEqual(changes(), 1)
        with publisher(other, "-f", "mpegts", address):
            run.wait_for(lambda: changes() == 2, "change of the codec")
            run.wait_for_frames(20)
        faults = self.check(run)["faults"]
        self.assertEqual(faults["format_changes"], 2)
        self.assertGreaterEqual(faults["restarts"], 1)


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
    ARGS = StreamCase.arguments = parser.parse_args()
    # FFmpeg follows them, for addresses of this machine, too.
    for name in ("http_proxy", "https_proxy"):
        os.environ.pop(name, None)
    run_cases(CASES[ARGS.only], find_servers, ARGS.tests)


if __name__ == "__main__":
    main()
