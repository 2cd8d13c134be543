#!/usr/bin/env python3
"""mqtt.py --binary SACCADE --model MODEL: what `saccade run --mqtt` publishes, received from a real broker (mosquitto).
Prints "Skipped: WHY" without it.
"""
import json
import os
import shutil
import signal
import socket
import subprocess
import threading
import unittest

from program import parser_of, run_cases
from running import Run
from servers import Process, free_port, require, temporary

ARGS = None
SCENE = "synthetic:?size=160x120&fps=15"


class Broker(Process):
    """mosquitto with one user, who has the password p@ss/word."""

    def __init__(self, folder):
        self.port = free_port()
        passwords, config = os.path.join(folder, "passwords"), os.path.join(folder, "mosquitto.conf")
        subprocess.run(["mosquitto_passwd", "-b", "-c", passwords, "user", "p@ss/word"], check=True, capture_output=True)
        os.chmod(passwords, 0o644)
        with open(config, "w") as file:
            file.write(f"listener {self.port} 127.0.0.1\nallow_anonymous false\npassword_file {passwords}\nuser root\n")
        super().__init__([shutil.which("mosquitto"), "-c", config], stderr=subprocess.DEVNULL)


class Reader:
    """Receives what is published at TOPIC, by MQTT 3.1.1."""

    def __init__(self, port, topic):
        self.messages = []
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.file = self.socket.makefile("rb")
        text = lambda string: len(string).to_bytes(2, "big") + string.encode()
        self.send(0x10, text("MQTT") + bytes([4, 0xc2, 0, 0]) + text("reader") + text("user") + text("p@ss/word"))
        assert self.receive() == (0x20, b"\0\0"), "not let in"
        self.send(0x82, b"\0\1" + text(topic) + b"\0")
        assert self.receive()[0] == 0x90
        threading.Thread(target=self.read, daemon=True).start()

    def send(self, kind, body):
        self.socket.sendall(bytes([kind, len(body)]) + body)

    def receive(self):
        kind, size, shift = self.file.read(1)[0], 0, 0
        while True:
            byte = self.file.read(1)[0]
            size |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return kind, self.file.read(size)

    def read(self):
        try:
            while True:
                kind, body = self.receive()
                length = int.from_bytes(body[:2], "big")
                if kind >> 4 == 3:
                    self.messages.append((body[2:2 + length].decode(), json.loads(body[2 + length:])))
        except (IndexError, OSError):
            pass  # the broker has ended


class Unconfirming(threading.Thread):
    """A broker that lets everyone in and confirms nothing; it closes a connection after MESSAGES messages."""

    def __init__(self, messages=None):
        super().__init__(daemon=True)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port, self.limit, self.received = self.listener.getsockname()[1], messages, 0
        self.start()

    def run(self):
        while True:
            client = self.listener.accept()[0]
            messages = 0
            with client, client.makefile("rb") as file:
                client.sendall(b"\x20\x02\0\0")
                while self.limit is None or messages < self.limit:
                    kind = file.read(1)
                    if not kind:
                        break
                    size, shift = 0, 0
                    while True:
                        byte = file.read(1)[0]
                        size |= (byte & 127) << shift
                        shift += 7
                        if byte < 128:
                            break
                    file.read(size)
                    messages += kind[0] >> 4 == 3
            self.received += messages


class MqttTest(unittest.TestCase):
    def setUp(self):
        folder = temporary()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.broker = Broker(self.folder)
        self.addCleanup(self.broker.stop)

    def url(self, rest, password="p%40ss%2Fword"):
        return f"mqtt://user:{password}@127.0.0.1:{self.broker.port}/{rest}"

    def start_broker(self):
        self.broker.start()
        for _ in range(300):
            try:
                socket.create_connection(("127.0.0.1", self.broker.port)).close()
                return
            except OSError:
                threading.Event().wait(0.05)
        raise AssertionError("the broker does not listen")

    def publish(self, url, *sources, flags=()):
        run = Run(ARGS.binary, ARGS.model, self.folder, sources or (SCENE, ), "--realtime", "--mqtt", url, *flags)
        self.addCleanup(run.__exit__)
        return run

    @staticmethod
    def end(run):
        """The exit code, and what the summary has about the broker's sink."""
        if run.process.poll() is None:
            run.process.send_signal(signal.SIGINT)
        # Events of zones precede it.
        summary = json.loads(run.process.stdout.read().splitlines()[-1])
        [sink] = [sink for sink in summary["sinks"] if sink["sink"].startswith("mqtt")]
        return run.process.wait(), sink

    def test_each_result_is_a_message_of_its_stream(self):
        self.start_broker()
        reader = Reader(self.broker.port, "saccade/#")
        run = self.publish(self.url("saccade/{stream}#qos=1"), SCENE, SCENE + "&seed=2", flags=("--max-frames", "20"))
        run.process.wait()
        code, sink = self.end(run)
        self.assertEqual((code, sink["written"], sink["dropped"], sink["failed"]),
                         (0, len(run.lines()), 0, 0), run.text())
        for _ in range(200):
            if len(reader.messages) == sink["written"]:
                break
            threading.Event().wait(0.05)
        self.assertEqual({topic for topic, _ in reader.messages}, {"saccade/0", "saccade/1"})
        key = lambda line: (line["stream"], line["frame"])
        self.assertEqual(sorted((line for _, line in reader.messages), key=key), sorted(run.lines(), key=key))
        self.assertTrue(all(topic == f"saccade/{line['stream']}" for topic, line in reader.messages))

    def test_events_of_zones_follow_their_result(self):
        zones = os.path.join(self.folder, "zones.toml")
        with open(zones, "w") as file:
            file.write('units = "normalized"\nhold = 0\n'
                       '[[area]]\nname = "room"\npoints = [[0, 0], [1, 0], [1, 1], [0, 1]]\n'
                       '[[line]]\nname = "middle"\nfrom = [0.5, 1]\nto = [0.5, 0]\n')
        self.start_broker()
        reader = Reader(self.broker.port, "a")
        run = self.publish(self.url("a#qos=1"), "synthetic:?size=320x240&fps=15",
                           flags=("--track", "bytetrack", "--zones", zones, "--max-frames", "45", "--drop", "wait"))
        run.process.wait()
        code, sink = self.end(run)
        self.assertEqual((code, sink["dropped"], sink["failed"]), (0, 0, 0), run.text())
        for _ in range(200):
            if len(reader.messages) == len(run.lines()):
                break
            threading.Event().wait(0.05)
        messages = [message for _, message in reader.messages]
        self.assertEqual(messages, run.lines())
        keys = {"event", "zone", "stream", "source", "frame", "timestamp_ns", "model", "track_id", "class_id", "class",
                "since_ns"}
        for kind, zone, others in (("line", "middle", {"direction"}), ("area", "room", {"kind", "seconds"})):
            events = [message for message in messages if message.get("event") == kind]
            self.assertGreater(len(events), 0, kind)
            for event in events:
                self.assertEqual((set(event), event["zone"]), (keys | others, zone))
        frame = None
        for message in messages:
            if "event" not in message:
                frame = message["frame"]
            self.assertEqual(message["frame"], frame)

    def test_a_broker_that_comes_late_gets_the_newest_results(self):
        run = self.publish(self.url("a#backlog=5"))
        run.wait_for_frames(20)
        self.assertIn("it is tried again", run.text())
        self.assertEqual(run.text().count("it is tried again"), 1, "it is said once")
        self.start_broker()
        reader = Reader(self.broker.port, "a")
        run.wait_for(lambda: len(reader.messages) > 10, "results at the broker")
        self.broker.stop()
        run.wait_for(lambda: run.text().count("it is tried again") == 2, "word of the broker")
        code, sink = self.end(run)
        self.assertEqual(code, 1, "results were dropped")
        self.assertGreater(sink["dropped"], 0)
        self.assertGreater(sink["written"], 10)
        self.assertEqual(sink["written"] + sink["dropped"], len(run.lines()))

    def test_results_that_are_not_confirmed_are_not_written(self):
        for limit in (None, 5):  # also over connections
            broker = Unconfirming(limit)
            run = self.publish(f"mqtt://127.0.0.1:{broker.port}/a#qos=1&timeout=1s", flags=("--max-frames", "10"))
            run.process.wait()
            code, sink = self.end(run)
            results = len(run.lines())  # a busy machine drops frames
            self.assertGreater(results, 1)
            self.assertEqual((code, sink["written"], sink["dropped"]), (1, 0, results), run.text())
            self.assertIn(f" {results} results were not published", run.text())

    def test_passwords_are_not_shown(self):
        self.start_broker()
        run = self.publish(self.url("a#timeout=1s", password="wrong%40secret"), flags=("--max-frames", "10"))
        run.process.wait()
        code, sink = self.end(run)
        self.assertEqual(code, 1)
        self.assertEqual((sink["written"], sink["dropped"]), (0, len(run.lines())))
        self.assertIn("user:***@127.0.0.1", sink["sink"])
        self.assertNotIn("secret", run.text() + json.dumps(sink))

    def test_what_is_wrong_is_named(self):
        for url, words in (("http://127.0.0.1/a", "mqtt://HOST:PORT/TOPIC"), ("mqtt://host", "topic"),
                           ("mqtt:///a", "host"), ("mqtt://host:x/a", "1 to 65535"), ("mqtt://host/a/+", "'+'"),
                           ("mqtt://host/a#qos=3", "0, 1 or 2"), ("mqtt://host/a#backlog=0", "1 to 1000000"),
                           ("mqtt://host/a#speed=2", "'speed'"), ("mqtt://u:secret#x@host/a", "%23")):
            done = subprocess.run([ARGS.binary, "run", ARGS.model, "--device", "cpu", "--source", "synthetic:?frames=1",
                                   "--mqtt", url], capture_output=True, text=True, timeout=120, check=False)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn(words, done.stderr)
            self.assertNotIn("secret", done.stderr)


def main():
    global ARGS
    ARGS = parser_of(__doc__).parse_args()
    run_cases([MqttTest], lambda: require("mosquitto", "mosquitto"))


if __name__ == "__main__":
    main()
