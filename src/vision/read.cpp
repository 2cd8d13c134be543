#include "vision/read.hpp"

#include <algorithm>

namespace saccade {
namespace {

/// Empty for a class that the card does not name.
std::string_view label(const Card& card, int class_id) {
  const auto i = static_cast<std::size_t>(class_id);
  return i < card.labels.size() ? std::string_view(card.labels[i]) : std::string_view();
}

void read_detections(const Card& card, std::span<const TensorView> outputs, std::vector<Detection>& detections) {
  const std::span<const float> rows = outputs[0].as<const float>();
  const auto count = static_cast<std::size_t>(std::max(outputs[1].as<const std::int32_t>()[0], 0));
  for (std::size_t i = 0; i < std::min(count, rows.size() / 6); ++i) {
    const float* row = &rows[6 * i];
    const int class_id = static_cast<int>(row[5]);
    detections.push_back({{row[0], row[1], row[2], row[3]}, class_id, label(card, class_id), row[4]});
  }
}

void read_classes(const Card& card, std::span<const TensorView> outputs, std::vector<Classification>& classes) {
  const std::span<const float> rows = outputs[0].as<const float>();
  for (std::size_t i = 0; i < rows.size() / 2; ++i) {
    const int class_id = static_cast<int>(rows[2 * i + 1]);
    if (class_id >= 0) classes.push_back({class_id, label(card, class_id), rows[2 * i]});
  }
}

}  // namespace

void reserve_results(const Card& card, const PostOptions& options, Result& result) {
  result.task = card.task();
  if (card.task() == Task::kDetect)
    result.detections.reserve(static_cast<std::size_t>(options.max_det));
  else
    result.classes.reserve(std::min(static_cast<std::size_t>(options.top_k), card.labels.size()));
}

void read_results(const Card& card, std::span<const TensorView> outputs, Result& result) {
  result.detections.clear();
  result.classes.clear();
  if (card.task() == Task::kDetect)
    read_detections(card, outputs, result.detections);
  else
    read_classes(card, outputs, result.classes);
}

}  // namespace saccade
