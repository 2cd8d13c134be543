#include "pipeline/json_text.hpp"
#include "pipeline/output_file.hpp"
#include "saccade/sinks.hpp"

namespace saccade {
namespace {

double milliseconds(std::chrono::nanoseconds time) { return static_cast<double>(time.count()) / 1e6; }

void append_identity(JsonBuffer& out, const Result& result) {
  append(out, R"({{"stream":{},"source":)", result.stream);
  append_json_string(out, result.source);
  if (!result.name.empty()) {
    append(out, R"(,"name":)");
    append_json_string(out, result.name);
  }
  append(out, R"(,"frame":{},"timestamp_ns":{},"model":)", result.frame, result.timestamp_ns);
  append_json_string(out, result.model);
  append(out, R"(,"task":"{}","width":{},"height":{})", to_string(result.task), result.width, result.height);
}

void append_latency(JsonBuffer& out, const Latency& time) {
  append(out,
         R"(,"latency_ms":{{"capture":{:.4f},"queue":{:.4f},"pre":{:.4f},"model":{:.4f},"post":{:.4f},)"
         R"("total":{:.4f}}})",
         milliseconds(time.capture), milliseconds(time.queue), milliseconds(time.pre), milliseconds(time.model),
         milliseconds(time.post), milliseconds(time.total));
}

void append_class(JsonBuffer& out, int class_id, std::string_view class_name, float confidence) {
  append(out, R"("class_id":{},"class":)", class_id);
  append_json_string(out, class_name);
  append(out, R"(,"confidence":)");
  append_json_number(out, confidence);
  append(out, "}}");
}

void append_detections(JsonBuffer& out, const Result& result) {
  append(out, R"(,"detections":[)");
  for (const Detection& detection : result.detections) {
    if (&detection != result.detections.data()) append(out, ",");
    append(out, R"({{"box":[)");
    for (std::size_t i = 0; i < detection.box.size(); ++i) {
      if (i != 0) append(out, ",");
      append_json_number(out, detection.box[i]);
    }
    append(out, "],");
    append_class(out, detection.class_id, detection.class_name, detection.confidence);
  }
  append(out, "]");
}

void append_classes(JsonBuffer& out, const Result& result) {
  append(out, R"(,"classes":[)");
  for (const Classification& answer : result.classes) {
    if (&answer != result.classes.data()) append(out, ",");
    append(out, "{{");
    append_class(out, answer.class_id, answer.class_name, answer.confidence);
  }
  append(out, "]");
}

class JsonlSink final : public Sink {
 public:
  explicit JsonlSink(const std::string& path) : file_(path) {}

  void write(const Result& result, const FrameView& /*frame*/) override {
    line_.clear();
    append_identity(line_, result);
    append_latency(line_, result.latency);
    if (result.task == Task::kDetect)
      append_detections(line_, result);
    else
      append_classes(line_, result);
    append(line_, "}}\n");
    file_.write({line_.data(), line_.size()});
    if (file_.is_standard_output()) file_.flush();  // someone reads along
  }

  void close(const Summary& summary) override {
    file_.write(to_json(summary) + "\n");
    file_.close();
  }

 private:
  OutputFile file_;
  JsonBuffer line_;
};

}  // namespace

std::unique_ptr<Sink> open_jsonl(const std::string& path) { return std::make_unique<JsonlSink>(path); }

}  // namespace saccade
