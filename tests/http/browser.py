"""A headless Chromium, driven by its DevTools protocol over a pipe."""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

PROGRAM = shutil.which("chromium")
PATIENCE = 30  # seconds


class Browser:
    """A browser with one page."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory()
        to_read, self.write_to = os.pipe()
        self.read_from, to_write = os.pipe()

        def move():  # the browser reads from 3 and writes to 4
            read, write = os.dup(to_read), os.dup(to_write)
            os.dup2(read, 3)
            os.dup2(write, 4)

        flags = ["--headless", "--remote-debugging-pipe", f"--user-data-dir={self.folder.name}", "--no-first-run", "--disable-gpu",
                 "--disable-dev-shm-usage", "--hide-scrollbars", "--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream"]
        if os.geteuid() == 0:
            flags.append("--no-sandbox")
        self.process = subprocess.Popen([PROGRAM, *flags, "about:blank"], preexec_fn=move, close_fds=False, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(to_write)
        self.buffer = b""
        self.last = 0
        self.events = []
        self.session = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "DOM"):
            self.call(domain + ".enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        os.close(self.write_to)
        os.close(self.read_from)
        self.folder.cleanup()

    def receive(self, until):
        while b"\0" not in self.buffer:
            if not select.select([self.read_from], [], [], max(0, until - time.monotonic()))[0]:
                raise TimeoutError("the browser does not respond")
            received = os.read(self.read_from, 1 << 20)
            if not received:
                raise ConnectionError("the browser has ended")
            self.buffer += received
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **parameters):
        """The result of METHOD; what happens meanwhile is added to the events."""
        self.last += 1
        message = {"id": self.last, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.write_to, json.dumps(message).encode() + b"\0")
        until = time.monotonic() + PATIENCE
        while True:
            received = self.receive(until)
            if received.get("id") == self.last:
                if "error" in received:
                    raise AssertionError(f"{method}: {received['error']}")
                return received["result"]
            self.events.append(received)

    def evaluate(self, script):
        """The value of SCRIPT, which may be a promise."""
        result = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            raise AssertionError(f"{script}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def wait_for(self, script, what=None):
        until = time.monotonic() + PATIENCE
        while not self.evaluate(script):
            if time.monotonic() > until:
                raise AssertionError(f"not seen: {what or script}; the page says {self.evaluate('document.body.innerText')!r}")
            time.sleep(0.02)

    def open(self, address):
        self.call("Page.navigate", url=address)
        self.wait_for(f"location.href.startsWith({json.dumps(address)}) && document.readyState === 'complete'")

    def resize(self, width, height=900):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def set_scheme(self, scheme):
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def choose_file(self, selector, path):
        document = self.call("DOM.getDocument")["root"]["nodeId"]
        node = self.call("DOM.querySelector", nodeId=document, selector=selector)["nodeId"]
        self.call("DOM.setFileInputFiles", files=[path], nodeId=node)

    def press(self, key, code=None, text=None):
        for kind in ("keyDown", "keyUp"):
            extra = {"text": text} if text and kind == "keyDown" else {}
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=code or key, windowsVirtualKeyCode={"Tab": 9, "Enter": 13}.get(key, 0),
                      **extra)

    def take_errors(self, network=False):
        """What the console has had since the last call; NETWORK: also that a request failed."""
        self.evaluate("0")
        errors = []
        for event in self.events:
            parameters = event.get("params", {})
            if event["method"] == "Runtime.exceptionThrown":
                errors.append(str(parameters["exceptionDetails"]))
            elif event["method"] == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "warning", "assert"):
                errors.append(str(parameters["args"]))
            elif event["method"] == "Log.entryAdded" and parameters["entry"]["level"] in ("error", "warning"):
                if network or parameters["entry"]["source"] != "network":
                    errors.append(str(parameters["entry"]))
        self.events.clear()
        return errors

    def screenshot(self, path):
        data = self.call("Page.captureScreenshot", captureBeyondViewport=True)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))
