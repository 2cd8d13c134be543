#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include "base/error.hpp"
#include "base/file_registry.hpp"
#include "base/output_file.hpp"
#include "base/printable.hpp"
#include "pipeline/sinks/json_text.hpp"
#include "pipeline/sinks/second_models.hpp"
#include "saccade/contours.hpp"
#include "saccade/sinks.hpp"
#include "vision/tasks.hpp"

namespace saccade {
namespace {

/// Twice the area enclosed by the pixel centres of CONTOUR.
double doubled_area(ContourTracer::Contour contour) {
  double sum = 0;
  for (std::size_t i = 0; i < contour.size(); ++i) {
    const ContourPoint& a = contour[i];
    const ContourPoint& b = contour[(i + 1) % contour.size()];
    sum += static_cast<double>(a.x) * b.y - static_cast<double>(b.x) * a.y;
  }
  return std::abs(sum);
}

/// A label is one polygon: the contour of the mask's largest part.
ContourTracer::Contour largest(std::span<const ContourTracer::Contour> contours) {
  ContourTracer::Contour best;
  double area = -1;
  for (const auto& contour : contours) {
    const double its = doubled_area(contour);
    if (its <= area) continue;
    area = its;
    best = contour;
  }
  return best;
}

class YoloSink final : public Sink {
 public:
  YoloSink(const std::string& folder, std::span<const Model> models, std::size_t sources, const YoloOptions& options)
      : are_several_sources_(sources > 1), options_(options), taken_(sources * models.size()) {
    for (std::size_t i = 0; i < models.size(); ++i) {
      const std::filesystem::path root = folder;
      folders_.push_back(models.size() == 1 ? root : root / fmt::format("{}-{}", i, models[i].name()));
      make_folder(folders_.back().string());
      claim_output_folder(folders_.back(), [](std::string_view name) { return name.ends_with(".txt"); });
    }
  }

  bool reads_pixels() const override { return false; }

  void write(const Result& result, const FrameView& /*frame*/) override {
    text_.clear();
    width_ = static_cast<float>(result.width);
    height_ = static_cast<float>(result.height);
    for (const Detection& detection : result.detections) append_object(detection);
    // A class line among objects would make the file unreadable as labels.
    if (result.task == Task::kClassify)
      for (const Classification& found : result.classes) {
        append(text_, "{:.2f} ", found.confidence);
        append_printable(text_, found.class_name);
        text_.push_back('\n');
      }
    OutputFile file(path_for(result), OutputFile::Appears::kWhole, OutputPath::Claim::kChecked);
    file.write({text_.data(), text_.size()});
    file.close();
  }

  void close(const Summary& /*summary*/) override {}

 private:
  void append_object(const Detection& detection) {
    if (detection.mask && detection.mask->runs.empty()) return;
    append(text_, "{}", detection.class_id);
    if (detection.mask)
      append_polygon(*detection.mask);
    else if (detection.oriented)
      append_corners(*detection.oriented);
    else
      append_box(detection.box);
    for (const Keypoint& point : detection.keypoints) {
      append_keypoint(point);
    }
    if (options_.confidence) append(text_, " {:g}", detection.confidence);
    if (detection.track_id > 0) append(text_, " {}", detection.track_id);
    append(text_, "\n");
  }

  /// A keypoint that is not finite becomes 0 0 0.
  void append_keypoint(const Keypoint& point) {
    const bool is_there = std::isfinite(point.x) && std::isfinite(point.y);
    append_point(is_there ? point.x : 0, is_there ? point.y : 0);
    append(text_, " {:g}", is_there && std::isfinite(point.confidence) ? point.confidence : 0);
  }

  void append_point(float x, float y) { append(text_, " {:g} {:g}", x / width_, y / height_); }

  void append_box(const std::array<float, 4>& box) {
    append_point((box[0] + box[2]) / 2, (box[1] + box[3]) / 2);
    append_point(box[2] - box[0], box[3] - box[1]);
  }

  void append_corners(const OrientedBox& box) {
    const auto corners = box.corners();
    for (std::size_t i = 0; i < corners.size(); i += 2) append_point(corners[i], corners[i + 1]);
  }

  /// Through the pixel centres of the contour; a contour without area becomes the rectangle around its pixels.
  void append_polygon(const Mask& mask) {
    const auto contour = largest(tracer_.trace(mask));
    if (contour.size() > 2) {
      for (const ContourPoint& point : contour)
        append_point(static_cast<float>(point.x) + 0.5F, static_cast<float>(point.y) + 0.5F);
      return;
    }
    const auto [left, right] = std::minmax(contour.front().x, contour.back().x);
    const auto [top, bottom] = std::minmax(contour.front().y, contour.back().y);
    const auto x1 = static_cast<float>(left);
    const auto y1 = static_cast<float>(top);
    const auto x2 = static_cast<float>(right + 1);
    const auto y2 = static_cast<float>(bottom + 1);
    append_point(x1, y1);
    append_point(x1, y2);
    append_point(x2, y2);
    append_point(x2, y1);
  }

  std::string path_for(const Result& result) {
    const auto model = static_cast<std::size_t>(result.model_index);
    std::string name =
        result.name.empty() ? fmt::format("{:06}", result.frame) : std::filesystem::path(result.name).stem().string();
    if (are_several_sources_ || result.name.empty()) name = fmt::format("{}-{}", result.stream, name);
    if (!result.name.empty()) take(name, result);
    return (folders_[model] / (name + ".txt")).string();
  }

  /// If images differ only in their extension, the second one keeps it.
  void take(std::string& name, const Result& result) {
    const auto stream = static_cast<std::size_t>(result.stream);
    std::set<std::string>& taken = taken_[stream * folders_.size() + static_cast<std::size_t>(result.model_index)];
    if (taken.insert(name).second) return;
    const std::string whole = name + std::filesystem::path(result.name).extension().string();
    name = whole;
    for (int i = 1; !taken.insert(name).second; ++i) name = fmt::format("{}-{}", whole, i);
  }

  bool are_several_sources_;
  YoloOptions options_;
  std::vector<std::filesystem::path> folders_;  ///< per model
  std::vector<std::set<std::string>> taken_;    ///< file names per source and model
  JsonBuffer text_;
  ContourTracer tracer_;
  float width_ = 0;
  float height_ = 0;
};

}  // namespace

std::unique_ptr<Sink> open_yolo(const std::string& folder, std::span<const Model> models, std::size_t sources,
                                const YoloOptions& options) {
  for (const Model& model : models)
    if (!finds_objects(model.task()) && model.task() != Task::kClassify)
      fail(
          ErrorCode::kInvalidArgument,
          "can't write labels into {}: {}'s task is {}, but labels need objects or classes; --jsonl supports all tasks",
          folder, model.name(), to_string(model.task()));
  warn_of_second_models(folder, models);
  return std::make_unique<YoloSink>(folder, models, sources, options);
}

}  // namespace saccade
