#pragma once

#include "pipeline/sinks/json_text.hpp"
#include "pipeline/sinks/mask_json.hpp"
#include "saccade/contours.hpp"
#include "saccade/sinks.hpp"

namespace saccade {

/// Results as JSON lines. Reuses its memory.
class ResultLines {
 public:
  explicit ResultLines(const JsonlOptions& options) : results_(options.results), contours_(options.contours) {}

  /// The line of RESULT and those of the events of its zones, each with its line feed, until the next call.
  const JsonBuffer& of(const Result& result);
  /// The object of RESULT alone, until the next call.
  const JsonBuffer& object(const Result& result);

 private:
  void append_result(const Result& result);
  void append_detections(const Result& result);
  void append_silhouette(const Mask& mask, const Result& result);

  bool results_;
  bool contours_;
  JsonBuffer line_;
  RunLengths lengths_;
  ContourTracer tracer_;
};

}  // namespace saccade
