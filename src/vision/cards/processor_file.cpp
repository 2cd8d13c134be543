#include "vision/cards/processor_file.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/input_file.hpp"
#include "ops/core/dispatch.hpp"
#include "vision/cards/processor_settings.hpp"
#include "vision/cards/recognise.hpp"
#include "vision/labels/labels.hpp"

// Preprocessing as Hugging Face's image processors (preprocessor_config.json) and timm (config.json) write it.
namespace saccade {
namespace {

constexpr std::uintmax_t kMostProcessorBytes = 4 << 20;

/// Sets KEY of the card; errors about it name the file.
template <typename T>
void set(ProcessorFile& to, const ProcessorSettings& from, const char* key, std::optional<T> CardFile::*field,
         T value) {
  to.card.*field = std::move(value);
  to.card.places[key] = from.file().string();
}

void set_std(ProcessorFile& to, const ProcessorSettings& from, const char* key, const std::array<float, 3>& std) {
  if (std::ranges::find(std, 0.0F) != std.end()) from.bad(key, "holds a 0");
  set(to, from, "std", &CardFile::std, std);
}

/// Hugging Face's `size` or `crop_size`.
struct Sizes {
  int width = 0;  ///< 0: unset
  int height = 0;
  int shortest = 0;
};
Sizes sizes_of(const ProcessorSettings& from, const char* key, bool one_is_shortest) {
  Sizes sizes;
  const nlohmann::json* value = from.find(key);
  if (value == nullptr) return sizes;
  if (!value->is_object()) {
    const int side = from.side(key, *value);
    return one_is_shortest ? Sizes{0, 0, side} : Sizes{side, side, 0};
  }
  for (const auto& [name, number] : value->items()) {
    if (name == "width")
      sizes.width = from.side(key, number);
    else if (name == "height")
      sizes.height = from.side(key, number);
    else if (name == "shortest_edge")
      sizes.shortest = from.side(key, number);
    else if (name != "longest_edge")
      from.bad(key, "has the unknown '{}'", name);
  }
  if ((sizes.width == 0) != (sizes.height == 0)) from.bad(key, "has only one of width and height");
  return sizes;
}

void crop_to(ProcessorFile& to, const ProcessorSettings& from, ResizeMode mode, int short_side, int width, int height) {
  set(to, from, "resize", &CardFile::resize, mode);
  set(to, from, "resize_to", &CardFile::resize_to, short_side);
  set(to, from, "size", &CardFile::size, std::array{width, height});
}

void stretch_to(ProcessorFile& to, const ProcessorSettings& from, int width, int height) {
  set(to, from, "resize", &CardFile::resize, ResizeMode::kStretch);
  set(to, from, "size", &CardFile::size, std::array{width, height});
}

constexpr double kUsualShare = 224.0 / 256;

/// Of ConvNeXt's processor: small images are cropped, large ones stretched.
void resize_by_share(ProcessorFile& to, const ProcessorSettings& from, int side) {
  constexpr int kLeastStretched = 384;
  if (side >= kLeastStretched) return stretch_to(to, from, side, side);
  crop_to(to, from, ResizeMode::kResizeCropFloor, from.side_before_crop(side, kUsualShare), side, side);
}

/// Whether the image processor is KIND's, under its old name or its new one.
bool is_of(const ProcessorSettings& from, std::string_view kind) {
  return from.text("image_processor_type", "").starts_with(kind) ||
         from.text("feature_extractor_type", "").starts_with(kind);
}

/// The short side before a crop. LeViT's processor enlarges `shortest_edge`, PoolFormer's divides it by `crop_pct`.
int short_side_of(const ProcessorSettings& from, int shortest) {
  if (is_of(from, "Levit")) return static_cast<int>(shortest / kUsualShare);
  return from.side_before_crop(shortest, 1);
}

void read_resize(ProcessorFile& to, const ProcessorSettings& from, const Card& card) {
  const bool crops = from.flag("do_center_crop", false);
  const Sizes size = sizes_of(from, "size", crops);
  const Sizes crop = sizes_of(from, "crop_size", false);
  if (!from.flag("do_resize", true)) {
    if (crops) from.bad("do_center_crop", "crops frames that are not resized");
    return;
  }
  if (crops && (crop.width == 0 || crop.height == 0)) from.bad("crop_size", "has no width and height");
  if (size.shortest > 0 && crops)
    return crop_to(to, from, ResizeMode::kResizeCropFloor, short_side_of(from, size.shortest), crop.width, crop.height);
  if (size.shortest > 0 && (card.task() == Task::kClassify || is_of(from, "ConvN")))
    return resize_by_share(to, from, size.shortest);
  if (size.width > 0) {
    if (crops && (crop.width != size.width || crop.height != size.height))
      from.bad("crop_size", "crops a stretched image");
    return stretch_to(to, from, size.width, size.height);
  }
  if (size.shortest > 0)
    to.assumptions.push_back(
        fmt::format("frames resized to {}x{}, though 'size' in {} depends on the frame "
                    "(input.resize)",
                    card.width, card.height, from.file().string()));
}

void read_resample(ProcessorFile& to, const ProcessorSettings& from) {
  const nlohmann::json* value = from.find("resample");
  if (value == nullptr) {
    to.assumptions.push_back(
        fmt::format("bilinear interpolation, which {} does not name (input.interpolation)", from.file().string()));
    set(to, from, "interpolation", &CardFile::interpolation, Interpolation::kBilinearAntialias);
    return;
  }
  const std::int64_t filter = value->is_number_integer() ? value->get<std::int64_t>() : -1;
  if (filter != 2 && filter != 3) from.bad("resample", "is not 2 (bilinear) or 3 (bicubic)");
  set(to, from, "interpolation", &CardFile::interpolation,
      filter == 2 ? Interpolation::kBilinearAntialias : Interpolation::kBicubicAntialias);
}

void read_values(ProcessorFile& to, const ProcessorSettings& from) {
  const bool rescales = from.flag("do_rescale", true);
  const float scale = rescales ? from.number("rescale_factor", 1.0F / 255) : 1.0F;
  if (scale == 0) from.bad("rescale_factor", "is 0");
  set(to, from, "scale", &CardFile::scale, scale);
  std::array<float, 3> mean{};
  std::array<float, 3> std{1, 1, 1};
  if (from.flag("do_normalize", from.find("image_mean") != nullptr)) {
    if (from.find("image_mean") == nullptr || from.find("image_std") == nullptr)
      from.bad("do_normalize", "is true without image_mean and image_std");
    mean = from.numbers("image_mean", mean);
    std = from.numbers("image_std", std);
  }
  // Of EfficientNet's processor: 1 is subtracted before the mean is.
  if (rescales && from.flag("rescale_offset", false))
    for (float& value : mean) value += 1;
  set(to, from, "mean", &CardFile::mean, mean);
  // Of EfficientNet's processor: what is normalized is divided by image_std once more.
  if (from.flag("include_top", is_of(from, "EfficientNet"))) {
    const std::array<float, 3> again = from.numbers("image_std", {1, 1, 1});
    for (std::size_t i = 0; i < 3; ++i) std[i] *= again[i];
  }
  set_std(to, from, "image_std", std);
}

/// Throws Error with a step that is not understood; other unknown keys are assumed to have no effect.
void check_known(ProcessorFile& to, const ProcessorSettings& from) {
  static constexpr std::array kKnown = {
      "do_resize", "size", "resample", "do_center_crop", "crop_size", "crop_pct", "do_rescale", "rescale_factor",
      "rescale_offset", "include_top", "do_normalize", "image_mean", "image_std", "do_flip_channel_order",
      // Without effect on the pixels of one image.
      "do_convert_rgb", "do_reduce_labels", "do_pad", "image_processor_type", "feature_extractor_type",
      "processor_class", "data_format", "input_data_format", "return_tensors", "device", "_valid_processor_keys",
      "num_labels", "id2label", "label2id", "format", "do_convert_annotations", "disable_grouping", "default_to_square",
      "size_divisor", "ignore_index", "auto_map"};
  for (const auto& [key, value] : from.object().items()) {
    if (std::ranges::find(kKnown, key) != kKnown.end() || value.is_null()) continue;
    if (key.starts_with("do_")) {
      if (value != nlohmann::json(false)) from.bad(key, "is a step that is not known");
      continue;
    }
    to.assumptions.push_back(fmt::format("no effect of '{}' in {} (input)", key, from.file().string()));
  }
}

void read_hugging_face(ProcessorFile& to, const ProcessorSettings& from, const Card& card) {
  check_known(to, from);
  read_resize(to, from, card);
  read_resample(to, from);
  read_values(to, from);
  if (from.flag("do_flip_channel_order", false)) set(to, from, "color", &CardFile::color, ChannelOrder::kBgr);
}

void read_timm_crop(ProcessorFile& to, const ProcessorSettings& from, const Card& card) {
  constexpr double kMostShare = 1.5;  // VOLO's 1.15 pads the resized image
  const std::string mode = from.text("crop_mode", "center");
  if (mode == "center") {
    if (card.width != card.height) from.bad("crop_mode", "is 'center' for an input that is not square");
    return crop_to(to, from, ResizeMode::kResizeCrop, from.side_before_crop(card.width, 0.875, kMostShare), card.width,
                   card.height);
  }
  if (from.side_before_crop(card.width, 0.875) != card.width)
    from.bad("crop_mode", "is '{}' with a crop_pct below 1", mode);
  if (mode == "squash") return stretch_to(to, from, card.width, card.height);
  if (mode != "border") from.bad("crop_mode", "is not center, squash or border");
  set(to, from, "resize", &CardFile::resize, ResizeMode::kLetterbox);
  std::array<int, 3> pad{};
  for (std::size_t i = 0; i < 3; ++i)
    pad[i] = static_cast<int>(std::clamp(std::nearbyint((*to.card.mean)[i] * 255), 0.0F, 255.0F));
  set(to, from, "pad", &CardFile::pad, pad);
}

/// Class names, of `label_descriptions` where they are known.
void read_timm_labels(ProcessorFile& to, const ProcessorSettings& top, const Card& card) {
  const nlohmann::json* names = top.find("label_names");
  if (names == nullptr || card.task() != Task::kClassify) return;
  if (!names->is_array() || names->size() > kMaxClasses) top.bad("label_names", "is not a list of labels");
  const nlohmann::json* described = top.find("label_descriptions");
  HeadFile head;
  for (const nlohmann::json& name : *names) {
    if (!name.is_string()) top.bad("label_names", "holds something else than strings");
    std::string label = name.get<std::string>();
    if (described != nullptr && described->is_object() && described->contains(label) &&
        described->at(label).is_string())
      label = described->at(label).get<std::string>();
    if (is_no_label(label)) top.bad("label_names", "holds a label that is too long or has a NUL in it");
    head.labels.push_back(std::move(label));
  }
  if (static_cast<int>(head.labels.size()) != card.head().classes) return;
  head.places["labels"] = top.file().string();
  to.card.heads.push_back(std::move(head));
}

void read_timm(ProcessorFile& to, const ProcessorSettings& top, const Card& card) {
  const nlohmann::json& inner = top.object().at("pretrained_cfg");
  const ProcessorSettings from(top.file(), inner);
  const std::string filter = from.text("interpolation", "bicubic");
  if (filter != "bilinear" && filter != "bicubic") from.bad("interpolation", "is not bilinear or bicubic");
  set(to, from, "interpolation", &CardFile::interpolation,
      filter == "bilinear" ? Interpolation::kBilinearAntialias : Interpolation::kBicubicAntialias);
  set(to, from, "scale", &CardFile::scale, 1.0F / 255);
  set(to, from, "mean", &CardFile::mean, from.numbers("mean", {0.485F, 0.456F, 0.406F}));
  set_std(to, from, "std", from.numbers("std", {0.229F, 0.224F, 0.225F}));
  read_timm_crop(to, from, card);
  read_timm_labels(to, top, card);
}

nlohmann::json parse_processor(const std::filesystem::path& path) {
  nlohmann::json made = nlohmann::json::parse(read_input(path, kMostProcessorBytes), nullptr, false);
  if (made.is_discarded())
    fail(ErrorCode::kInvalidFile, "{} is not JSON; a card (--card FILE) takes its place", path.string());
  return made;
}

bool is_timm(const nlohmann::json& object) {
  const auto inner = object.find("pretrained_cfg");
  return inner != object.end() && inner->is_object();
}

}  // namespace

std::filesystem::path find_processor_file(const std::filesystem::path& model) {
  if (model.empty()) return {};
  const std::filesystem::path hugging_face = model.parent_path() / "preprocessor_config.json";
  if (has_entry(hugging_face)) return hugging_face;
  const std::filesystem::path timm = model.parent_path() / "config.json";
  return has_entry(timm) && is_timm(parse_processor(timm)) ? timm : std::filesystem::path{};
}

ProcessorFile read_processor_file(const std::filesystem::path& path, const Graph& graph, const Card& card) {
  ProcessorFile made;
  made.card.path = path;
  const nlohmann::json object = parse_processor(path);
  const ProcessorSettings from(made.card.path, object);
  if (!object.is_object())
    fail(ErrorCode::kInvalidFile, "{} is not a JSON object; a card (--card FILE) takes its place", path.string());
  if (path.filename() == "preprocessor_config.json")
    read_hugging_face(made, from, card);
  else
    read_timm(made, from, card);
  // Integer inputs take whole pixels.
  if (is_integer(graph.value(find_value(graph, graph.inputs(), card.input)).type.dtype))
    made.card.scale.reset(), made.card.mean.reset(), made.card.std.reset();
  if (card.color == ChannelOrder::kGray) made.card.color.reset();
  return made;
}

}  // namespace saccade
