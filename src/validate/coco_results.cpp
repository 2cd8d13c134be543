#include "validate/coco_results.hpp"

namespace saccade {

void CocoResults::add(std::int64_t image, int width, int height, std::span<const Answer> answers) {
  text_.clear();
  for (const Answer& answer : answers) {
    const FoundObject& object = *answer.object;
    const CocoBox& box = object.box;
    append(text_, R"({}{{"image_id":{},"category_id":{},"bbox":[{},{},{},{}],"score":{})", any_ ? ",\n" : "\n", image,
           answer.category, box.x, box.y, box.width, box.height, object.score);
    any_ = true;
    if (answer.has_mask) {
      append(text_, R"(,"segmentation":{{"size":[{},{}],"counts":)", height, width);
      append_json_string(text_, lengths_.encode_text(object.mask, width, height));
      text_.push_back('}');
    }
    if (!object.keypoints.empty()) {
      append(text_, R"(,"keypoints":)");
      char separator = '[';
      for (const CocoPoint& point : object.keypoints) {
        append(text_, "{}{},{},1", separator, point.x, point.y);
        separator = ',';
      }
      text_.push_back(']');
    }
    text_.push_back('}');
  }
  file_.write({text_.data(), text_.size()});
}

void CocoResults::close() {
  file_.write("\n]\n");
  file_.close();
}

}  // namespace saccade
