#include "common.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <saccade/isa.hpp>
#include <saccade/log.hpp>

#include "flags/foreign_words.hpp"
#include "flags/numbers.hpp"

namespace saccade::app {
namespace {

/// TEXT between SEPARATORs, empty parts included.
std::vector<std::string_view> parts_of(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  std::size_t start = 0;
  for (std::size_t end = text.find(separator); end != std::string_view::npos; end = text.find(separator, start)) {
    parts.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  parts.push_back(text.substr(start));
  return parts;
}

std::int64_t parse_dimension(std::string_view text) {
  const std::optional<std::int64_t> value = read_number<std::int64_t>(text);
  if (!value || *value < 0) throw UsageError("--shape", fmt::format("'{}' is not a size", text));
  return *value;
}

Device parse_device(const std::string& name) {
  const std::string ours = device_called(name);
  if (!ours.empty()) throw UsageError("--device", fmt::format("'{}' is not known: use {}", name, ours));
  return Device::parse(name);
}

std::vector<Device> parse_devices(const std::string& list) {
  const std::vector<std::string_view> names = parts_of(list, ',');
  std::vector<Device> devices;
  for (const std::string_view name : names) {
    const Device device = parse_device(std::string(name));
    if (device.kind == Device::Kind::kAuto && names.size() > 1)
      throw UsageError("--device", "'auto' stands alone: name each device of a list, as cuda:0,cuda:1");
    if (std::ranges::find(devices, device) != devices.end())
      throw UsageError("--device", fmt::format("'{}' is there twice", name));
    devices.push_back(device);
  }
  return devices;
}

/// NAME=1x3x640x640 is the shape of an input, NAME=2 the size of a dimension.
void add_shape(ModelOptions& options, const std::string& text) {
  const auto [name, sizes] = split_assignment(text);
  if (sizes.find('x') == std::string::npos) {
    if (!options.dimensions.try_emplace(name, parse_dimension(sizes)).second)
      throw UsageError("--shape", fmt::format("the dimension '{}' is given twice", name));
    return;
  }
  std::vector<std::int64_t> shape;
  for (const std::string_view size : parts_of(sizes, 'x')) shape.push_back(parse_dimension(size));
  if (!options.shapes.try_emplace(name, shape).second)
    throw UsageError("--shape", fmt::format("the shape of '{}' is given twice", name));
}

/// "SIZE" or "SIZE,OVERLAP".
void parse_tiles(TileOptions& tiles, const std::string& text) {
  const std::vector<std::string_view> parts = parts_of(text, ',');
  const std::optional<int> size = read_number<int>(parts[0]);
  const std::optional<float> overlap = parts.size() > 1 ? read_number<float>(parts[1]) : tiles.overlap;
  if (parts.size() > 2 || !size || !overlap)
    throw UsageError("--tiles", fmt::format("'{}' is not SIZE,OVERLAP: pixels and a share, as 640,0.2", text));
  tiles.size = *size;
  tiles.overlap = *overlap;
  try {
    check_tiles(tiles);
  } catch (const Error& error) {
    throw UsageError("--tiles", fmt::format("'{}': {}", text, error.what()));
  }
}

}  // namespace

Region parse_region(const char* flag, const std::string& text) {
  constexpr int kMost = 1'000'000;  // saccade.Preprocess accepts no more
  const std::vector<std::string_view> numbers = parts_of(text, ',');
  std::array<int, 4> edge{};
  if (numbers.size() != edge.size())
    throw UsageError(flag, fmt::format("'{}' is not X,Y,WIDTH,HEIGHT in pixels", text));
  for (std::size_t i = 0; i < edge.size(); ++i) {
    const int least = i < 2 ? 0 : 1;
    const std::optional<int> value = read_number<int>(numbers[i]);
    if (!value || *value < least || *value > kMost)
      throw UsageError(flag, fmt::format("'{}' is not an integer from {} to {}", numbers[i], least, kMost));
    edge[i] = *value;
  }
  return {edge[0], edge[1], edge[2], edge[3]};
}

std::pair<std::string, std::string> split_assignment(const std::string& text) {
  const std::size_t at = text.rfind('=');
  return {text.substr(0, at), text.substr(at + 1)};
}

void CommonFlags::bind(FlagBinder& binder) {
  bind_all_but_precision(binder);
  bind_precision(binder);
}

void CommonFlags::bind_all_but_precision(FlagBinder& binder) {
  bind_device(binder);
  bind_compilation(binder);
}

void CommonFlags::bind_with_devices(FlagBinder& binder, std::vector<Device>& devices) {
  binder.bind("--device", [this, &devices](const std::string& list) {
    devices = parse_devices(list);
    model.device = devices.front();
    if (devices.size() == 1) devices.clear();
  });
  bind_compilation(binder);
  bind_precision(binder);
}

void CommonFlags::bind_device(FlagBinder& binder) {
  binder.bind("--device", [this](const std::string& name) { model.device = parse_device(name); });
}

void CommonFlags::bind_precision(FlagBinder& binder) {
  binder.bind("--precision", [this](const std::string& name) { model.precision = parse_precision(name); });
}

void CommonFlags::bind_compilation(FlagBinder& binder) {
  binder.bind_choice("--fallback", model.fallback, {{"cpu", true}});
  binder.bind("--no-graph", [this](const std::string&) { model.graph = false; });
  binder.bind("--threads", &model.threads);
  binder.bind("--isa", [](const std::string& name) { limit_isa(parse_isa(name)); });
  binder.bind("--max-model-memory", &model.max_memory);
  binder.bind("--shape", [this](const std::vector<std::string>& shapes) {
    for (const std::string& shape : shapes) add_shape(model, shape);
  });
  binder.bind("--passes", [this](const std::vector<std::string>& names) {
    const bool is_none = std::ranges::find(names, "none") != names.end();
    if (is_none && std::ranges::any_of(names, [](const std::string& name) { return name != "none"; }))
      throw UsageError("--passes", "'none' stands alone");
    model.only_passes = is_none ? std::vector<std::string>{} : names;
  });
  binder.bind("--disable-pass", &model.disabled_passes);
  bind_output(binder);
}

void CommonFlags::bind_output(FlagBinder& binder) {
  binder.bind("--log-level", [](const std::string& name) {
    for (const LogLevel level : {LogLevel::kError, LogLevel::kWarning, LogLevel::kInfo, LogLevel::kDebug})
      if (to_string(level) == name) set_log_level(level);
  });
  binder.bind("--json", &json);
  binder.bind("--color", [](const std::string&) {});  // choose_color() has read it
}

void CommonFlags::bind_predictions(FlagBinder& binder) {
  binder.bind("--conf", &model.post.confidence);
  binder.bind("--iou", &model.post.iou);
  binder.bind("--classes", &model.post.classes);
  bind_selection(binder);
}

void CommonFlags::bind_predictions(FlagBinder& binder, ModelValues& values) {
  using Texts = std::vector<std::string>;
  binder.bind("--conf", [&values](const Texts& texts) { values.read_confidences(texts); });
  binder.bind("--iou", [&values](const Texts& texts) { values.read_ious(texts); });
  binder.bind("--classes", [&values](const Texts& texts) { values.read_classes(texts); });
  bind_selection(binder);
}

void CommonFlags::bind_selection(FlagBinder& binder) {
  binder.bind("--card", &model.card);
  binder.bind("--nms", [this](const std::string& name) { model.post.nms = parse_nms(name); });
  binder.bind("--agnostic", &model.post.agnostic);
  binder.bind("--multi-label", &model.post.multi_label);
  binder.bind("--max-det", &model.post.max_detections);
  binder.bind("--roi", [this](const std::string& text) { model.roi = parse_region("--roi", text); });
}

void CommonFlags::bind_tracker(FlagBinder& binder) {
  binder.bind("--track", [this](const std::string& text) { model.post.tracker = tracker_options(text); });
}

void CommonFlags::bind_tiles(FlagBinder& binder) {
  const auto tiles = [this]() -> TileOptions& { return model.tiles ? *model.tiles : model.tiles.emplace(); };
  binder.bind("--tiles", [tiles](const std::string& text) { parse_tiles(tiles(), text); });
  binder.bind("--tile-merge", [tiles](const std::string& name) { tiles().merge = parse_tile_merge(name); });
  binder.bind("--no-full-frame", [tiles](const std::string&) { tiles().full_frame = false; });
}

}  // namespace saccade::app
