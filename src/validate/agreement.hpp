#pragma once

#include <cstdint>
#include <vector>

#include "saccade/results.hpp"

namespace saccade {

/// A copy of what a result says, for as long as its model lives; masks, keypoints and images are left out.
class KeptResult {
 public:
  void keep(const Result& result);
  const Result& get() const { return result_; }

 private:
  Result result_;
  std::vector<std::int32_t> classes_;
  std::vector<float> depths_;
};

/// How much one model's predictions are another's, the reference's, image by image, without any truth.
class Agreement {
 public:
  /// From this confidence on a prediction is expected to be matched...
  static constexpr float kSure = 0.25F;
  /// ... by one of at least this confidence, so that one on the edge is not lost.
  static constexpr float kNearlySure = 0.2F;
  /// Depths agree where they differ by at most this share of the reference's range.
  static constexpr float kNearby = 0.05F;

  /// Both are about the same image.
  void add(const Result& result, const Result& reference);

  /// Parts of a whole.
  struct Share {
    std::int64_t part = 0;
    std::int64_t whole = 0;  ///< 0: there was nothing to compare
    double value() const { return whole == 0 ? -1 : static_cast<double>(part) / static_cast<double>(whole); }
  };
  /// Boxes of the reference that have one of the same class, each of them once, with an overlap from 0.9 (0.5) on.
  Share matched90;
  Share matched50;
  /// The same the other way: boxes that the reference has too.
  Share confirmed90;
  Share confirmed50;
  Share same_class;   ///< images whose first class is the same
  Share same_pixels;  ///< of class maps
  Share near_pixels;  ///< of depths of the same kind
};

}  // namespace saccade
