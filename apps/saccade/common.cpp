#include "common.hpp"

#include <fmt/format.h>

#include <charconv>
#include <limits>

#include "numbers.hpp"

namespace saccade::app {
namespace {

std::int64_t parse_dimension(std::string_view text, const std::string& flag) {
  const std::optional<std::int64_t> value = read_number<std::int64_t>(text);
  if (!value || *value < 0) throw CLI::ValidationError(flag, fmt::format("'{}' is not a size", text));
  return *value;
}

/// NAME=1x3x640x640 is the shape of an input, NAME=2 the size of a dimension.
void add_shape(ModelOptions& options, const std::string& text) {
  const auto [name, sizes] = split_assignment(text);
  if (sizes.find('x') == std::string::npos) {
    if (!options.dimensions.try_emplace(name, parse_dimension(sizes, "--shape")).second)
      throw CLI::ValidationError("--shape", fmt::format("the dimension '{}' is given twice", name));
    return;
  }
  std::vector<std::int64_t> shape;
  for (std::size_t at = 0; at <= sizes.size();) {
    const std::size_t end = std::min(sizes.find('x', at), sizes.size());
    shape.push_back(parse_dimension(std::string_view(sizes).substr(at, end - at), "--shape"));
    at = end + 1;
  }
  if (!options.shapes.try_emplace(name, shape).second)
    throw CLI::ValidationError("--shape", fmt::format("the shape of '{}' is given twice", name));
}

/// "4G", "512M", "65536": bytes, or KiB, MiB, GiB, TiB.
std::size_t parse_size(const std::string& text) {
  constexpr std::string_view kUnits = "KMGT";
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string_view unit(end, text.data() + text.size());
  const std::size_t power = unit.empty() ? 0 : kUnits.find(unit.front()) + 1;
  const bool known = unit.empty() || (unit.size() == 1 && power != 0);
  if (error != std::errc() || !known || value == 0 || value > (std::uint64_t{1} << 60) >> (10 * power))
    throw CLI::ValidationError("--max-model-memory", fmt::format("'{}' is not a size such as 512M or 4G", text));
  return value << (10 * power);
}

Region parse_region(const std::string& text) {
  constexpr int kMost = 1'000'000;  // saccade.Preprocess accepts no more
  const auto numbers = CLI::detail::split(text, ',');
  std::array<int, 4> edge{};
  if (numbers.size() != edge.size())
    throw CLI::ValidationError("--roi", fmt::format("'{}' is not X,Y,WIDTH,HEIGHT in pixels", text));
  for (std::size_t i = 0; i < edge.size(); ++i) {
    const int least = i < 2 ? 0 : 1;
    const std::optional<int> value = read_number<int>(numbers[i]);
    if (!value || *value < least || *value > kMost)
      throw CLI::ValidationError("--roi",
                                 fmt::format("'{}' is not an integer from {} to {}", numbers[i], least, kMost));
    edge[i] = *value;
  }
  return {edge[0], edge[1], edge[2], edge[3]};
}

/// Accepts BUILT. Values in TO_COME are reported as not implemented yet, all others as unknown.
CLI::Validator one_of(std::vector<std::string> built, std::vector<std::string> to_come) {
  return {[built = std::move(built), to_come = std::move(to_come)](std::string& value) {
            if (std::ranges::find(built, value) != built.end()) return std::string();
            const bool planned = std::ranges::any_of(
                to_come, [&](const std::string& name) { return value == name || value.starts_with(name + ":"); });
            return fmt::format("'{}' is not {}: use {}", value, planned ? "implemented yet" : "known",
                               fmt::join(built, " or "));
          },
          ""};
}

CLI::Validator device() {
  return {[](std::string& value) {
            const bool numbered = value.starts_with("cuda:") && value.size() > 5 && value.size() < 9 &&
                                  value.find_first_not_of("0123456789", 5) == std::string::npos;
            const bool known = value == "auto" || value == "cpu" || value == "cuda" || value == "reference";
            return numbered || known
                       ? std::string()
                       : fmt::format("'{}' is not known: use auto, cpu, cuda, cuda:N or reference", value);
          },
          ""};
}

}  // namespace

CLI::Validator assignment() {
  return {[](std::string& text) {
            const std::size_t at = text.rfind('=');
            const bool whole = at != std::string::npos && at != 0 && at + 1 != text.size();
            return whole ? std::string() : fmt::format("'{}' is not NAME=VALUE", text);
          },
          ""};
}

std::pair<std::string, std::string> split_assignment(const std::string& text) {
  const std::size_t at = text.rfind('=');
  return {text.substr(0, at), text.substr(at + 1)};
}

void CommonFlags::add_precision_to(CLI::App& app, std::vector<std::string>* precisions) {
  const CLI::Validator is_built = one_of({"auto", "fp32", "tf32", "bf16", "fp16"}, {"int8"});
  if (precisions == nullptr) {
    app.add_option("--precision", model.precision, "Precision of the computation (default: auto)")
        ->check(is_built)
        ->type_name("auto|fp32|tf32|bf16|fp16");
    return;
  }
  *precisions = {model.precision};
  app.add_option("--precision", *precisions, "Precision of the computation; X,Y compares two (default: auto)")
      ->delimiter(',')
      ->check(is_built)
      ->type_name("NAME[,NAME]")
      ->allow_extra_args(false);
}

void CommonFlags::add_to(CLI::App& app, bool are_answers, std::vector<std::string>* precisions) {
  app.add_option("--device", model.device, "Device to run on (default: auto)")
      ->check(device())
      ->type_name("auto|cpu|cuda[:N]|reference");
  app.add_option_function<std::string>(
         "--fallback", [this](const std::string& to) { model.fallback = to == "cpu"; },
         "Device for operators without a GPU kernel (default: none, the model is refused)")
      ->check(one_of({"cpu"}, {}))
      ->type_name("cpu");
  app.add_flag_callback(
      "--no-graph", [this] { model.graph = false; }, "Launch CUDA kernels one by one instead of as one captured graph");
  add_precision_to(app, precisions);
  app.add_option("--threads", model.threads, "Threads per inference (default: one per core)")
      ->transform(whole(1, 4096))
      ->type_name("N");
  app.add_option_function<std::string>(
         "--max-model-memory", [this](const std::string& text) { model.max_memory = parse_size(text); },
         "Memory limit while a model is read and compiled (default: 3/4 of the memory)")
      ->type_name("SIZE");
  app.add_option_function<std::string>(
         "--log-level",
         [](const std::string& name) {
           for (LogLevel level : {LogLevel::kError, LogLevel::kWarning, LogLevel::kInfo, LogLevel::kDebug})
             if (to_string(level) == name) set_log_level(level);
         },
         "Log level on standard error (default: warning)")
      ->check(one_of({"error", "warning", "info", "debug"}, {}))
      ->type_name("error|warning|info|debug");
  app.add_flag("--json", json, "Print the report as JSON");
  app.add_option_function<std::vector<std::string>>(
         "--shape",
         [this](const std::vector<std::string>& shapes) {
           for (const std::string& shape : shapes) add_shape(model, shape);
         },
         "Bind an input's shape (images=1x3x640x640) or a symbolic dimension (batch=2); others become 1")
      ->check(assignment())
      ->type_name("NAME=SHAPE")
      ->allow_extra_args(false);
  app.add_option("--disable-pass", model.disabled_passes, "Disable this pass (repeatable)")
      ->type_name("NAME")
      ->allow_extra_args(false);
  app.add_option_function<std::vector<std::string>>(
         "--passes",
         [this](const std::vector<std::string>& names) {
           model.only_passes = names == std::vector<std::string>{"none"} ? std::vector<std::string>{} : names;
         },
         "Run only these passes; 'none' for none")
      ->delimiter(',')
      ->type_name("NAME,...")
      ->allow_extra_args(false);
  if (are_answers) add_answers_to(app);
}

void CommonFlags::add_answers_to(CLI::App& app) {
  const std::string group = "Answers";
  app.add_option("--card", model.card,
                 "The model card (default: MODEL.toml beside the model, else recognised from the model)")
      ->type_name("FILE")
      ->group(group);
  app.add_option("--conf", model.confidence, "Confidence threshold (default: the card's, else 0.25)")
      ->check(number(0, 1))
      ->type_name("X")
      ->group(group);
  app.add_option("--iou", model.iou, "IoU threshold of NMS: of two boxes of a class that overlap more, drop the weaker")
      ->capture_default_str()
      ->check(number(0, 1))
      ->type_name("X")
      ->group(group);
  app.add_option("--nms", model.nms, "NMS method: greedy, linear or gaussian (Soft-NMS), none")
      ->capture_default_str()
      ->check(CLI::IsMember({"greedy", "linear", "gaussian", "none"}))
      ->type_name("NAME")
      ->group(group);
  app.add_flag("--agnostic", model.agnostic, "Class-agnostic NMS")->group(group);
  app.add_option("--multi-label", model.multi_label,
                 "One detection per class above --conf instead of the best class only (default: the card's)")
      ->check(CLI::IsMember({"true", "false"}).description(""))
      ->type_name("true|false")
      ->group(group);
  app.add_option("--max-det", model.max_detections, "Maximum detections per frame")
      ->capture_default_str()
      ->transform(whole(1, 100000))
      ->type_name("N")
      ->group(group);
  app.add_option("--classes", model.classes, "Keep these classes, by name or number")
      ->delimiter(',')
      ->type_name("CLASS,...")
      ->allow_extra_args(false)
      ->group(group);
  app.add_option_function<std::string>(
         "--roi", [this](const std::string& text) { model.roi = parse_region(text); },
         "Region of interest in every frame")
      ->type_name("X,Y,W,H")
      ->group(group);
}

}  // namespace saccade::app
