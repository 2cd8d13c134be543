#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/printable.hpp"
#include "base/record_file.hpp"
#include "pipeline/sinks/json_text.hpp"
#include "saccade/sinks.hpp"

namespace saccade {
namespace {

/// Whether a spreadsheet would evaluate TEXT as a formula.
bool begins_formula(std::string_view text) {
  return !text.empty() && std::string_view("=+-@\t\r").find(text.front()) != std::string_view::npos;
}

/// TEXT as a field: escaped by printable(), so that it stays on one line; quoted if necessary, and prefixed with an
/// apostrophe if it would be a formula.
void append_field(JsonBuffer& out, std::string_view text) {
  const std::size_t start = out.size();
  if (begins_formula(text)) out.push_back('\'');
  append_printable(out, text);
  const std::string_view field(out.data() + start, out.size() - start);
  if (field.find_first_of(",\"") == std::string_view::npos) return;
  // Backwards from the end, to double the quotes in place.
  const auto quotes = static_cast<std::size_t>(std::ranges::count(field, '"'));
  std::size_t from = out.size();
  out.resize(out.size() + quotes + 2);
  std::size_t to = out.size();
  out[--to] = '"';
  while (from > start) {
    const char c = out[--from];
    out[--to] = c;
    if (c == '"') out[--to] = '"';
  }
  out[start] = '"';
}

constexpr std::string_view kHeader =
    "stream,source,name,frame,timestamp_ns,model,class_id,class,confidence,x1,y1,x2,y2,kind,pixels,"
    "obb_x,obb_y,obb_width,obb_height,obb_angle,keypoints,depth_min,depth_max,depth_mean,"
    "second_class_id,second_class,second_confidence,text,text_confidence,invalid,track_id\n";

class CsvSink final : public Sink {
 public:
  CsvSink(const std::string& path, const Rotation& rotation)
      : path_(path), file_(path, rotation, {.header = std::string(kHeader)}) {}

  bool reads_pixels() const override { return false; }

  void write(const Result& result, const FrameView& /*frame*/) override {
    line_.clear();
    for (const Detection& detection : result.detections) append_object(result, detection);
    for (const Classification& found : result.classes) {
      append_start(result);
      append_class(found.class_id, found.class_name);
      append_number(",", found.confidence);
      append(line_, ",,,,,class,,,,,,,,,,,,,,,");
      append_end(result);
    }
    for (const Segment& segment : result.segments) {
      append_start(result);
      append_class(segment.class_id, segment.class_name);
      append(line_, ",,,,,,segment,{},,,,,,,,,,,,,,", segment.pixels);
      append_end(result);
    }
    if (!result.depth.cells.empty()) append_depth(result);
    if (!result.text.empty()) append_text(result);
    if (result.invalid() && line_.size() == 0) append_nothing(result);
    file_.append({line_.data(), line_.size()});
  }

  void close(const Summary& /*summary*/) override { file_.close(); }

 private:
  void append_start(const Result& result) {
    append(line_, "{},", result.stream);
    append_field(line_, result.source);
    append(line_, ",");
    append_field(line_, result.name);
    append(line_, ",{},{},", result.frame, result.timestamp_ns);
    append_field(line_, result.model);
  }

  void append_class(int class_id, std::string_view class_name) {
    append(line_, ",{},", class_id);
    append_field(line_, class_name);
  }

  /// A number that is not finite leaves its field empty.
  void append_number(std::string_view before, float value) {
    append(line_, "{}", before);
    if (std::isfinite(value)) append(line_, "{}", value);
  }

  /// TRACK_ID 0: none.
  void append_end(const Result& result, std::int64_t track_id = 0) {
    append(line_, "{},", result.invalid() ? ",true" : ",");
    if (track_id > 0) append(line_, "{}", track_id);
    append(line_, "\n");
  }

  /// The row of a frame with an invalid and empty result, which must differ from one without detections.
  void append_nothing(const Result& result) {
    append_start(result);
    append(line_, ",,,,,,,,none,,,,,,,,,,,,,,,");
    append_end(result);
  }

  void append_object(const Result& result, const Detection& detection) {
    append_start(result);
    append_class(detection.class_id, detection.class_name);
    append_number(",", detection.confidence);
    for (float edge : detection.box) append_number(",", edge);
    append(line_, ",object,");
    if (detection.mask) append(line_, "{}", detection.mask->area);
    if (const auto& box = detection.oriented)
      for (float number : {box->x, box->y, box->width, box->height, box->angle}) append_number(",", number);
    else
      append(line_, ",,,,,");
    append(line_, ",");
    for (const Keypoint& point : detection.keypoints) {
      append_number(&point == detection.keypoints.data() ? "" : ";", point.x);
      append_number(" ", point.y);
      append_number(" ", point.confidence);
    }
    append(line_, ",,,");
    append_second(detection);
    append_end(result, detection.track_id);
  }

  /// The best class and the text that the second model predicts for an object.
  void append_second(const Detection& detection) {
    if (detection.classes.empty()) {
      append(line_, ",,,");
    } else {
      const Classification& best = detection.classes.front();
      append_class(best.class_id, best.class_name);
      append_number(",", best.confidence);
    }
    append_line_of_text(detection.text, detection.text_confidence);
    if (!detection.embedding.empty()) warn_of_embeddings();
  }

  void append_line_of_text(std::string_view text, float confidence) {
    append(line_, ",");
    append_field(line_, text);
    append(line_, ",");
    if (!text.empty()) append_number("", confidence);
  }

  void append_text(const Result& result) {
    append_start(result);
    append(line_, ",,,,,,,,text,,,,,,,,,,,,,");
    append_line_of_text(result.text, result.text_confidence);
    append_end(result);
  }

  void warn_of_embeddings() {
    if (std::exchange(warned_, true)) return;
    log(LogLevel::kWarning, "{} does not hold the embeddings of objects, for which CSV has no columns; --jsonl does",
        path_);
  }

  void append_depth(const Result& result) {
    append_start(result);
    append(line_, ",,,,,,,,{}_depth,,,,,,,", to_string(result.depth.kind));
    for (float number : {result.depth.min, result.depth.max, result.depth.mean}) append_number(",", number);
    append(line_, ",,,,,");
    append_end(result);
  }

  std::string path_;
  RecordFile file_;
  JsonBuffer line_;
  bool warned_ = false;
};

}  // namespace

std::unique_ptr<Sink> open_csv(const std::string& path, std::span<const Model> models, const Rotation& rotation) {
  for (const Model& model : models)
    if (model.task() == Task::kEmbed)
      fail(ErrorCode::kInvalidArgument,
           "can't write {}: {}'s task is embed, and CSV has no columns for embeddings; use --jsonl", path,
           model.name());
  return std::make_unique<CsvSink>(path, rotation);
}

}  // namespace saccade
