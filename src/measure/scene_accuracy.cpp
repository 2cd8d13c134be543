#include "measure/scene_accuracy.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace saccade {

std::vector<TrueObject> objects_of(const SceneTruth& truth) {
  std::vector<TrueObject> objects;
  for (const SceneObject& object : truth.objects) {
    const CocoBox box{.x = static_cast<double>(object.x1),
                      .y = static_cast<double>(object.y1),
                      .width = static_cast<double>(object.x2 - object.x1),
                      .height = static_cast<double>(object.y2 - object.y1)};
    objects.push_back({.box = box,
                       .class_id = object.class_id,
                       .area = static_cast<double>(object.visible_pixels),
                       .crowd = object.ignore});
  }
  return objects;
}

SceneAnswers::SceneAnswers(const Model& model) {
  const auto names = scene_classes();
  std::string missing;
  for (std::string_view name : names)
    if (std::ranges::find(model.labels(), name) == model.labels().end())
      missing += fmt::format("{}{}", missing.empty() ? "" : ", ", name);
  if (model.task() != Task::kDetect || !missing.empty())
    fail(ErrorCode::kInvalidArgument, "{} is no detector of the scene's objects: its labels lack {}", model.name(),
         missing.empty() ? "boxes" : missing);
  for (const std::string& label : model.labels()) {
    const auto place = std::ranges::find(names, label);
    scene_class_.push_back(place == names.end() ? -1 : static_cast<int>(place - names.begin()));
  }
}

std::vector<FoundObject> SceneAnswers::of(const Result& result) const {
  std::vector<FoundObject> found;
  for (const Detection& detection : result.detections) {
    const auto& [x1, y1, x2, y2] = detection.box;
    const double left = x1;
    const double top = y1;
    found.push_back({.box = {left, top, x2 - left, y2 - top},
                     .class_id = scene_class_.at(static_cast<std::size_t>(detection.class_id)),
                     .score = detection.confidence});
  }
  return found;
}

}  // namespace saccade
