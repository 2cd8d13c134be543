#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace saccade {

/// How class maps agree with the truth, pixel by pixel.
class SegmentationMetric {
 public:
  /// Pixels of this class are not looked at.
  static constexpr int kIgnored = 255;

  /// Classes are 0 to CLASSES - 1.
  explicit SegmentationMetric(int classes) : classes_(classes) {}

  /// One image, a class a pixel. What the model gives may be -1 (it did not look there), which is wrong. TRUTH holds
  /// classes and kIgnored alone.
  void add(std::span<const std::int32_t> found, std::span<const std::uint16_t> truth);

  /// Figures from 0 to 1; -1 where there was nothing to look at.
  struct Scores {
    double mean_iou = -1;  ///< over the classes that there are, in the truth or in the predictions
    double accuracy = -1;  ///< the share of the pixels that are right
  };
  /// Image i, in the order of add(), counts TIMES[i] times; each once where that is empty.
  Scores scores(std::span<const int> times = {}) const;

  struct ClassScores {
    std::int64_t pixels = 0;  ///< in the truth
    double iou = -1;          ///< of those that are the class in either, the share that is in both
  };
  ClassScores class_scores(int class_id) const;

 private:
  /// Pixels of a class in one image.
  struct Count {
    int class_id = 0;
    std::int64_t truth = 0;
    std::int64_t found = 0;
    std::int64_t both = 0;
  };

  std::vector<Count> totals(std::span<const int> times) const;

  int classes_;
  std::vector<std::vector<Count>> pictures_;  ///< only classes that there are
};

}  // namespace saccade
