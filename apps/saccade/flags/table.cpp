#include "command.hpp"
#include "flags/binder.hpp"
#include "flags/flag.hpp"
#include "measure/peers/peer.hpp"
#include "passes/core/manager.hpp"
#include "validate/condition.hpp"
#include "validate/resample.hpp"

// Longer than other files: it is one table, and its rows are read side by side. clang-format would write each cell on a
// line of its own.
// clang-format off

namespace saccade::app {
namespace {

constexpr Commands kPredicting = kRun | kCompile | kInspect | kProfile | kBench | kValidate | kLimits | kServe;
constexpr Commands kAll = kPredicting | kInfer | kCheck | kDemo | kRecognise;
constexpr Commands kTiled = kRun | kProfile | kValidate;
constexpr std::uint64_t kMostFrames = std::numeric_limits<std::int64_t>::max();

std::vector<std::string> names_of(std::span<const std::string_view> names) { return {names.begin(), names.end()}; }

std::vector<std::string> condition_names() {
  std::vector<std::string> names;
  for (const Condition& condition : conditions()) names.emplace_back(condition.name);
  return names;
}

std::vector<std::string> passes_or_none() {
  std::vector<std::string> names = pass_names();
  names.insert(names.begin(), "none");
  return names;
}

const std::vector<std::string> kPrecisions = {"auto", "fp32", "tf32", "bf16", "fp16"};

std::vector<Flag> own_flags() {
  constexpr std::string_view kResults = "Results";
  constexpr std::string_view kControl = "Control";
  constexpr std::string_view kComparison = "Comparison";
  constexpr std::string_view kProtection = "Protection";
  return {
      {kRun, "MODEL", "MODEL", Path{}, "ONNX files or plans: every model processes every frame",
       {.count = Count::kArguments, .required = true}},
      {kRun, "--source", "SRC...", Path{},
       "Images, videos, folders of them, patterns as '*.jpg', cameras as /dev/video0, streams as rtsp://HOST/PATH, or synthetic:; "
       "name the MODEL first",
       {.count = Count::kSeveral, .required = true, .instead = "--sources"}},
      {kRun, "--sources", "FILE", Path{}, "Read more sources from FILE, a URI a line; this keeps passwords out of the list of processes"},
      {kRun, "--quiet", "", Switch{}, "Do not print a line per frame"},
      {kRun, "--jsonl", "FILE", Path{}, "Write one JSON object per frame and model; '-' is standard output",
       {.group = kResults}},
      {kRun, "--contours", "", Switch{}, "With --jsonl: also write the contours of masks",
       {.needs = "--jsonl", .group = kResults}},
      {kRun, "--no-summary", "", Switch{}, "With --jsonl: do not end with the summary",
       {.needs = "--jsonl", .group = kResults}},
      {kRun, "--coco", "FILE", Path{}, "Write detections in COCO's results format, with masks and keypoints",
       {.group = kResults}},
      {kRun, "--mot", "FILE", Path{}, "Write tracks in MOTChallenge's results format",
       {.needs = "--track", .group = kResults}},
      {kRun, "--csv", "FILE", Path{},
       "Write one CSV row per object, class, segment, depth map or line of text; '-' is standard output", {.group = kResults}},
      {kRun, "--yolo", "DIR", Path{true}, "Write Ultralytics labels: one text file per frame, one line per object",
       {.group = kResults}},
      {kRun, "--yolo-conf", "", Switch{}, "With --yolo: append the confidence to each line",
       {.needs = "--yolo", .group = kResults}},
      {kRun, "--video", "FILE.mp4", Path{}, "Write a video with the results drawn", {.group = kResults}},
      {kRun, "--frames", "DIR", Path{true}, "Write images with the results drawn, and depth and class maps as files",
       {.group = kResults}},
      {kRun, "--publish", "URL", Text{"rtsp://localhost:8554/{stream}", ""},
       "Publish the frames of live sources with the results drawn: rtsp, rtmp or srt; {stream} is the source's index",
       {.group = kResults}},
      {kRun, "--mqtt", "URL", Text{"mqtt://localhost/saccade/{stream}", ""},
       "Publish the lines of --jsonl at an MQTT broker: mqtt://[USER:PASSWORD@]HOST[:PORT]/TOPIC; {stream} is the source's index",
       {.group = kResults}},
      {kRun, "--show", "", Switch{}, "Show the drawn frames in a window; q or Escape ends the run, the space bar pauses the display",
       {.group = kResults}},
      {kRun, "--telemetry", "FILE", Path{}, "Write a JSON line a second about rates, latencies, queues and the process; '-' is standard output",
       {.group = kResults}},
      {kRun, "--rotate", "SIZE|TIME", Text{"1h", "1x"},
       "Begin the next numbered file at this size (500M, 1G) or after this time (30s, 10m, 1h, 1d)", {.group = kResults}},
      {kRun, "--keep", "N", Integer{1, 1'000'000}, "With --rotate: keep the N latest finished files of each output",
       {.otherwise = "all", .needs = "--rotate", .group = kResults}},
      {kRun, "--metrics", "[HOST:]PORT", Text{"9090", "port"},
       "Serve metrics to Prometheus at http://HOST:PORT/metrics; HOST is 127.0.0.1, PORT 0 any free one", {.group = kResults}},
      {kRun, "--preview", "[HOST:]PORT", Text{"8080", "port"},
       "Serve a page with the drawn frames (MJPEG) at http://HOST:PORT; HOST is 127.0.0.1, PORT 0 any free one", {.group = kResults}},
      {kRun, "--tls", "CERT.pem KEY.pem", Path{}, "With --metrics or --preview: serve by TLS, with this chain of certificates and its private key",
       {.count = Count::kPair, .needs = "--metrics", .or_needs = "--preview", .group = kResults}},
      {kRun, "--token-file", "FILE", Path{}, "With --metrics or --preview: clients must send the token in FILE (Authorization: Bearer); browsers, as the password",
       {.needs = "--metrics", .or_needs = "--preview", .group = kResults}},
      {kRun, "--insecure", "", Switch{}, "With --metrics or --preview: serve other machines without TLS or a token",
       {.needs = "--metrics", .or_needs = "--preview", .group = kResults}},
      {kRun, "--no-save", "", Switch{}, "Do not draw into saccade-run/NAME/ where no flag names an output",
       {.group = kResults}},
      {kRun, "--start", "", Choice{{"all", "any"}}, "Start with all sources; any: wait for cameras and streams that are missing, and run the others",
       {.initial = "all", .group = kControl}},
      {kRun, "--realtime", "", Switch{}, "Read videos and scenes at their own frame rate, as a camera",
       {.group = kControl}},
      {kRun, "--loop", "", Switch{}, "Begin videos and scenes again at their end", {.group = kControl}},
      {kRun, "--isolate", "", Switch{}, "Read each source in a process of its own, which is started again when it crashes",
       {.group = kControl}},
      {kRun, "--decode", "", Choice{{"auto", "cpu", "cuda"}}, "Decode videos and streams on the CPU or on the GPU (NVDEC); auto: on the GPU of the models, where that decodes them",
       {.initial = "auto", .group = kControl}},
      {kRun, "--every", "N", Integer{1, kMostFrames}, "Process every Nth frame of each source and skip the others",
       {.initial = "1", .group = kControl}},
      {kRun, "--fps", "X", Real{1e-3, 1e6}, "Process at most X frames per second of each source and skip the others",
       {.otherwise = "all", .group = kControl}},
      {kRun, "--drop", "", Choice{{"wait", "oldest", "newest"}}, "The frame to drop when the queue is full",
       {.otherwise = "wait for files", .group = kControl}},
      {kRun, "--queue", "N", Integer{1, 1024}, "Queue capacity in frames per source",
       {.otherwise = "4 for files", .group = kControl}},
      {kRun, "--batch", "auto|N", Text{"8", "many", {"auto"}},
       "Process up to N frames at once, 256 at most; auto: as rates and --goals need", {.initial = "1", .group = kControl}},
      {kRun, "--batch-wait", "MS", Real{0, 10'000}, "With --batch: a frame waits for others at most MS milliseconds",
       {.initial = "2", .needs = "--batch", .group = kControl}},
      {kRun, "--max-memory", "SIZE", Size{}, "Memory limit, as 512M or 4G, for models, frames and results together",
       {.otherwise = "that of each model, and once more for frames", .group = kControl}},
      {kRun, "--max-frames", "N", Integer{1, kMostFrames}, "Stop after N frames of each source", {.group = kControl}},
      {kRun, "--zones", "FILE.toml", Path{}, "Count the tracked objects that cross lines and are in areas",
       {.needs = "--track", .group = kControl}},
      {kRun, "--goals", "FILE.toml", Path{}, "Compare the run with goals for latency, rate, drops, ...; exit with 3 if one is missed",
       {.group = kControl}},
      {kRun, "--duration", "S", Real{1e-3, 1e9}, "Stop after S seconds", {.group = kControl, .aliases = "--seconds"}},

      {kInfer, "MODEL", "MODEL", Path{}, "An ONNX file or a plan", {.required = true}},
      {kInfer, "--input", "NAME=FILE.npy", Assignment{"x=x.npy"}, "A tensor for an input; missing inputs are random",
       {.count = Count::kRepeatable}},
      {kInfer, "-o,--output", "DIR", Path{true}, "Output folder: NAME.npy for every output",
       {.required = true, .aliases = "--output-dir"}},
      {kInfer, "--seed", "N", Integer{}, "Seed of the random inputs", {.initial = "0"}},

      {kCompile, "MODEL", "MODEL", Path{}, "An ONNX file, or a plan to compile again", {.required = true}},
      {kCompile, "-o,--output", "PLAN", Path{}, "The plan to write", {.required = true}},
      {kCompile, "--no-tune", "", Switch{}, "Use the cost model's choices without measuring"},
      {kCompile, "--data", "KIND:DIR", Text{"coco:DIR", "voc:DIR", {"coco:", "imagenet:", "masks:", "depth:"}},
       "Annotated data that decides --precision auto: coco:DIR, imagenet:DIR, masks:DIR or depth:DIR"},
      {kCompile, "--tolerance", "POINTS", Real{0, 100}, "With --data: points that the chosen precision may lose",
       {.initial = "0.5", .needs = "--data"}},

      {kInspect, "MODEL", "MODEL", Path{}, "An ONNX file or a plan"},
      {kInspect, "--list-passes", "", Switch{}, "List the passes in order and exit"},
      {kInspect, "--dump", "", Switch{}, "Print the graph before and after every pass that changes it"},
      {kInspect, "--dump-pass", "NAME", Choice{pass_names()},
       "Print the graph after this pass", {.count = Count::kRepeatable}},
      {kInspect, "--graphviz", "DIR", Path{true},
       "Write the graph before and after all passes: DIR/before.dot, after.dot"},
      {kInspect, "--write-card", "FILE", Path{}, "Write the active card, to be edited and used with --card"},
      {kInspect, "--patches", "", Switch{}, "List every change made by the passes"},
      {kInspect, "--check", "", Switch{},
       "Run the graph before and after every pass and report a pass that changes the results"},
      {kInspect, "--pipeline", "", Switch{}, "Inspect the graph that `run` compiles, with pre- and post-processing"},

      {kCheck, "DIR", "DIR", Path{true}, "Folders of ONNX tests: model.onnx and test_data_set_*/, at any depth",
       {.count = Count::kArguments, .required = true}},

      {kProfile, "MODEL", "MODEL", Path{}, "An ONNX file or a plan", {.required = true}},
      {kProfile, "--source", "SRC", Path{}, "An image, a folder, a video or synthetic:; restarted when it ends",
       {.otherwise = "synthetic:, or random tensors for a model that is not recognised"}},
      {kProfile, "--max-frames", "N", Integer{1, kMostFrames}, "Stop after N measured frames",
       {.otherwise = "no limit", .aliases = "--frames"}},
      {kProfile, "--duration", "S", Real{1e-3, 1e6}, "Stop after S measured seconds",
       {.otherwise = "10, no limit with --max-frames", .aliases = "--seconds"}},
      {kProfile, "--trace", "FILE.json", Path{}, "Write a trace of the first frames for Perfetto or chrome://tracing"},
      {kProfile, "--html", "FILE.html", Path{}, "Write the report as an HTML page with charts"},
      {kProfile, "--jsonl", "FILE", Path{}, "Write one JSON object per frame, as `run` does; '-' is standard output"},
      {kProfile, "--top", "N", Integer{0, 100'000}, "Number of launches to list", {.initial = "15"}},

      {kBench, "MODEL", "MODEL", Path{}, "ONNX files or plans", {.count = Count::kArguments}},
      {kBench, "--runs", "N", Integer{1, 100'000'000}, "Minimum number of measured runs per model", {.initial = "300"}},
      {kBench, "--duration", "S", Real{0, 86400}, "Minimum measured seconds per model",
       {.initial = "3", .aliases = "--seconds"}},
      {kBench, "--loads", "N", Integer{1, 1000}, "Number of fresh loads per model, over which runs and time are spread",
       {.initial = "5"}},
      {kBench, "--batch", "N", Integer{1, 65536}, "Batch size; more than 1: on raw tensors", {.initial = "1"}},
      {kBench, "--from-frames", "", Switch{}, "With --batch: whole frames, from pixels to predictions", {.needs = "--batch"}},
      {kBench, "--streams", "N", Integer{1, 1024}, "Concurrent inferences of one plan", {.initial = "1"}},
      {kBench, "--seed", "N", Integer{}, "Seed of the inputs and of the order of blocks", {.initial = "0"}},
      {kBench, "--frame", "WIDTHxHEIGHT:FORMAT", Text{"640x480:nv12", "640x480"},
       "Frame size and format for recognised models", {.initial = "1280x720:i420"}},
      {kBench, "--together", "", Switch{}, "Also run all models on one frame, as a pipeline does"},
      {kBench, "--tensors", "", Switch{}, "Run recognised models on raw tensors, without pre- and post-processing"},
      {kBench, "--resident", "", Switch{}, "Run on tensors that stay on the device, in the types of --precision"},
      {kBench, "--against", "NAME,...", Choice{names_of(peer_engines())},
       "Compare with these engines on raw tensors, alternating block by block", {.count = Count::kList}},
      {kBench, "--peers-python", "PATH", Path{}, "Their Python",
       {.otherwise = "$SACCADE_PEERS_PYTHON, else the one of script/bootstrap --peers", .needs = "--against"}},
      {kBench, "--peers-model", "FILE", Path{}, "The ONNX file for these engines if MODEL is a plan",
       {.needs = "--against"}},
      {kBench, "--compare", "A.json B.json", Path{}, "Compare two reports of bench --json; exit with 3 if B is slower",
       {.count = Count::kPair, .excludes = "--against --together --tensors --resident"}},
      {kBench, "--tolerance", "X", Real{0, 10}, "Relative slowdown that --compare tolerates", {.initial = "0.05"}},

      {kDemo, "--source", "synthetic:?...", Text{"synthetic:?seed=8", "", {"synthetic:"}},
       "The scene; the bundled model was trained on the seeds 1000 to 2199", {.initial = "synthetic:?seed=7"}},
      {kDemo, "--model", "MODEL", Path{}, "A model that detects the scene's objects", {.otherwise = "the bundled one"}},
      {kDemo, "--duration", "S", Real{1e-3, 1e6}, "Stop after S seconds", {.initial = "10", .aliases = "--seconds"}},
      {kDemo, "--max-frames", "N", Integer{1, kMostFrames}, "Stop after N frames",
       {.otherwise = "no limit", .aliases = "--frames"}},
      {kDemo, "--condition-frames", "N", Integer{0, 1'000'000},
       "Frames per condition (day, night, motion, both) for the accuracy; 0: none", {.initial = "80"}},
      {kDemo, "-o,--output", "DIR", Path{true}, "Output folder", {.initial = "saccade-demo"}},
      {kDemo, "--render", "N", Integer{1, 1'000'000},
       "Only render N frames of the scene as images, with ground truth",
       {.excludes = "--model --duration --max-frames --condition-frames"}},
      {kDemo, "--format", "", Choice{{"png", "jpg"}}, "Image format of --render; JPEG quality is 90",
       {.initial = "png", .needs = "--render"}},
      {kDemo, "--layout", "", Choice{{"coco", "mot"}},
       "Files of --render: instances.json in COCO's format, or a sequence in MOTChallenge's layout",
       {.initial = "coco", .needs = "--render"}},
      {kDemo, "--depth", "STEP", Integer{1, 64},
       "With --render: also write depth/NAME.npy in metres, one value per STEP x STEP pixels; 1: every pixel",
       {.needs = "--render"}},

      {kValidate, "MODEL", "MODEL", Path{}, "An ONNX file or a plan", {.required = true}},
      {kValidate, "--data", "KIND:DIR", Text{"coco:DIR", "voc:DIR", {"coco:", "imagenet:", "masks:", "depth:", "mot:"}},
       "Annotated data: coco:DIR, imagenet:DIR, masks:DIR, depth:DIR or mot:DIR", {.required = true}},
      {kValidate, "--condition", "NAME,...", Text{"night", "fog", condition_names()},
       "Also evaluate on degraded images: night, blur, noise, jpeg, low-contrast, rain", {.count = Count::kList}},
      {kValidate, "--max-frames", "N", Integer{0, kMostFrames},
       "Maximum number of images, spread evenly over the set, of mot: the first ones; 0: all",
       {.initial = "0", .aliases = "--limit"}},
      {kValidate, "--results", "FILE", Path{},
       "Write the predictions in COCO's results format; '-' is standard output"},
      {kValidate, "--against", "MODEL", Path{}, "Evaluate this reference model, too, and give a verdict",
       {.group = kComparison}},
      {kValidate, "--against-card", "FILE", Path{}, "The card of the reference model",
       {.needs = "--against", .group = kComparison}},
      {kValidate, "--tolerance", "POINTS", Real{0, 100},
       "Points by which the model may be worse than its reference; exit with 3 beyond",
       {.initial = "0.5", .group = kComparison}},
      {kValidate, "--resamples", "N", Integer{kFewestResamples, 1'000'000},
       "Number of bootstrap resamples for the confidence interval", {.initial = "1000", .group = kComparison}},
      {kValidate, "--seed", "N", Integer{}, "Seed of the bootstrap", {.initial = "1", .group = kComparison}},

      {kRecognise, "MODEL", "MODEL", Path{}, "An ONNX file", {.required = true}},
      {kRecognise, "--data", "KIND:DIR|DIR", Text{"coco:DIR", "voc:DIR", {"coco:", "imagenet:"}},
       "Labelled images, coco:DIR or imagenet:DIR, or a folder of images without labels", {.required = true}},
      {kRecognise, "--max-frames", "N", Integer{0, kMostFrames},
       "Maximum number of images, spread evenly over the set; 0: all", {.initial = "20"}},
      {kRecognise, "--write-card", "FILE", Path{}, "Write the best card, unless several are too close to tell"},

      {kCameras, "--model", "MODEL", Path{}, "Score the modes for the size of this model's input instead of 640x640"},
      {kLimits, "MODEL", "MODEL", Path{}, "ONNX files or plans: their roofline bounds are reported per layer",
       {.count = Count::kArguments}},
      {kLimits, "--device-file", "FILE", Path{}, "Read the ceilings from a file instead of measuring them"},
      {kLimits, "-o,--output", "FILE", Path{}, "Write the ceilings to a device file", {.aliases = "--save"}},
      {kLimits, "--top", "N", Integer{}, "Number of layers to list, in descending order of possible gain; 0 for all",
       {.initial = "15"}},
      {kLimits, "--duration", "S", Real{0.01, 3600}, "Measured seconds per model",
       {.initial = "1", .aliases = "--seconds"}},
      {kLimits, "--check", "", Switch{}, "Exit with 3 if anything ran more than 3 % below its bound",
       {.excludes = "--output --inference"}},
      {kLimits, "--camera", "WxH@RATE:FORMAT", Text{"1280x720@30:nv12", "1280x720"},
       "Camera mode for the frame period report (1280x720@30:nv12)"},
      {kLimits, "--bus", "RATE", Text{"60MB/s", "60"}, "Bandwidth of the camera's bus (60MB/s)",
       {.needs = "--camera", .or_needs = "--device-file"}},
      {kLimits, "--capture", "TIME", Text{"12.2ms", "12.2"}, "Capture time per frame (12.2ms)",
       {.needs = "--camera", .or_needs = "--device-file"}},
      {kLimits, "--inference", "TIME", Text{"12.2ms", "12.2"}, "Inference time per frame; the MODEL is not run",
       {.needs = "--camera", .or_needs = "--device-file"}},
      {kLimits, "--deficit-frames", "N", Integer{1, 1'000'000}, "Frames over which the deficit accumulates",
       {.initial = "100", .aliases = "--frames"}},

      {kServe, "MODEL", "MODEL", Path{}, "ONNX files or plans; each is served by its file's name without the ending",
       {.count = Count::kArguments, .required = true, .instead = "--model-dir"}},
      {kServe, "--model-dir", "DIR", Path{true}, "Serve all models in DIR too; clients may load, replace and unload them by name"},
      {kServe, "--http", "[HOST:]PORT", Text{"8000", "port"}, "Where to listen; HOST is 127.0.0.1, PORT 0 any free one",
       {.initial = "8000"}},
      {kServe, "--grpc", "[HOST:]PORT", Text{"8001", "port"}, "Where to listen for gRPC, too; HOST is 127.0.0.1, PORT 0 any free one"},
      {kServe, "--batch", "auto|N", Text{"8", "many", {"auto"}},
       "Run up to N images of waiting requests at once, 256 at most; auto: as many as are fastest", {.initial = "1"}},
      {kServe, "--batch-wait", "MS", Real{0, 10'000}, "With --batch: a request waits for others at most MS milliseconds",
       {.initial = "0", .needs = "--batch"}},
      {kServe, "--executions", "N", Integer{1, 256}, "Executions of each model at a time", {.initial = "1"}},
      {kServe, "--queue", "N", Integer{1, 100'000}, "Requests that wait for each model; more are refused (429)",
       {.initial = "64"}},
      {kServe, "--access-log", "FILE", Path{}, "Append a line of JSON for each request for a model to FILE; -: standard error"},
      {kServe, "--shared-memory", "PREFIX", Text{"camera-", "a/b"},
       "Tensors may be in shared memory of this machine: in objects in /dev/shm whose names begin with PREFIX"},
      {kServe, "--cuda-shared-memory", "",  Switch{},
       "Tensors may be in memory of a GPU that a process of this machine has allocated; only for clients that are trusted"},
      {kServe, "--max-body", "SIZE", Size{}, "Size limit of a request's body, as 64M", {.otherwise = "64M"}},
      {kServe, "--max-pixels", "N", Integer{1, 1 << 28}, "Size limit of an image", {.initial = "64000000"}},
      {kServe, "--tls", "CERT.pem KEY.pem", Path{}, "Serve by TLS, with this chain of certificates and its private key",
       {.count = Count::kPair, .group = kProtection}},
      {kServe, "--client-ca", "FILE", Path{}, "Clients must have a certificate of this authority",
       {.needs = "--tls", .group = kProtection}},
      {kServe, "--token-file", "FILE", Path{}, "Clients must send the token in FILE (Authorization: Bearer)",
       {.group = kProtection}},
      {kServe, "--insecure", "", Switch{}, "Serve other machines without TLS, and without a token or client certificates",
       {.group = kProtection}},

      {kGenerate, "WHAT", "WHAT", Choice{{"bash", "zsh", "fish", "man", "markdown"}},
       "Completions for a shell, the manual page, or docs/flags.md", {.required = true}},
  };
}

std::vector<Flag> shared_flags() {
  constexpr std::string_view kExecution = "Device and compilation";
  constexpr std::string_view kPredictions = "Predictions";
  constexpr std::string_view kTiles = "Tiles";
  return {
      {kAll & ~kRun & ~kServe, "--device", "auto|cpu|cuda[:N]|reference",
       Text{"cuda:1", "cuda:one", {"auto", "cpu", "cuda", "reference"}}, "Device to run on",
       {.initial = "auto", .group = kExecution}},
      {kRun, "--device", "NAME[,NAME...]", Text{"cuda:1", "cuda:one", {"auto", "cpu", "cuda", "reference"}},
       "Device to run on: auto, cpu, cuda[:N] or reference; of several, as cuda:0,cuda:1, each gets some of the sources",
       {.initial = "auto", .group = kExecution}},
      {kServe, "--device", "NAME[,NAME...]", Text{"cuda:1", "cuda:one", {"auto", "cpu", "cuda", "reference"}},
       "Device to run on: auto, cpu, cuda[:N] or reference; several, as cuda:0,cuda:1, share the requests",
       {.initial = "auto", .group = kExecution}},
      {kAll, "--fallback", "", Choice{{"cpu"}}, "Device for operators without a GPU kernel",
       {.otherwise = "none, the model is refused", .group = kExecution}},
      {kAll, "--no-graph", "", Switch{}, "Launch CUDA kernels one by one instead of as one captured graph",
       {.group = kExecution}},
      {kAll & ~kValidate, "--precision", "", Choice{kPrecisions}, "Precision of the computation",
       {.initial = "auto", .group = kExecution}},
      {kValidate, "--precision", "NAME[,NAME]", Choice{kPrecisions}, "Precision of the computation; X,Y compares two",
       {.initial = "auto", .count = Count::kList, .group = kExecution}},
      {kAll, "--threads", "N", Integer{1, 4096}, "Threads per inference",
       {.otherwise = "one per available processor", .group = kExecution}},
      {kAll, "--isa", "", Choice{{"sse4", "avx2", "avx512", "amx"}}, "Newest instruction set that the CPU backend may use",
       {.otherwise = "the processor's", .group = kExecution}},
      {kAll, "--max-model-memory", "SIZE", Size{}, "Memory limit, as 512M or 4G, while a model is read and compiled",
       {.otherwise = "3/4 of the memory", .group = kExecution}},
      {kAll, "--shape", "NAME=SHAPE", Assignment{"images=1x3x640x640"},
       "Bind an input's shape (images=1x3x640x640) or a symbolic dimension (batch=2); others become 1",
       {.count = Count::kRepeatable, .group = kExecution}},
      {kAll, "--passes", "NAME,...", Choice{passes_or_none()}, "Run only these passes; 'none' for none",
       {.count = Count::kList, .group = kExecution}},
      {kAll, "--disable-pass", "NAME", Choice{pass_names()}, "Disable this pass",
       {.count = Count::kRepeatable, .group = kExecution}},
      {kAll | kCameras, "--log-level", "", Choice{{"error", "warning", "info", "debug"}}, "Log level on standard error",
       {.initial = "warning", .group = kExecution}},
      {kAll | kCameras, "--json", "", Switch{}, "Print the report as JSON", {.group = kExecution}},
      {kAll | kCameras, "--color", "", Choice{{"auto", "always", "never"}}, "Colour of help and errors",
       {.otherwise = "auto, on a terminal and without $NO_COLOR", .group = kExecution}},

      {kPredicting, "--card", "FILE", Path{}, "The model card",
       {.otherwise = "MODEL.toml beside the model, else recognised from the model", .group = kPredictions}},
      {kRun, "--conf", "[NAME:]X", PerModel{0, 1}, "Confidence threshold; NAME:X is that of the model NAME",
       {.otherwise = "the card's, else 0.25", .count = Count::kRepeatable, .group = kPredictions}},
      {kPredicting & ~kRun & ~kValidate, "--conf", "X", Real{0, 1}, "Confidence threshold",
       {.otherwise = "the card's, else 0.25", .group = kPredictions}},
      // As in Ultralytics' val and COCO's evaluation: low-confidence detections complete the precision-recall curve.
      {kValidate, "--conf", "X", Real{0, 1}, "Confidence threshold",
       {.otherwise = "0.001 with coco:, else the card's, else 0.25", .group = kPredictions}},
      {kRun, "--iou", "[NAME:]X", PerModel{0, 1},
       "IoU threshold of NMS: of two boxes of a class that overlap more, drop the weaker",
       {.otherwise = "the card's, else 0.7", .count = Count::kRepeatable, .group = kPredictions}},
      {kPredicting & ~kRun, "--iou", "X", Real{0, 1},
       "IoU threshold of NMS: of two boxes of a class that overlap more, drop the weaker",
       {.otherwise = "the card's, else 0.7", .group = kPredictions}},
      {kPredicting, "--nms", "", Choice{{"greedy", "linear", "gaussian", "none"}},
       "NMS method; linear and gaussian are Soft-NMS", {.initial = "greedy", .group = kPredictions}},
      {kPredicting, "--agnostic", "", Switch{}, "Class-agnostic NMS", {.group = kPredictions}},
      {kPredicting & ~kValidate, "--multi-label", "", Choice{{"true", "false"}},
       "One detection per class above --conf instead of the best class only",
       {.otherwise = "the card's", .group = kPredictions}},
      {kValidate, "--multi-label", "", Choice{{"true", "false"}},
       "One detection per class above --conf instead of the best class only",
       {.otherwise = "true for YOLO models with coco:, else the card's", .group = kPredictions}},
      {kPredicting, "--max-det", "N", Integer{1, 100'000}, "Maximum detections per frame",
       {.initial = "300", .group = kPredictions}},
      {kRun, "--classes", "[NAME:]CLASS,...", Text{"person,2", ""},
       "Keep these classes, by name or number; NAME:CLASS is for the model NAME",
       {.count = Count::kList, .group = kPredictions}},
      {kPredicting & ~kRun, "--classes", "CLASS,...", Text{"person,2", ""}, "Keep these classes, by name or number",
       {.count = Count::kList, .group = kPredictions}},
      {kPredicting, "--roi", "X,Y,W,H", Text{"0,0,64,48", "1,2,3"}, "Region of interest in every frame, in pixels",
       {.group = kPredictions}},

      {kRun | kValidate, "--track", "NAME[:KEY=VALUE,...]", Text{"bytetrack:keep=2", "deepsort"},
       "Assign track IDs to objects: bytetrack, ocsort or sort, with the settings low, high, start, match, confirm, keep "
       "(seconds), direction and camera; detections from low (0.1) on then continue tracks",
       {.otherwise = "none; bytetrack with mot:", .group = kPredictions}},
      {kRun, "--target", "[NAME:]X,Y,W,H", Text{"0,0,64,48", "1,2,3"},
       "The object that a tracker of one object follows: its box in the first frame, in pixels; NAME:X,Y,W,H is for the "
       "model NAME",
       {.count = Count::kRepeatable, .excludes = "--roi --tiles", .group = kPredictions}},
      {kProfile, "--target", "X,Y,W,H", Text{"0,0,64,48", "1,2,3"},
       "The object that a tracker of one object follows: its box in the first frame, in pixels",
       {.excludes = "--roi --tiles", .group = kPredictions}},

      {kTiled, "--tiles", "SIZE[,OVERLAP]", Text{"640,0.2", "640,2"},
       "Run on tiles of SIZE pixels that overlap by this share (0.2) and on the whole frame, and merge the detections",
       {.group = kTiles}},
      {kTiled, "--tile-merge", "", Choice{{"nmm", "nms"}},
       "How one object's detections are merged: into their union (nmm), or into the most confident one (nms)",
       {.otherwise = "nmm", .needs = "--tiles", .group = kTiles}},
      {kTiled, "--no-full-frame", "", Switch{}, "Run on tiles only, not also on the whole frame",
       {.needs = "--tiles", .group = kTiles}},
  };
}

}  // namespace

const std::vector<CommandRow>& all_commands() {
  static const std::vector<CommandRow> kRows = {
      {kRun, "run", add_run, "Run models on images, folders of images or videos",
       "Ctrl-C ends a run in order: files are completed, the summary is printed, the exit code is 0."},
      {kInfer, "infer", add_infer, "Run a model on raw tensors, .npy files in and out"},
      {kCompile, "compile", add_compile,
       "Tune a model for this device and write a plan, usable wherever a model is expected"},
      {kInspect, "inspect", add_inspect, "Show a model's graph, passes, plan and kernels"},
      {kCheck, "check", add_check, "Run ONNX test folders and report what passed, failed or is not supported"},
      {kProfile, "profile", add_profile, "Profile every stage and launch of a model and report the bottleneck",
       "Ctrl-C ends the measurement in order and reports what was measured so far."},
      {kBench, "bench", add_bench, "Benchmark models, compare them with other engines, detect regressions"},
      {kDemo, "demo", add_demo, "Run the bundled model on a synthetic scene and report its accuracy and speed",
       "Ctrl-C ends the run in order and reports what was measured so far."},
      {kValidate, "validate", add_validate, "Compute COCO AP, top-1, mIoU, depth or tracking metrics on annotated images",
       "Ctrl-C ends the run in order and reports what was evaluated so far."},
      {kRecognise, "recognise", add_recognise,
       "Find a model's card: try preprocessing and decoders on images and rank them",
       "Exits with 3 if the images do not tell which card is right. Ctrl-C ends the search in order."},
      {kServe, "serve", add_serve, "Serve models by HTTP and gRPC: the Open Inference Protocol (KServe v2), and images to predictions",
       "SIGTERM and Ctrl-C end it in order: no more requests are taken, and all that were taken get their responses."},
      {kLimits, "limits", add_limits,
       "Measure this machine's peak compute and bandwidth, and a model's roofline bounds"},
      {kCameras, "cameras", add_cameras, "List the cameras of this machine, their modes by score, and their controls"},
      {kGenerate, "generate", add_generate, "Print shell completions, the manual page or the reference of all flags",
       "Completions of this shell only: source <(saccade generate bash), also zsh; saccade generate fish | source."},
  };
  return kRows;
}

const std::vector<Flag>& all_flags() {
  static const std::vector<Flag> kRows = [] {
    std::vector<Flag> rows = own_flags();
    for (Flag& flag : shared_flags()) rows.push_back(std::move(flag));
    return rows;
  }();
  return kRows;
}

}  // namespace saccade::app
// clang-format on
