"""A run of `saccade run` that is watched while it goes on."""
import json
import os
import signal
import subprocess
import time


class Run:
    """Reads SOURCES until finish(). Results are lines of `out.jsonl` in FOLDER."""

    def __init__(self, binary, model, folder, sources, *flags):
        self.jsonl = os.path.join(folder, "out.jsonl")
        self.errors = os.path.join(folder, "errors.txt")
        self.arguments = [binary, "run", model, "--device", "cpu", "--jsonl", self.jsonl, "--no-summary", "--quiet",
                          "--json", *flags, "--source", *sources]
        with open(self.errors, "wb") as errors:
            self.process = subprocess.Popen(self.arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                            stderr=errors)
        self.summary = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()

    def lines(self):
        """The results so far."""
        if not os.path.exists(self.jsonl):
            return []
        with open(self.jsonl) as file:
            text = file.read()
        return [json.loads(line) for line in text[:text.rfind("\n") + 1].splitlines()]

    def text(self):
        """What it has said."""
        with open(self.errors, errors="replace") as file:
            return file.read()

    def snapshot(self):
        """What it says about itself now."""
        def snapshots():
            return [line for line in self.text().splitlines(keepends=True) if line.startswith('{"event":"snapshot"')]

        before = len(snapshots())
        self.process.send_signal(signal.SIGUSR1)
        self.wait_for(lambda: len(snapshots()) > before and snapshots()[-1].endswith("\n"), "snapshot")
        return json.loads(snapshots()[-1])

    def memory(self):
        """The bytes that it holds."""
        with open(f"/proc/{self.process.pid}/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")

    def wait_for(self, condition, what, seconds=60):
        """Waits until CONDITION holds. A busy machine may need long: the limit is for a run that hangs."""
        end = time.monotonic() + seconds
        while True:
            has_ended = self.process.poll() is not None
            if condition():
                return
            if has_ended:
                raise AssertionError(f"it has ended ({self.process.returncode}) before {what}: {self.text()}")
            if time.monotonic() > end:
                raise AssertionError(f"no {what} within {seconds} s: {self.text()}")
            time.sleep(0.1)

    def wait_for_frames(self, count, streams=1):
        """Waits for COUNT more frames of each stream."""
        before = {}
        for line in self.lines():
            before[line["stream"]] = before.get(line["stream"], 0) + 1

        def have_come():
            now = {}
            for line in self.lines():
                now[line["stream"]] = now.get(line["stream"], 0) + 1
            return all(now.get(i, 0) >= before.get(i, 0) + count for i in range(streams))

        self.wait_for(have_come, f"{count} more frames")

    def finish(self):
        """Interrupts it; returns its summary."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        output = self.process.stdout.read()
        code = self.process.wait()
        if code != 0:
            raise AssertionError(f"exit code {code}: {self.text()}")
        self.summary = json.loads(output)
        return self.summary
