#include <array>
#include <cmath>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/record_file.hpp"
#include "pipeline/sinks/image_ids.hpp"
#include "pipeline/sinks/mask_json.hpp"
#include "pipeline/sinks/second_models.hpp"
#include "saccade/sinks.hpp"
#include "vision/labels/labels.hpp"
#include "vision/tasks.hpp"

namespace saccade {
namespace {

// The end is written after every frame, so that the list is complete whenever the run ends.
RecordForm list_form() { return {.header = "[", .separator = ",", .end = "\n]\n"}; }

class CocoSink final : public Sink {
 public:
  CocoSink(const std::string& path, std::span<const Model> models, const Rotation& rotation)
      : file_(path, rotation, list_form()) {
    for (const Model& model : models) categories_.push_back(coco_categories(model));
  }

  bool reads_pixels() const override { return false; }

  void write(const Result& result, const FrameView& /*frame*/) override {
    text_.clear();
    const std::int64_t image = result.image_id >= 0 ? result.image_id : result.frame;
    for (const Detection& detection : result.detections) {
      const auto& [x1, y1, x2, y2] = detection.box;
      append(text_, R"({}{{"image_id":{},"category_id":{},"bbox":)", text_.size() == 0 ? "\n" : ",\n", image,
             category_of(result.model_index, detection.class_id));
      append_json_numbers(text_, std::array{x1, y1, x2 - x1, y2 - y1});
      if (detection.mask) {
        append(text_, R"(,"segmentation":)");
        append_mask(text_, detection.mask->runs, result.width, result.height, lengths_);
      }
      if (!detection.keypoints.empty()) append_keypoints(detection.keypoints);
      append(text_, R"(,"score":)");
      append_json_number(text_, detection.confidence);
      append(text_, "}}");
    }
    file_.append({text_.data(), text_.size()});
  }

  void close(const Summary& /*summary*/) override { file_.close(); }

 private:
  int category_of(int model, int class_id) const {
    const auto& categories = categories_[static_cast<std::size_t>(model)];
    const auto id = static_cast<std::size_t>(class_id);
    return id < categories.size() ? categories[id] : class_id;
  }

  /// [x, y, visibility, ...]: 2 is COCO's "labelled and visible", which its evaluation ignores. A keypoint that
  /// is not finite becomes 0, 0, 0.
  void append_keypoints(std::span<const Keypoint> points) {
    append(text_, R"(,"keypoints":[)");
    for (const Keypoint& point : points) {
      if (&point != points.data()) append(text_, ",");
      if (!std::isfinite(point.x) || !std::isfinite(point.y)) {
        append(text_, "0,0,0");
        continue;
      }
      append_json_number(text_, point.x);
      append(text_, ",");
      append_json_number(text_, point.y);
      append(text_, ",2");
    }
    append(text_, "]");
  }

  RecordFile file_;
  std::vector<std::vector<int>> categories_;  ///< per model, by class ID
  JsonBuffer text_;
  RunLengths lengths_;
};

}  // namespace

std::vector<int> coco_categories(const Model& model) {
  const auto labels = model.labels();
  const bool is_coco = are_coco(labels);
  const bool is_person = model.task() == Task::kPose && labels.size() == 1 && labels.front() == "person";
  std::vector<int> categories;
  categories.reserve(labels.size());
  for (int id = 0; id < static_cast<int>(labels.size()); ++id)
    categories.push_back(is_coco || is_person ? coco_category(id) : id);
  return categories;
}

std::unique_ptr<Sink> open_coco(const std::string& path, std::span<const Model> models, std::span<const Source> sources,
                                const Rotation& rotation) {
  for (const Model& model : models)
    if (!finds_objects(model.task()))
      fail(ErrorCode::kInvalidArgument,
           "can't write {}: {}'s task is {}, but COCO results need boxes; --jsonl supports all tasks", path,
           model.name(), to_string(model.task()));
  check_image_ids(path, sources);
  warn_of_second_models(path, models);
  if (models.size() > 1)
    log(LogLevel::kWarning,
        "{} holds the results of {} models, which the format can't tell apart: for one file each, run each model "
        "separately",
        path, models.size());
  return std::make_unique<CocoSink>(path, models, rotation);
}

}  // namespace saccade
