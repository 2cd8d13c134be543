#include "flags/foreign_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace saccade::app {
namespace {

constexpr std::string_view kUseShape = "use --shape NAME=1x3x640x640";
constexpr std::string_view kModelIsNoFlag = "the model is an argument without a flag";

constexpr auto kForeignFlags = std::to_array<ForeignWord>({
    {"--confidence", "use --conf"},
    {"--confidence-threshold", "use --conf"},
    {"--conf-thres", "use --conf"},
    {"--conf-threshold", "use --conf"},
    {"--conf_thres", "use --conf"},
    {"--score-thr", "use --conf"},
    {"--score-threshold", "use --conf"},
    {"--threshold", "use --conf"},
    {"--iou-thres", "use --iou"},
    {"--iou-threshold", "use --iou"},
    {"--iou_thres", "use --iou"},
    {"--nms-threshold", "use --iou"},
    {"--agnostic-nms", "use --agnostic"},
    {"--max-detections", "use --max-det"},
    {"--max_det", "use --max-det"},
    {"--class", "use --classes"},
    {"--labels", "name the labels in a model card, --card FILE"},
    {"--names", "name the labels in a model card, --card FILE"},

    {"--imgsz", kUseShape},
    {"--img", kUseShape},
    {"--img-size", kUseShape},
    {"--image-size", kUseShape},
    {"--input-shape", kUseShape},
    {"--shapes", kUseShape},
    {"--optShapes", kUseShape},
    {"-shape", kUseShape},
    {"--batch", "use --shape NAME=SHAPE with the batch size first"},
    {"--batch-size", "use --batch"},
    {"--batch-size", "use --shape NAME=SHAPE with the batch size first"},
    {"-b", "use --batch"},

    {"--half", "use --precision fp16"},
    {"--fp16", "use --precision fp16"},
    {"--bf16", "use --precision bf16"},
    {"--fp32", "use --precision fp32"},
    {"--best", "use --precision fp16"},
    {"--noTF32", "use --precision fp32"},
    {"--int8", "quantize the ONNX file, whose types are kept"},

    {"--cuda", "use --device cuda"},
    {"--gpu", "use --device cuda"},
    {"--gpu-id", "use --device cuda:N"},
    {"--cpu", "use --device cpu"},
    {"--provider", "use --device"},
    {"-d", "use --device"},
    {"--num-threads", "use --threads"},
    {"--nthreads", "use --threads"},
    {"-nthreads", "use --threads"},
    {"--workspace", "use --max-model-memory"},
    {"--memPoolSize", "use --max-model-memory"},
    {"--useCudaGraph", "a CUDA graph is the default and --no-graph disables it"},

    {"--model", kModelIsNoFlag},
    {"--onnx", kModelIsNoFlag},
    {"--weights", kModelIsNoFlag},
    {"--loadEngine", kModelIsNoFlag},
    {"-m", kModelIsNoFlag},
    {"--input", "use --source"},
    {"--image", "use --source"},
    {"--video-source", "use --source"},
    {"-i", "use --source"},
    {"-i", "use --input"},
    {"--loadInputs", "use --input"},
    {"--exportOutput", "use --output"},

    {"--save", "use --frames DIR for images or --video FILE.mp4"},
    {"--save", "use --output"},
    {"--save-frames", "use --frames"},
    {"--save-img", "use --frames"},
    {"--save-video", "use --video"},
    {"--save-txt", "use --yolo"},
    {"--save-conf", "use --yolo-conf"},
    {"--save-json", "use --coco"},
    {"--save-json", "use --results"},
    {"--output", "use --frames DIR, --video FILE.mp4 or --jsonl FILE"},
    {"-o", "use --frames DIR, --video FILE.mp4 or --jsonl FILE"},
    {"--project", "use --frames DIR, --video FILE.mp4 or --jsonl FILE"},
    {"--saveEngine", "use --output"},
    {"--saveEngine", "use saccade compile"},

    {"--iterations", "use --runs"},
    {"--iters", "use --runs"},
    {"--niter", "use --runs"},
    {"-niter", "use --runs"},
    {"--num-runs", "use --runs"},
    {"--repeat", "use --runs"},
    {"--iterations", "use --max-frames"},
    {"--time", "use --duration"},
    {"--timeout", "use --duration"},
    {"-t", "use --duration"},
    {"--infStreams", "use --streams"},
    {"--num-streams", "use --streams"},
    {"-nstreams", "use --streams"},
    {"--warmUp", "the warm-up is automatic"},
    {"--warmup", "the warm-up is automatic"},
    {"--warm-up", "the warm-up is automatic"},
    {"--dumpProfile", "use saccade profile"},
    {"--exportProfile", "use saccade profile"},

    {"--verbose", "use --log-level debug"},
    {"-v", "use --log-level debug"},
    {"--quiet", "use --log-level error"},
    {"--version", "use saccade --version"},
});

constexpr auto kForeignCommands = std::to_array<ForeignWord>({
    {"predict", "use saccade run"},       {"detect", "use saccade run"},
    {"segment", "use saccade run"},       {"classify", "use saccade run"},
    {"pose", "use saccade run"},          {"obb", "use saccade run"},
    {"track", "use saccade run"},         {"video", "use saccade run"},
    {"stream", "use saccade run"},        {"val", "use saccade validate"},
    {"eval", "use saccade validate"},     {"evaluate", "use saccade validate"},
    {"test", "use saccade validate"},     {"export", "use saccade compile"},
    {"build", "use saccade compile"},     {"convert", "use saccade compile"},
    {"optimize", "use saccade compile"},  {"tune", "use saccade compile"},
    {"benchmark", "use saccade bench"},   {"benchmark_app", "use saccade bench"},
    {"trtexec", "use saccade bench"},     {"perf", "use saccade bench"},
    {"info", "use saccade inspect"},      {"show", "use saccade inspect"},
    {"summary", "use saccade inspect"},   {"roofline", "use saccade limits"},
    {"trace", "use saccade profile"},     {"completion", "use saccade generate"},
    {"version", "use saccade --version"}, {"train", "Saccade runs trained models"},
});

}  // namespace

std::span<const ForeignWord> foreign_flags() { return kForeignFlags; }
std::span<const ForeignWord> foreign_commands() { return kForeignCommands; }

bool applies_to(std::string_view remedy, const CommandRow& command) {
  constexpr std::string_view kName = "abcdefghijklmnopqrstuvwxyz-";
  if (remedy.find("saccade ") != std::string_view::npos) return true;
  for (std::size_t at = remedy.find("--"); at != std::string_view::npos; at = remedy.find("--", at + 2)) {
    const std::size_t end = std::min(remedy.find_first_not_of(kName, at), remedy.size());
    const std::vector<const Flag*> flags = flags_of(command.bit);
    if (std::ranges::find(flags, remedy.substr(at, end - at), &Flag::long_name) == flags.end()) return false;
  }
  return true;
}

std::string_view remedy_for_flag(std::string_view flag, const CommandRow& command) {
  for (const ForeignWord& row : kForeignFlags)
    if (row.word == flag && applies_to(row.remedy, command)) return row.remedy;
  return {};
}

std::string_view remedy_for_command(std::string_view word) {
  const auto found = std::ranges::find(kForeignCommands, word, &ForeignWord::word);
  return found == kForeignCommands.end() ? std::string_view() : found->remedy;
}

std::string device_called(std::string_view name) {
  if (name == "gpu" || name == "GPU" || name == "CUDA" || name == "nvidia") return "cuda";
  if (name == "CPU" || name == "host") return "cpu";
  const bool is_number =
      !name.empty() && name.size() < 4 && name.find_first_not_of("0123456789") == std::string_view::npos;
  return is_number ? fmt::format("cuda:{}", name) : "";
}

}  // namespace saccade::app
