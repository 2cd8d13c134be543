"""Streams over HTTP: MJPEG, transport streams and HLS, and what a server must not make the client open."""
import base64
import os
import socket
import subprocess
import time

from proxy import Proxy
from servers import Http, free_port, make_clip, publisher, temporary
from stream_case import StreamCase


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

    def test_a_redirection_opens_no_file(self):
        secret = os.path.join(self.files, "clip.ts")
        self.reads(f"{self.base}/to?/live.ts")
        for address in (f"file://{secret}", "file:///etc/hostname", f"subfile,,start,0,end,0,,:{secret}"):
            self.fails(f"{self.base}/to?{address}#timeout=2s")
        with open(os.path.join(self.files, "redirected.m3u8"), "w") as file:
            file.write(f"#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:10,\n/to?file://{secret}\n#EXT-X-ENDLIST\n")
        self.fails(f"{self.base}/redirected.m3u8#timeout=2s")

    def test_a_key_is_no_file(self):
        key, info, playlist = (os.path.join(self.files, name) for name in ("key", "key.info", "secret.m3u8"))
        with open(key, "wb") as file:
            file.write(bytes(range(16)))
        with open(info, "w") as file:
            file.write(f"key\n{key}\n")
        subprocess.run(["ffmpeg", "-v", "error", "-i", os.path.join(self.files, "clip.ts"), "-c", "copy", "-f", "hls",
                        "-hls_list_size", "0", "-hls_key_info_file", info, "-hls_segment_filename",
                        os.path.join(self.files, "secret%d.ts"), playlist], check=True)
        self.reads(f"{self.base}/secret.m3u8")  # The server may name the same key.
        with open(playlist) as file:
            text = file.read()
        for i, address in enumerate((f"file://{key}", key, f"/to?file://{key}")):
            with open(os.path.join(self.files, f"key{i}.m3u8"), "w") as file:
                file.write(text.replace('URI="key"', f'URI="{address}"'))
            self.server.requested.clear()
            self.fails(f"{self.base}/key{i}.m3u8#timeout=2s")
            self.assertIn(f"/key{i}.m3u8", self.server.requested)

    def test_frames_that_others_refer_to(self):
        clip = make_clip(os.path.join(self.files, "b.mp4"), "-bf", "2", "-b_strategy", "0", "-b-pyramid", "none",
                         "-movflags", "+faststart", seconds=4)
        kinds = subprocess.run(["ffprobe", "-v", "error", "-show_entries", "frame=pict_type", "-of", "csv=p=0", clip],
                               capture_output=True, text=True, check=True).stdout
        run = self.run_on(*(f"{self.base}/b.mp4{options}" for options in ("", "#frames=reference", "#frames=key")))
        run.process.wait(60)
        captured = [stream["ledger"]["captured"] for stream in run.finish()["streams"]]
        self.assertEqual(captured, [60, 60 - kinds.count("B"), 4])
        self.assertGreater(kinds.count("B"), 20)

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
        self.assertIn("not a supported stream", self.fails(f"{self.base}/page.html"))
        self.assertIn("no such stream", self.fails(f"{self.base}/nowhere.ts"))
        subprocess.run(["ffmpeg", "-v", "error", "-f", "lavfi", "-i", "sine=duration=2",
                        os.path.join(self.files, "sound.ts")], check=True)
        self.assertIn("there is no video in it", self.fails(f"{self.base}/sound.ts"))

    def test_an_unknown_codec_is_named(self):
        clip = make_clip(os.path.join(self.files, "unknown.mp4"), "-movflags", "+faststart", seconds=1)
        with open(clip, "rb") as file:
            data = file.read()
        with open(clip, "wb") as file:
            file.write(data.replace(b"avc1", b"zzzz"))
        self.assertIn("has no decoder for its codec", self.fails(f"{self.base}/unknown.mp4"))
