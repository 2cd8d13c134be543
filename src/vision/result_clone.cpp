#include <string>
#include <string_view>
#include <vector>

#include "saccade/results.hpp"

namespace saccade {
namespace {

/// Copies of all that a Result refers to.
struct ClonedData {
  std::string text;
  std::vector<Keypoint> keypoints;
  std::vector<MaskRun> runs;
  std::vector<std::int32_t> classes;
  std::vector<float> depths;
  std::vector<float> embeddings;
  std::vector<Classification> object_classes;
  std::vector<std::uint8_t> pixels;
};

/// Points the views of a Result to copies. The copies must not move: first count(), then move_into().
class ResultCloner {
 public:
  void count(Result& result) {
    std::size_t letters = 0;
    each_text(result, [&](std::string_view& text) { letters += text.size(); });
    std::size_t keypoints = 0;
    std::size_t runs = 0;
    std::size_t embeddings = result.embedding.size();
    std::size_t classes = 0;
    for (const Detection& detection : result.detections) {
      keypoints += detection.keypoints.size();
      if (detection.mask) runs += detection.mask->runs.size();
      embeddings += detection.embedding.size();
      classes += detection.classes.size();
      for (const Classification& each : detection.classes) letters += each.class_name.size();
    }
    data_->text.reserve(letters);
    data_->keypoints.reserve(keypoints);
    data_->runs.reserve(runs);
    data_->embeddings.reserve(embeddings);
    data_->object_classes.reserve(classes);
  }

  void move_into(Result& result) {
    const auto move_text = [&](std::string_view& text) {
      const std::size_t first = data_->text.size();
      data_->text += text;
      text = std::string_view(data_->text).substr(first);
    };
    each_text(result, move_text);
    for (Detection& detection : result.detections) {
      append(data_->keypoints, detection.keypoints);
      if (detection.mask) append(data_->runs, detection.mask->runs);
      append(data_->embeddings, detection.embedding);
      append(data_->object_classes, detection.classes);
    }
    for (Classification& each : data_->object_classes) move_text(each.class_name);
    append(data_->classes, result.class_map.cells);
    append(data_->depths, result.depth.cells);
    append(data_->embeddings, result.embedding);
    move_pixels(result.image);
    result.storage = data_;
  }

 private:
  template <typename Visit>
  static void each_text(Result& result, Visit visit) {
    for (std::string_view* text : {&result.source, &result.name, &result.model, &result.text}) visit(*text);
    for (Detection& each : result.detections) visit(each.class_name), visit(each.text);
    for (Classification& each : result.classes) visit(each.class_name);
    for (Segment& each : result.segments) visit(each.class_name);
  }

  template <typename T>
  static void append(std::vector<T>& to, std::span<const T>& from) {
    const std::size_t first = to.size();
    to.insert(to.end(), from.begin(), from.end());
    from = std::span<const T>(to).subspan(first);
  }

  /// The generated image: one plane, kRgb24.
  void move_pixels(FrameView& image) {
    if (image.width == 0) return;
    const std::size_t row = 3 * static_cast<std::size_t>(image.width);
    data_->pixels.reserve(row * static_cast<std::size_t>(image.height));
    for (int y = 0; y < image.height; ++y) {
      const std::uint8_t* from = image.planes[0] + static_cast<std::ptrdiff_t>(y) * image.pitch_bytes[0];
      data_->pixels.insert(data_->pixels.end(), from, from + row);
    }
    image.planes = {data_->pixels.data()};
    image.pitch_bytes = {static_cast<int>(row)};
    image.memory = MemoryKind::kPlain;
  }

  std::shared_ptr<ClonedData> data_ = std::make_shared<ClonedData>();
};

}  // namespace

Result Result::clone() const {
  Result copy = *this;
  ResultCloner cloner;
  cloner.count(copy);
  cloner.move_into(copy);
  return copy;
}

}  // namespace saccade
