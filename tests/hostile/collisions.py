"""Outputs that would overwrite inputs or other outputs, by given and by derived names."""
import functools
import os

from attempt import Attempt

MODEL = ["classifier.onnx", "--card", "classifier.toml"]
# A command, its inputs, and its outputs: flag -> reader's name.
COMMANDS = {
    "run": (["run", *MODEL, "--no-save", "--source", "images",
             "in.mp4"], ["classifier.onnx", "classifier.toml", "labels.txt", "in.mp4",
                         "images/p1.jpg"], ["--jsonl", "--csv", "--video", "--yolo", "--frames"]),
    # A classifier has no COCO results: it would be refused before any file is looked at.
    "objects": (["run", "detector.onnx", "--no-save", "--source", "images"],
                ["detector.onnx", "detector.toml", "images/p1.jpg"], ["--coco", "--jsonl", "--csv"]),
    "external": (["run", "external.onnx", "--no-save", "--source", "images"], ["external.weights"], ["--jsonl", "--csv"]),
    "compile": (["compile", *MODEL, "--device",
                 "cpu"], ["classifier.onnx", "classifier.toml",
                          "labels.txt"], ["-o"]), "compile external": (["compile", "external.onnx", "--device",
                                                                        "cpu"], ["external.onnx",
                                                                                 "external.weights"], ["-o"]),
    "inspect": (["inspect", *MODEL], ["classifier.onnx", "classifier.toml", "labels.txt"], ["--write-card"]),
    "validate": (["validate", "detector.onnx", "--data",
                  "coco:data"], ["detector.onnx", "detector.toml", "data/instances.json",
                                 "data/images/p1.png"], ["--results"]), "against": ([
                                     "validate", "detector.onnx", "--data", "coco:data", "--against", "detector.plan",
                                     "--against-card", "detector.toml"
                                 ], ["detector.plan", "detector.toml"], ["--results"]),
    "profile": (["profile", *MODEL, "--max-frames", "2", "--source",
                 "images"], ["classifier.onnx", "classifier.toml", "labels.txt",
                               "images/p0.jpg"], ["--trace", "--html", "--jsonl"]),
    "limits": (["limits", "detector.onnx", "--device-file", "ceilings.json", "--duration",
                "0.01"], ["detector.onnx", "detector.toml", "ceilings.json"], ["--output"]),
}
FOLDERS = ("--yolo", "--frames", "--graphviz")
# Other spellings of a path to the same file.
DISGUISES = ("{0}", "./{0}", "images/../{0}", "{1}/{0}", "link", "hard", "way/{0}")


def disguised(place, name, disguise):
    if disguise == "link":
        os.symlink(name, place.folder / "link")
    elif disguise == "hard":
        os.link(place.folder / name, place.folder / "hard")
    elif disguise.startswith("way"):
        os.symlink(".", place.folder / "way")
    return disguise.format(name, place.folder)


def on_input(place, subcommand, flag, name):
    """The output FLAG would overwrite an input of the command."""
    command = COMMANDS[subcommand][0]
    disguise = place.rng.choice(DISGUISES)
    target = disguised(place, name, disguise)
    return Attempt(f"{subcommand}: {flag} on {name} as {disguise}", [*command, flag, target], expect=(1, 2))


def redirected_to_input(place, subcommand, name):
    """Standard output is redirected to an input of the command."""
    command = COMMANDS[subcommand][0] + (["-o", "new.plan"] if subcommand.startswith("compile") else [])
    target = disguised(place, name, place.rng.choice(("{0}", "link", "hard")))
    json = []
    if subcommand != "external" and place.rng.random() < 0.5 and not subcommand.startswith("compile"):
        json = ["--json"]
    return Attempt(f"{subcommand}: standard output redirected to {name}", [*command, *json], expect=(1, 2),
                   streams={"stdout": f"file {target}"})


def redirected_to_output(place, subcommand, flag):
    """A sink and the report write to the same file."""
    place.write("out", "")
    command = [*COMMANDS[subcommand][0], flag, "out"]
    attempt = Attempt(f"{subcommand}: standard output redirected to {flag}'s file", command,
                      expect=(1, 2), streams={"stdout": "file out"})
    attempt.writable = ("out", )
    return attempt


def on_output(place, subcommand, flag, other):
    command = COMMANDS[subcommand][0]
    disguise = place.rng.choice(("{0}", "./{0}", "{1}/{0}"))
    expect = (1, 2)
    both_folders = flag in FOLDERS and other in FOLDERS
    attempt = Attempt(f"{subcommand}: {flag} on {other}",
                      [*command, flag, "out", other, disguised(place, "out", disguise)])
    attempt.expect = (0, 1, 2) if both_folders else expect
    attempt.writable = ("out", )
    return attempt


def second_video(place):
    place.write("o-1.mp4", place.read("in.mp4"))
    return Attempt("a second video's derived name is a source",
                   ["run", "detector.onnx", "--source", "in.mp4", "o-1.mp4", "--video", "o.mp4"], expect=(1, 2))


def second_video_elsewhere(place):
    return Attempt("a second video's derived name is another output",
                   ["run", "detector.onnx", "--source", "in.mp4", "images", "--video", "o.mp4", "--jsonl", "o-1.mp4"],
                   expect=(1, 2))


def part_of_video(place):
    name = place.rng.choice(["o.mp4.part", "o.part.mp4", ".o.mp4.part", "o.jsonl.part", "o.mp4.tmp"])
    place.write(name, place.read("in.mp4"))
    return Attempt(f"a source under a temporary name {name}",
                   ["run", "detector.onnx", "--source", name, "--video", "o.mp4", "--jsonl", "o.jsonl"],
                   outputs={"o.mp4": "video", "o.jsonl": "jsonl"})


def frames_on_sources(place):
    (place.folder / "shots").mkdir()
    for i in range(3):
        place.write(f"shots/0-{i:06}.jpg", place.read("images/p1.jpg"))
    where = disguised(place, "shots", place.rng.choice(DISGUISES[:4]))
    return Attempt("--frames into the source folder", ["run", "detector.onnx", "--source", "shots", "--frames", where],
                   expect=(1, 2))


def drawn_beside_older(place):
    place.write("saccade-run/one/one.jpg", "mine")
    return Attempt("frames are drawn beside those of an earlier run", ["run", "detector.onnx", "--source", "one.png"],
                   outputs={"saccade-run/one-2": "folder"})


def labels_on_labels(place):
    place.write("images/labels.png", place.read("one.png"))
    return Attempt("--yolo writes NAME.txt on the labels", ["run", *MODEL, "--source", "images", "--yolo", "."],
                   expect=(1, 2))


def maps_on_source(place):
    place.write("maps/0-000000.classes.png", place.read("one.png"))
    return Attempt("--frames writes a class map on its source",
                   ["run", "semantic.onnx", "--source", "maps", "--frames", "maps"], expect=(1, 2))


def tensor_on_input(place):
    name, command = place.rng.choice([("output", "a"), ("sum", "b")])
    place.write(f"d/{name}.npy", place.read("a.npy"))
    return Attempt("infer writes NAME.npy on an input",
                   ["infer", "tensors.onnx", "--input", f"{command}=d/{name}.npy", "--output", "d"], expect=(1, 2))


def tensor_on_weights(place):
    import onnx
    proto = onnx.load(place.folder / "tensors.onnx")
    onnx.save(proto, place.folder / "named.onnx", save_as_external_data=True, location="output.npy", size_threshold=0)
    return Attempt("infer writes NAME.npy on the model's weights", ["infer", "named.onnx", "--output", "."],
                   expect=(1, 2))


def tensors_of_one_name(place):
    import onnx
    import models
    nodes = [onnx.helper.make_node("Relu", ["a"], ["x/y"]), onnx.helper.make_node("Neg", ["a"], ["x:y"])]
    proto = models.model(nodes, [models.floats("a", [2])], [models.floats("x/y", [2]), models.floats("x:y", [2])])
    onnx.save(proto, place.folder / "twins.onnx")
    return Attempt("infer writes two outputs under one name", ["infer", "twins.onnx", "--output", "o"],
                   expect=(1, 2))


def graph_on_model(place):
    place.write("before.dot", place.read("tensors.onnx"))
    return Attempt("inspect --graphviz on the model", ["inspect", "before.dot", "--graphviz", "."], expect=(1, 2))


def plan_on_itself(place):
    place.write("again.plan", place.read("detector.plan"))
    return Attempt("compile a plan onto itself", ["compile", "again.plan", "-o", "again.plan", "--device", "cpu"],
                   expect=(0, 1, 2), writable=("again.plan", ), outputs={"again.plan": "some"})


def rendered_on_scene(place):
    place.write("scene/frame_000000.png", place.read("one.png"))
    place.write("scene/mine.md", "mine")
    return Attempt("demo --render over older images",
                   ["demo", "--render", "1", "--source", "synthetic:?size=64x48", "--output", "scene"],
                   writable=("scene/frame_000000.png", ), outputs={"scene": "folder"})


def input_twice(place):
    return Attempt("an input given twice",
                   ["infer", "tensors.onnx", "--input", "a=a.npy", "--input", "a=b.npy", "--output", "o"],
                   expect=(1, 2))


def empty_value(place):
    subcommand = place.rng.choice(["run", "validate", "profile"])
    command, _, outputs = COMMANDS[subcommand]
    flag = place.rng.choice(outputs)
    return Attempt(f"{subcommand} {flag}= swallows no argument", [command[0], f"{flag}=", *command[1:]], expect=(2, ))


def to_stdout_twice(place):
    return Attempt("two sinks on standard output",
                   ["run", "detector.onnx", "--source", "one.png", "--jsonl", "-", "--csv", "-"], expect=(2, ))


NAMED = [
    second_video, second_video_elsewhere, part_of_video, frames_on_sources, drawn_beside_older,
    labels_on_labels, maps_on_source,
    tensor_on_input, tensor_on_weights, tensors_of_one_name, graph_on_model, plan_on_itself, rendered_on_scene,
    input_twice, empty_value, to_stdout_twice
]


@functools.cache
def rows():
    found = [(draw_named, make) for make in NAMED for _ in range(3)]
    for subcommand, (_, inputs, outputs) in COMMANDS.items():
        found += [(on_input, subcommand, flag, name) for flag in outputs for name in inputs]
        found += [(redirected_to_input, subcommand, name) for name in inputs]
        found += [(redirected_to_output, subcommand, flag) for flag in outputs if flag not in FOLDERS]
        found += [(on_output, subcommand, flag, other) for flag in outputs for other in outputs if flag < other]
    return found


def draw_named(place, make):
    return make(place)


def draw(place, number):
    """All attempts in turn, each time with another spelling of the paths."""
    make, *row = rows()[(number * 37) % len(rows())]
    attempt = make(place, *row)
    attempt.command += ["--max-model-memory", "256M"]
    attempt.endless = attempt.command[0] == "profile"
    return attempt
