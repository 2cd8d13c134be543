#include "pipeline/sinks/result_lines.hpp"

#include <array>
#include <chrono>
#include <iterator>

#include "base/clock.hpp"
#include "base/utc.hpp"
#include "pipeline/sinks/json_text.hpp"
#include "pipeline/sinks/mask_json.hpp"
#include "saccade/contours.hpp"
#include "vision/tasks.hpp"

namespace saccade {
namespace {

void append_captured_at(JsonBuffer& out, std::chrono::system_clock::time_point time) {
  append(out, R"(,"captured_at":")");
  format_utc(std::back_inserter(out), time);
  append(out, R"(")");
}

void append_identity(JsonBuffer& out, const Result& result) {
  append(out, R"({{"stream":{},"source":)", result.stream);
  append_json_string(out, result.source);
  if (!result.name.empty()) {
    append(out, R"(,"name":)");
    append_json_string(out, result.name);
  }
  append(out, R"(,"frame":{},"timestamp_ns":{})", result.frame, result.timestamp_ns);
  if (result.captured_at) append_captured_at(out, *result.captured_at);
  append(out, R"(,"model":)");
  append_json_string(out, result.model);
  append(out, R"(,"task":"{}","width":{},"height":{})", to_string(result.task), result.width, result.height);
}

void append_latency(JsonBuffer& out, const Latency& time) {
  append(out, R"(,"latency_ms":{{"sensor":)");
  time.sensor ? append(out, "{:.4f}", to_milliseconds(*time.sensor)) : append(out, "null");
  append(out,
         R"(,"capture":{:.4f},"queue":{:.4f},"pre":{:.4f},"model":{:.4f},"post":{:.4f},)"
         R"("total":{:.4f}}})",
         to_milliseconds(time.capture), to_milliseconds(time.queue), to_milliseconds(time.pre),
         to_milliseconds(time.model), to_milliseconds(time.post), to_milliseconds(time.total));
}

void append_class(JsonBuffer& out, int class_id, std::string_view class_name) {
  append(out, R"("class_id":{},"class":)", class_id);
  append_json_string(out, class_name);
}

void append_keypoints(JsonBuffer& out, std::span<const Keypoint> points) {
  append(out, R"(,"keypoints":[)");
  for (const Keypoint& point : points) {
    if (&point != points.data()) append(out, ",");
    append_json_numbers(out, std::array{point.x, point.y, point.confidence});
  }
  append(out, "]");
}

/// ,"NAME":VALUE
void append_field(JsonBuffer& out, std::string_view name, float value) {
  append(out, R"(,"{}":)", name);
  append_json_number(out, value);
}

void append_oriented(JsonBuffer& out, const OrientedBox& box) {
  append(out, R"(,"obb":{{"x":)");
  append_json_number(out, box.x);
  append_field(out, "y", box.y);
  append_field(out, "width", box.width);
  append_field(out, "height", box.height);
  append_field(out, "angle", box.angle);
  append(out, "}}");
}

void append_contours(JsonBuffer& out, std::span<const ContourTracer::Contour> contours) {
  append(out, R"(,"contours":[)");
  for (const auto& contour : contours) {
    append(out, "{}[", &contour == contours.data() ? "" : ",");
    for (const ContourPoint& point : contour)
      append(out, "{}[{},{}]", &point == contour.data() ? "" : ",", point.x, point.y);
    append(out, "]");
  }
  append(out, "]");
}

void append_classes(JsonBuffer& out, std::span<const Classification> classes) {
  append(out, R"(,"classes":[)");
  for (const Classification& found : classes) {
    append(out, "{}{{", &found == classes.data() ? "" : ",");
    append_class(out, found.class_id, found.class_name);
    append_field(out, "confidence", found.confidence);
    append(out, "}}");
  }
  append(out, "]");
}

void append_embedding(JsonBuffer& out, std::span<const float> embedding) {
  append(out, R"(,"embedding":)");
  append_json_numbers(out, embedding);
}

void append_text(JsonBuffer& out, std::string_view text, float confidence) {
  append(out, R"(,"text":)");
  append_json_string(out, text);
  append_field(out, "text_confidence", confidence);
}

void append_segments(JsonBuffer& out, std::span<const Segment> segments) {
  append(out, R"(,"segments":[)");
  for (const Segment& segment : segments) {
    append(out, "{}{{", &segment == segments.data() ? "" : ",");
    append_class(out, segment.class_id, segment.class_name);
    append(out, R"(,"pixels":{}}})", segment.pixels);
  }
  append(out, "]");
}

void append_depth(JsonBuffer& out, const DepthMap& depth) {
  append(out, R"(,"depth":{{"kind":"{}")", to_string(depth.kind));
  append_field(out, "min", depth.min);
  append_field(out, "max", depth.max);
  append_field(out, "mean", depth.mean);
  append(out, "}}");
}

/// {"event":"line",...} or {"event":"area",...}, and a line feed.
void append_zone_event(JsonBuffer& out, const Result& result, const ZoneEvent& event) {
  const bool is_line = event.kind == ZoneEventKind::kIn || event.kind == ZoneEventKind::kOut;
  append(out, R"({{"event":"{}","zone":)", to_string(is_line ? ZoneKind::kLine : ZoneKind::kArea));
  append_json_string(out, event.zone);
  append(out, R"(,"{}":"{}")", is_line ? "direction" : "kind", to_string(event.kind));
  append(out, R"(,"stream":{},"source":)", result.stream);
  append_json_string(out, result.source);
  append(out, R"(,"frame":{},"timestamp_ns":{},"model":)", result.frame, result.timestamp_ns);
  append_json_string(out, result.model);
  append(out, R"(,"track_id":{},)", event.track_id);
  append_class(out, event.class_id, event.class_name);
  append(out, R"(,"since_ns":{})", event.since_ns);
  if (!is_line) append(out, R"(,"seconds":{:.3f})", std::chrono::duration<double>(event.stay).count());
  append(out, "}}\n");
}

}  // namespace

std::string to_json(const Result& result, bool contours) {
  ResultLines lines({.contours = contours});
  const JsonBuffer& line = lines.object(result);
  return {line.data(), line.size()};
}

const JsonBuffer& ResultLines::object(const Result& result) {
  line_.clear();
  append_result(result);
  return line_;
}

const JsonBuffer& ResultLines::of(const Result& result) {
  line_.clear();
  if (results_) {
    append_result(result);
    append(line_, "\n");
  }
  for (const ZoneEvent& event : result.zone_events) append_zone_event(line_, result, event);
  return line_;
}

void ResultLines::append_result(const Result& result) {
  append_identity(line_, result);
  append_latency(line_, result.latency);
  if (result.invalid()) append(line_, R"(,"invalid":true)");
  // The keys of the model's task are always present.
  if (finds_objects(result.task) || !result.detections.empty()) append_detections(result);
  if (result.uncropped > 0) append(line_, R"(,"uncropped":{})", result.uncropped);
  if (result.task == Task::kClassify || !result.classes.empty()) append_classes(line_, result.classes);
  if (result.task == Task::kSemantic || !result.segments.empty()) append_segments(line_, result.segments);
  if (!result.depth.cells.empty()) append_depth(line_, result.depth);
  if (result.image.width > 0)
    append(line_, R"(,"image":{{"width":{},"height":{}}})", result.image.width, result.image.height);
  if (result.task == Task::kEmbed || !result.embedding.empty()) append_embedding(line_, result.embedding);
  if (result.task == Task::kText || !result.text.empty()) append_text(line_, result.text, result.text_confidence);
  append(line_, "}}");
}

void ResultLines::append_detections(const Result& result) {
  append(line_, R"(,"detections":[)");
  for (const Detection& detection : result.detections) {
    append(line_, R"({}{{"box":)", &detection == result.detections.data() ? "" : ",");
    append_json_numbers(line_, detection.box);
    append(line_, ",");
    append_class(line_, detection.class_id, detection.class_name);
    append_field(line_, "confidence", detection.confidence);
    if (detection.track_id > 0) append(line_, R"(,"track_id":{})", detection.track_id);
    if (detection.mask) append_silhouette(*detection.mask, result);
    if (!detection.keypoints.empty()) append_keypoints(line_, detection.keypoints);
    if (detection.oriented) append_oriented(line_, *detection.oriented);
    if (!detection.classes.empty()) append_classes(line_, detection.classes);
    if (!detection.embedding.empty()) append_embedding(line_, detection.embedding);
    if (!detection.text.empty()) append_text(line_, detection.text, detection.text_confidence);
    append(line_, "}}");
  }
  append(line_, "]");
}

void ResultLines::append_silhouette(const Mask& mask, const Result& result) {
  append(line_, R"(,"mask":)");
  append_mask(line_, mask.runs, result.width, result.height, lengths_);
  if (contours_) append_contours(line_, tracer_.trace(mask));
}

}  // namespace saccade
