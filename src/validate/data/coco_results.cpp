#include "validate/data/coco_results.hpp"

#include <array>

namespace saccade {
namespace {

// Written after every image, so that the list is complete whenever the run ends.
constexpr std::string_view kEnd = "\n]\n";

}  // namespace

void CocoResults::add(std::int64_t image, int width, int height, std::span<const Prediction> predictions) {
  text_.clear();
  for (const Prediction& prediction : predictions) {
    const FoundObject& object = *prediction.object;
    const CocoBox& box = object.box;
    append(text_, R"({}{{"image_id":{},"category_id":{},"bbox":)", any_ ? ",\n" : "\n", image, prediction.category);
    append_json_numbers(text_, std::array{box.x, box.y, box.width, box.height});
    append(text_, R"(,"score":)");
    append_json_number(text_, object.score);
    any_ = true;
    if (prediction.has_mask) {
      append(text_, R"(,"segmentation":)");
      append_mask(text_, object.mask, width, height, lengths_);
    }
    if (!object.keypoints.empty()) append_keypoints(object.keypoints);
    text_.push_back('}');
  }
  file_.write({text_.data(), text_.size()});
  file_.write_end(kEnd);
}

void CocoResults::append_keypoints(std::span<const CocoPoint> points) {
  append(text_, R"(,"keypoints":)");
  char separator = '[';
  for (const CocoPoint& point : points) {
    text_.push_back(separator);
    append_json_number(text_, point.x);
    text_.push_back(',');
    append_json_number(text_, point.y);
    append(text_, ",1");
    separator = ',';
  }
  text_.push_back(']');
}

void CocoResults::close() {
  file_.write(kEnd);
  file_.close();
}

}  // namespace saccade
