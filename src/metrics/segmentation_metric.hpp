#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace saccade {

/// Agreement of class maps with the ground truth, pixel by pixel.
class SegmentationMetric {
 public:
  /// The class of pixels to ignore.
  static constexpr int kIgnored = 255;

  /// Classes are 0 to CLASSES - 1.
  explicit SegmentationMetric(int classes) : classes_(classes) {}

  /// Adds one image, one class per pixel. A prediction may be -1 (outside of what the model saw), which is wrong. TRUTH
  /// holds classes and kIgnored only.
  void add(std::span<const std::int32_t> found, std::span<const std::uint16_t> truth);

  /// Metrics from 0 to 1; -1 without valid pixels.
  struct Scores {
    double mean_iou = -1;  ///< over the classes that occur in the truth or in the predictions
    double accuracy = -1;  ///< pixel accuracy
  };
  /// Image i, in the order of add(), has weight TIMES[i], or 1 if TIMES is empty.
  Scores scores(std::span<const int> times = {}) const;

  struct ClassScores {
    std::int64_t pixels = 0;  ///< in the ground truth
    double iou = -1;          ///< intersection over union
  };
  ClassScores class_scores(int class_id) const;

 private:
  /// Pixel counts of a class in one image.
  struct Count {
    int class_id = 0;
    std::int64_t truth = 0;
    std::int64_t found = 0;
    std::int64_t both = 0;
  };

  std::vector<Count> totals(std::span<const int> times) const;

  int classes_;
  std::vector<std::vector<Count>> images_;  ///< only classes that occur
};

}  // namespace saccade
