"""Servers of network streams for the tests and bench/streams.py. Each is a context manager; Missing says what to
install."""
import http.server
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
BOUNDARY = "frame"


class Missing(Exception):
    pass


def require(program, package):
    if shutil.which(program) is None:
        raise Missing(f"{program} is missing ({package}: script/bootstrap --streams)")


def free_port(kind=socket.SOCK_STREAM):
    with socket.socket(socket.AF_INET, kind) as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for_port(port, seconds=20):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise AssertionError(f"nothing listens on port {port}")


def make_clip(path, *options, size="320x180", rate=15, seconds=10, codec="libx264"):
    """A clip of FFmpeg's test source with a key frame each second."""
    require("ffmpeg", "ffmpeg")
    coding = ["-preset", "ultrafast", "-tune", "zerolatency"] if codec == "libx264" else []
    subprocess.run(["ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", f"testsrc=size={size}:rate={rate}", "-t",
                    str(seconds), "-c:v", codec, *coding, "-g", str(rate), "-pix_fmt", "yuv420p", *options, path],
                   check=True)
    return path


class Process:
    """A program that serves until the end of the block."""

    def __init__(self, command, **options):
        self.command, self.options = command, options
        self.process = None

    def start(self):
        self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, **self.options)

    def stop(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            if self.process.stdout is not None:
                self.process.stdout.close()
            self.process = None

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stop()


class Rtsp(Process):
    """GStreamer's server; `port` stays when it is started again."""

    def __init__(self, *options):
        # GStreamer's bindings are those of the system's Python.
        python = next((each for each in (sys.executable, "/usr/bin/python3") if self.has_bindings(each)), None)
        if python is None:
            raise Missing("GStreamer's RTSP server is missing (python3-gi, gir1.2-gst-rtsp-server-1.0: "
                          "script/bootstrap --streams)")
        self.port = free_port()
        super().__init__([python, os.path.join(HERE, "rtsp_server.py"), "--port", str(self.port), *options],
                         stdout=subprocess.PIPE, text=True)

    @staticmethod
    def has_bindings(python):
        code = ("import gi; gi.require_version('GstRtspServer', '1.0'); from gi.repository import Gst, GstRtspServer; "
                "Gst.init(None); assert Gst.ElementFactory.find('x264enc')")
        return subprocess.run([python, "-c", code], capture_output=True, check=False).returncode == 0

    def start(self):
        super().start()
        if not self.process.stdout.readline():
            raise AssertionError("the RTSP server has ended")


class Nginx(Process):
    """nginx with its RTMP module: rtmp://127.0.0.1:PORT/live/NAME, to which FFmpeg publishes."""

    def __init__(self, folder):
        require("nginx", "nginx")
        module = "/usr/lib/nginx/modules/ngx_rtmp_module.so"
        if not os.path.exists(module):
            raise Missing("nginx has no RTMP module (libnginx-mod-rtmp: script/bootstrap --streams)")
        self.port = free_port()
        config = os.path.join(folder, "nginx.conf")
        with open(config, "w") as file:
            file.write(f"load_module {module};\ndaemon off;\nmaster_process off;\npid {folder}/nginx.pid;\n"
                       f"error_log {folder}/nginx.log;\nevents {{}}\nrtmp {{ server {{ listen 127.0.0.1:{self.port}; "
                       "application live { live on; } } }\n")
        super().__init__(["nginx", "-c", config, "-p", folder], stderr=subprocess.DEVNULL)

    def start(self):
        super().start()
        wait_for_port(self.port)


def publisher(clip, *output):
    """FFmpeg that sends CLIP again and again at its own rate."""
    require("ffmpeg", "ffmpeg")
    return Process(["ffmpeg", "-v", "error", "-re", "-stream_loop", "-1", "-i", clip, "-c", "copy", *output],
                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)


class Http:
    """Python's HTTP server: files of FOLDER, /mjpeg, /live.ts, which FFmpeg makes of CLIP, and /to?ADDRESS, a
    redirection."""

    def __init__(self, folder, clip=None, login=None):
        outer = self
        self.requested = []

        class Handler(http.server.SimpleHTTPRequestHandler):
            def __init__(self, *arguments):
                super().__init__(*arguments, directory=folder)

            def log_message(self, *_):
                pass

            def do_GET(self):
                outer.requested.append(self.path)
                if login and self.headers.get("Authorization") != f"Basic {login}":
                    self.send_response(401)
                    self.send_header("WWW-Authenticate", 'Basic realm="test"')
                    self.send_header("Content-Length", "0")
                    self.end_headers()
                elif self.path.startswith("/mjpeg"):
                    self.send_images()
                elif self.path.startswith("/live.ts"):
                    self.send_stream()
                elif self.path.startswith("/to?"):
                    self.send_response(302)
                    self.send_header("Location", self.path[4:])
                    self.send_header("Content-Length", "0")
                    self.end_headers()
                else:
                    super().do_GET()

            def send_images(self):
                self.send_response(200)
                self.send_header("Content-Type", f"multipart/x-mixed-replace; boundary={BOUNDARY}")
                self.end_headers()
                images = sorted(name for name in os.listdir(folder) if name.endswith(".jpg"))
                try:
                    while True:
                        for name in images:
                            with open(os.path.join(folder, name), "rb") as file:
                                image = file.read()
                            self.wfile.write(f"--{BOUNDARY}\r\nContent-Type: image/jpeg\r\nContent-Length: {len(image)}"
                                             "\r\n\r\n".encode() + image + b"\r\n")
                            time.sleep(1 / 15)
                except OSError:
                    pass

            def send_stream(self):
                self.send_response(200)
                self.send_header("Content-Type", "video/mp2t")
                self.end_headers()
                with publisher(clip, "-f", "mpegts", "-") as source_of:
                    try:
                        while data := source_of.process.stdout.read1(65536):
                            self.wfile.write(data)
                    except OSError:
                        pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


def temporary():
    return tempfile.TemporaryDirectory(prefix="streams-")
