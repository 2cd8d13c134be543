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
  std::vector<float> embedding;
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
    for (const Detection& detection : result.detections) {
      keypoints += detection.keypoints.size();
      if (detection.mask) runs += detection.mask->runs.size();
    }
    data_->text.reserve(letters);
    data_->keypoints.reserve(keypoints);
    data_->runs.reserve(runs);
  }

  void move_into(Result& result) {
    each_text(result, [&](std::string_view& text) {
      const std::size_t first = data_->text.size();
      data_->text += text;
      text = std::string_view(data_->text).substr(first);
    });
    for (Detection& detection : result.detections) {
      append(data_->keypoints, detection.keypoints);
      if (detection.mask) append(data_->runs, detection.mask->runs);
    }
    append(data_->classes, result.class_map.cells);
    append(data_->depths, result.depth.cells);
    append(data_->embedding, result.embedding);
    move_pixels(result.image);
    result.storage = data_;
  }

 private:
  template <typename Visit>
  static void each_text(Result& result, Visit visit) {
    for (std::string_view* text : {&result.source, &result.name, &result.model, &result.text}) visit(*text);
    for (Detection& each : result.detections) visit(each.class_name);
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
