#include "base/error.hpp"
#include "pipeline/json_text.hpp"
#include "pipeline/output_file.hpp"
#include "saccade/sinks.hpp"
#include "vision/labels.hpp"

namespace saccade {
namespace {

class CocoSink final : public Sink {
 public:
  CocoSink(const std::string& path, std::span<const Model> models) : file_(path) {
    for (const Model& model : models) is_coco_.push_back(are_coco(model.labels()));
    file_.write("[");
  }

  void write(const Result& result, const FrameView& /*frame*/) override {
    text_.clear();
    const std::int64_t image = result.image_id >= 0 ? result.image_id : result.frame;
    const bool is_coco = is_coco_[static_cast<std::size_t>(result.model_index)];
    for (const Detection& detection : result.detections) {
      const auto& [x1, y1, x2, y2] = detection.box;
      append(text_, R"({}{{"image_id":{},"category_id":{},"bbox":[)", any_ ? ",\n" : "\n", image,
             is_coco ? coco_category(detection.class_id) : detection.class_id);
      for (float value : {x1, y1, x2 - x1, y2 - y1}) {
        append_json_number(text_, value);
        text_.push_back(',');
      }
      text_.resize(text_.size() - 1);
      append(text_, R"(],"score":)");
      append_json_number(text_, detection.confidence);
      append(text_, "}}");
      any_ = true;
    }
    file_.write({text_.data(), text_.size()});
  }

  void close(const Summary& /*summary*/) override {
    file_.write("\n]\n");
    file_.close();
  }

 private:
  OutputFile file_;
  std::vector<bool> is_coco_;
  JsonBuffer text_;
  bool any_ = false;
};

}  // namespace

std::unique_ptr<Sink> open_coco(const std::string& path, std::span<const Model> models) {
  for (const Model& model : models)
    if (model.task() != Task::kDetect)
      fail(ErrorCode::kInvalidArgument, "can't write {}: {} gives classes, and COCO's results are detections", path,
           model.name());
  return std::make_unique<CocoSink>(path, models);
}

}  // namespace saccade
