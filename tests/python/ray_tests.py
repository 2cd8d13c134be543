#!/usr/bin/env python3
"""Two replicas of Ray Serve on this machine: requests are spread over both, one is killed, and none is lost after a
retry.

Runs in the environment of script/bootstrap --ray. Exit status 77: skipped.
"""
import concurrent.futures
import json
import os
import pathlib
import secrets
import signal
import socket
import struct
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = os.path.join(os.environ["SACCADE_BUILD"], "python")
MODEL = ROOT / "models" / "scene_model.onnx"
sys.path.insert(0, PACKAGE)
os.environ |= {
    "PYTHONPATH": os.pathsep.join([PACKAGE, *filter(None, [os.environ.get("PYTHONPATH")])]),
    "RAY_USAGE_STATS_ENABLED": "0",
    # Else Ray writes one into the home folder.
    "RAY_AUTH_TOKEN": secrets.token_hex(32)
}

try:
    import numpy
    import ray
    import yaml
    from ray import serve
    from ray.serve.schema import ServeDeploySchema
except ImportError as missing:
    print(f"SKIPPED: needs Python's {missing.name}: ./script/bootstrap --ray")
    sys.exit(77)
try:
    import saccade
except ImportError as missing:
    print(f"SKIPPED: needs the package in SACCADE_BUILD: {missing}")
    sys.exit(77)
from saccade.serve.ray import app, deployment  # noqa: E402

EXAMPLES = ROOT / "examples" / "ray"
sys.path.insert(0, str(EXAMPLES))
import app as example  # noqa: E402
import client  # noqa: E402


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def replica_processes():
    """The processes of the replicas, which Ray names."""
    found = []
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if b"ServeReplica:default:scene_model" in (folder / "cmdline").read_bytes():
                found.append(int(folder.name))
        except OSError:  # It has ended.
            pass
    return found


class RayServe(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.port = free_port()
        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, configure_logging=False,
                 object_store_memory=128 << 20)
        serve.start(http_options={"port": cls.port}, proxy_location="HeadOnly")
        cls.handle = serve.run(
            deployment(MODEL, num_cpus=0.5, min_replicas=2, max_replicas=2, precision="fp32", max_body=1 << 20,
                       max_pixels=1_000_000, plans=cls.folder.name + "/plans", options={"health_check_period_s": 1}))
        cls.model = saccade.Model(MODEL, device="cpu", threads=1, precision="fp32")
        source = "synthetic:?seed=3&frames=1&size=320x240&objects=12"
        with saccade.Pipeline(source, cls.model, frames=True, color="rgb") as scene:
            cls.pixels = next(scene).pixels()
        cls.expected = cls.model(cls.pixels, "rgb")
        # As good as any other image.
        cls.expected.save(cls.folder.name + "/drawn.png")
        cls.image = pathlib.Path(cls.folder.name, "drawn.png").read_bytes()

    @classmethod
    def tearDownClass(cls):
        serve.shutdown()
        ray.shutdown()
        cls.folder.cleanup()

    def request(self, path="/predict/scene_model", body=None):
        """The status, the replica, and the body."""
        url = f"http://127.0.0.1:{self.port}{path}"
        try:
            with urllib.request.urlopen(urllib.request.Request(url, body), timeout=60) as response:
                return response.status, response.headers["saccade-replica"], response.read()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.headers["saccade-replica"], error.read()

    def persistent(self, _number):
        """A request that is repeated while the server fails: the replica, the classes found, how often it was sent."""
        for sent in range(1, 60):
            try:
                status, replica, body = self.request(body=self.image)
            except OSError:
                status = 0
            if status == 200:
                return replica, tuple(each["class"] for each in json.loads(body)["detections"]), sent
            time.sleep(0.1)
        raise AssertionError(f"refused {sent} times, at last with {status}")

    def test_0_the_examples(self):
        configuration = yaml.safe_load((EXAMPLES / "config.yaml").read_text())
        (one, ) = ServeDeploySchema.model_validate(configuration).applications
        self.assertEqual(one.import_path, "saccade.serve.ray:app")
        for built in (app(one.args), app({"model": "none.onnx", "num_gpus": "0.5", "classes": '["person"]'})):
            self.assertIsInstance(built, serve.Application)
        self.assertIsInstance(example.app, serve.Application)
        with self.assertRaisesRegex(saccade.InvalidArgumentError, "confidenc: neither"):
            app({"model": "none.onnx", "confidenc": 0.4})
        for wrong in ({"device": "cuda:1"}, {"device": "cpu", "num_gpus": 1}, {"num_gpus": 2}, {"min_replicas": 2},
                      {"max_ongoing_requests": 1}, {"executions": 0}, {"max_pixels": 0}):
            with self.assertRaisesRegex(saccade.InvalidArgumentError, next(iter(wrong))):
                deployment("none.onnx", **wrong)

    def test_1_http(self):
        body = client.predict(f"http://127.0.0.1:{self.port}/predict/scene_model", self.image)
        self.assertEqual(json.loads(body)["model"], "scene_model")
        status, _, body = self.request(body=self.image)
        self.assertEqual((status, json.loads(body)["model"]), (200, "scene_model"))
        self.assertEqual(self.request("/v2/health/ready")[::2], (200, b""))
        status, _, body = self.request(body=b"hello")
        self.assertEqual((status, json.loads(body)), (400, {"error": "the image is neither a JPEG nor a PNG file"}))
        status, _, body = self.request(body=bytes((1 << 20) + 1))
        self.assertEqual((status, json.loads(body)), (413, {"error": "the body has more than 1048576 bytes"}))
        large = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + struct.pack(">II", 1000, 1001)
        status, _, body = self.request(body=large)
        self.assertEqual((status, "1000x1001" in json.loads(body)["error"]), (400, True), body)
        for query, status in (("draw=1", 200), ("draw=2", 400), ("Draw=1", 400)):
            self.assertEqual(self.request(f"/predict/scene_model?{query}", self.image)[0], status, query)
        self.assertEqual(self.request("/predict/other", b"x")[0], 404)

    def test_2_handle(self):
        fields = self.handle.predict.remote(self.pixels, "rgb").result()
        self.assertEqual(fields["class_name"], self.expected.class_name)
        numpy.testing.assert_allclose(fields["boxes"], self.expected.boxes, atol=0.01)
        inputs = {each.name: numpy.zeros(each.shape, each.dtype) for each in self.model.inputs}
        outputs = self.handle.infer.remote(inputs).result()
        self.assertEqual(set(outputs), {each.name for each in self.model.outputs})
        with self.assertRaisesRegex(saccade.InvalidArgumentError, "not its path"):
            self.handle.predict.remote("/etc/passwd").result()

    def test_3_the_plan_is_compiled_once(self):
        plans = list(pathlib.Path(self.folder.name, "plans").rglob("*.plan"))
        self.assertEqual([plan.name for plan in plans], ["scene_model.plan"])

    def test_4_a_killed_replica_loses_nothing(self):
        processes = replica_processes()
        self.assertEqual(len(processes), 2)
        with concurrent.futures.ThreadPoolExecutor(8) as clients:
            before = list(clients.map(self.persistent, range(40)))
            during = [clients.submit(self.persistent, number) for number in range(120)]
            # Some have their responses, some are in work.
            concurrent.futures.wait(during[:20])
            os.kill(processes[0], signal.SIGKILL)
            after = [each.result() for each in during]
        replicas = {replica for replica, _, _ in before}
        self.assertEqual(len(replicas), 2, "requests are spread over both replicas")
        self.assertEqual(len(after), 120)
        self.assertEqual({found for _, found, _ in before + after}, {before[0][1]}, "all responses are the same")
        self.assertTrue(before[0][1])
        repeated = sum(sent > 1 for _, _, sent in after)
        print(f"{len(after)} of {len(after)} requests have their responses, {repeated} after a retry")
        # Ray starts another one.
        for _ in range(600):
            if self.persistent(0)[0] not in replicas:
                return
            time.sleep(0.05)
        self.fail("the killed replica was not replaced")


if __name__ == "__main__":
    unittest.main()
