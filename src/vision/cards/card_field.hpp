#pragma once

#include <toml++/toml.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/beside.hpp"
#include "base/error.hpp"
#include "vision/cards/card_file.hpp"
#include "vision/labels/labels.hpp"

// Parsers of the values of a card's keys. Every function throws Error (kInvalidFile) with file, line and key.
namespace saccade {

/// A key's node, with its name for errors.
struct Field {
  const std::filesystem::path& file;
  std::string_view name;  ///< "input.color"
  const toml::node& node;

  [[noreturn]] void bad(const std::string& wanted) const {
    fail(ErrorCode::kInvalidFile, "{}:{}: '{}' must be {}", file.string(), node.source().begin.line, name, wanted);
  }
  std::string text() const {
    const auto value = node.value_exact<std::string>();
    if (!value) bad("a string");
    return *value;
  }
  bool flag() const {
    const auto value = node.value_exact<bool>();
    if (!value) bad("true or false");
    return *value;
  }
  float number() const { return number(node); }
  float number(const toml::node& from) const {
    const auto value = from.is_number() ? from.value<double>() : std::nullopt;
    if (!value || !(std::abs(*value) <= std::numeric_limits<float>::max())) bad("a number in the float32 range");
    return static_cast<float>(*value);
  }
  float share() const {
    const float value = number();
    if (!(value >= 0 && value <= 1)) bad("a number in 0..1");
    return value;
  }
  int integer(int low, int high) const { return integer(node, low, high); }
  int integer(const toml::node& from, int low, int high) const {
    const auto value = from.value_exact<std::int64_t>();
    if (!value || *value < low || *value > high)
      bad(fmt::format("{} in {}..{}", &from == &node ? "an integer" : "a list of integers", low, high));
    return static_cast<int>(*value);
  }
  const toml::array& array(std::size_t size) const {
    const toml::array* values = node.as_array();
    if (values == nullptr || (size != 0 && values->size() != size))
      bad(size == 0 ? "a list" : fmt::format("a list of {}", size));
    return *values;
  }
  template <std::size_t N>
  std::array<int, N> integers(int low, int high) const {
    std::array<int, N> out{};
    const toml::array& values = array(N);
    for (std::size_t i = 0; i < N; ++i) out[i] = integer(values[i], low, high);
    return out;
  }
  /// Three numbers, or one for all channels.
  std::array<float, 3> numbers() const {
    if (!node.is_array()) return fill();
    std::array<float, 3> out{};
    const toml::array& values = array(3);
    for (std::size_t i = 0; i < 3; ++i) out[i] = number(values[i]);
    return out;
  }
  std::array<float, 3> fill() const {
    const float value = number();
    return {value, value, value};
  }
  template <typename Enum, std::size_t N>
  Enum choice(const std::array<std::string_view, N>& names) const {
    const std::string value = text();
    const auto found = std::ranges::find(names, value);
    if (found == names.end()) bad(fmt::format("one of {}; it is '{}'", fmt::join(names, ", "), value));
    return static_cast<Enum>(found - names.begin());
  }
};

inline constexpr int kMost = 1'000'000;

inline const Decoder* decoder_of(const Field& field) {
  const std::string name = field.text();
  if (const Decoder* decoder = find_decoder(name)) return decoder;
  field.bad(fmt::format("one of {}; it is '{}'", decoder_names(), name));
}

/// A string or a list of strings. WHAT describes it in errors.
inline std::vector<std::string> texts_of(const Field& field, const char* what) {
  if (field.node.is_string()) return {field.text()};
  if (!field.node.is_array()) field.bad(what);
  std::vector<std::string> texts;
  for (const toml::node& entry : field.array(0)) {
    const auto text = entry.value_exact<std::string>();
    if (!text) field.bad(what);
    texts.push_back(*text);
  }
  if (texts.empty()) field.bad("a list of at least one string");
  return texts;
}

inline std::vector<std::string> labels_of(const Field& field) {
  if (!field.node.is_string()) {
    std::vector<std::string> labels = texts_of(field, "a list of strings, or the name of a label file");
    if (labels.size() > kMaxClasses || std::ranges::any_of(labels, is_no_label))
      field.bad(fmt::format("a list of at most {} labels, each of {} bytes at most and without a NUL", kMaxClasses,
                            kMaxLabelBytes));
    return labels;
  }
  // Cards are untrusted input.
  const std::optional<std::filesystem::path> file = Beside(field.file).find(field.text());
  if (!file)
    field.bad(
        fmt::format("a list of strings, or the name of a file in the card's folder: '{}' is outside of it and refused",
                    field.text()));
  return read_labels(file->string());
}

/// The side of a crop relative to the object's.
inline float crop_factor(const Field& field) {
  constexpr float kMostFactor = 16;
  const float value = field.number();
  if (!(value >= 1 && value <= kMostFactor)) field.bad(fmt::format("a number in 1..{}", kMostFactor));
  return value;
}

inline Region region_of(const Field& field) {
  const auto [x, y, width, height] = field.integers<4>(0, kMost);
  if (width == 0 || height == 0) field.bad("x, y, width, height with a size above 0");
  return {x, y, width, height};
}

inline std::array<int, 3> pad_of(const Field& field) {
  if (field.node.is_array()) return field.integers<3>(0, 255);
  const int value = field.integer(0, 255);
  return {value, value, value};
}

inline std::vector<int> integers_of(const Field& field, int low, int high) {
  std::vector<int> values;
  for (const toml::node& entry : field.array(0)) values.push_back(field.integer(entry, low, high));
  if (values.empty()) field.bad("a list of at least one integer");
  return values;
}

/// A flat list of numbers, or a list of such lists.
inline void add_numbers(const Field& field, const toml::array& values, std::vector<float>& numbers) {
  for (const toml::node& entry : values) {
    if (const toml::array* inner = entry.as_array())
      add_numbers(field, *inner, numbers);
    else
      numbers.push_back(field.number(entry));
  }
}

inline std::vector<float> anchors_of(const Field& field) {
  std::vector<float> anchors;
  add_numbers(field, field.array(0), anchors);
  const bool sizes = std::ranges::all_of(anchors, [](float value) { return value > 0; });
  if (anchors.empty() || anchors.size() % 2 != 0 || !sizes)
    field.bad("a list of widths and heights in pixels, by pairs, all above 0");
  return anchors;
}

inline std::vector<float> conf_of(const Field& field) {
  std::vector<float> conf;
  if (field.node.is_array())
    add_numbers(field, field.array(0), conf);
  else
    conf.push_back(field.number());
  if (conf.empty() || !std::ranges::all_of(conf, [](float value) { return value >= 0 && value <= 1; }))
    field.bad("a number in 0..1, or a list with one per class");
  return conf;
}

}  // namespace saccade
