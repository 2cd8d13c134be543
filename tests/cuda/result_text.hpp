#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "saccade/saccade.hpp"

namespace saccade::test {

/// A result without its times, as text.
inline std::string text_of(const Result& result) {
  std::string text = fmt::format("{} {}:", result.model, result.frame);
  for (const Detection& each : result.detections)
    text += fmt::format(" {} {} {}", each.class_name, each.confidence, fmt::join(each.box, ","));
  for (const auto& each : result.classes) text += fmt::format(" {} {:.4f}", each.class_name, each.confidence);
  return text;
}

/// All remaining results; a failure as its message.
inline std::vector<std::string> texts_of(Pipeline& pipeline) {
  std::vector<std::string> texts;
  while (true) {
    auto result = pipeline.next();
    if (!result && result.failure().status == Status::kEnd) return texts;
    texts.push_back(result ? text_of(*result) : result.failure().message);
  }
}

}  // namespace saccade::test
