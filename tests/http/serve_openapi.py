#!/usr/bin/env python3
"""serve_openapi.py --binary SACCADE --shared DIR --model MODEL: /openapi.json is true, by schemathesis.

Requests that are made of the description, valid and not, and responses of each kind, which have to be as it says. Exits with
77 without schemathesis.
"""
import os
import subprocess
import sys
import tempfile
import unittest

import serving
from serving import ARGS, NAME, SMALL, TOKEN, Server, binary, body, network, rendered

try:
    import requests
    import schemathesis
except ImportError as missing:
    print(f"skipped: schemathesis is not installed ({missing}); ./script/bootstrap --python installs it")
    sys.exit(77)

AUTHORIZATION = {"Authorization": f"Bearer {TOKEN}"}
EXAMPLES = 20  # of an operation
CONFIGURATION = """
hooks = "{hooks}"
seed = 1
warnings = false
headers = {{ Authorization = "Bearer {token}" }}
[generation]
deterministic = true
database = "none"
max-examples = {examples}
[phases.stateful]
enabled = false
# No name of the index: models that others need would be unloaded.
[phases.coverage.extra-data-sources]
responses = false
[phases.fuzzing.extra-data-sources]
responses = false
[checks.negative_data_rejection]
expected-statuses = [400, 401, 404, 405, 413, 415, 431]
# A request that fits the description need not fit the model.
[[operations]]
include-tag = ["inference", "repository", "shared memory"]
checks = {{ positive_data_acceptance = {{ expected-statuses = [200, 400, 404] }} }}
[[operations]]
include-path-regex = "^/v2/models/"
parameters = {{ name = "{tensors}" }}
# Another timeout passes.
[[operations]]
include-path-regex = "^/predict/"
parameters = {{ name = "{images}", timeout = 0 }}
[[operations]]
include-path-regex = "^/v2/repository/models/"
parameters = {{ name = "sum" }}
"""


class OpenApi(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = cls.enterClassContext(tempfile.TemporaryDirectory())
        cls.image = rendered(cls.folder)
        token = os.path.join(cls.folder, "token")
        with open(token, "w") as file:
            file.write(TOKEN)
        models = os.path.join(cls.folder, "models")
        os.mkdir(models)
        serving.write_sum(os.path.join(models, "sum.onnx"))
        cls.server = cls.enterClassContext(Server("--token-file", token, "--model-dir", models, "--shared-memory", "saccade_openapi", models=[ARGS.model, network()]))
        cls.address = f"http://127.0.0.1:{cls.server.port}"
        cls.document = requests.get(cls.address + "/openapi.json", timeout=60).json()
        cls.schema = schemathesis.openapi.from_dict(cls.document)

    def check(self, path, method="GET", status=200, data=None, headers=None, **names):
        """The response, which is as described."""
        url = self.address + path.partition("?")[0].format(**names) + "?" + path.partition("?")[2]
        response = requests.request(method, url, data=data, headers={**AUTHORIZATION, **(headers or {})}, timeout=60)
        described = path.partition("?")[0]
        with self.subTest(path=path, status=status, names=names):
            self.assertEqual(response.status_code, status, response.text[:200])
            self.assertIn(str(status), self.document["paths"][described][method.lower()]["responses"])
            self.schema[described][method].validate_response(response)
        return response

    def test_generated_requests(self):
        path = os.path.join(self.folder, "schemathesis.toml")
        hooks = os.path.join(os.path.dirname(os.path.abspath(__file__)), "openapi_hooks.py")
        with open(path, "w") as file:
            file.write(CONFIGURATION.format(hooks=hooks, token=TOKEN, examples=EXAMPLES, tensors=SMALL, images=NAME))
        done = subprocess.run([sys.executable, "-m", "schemathesis.cli", "--config-file", path, "run", self.address + "/openapi.json",
                               "--no-color"], env={**os.environ, "SACCADE_TEST_IMAGE": self.image}, cwd=self.folder, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        print(done.stdout[-600:])
        self.assertEqual(done.returncode, 0, done.stdout[-20000:])
        self.assertRegex(self.check("/metrics").text, f'requests_total{{model="{NAME}",outcome="run"}} [1-9]', "some fit the model")

    def test_responses(self):
        for path in ("/", "/openapi.json", "/metrics", "/v2", "/v2/health/live", "/v2/health/ready"):
            self.check(path)
        for name in (NAME, SMALL):
            for end in ("", "/config", "/ready"):
                self.check("/v2/models/{name}" + end, name=name)
                self.check("/v2/models/{name}/versions/{version}" + end, name=name, version="1")
                self.check("/v2/models/{name}/versions/{version}" + end, status=404, name=name, version="2")
        infer = "/v2/models/{name}/infer"
        text = {"Content-Type": "application/json"}
        self.check(infer, "POST", data=body(id="7"), headers=text, name=SMALL)
        self.check(infer, "POST", data=body(outputs=[{"name": "logits"}], parameters={"timeout": 60_000_000}), headers=text, name=SMALL)
        tensors, headers = binary()
        self.check(infer, "POST", data=tensors, headers={"Content-Type": "application/octet-stream", **headers}, name=SMALL)
        self.check(infer, "POST", 400, data=b"{}", headers=text, name=SMALL)
        self.check(infer, "POST", 404, data=b"{}", headers=text, name="x")
        self.check(infer, "POST", 503, data=body(parameters={"timeout": 1}), headers=text, name=SMALL)
        self.check(infer, "POST", 415, data=b"{}", headers={"Content-Encoding": "gzip", **text}, name=SMALL)
        self.check("/v2", status=413, data=b"{}")
        self.check("/v2", status=431, headers={"X": "x" * 20000})
        self.check("/v2", status=401, headers={"Authorization": "Bearer x"})

    def test_predictions(self):
        with open(self.image, "rb") as file:
            image = file.read()
        kind = {"Content-Type": "image/jpeg"}
        self.assertGreater(len(self.check("/predict/{name}", "POST", data=image, headers=kind, name=NAME).json()["detections"]), 0)
        drawn = self.check("/predict/{name}?draw=1", "POST", data=image, headers=kind, name=NAME)
        self.assertEqual(drawn.headers["Content-Type"], "image/jpeg")
        self.check("/predict/{name}?timeout=1", "POST", 503, data=image, headers=kind, name=NAME)
        for query in ("draw=2", "draw=", "draw=%zz", "timeout=x", "timeout="):
            response = self.check("/predict/{name}?" + query, "POST", 400, data=image, headers=kind, name=NAME)
            self.assertIn(f"'{query.partition('=')[0]}'", response.json()["error"])

    def test_models_come_and_go(self):
        text = {"Content-Type": "application/json"}
        index, change = "/v2/repository/index", "/v2/repository/models/{name}/"
        self.check(change + "load", "POST", name="sum")
        self.assertEqual([each["name"] for each in self.check(index, "POST").json()], sorted([SMALL, NAME, "sum"]))
        self.check(change + "unload", "POST", data='{"parameters": {"unload_dependents": true}}', headers=text, name="sum")
        self.assertEqual(len(self.check(index, "POST", data="{}", headers=text).json()), 3)
        self.assertEqual(len(self.check(index, "POST", data='{"ready": true}', headers=text).json()), 2)
        response = self.check(change + "load", "POST", 400, data='{"parameters": {"config": "{}"}}', headers=text, name="sum")
        self.assertIn("'config'", response.json()["error"])
        self.check(change + "load", "POST", data="{}", headers=text, name="sum")
        for end in ("load", "unload"):
            self.check(change + end, "POST", 400, data="[]", headers=text, name="sum")
            self.check(change + end, "POST", 400, name="x")

    def test_what_needs_the_token(self):
        for path, item in self.document["paths"].items():
            for method in {"get", "post"} & set(item):
                response = requests.request(method, self.address + path.format(name=NAME, version="1", region="r"), timeout=60)
                is_public = item[method].get("security") == []
                self.assertEqual(response.status_code, 200 if is_public else 401, path)
                if not is_public:
                    self.assertEqual(response.headers["WWW-Authenticate"], "Bearer")
                    self.assertIn("Bearer TOKEN", response.json()["error"])


if __name__ == "__main__":
    serving.main()
