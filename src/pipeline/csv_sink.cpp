#include "pipeline/json_text.hpp"
#include "pipeline/output_file.hpp"
#include "saccade/sinks.hpp"

namespace saccade {
namespace {

/// TEXT as a field: quoted where a reader would otherwise split it.
void append_field(JsonBuffer& out, std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
    out.append(text);
    return;
  }
  out.push_back('"');
  for (char c : text) {
    if (c == '"') out.push_back('"');
    out.push_back(c);
  }
  out.push_back('"');
}

class CsvSink final : public Sink {
 public:
  explicit CsvSink(const std::string& path) : file_(path) {
    file_.write("stream,source,name,frame,timestamp_ns,model,class_id,class,confidence,x1,y1,x2,y2\n");
  }

  void write(const Result& result, const FrameView& /*frame*/) override {
    line_.clear();
    for (const Detection& detection : result.detections) {
      append_start(result, detection.class_id, detection.class_name, detection.confidence);
      for (float edge : detection.box) append(line_, ",{}", edge);
      append(line_, "\n");
    }
    for (const Classification& answer : result.classes) {
      append_start(result, answer.class_id, answer.class_name, answer.confidence);
      append(line_, ",,,,\n");
    }
    file_.write({line_.data(), line_.size()});
    if (file_.is_standard_output()) file_.flush();
  }

  void close(const Summary& /*summary*/) override { file_.close(); }

 private:
  void append_start(const Result& result, int class_id, std::string_view class_name, float confidence) {
    append(line_, "{},", result.stream);
    append_field(line_, result.source);
    append(line_, ",");
    append_field(line_, result.name);
    append(line_, ",{},{},", result.frame, result.timestamp_ns);
    append_field(line_, result.model);
    append(line_, ",{},", class_id);
    append_field(line_, class_name);
    append(line_, ",{}", confidence);
  }

  OutputFile file_;
  JsonBuffer line_;
};

}  // namespace

std::unique_ptr<Sink> open_csv(const std::string& path) { return std::make_unique<CsvSink>(path); }

}  // namespace saccade
