#include "model_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include "common.hpp"
#include "flags/binder.hpp"
#include "flags/numbers.hpp"

namespace saccade::app {
namespace {

/// {NAME, VALUE} of "NAME:VALUE"; {"", VALUE} of "VALUE". VALUE has no colon, NAME may have.
std::pair<std::string, std::string> split_model(const std::string& text) {
  const std::size_t at = text.rfind(':');
  if (at == std::string::npos) return {"", text};
  return {text.substr(0, at), text.substr(at + 1)};
}

std::string model_name(const std::string& path) { return std::filesystem::path(path).stem().string(); }

/// The value of NAME in VALUES, else that of all models; null if there is none.
template <typename Values>
const typename Values::mapped_type* value_for(const Values& values, const std::string& name) {
  auto found = values.find(name);
  if (found == values.end()) found = values.find("");
  return found == values.end() ? nullptr : &found->second;
}

template <typename Values>
void check_known(const char* flag, const Values& values, const std::set<std::string>& known) {
  for (const auto& [name, value] : values)
    if (!name.empty() && !known.contains(name))
      throw UsageError(flag, fmt::format("there is no model '{}'; they are {}", name, fmt::join(known, ", ")));
}

[[noreturn]] void reject_twice(const char* flag, const std::string& name) {
  throw UsageError(flag, name.empty() ? "the value of all models is given twice"
                                      : fmt::format("the value of the model '{}' is given twice", name));
}

}  // namespace

void ModelValues::read(const char* flag, const std::vector<std::string>& texts, Numbers& numbers) {
  for (const std::string& text : texts) {
    const auto [name, value] = split_model(text);
    if (!numbers.try_emplace(name, static_cast<float>(read_number<double>(value).value())).second)
      reject_twice(flag, name);
  }
}

void ModelValues::read_classes(const std::vector<std::string>& texts) {
  for (const std::string& text : texts) {
    const auto [name, value] = split_model(text);
    classes_[name].push_back(value);
  }
}

void ModelValues::read_targets(const std::vector<std::string>& texts) {
  for (const std::string& text : texts) {
    const auto [name, value] = split_model(text);
    if (!targets_.try_emplace(name, parse_region("--target", value)).second) reject_twice("--target", name);
  }
}

void ModelValues::check_names(const std::vector<std::string>& paths) const {
  std::set<std::string> known;
  for (const std::string& path : paths) known.insert(model_name(path));
  check_known("--conf", confidences_, known);
  check_known("--iou", ious_, known);
  check_known("--classes", classes_, known);
  check_known("--target", targets_, known);
}

ModelOptions ModelValues::options_for(const std::string& path, ModelOptions options) const {
  const std::string name = model_name(path);
  if (const float* value = value_for(confidences_, name)) options.post.confidence = *value;
  if (const float* value = value_for(ious_, name)) options.post.iou = *value;
  if (const auto* value = value_for(classes_, name)) options.post.classes = *value;
  if (const Region* value = value_for(targets_, name)) options.target = *value;
  return options;
}

}  // namespace saccade::app
