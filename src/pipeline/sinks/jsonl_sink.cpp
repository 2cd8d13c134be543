#include "base/record_file.hpp"
#include "pipeline/sinks/result_lines.hpp"
#include "saccade/sinks.hpp"

namespace saccade {
namespace {

class JsonlSink final : public Sink {
 public:
  JsonlSink(const std::string& path, const JsonlOptions& options)
      : file_(path, options.rotation), lines_(options), has_summary_(options.summary) {}

  bool reads_pixels() const override { return false; }

  void write(const Result& result, const FrameView& /*frame*/) override {
    const JsonBuffer& lines = lines_.of(result);
    file_.append({lines.data(), lines.size()});
  }

  void close(const Summary& summary) override { file_.close(has_summary_ ? to_json(summary) + "\n" : std::string()); }

 private:
  RecordFile file_;
  ResultLines lines_;
  bool has_summary_;
};

}  // namespace

std::unique_ptr<Sink> open_jsonl(const std::string& path, const JsonlOptions& options) {
  return std::make_unique<JsonlSink>(path, options);
}

}  // namespace saccade
