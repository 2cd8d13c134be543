#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "saccade/results.hpp"

namespace saccade {

/// A copy of a result without masks, keypoints, images and embeddings; valid as long as its model.
class KeptResult {
 public:
  void keep(const Result& result);
  const Result& get() const { return result_; }

 private:
  Result result_;
  std::vector<std::int32_t> classes_;
  std::vector<float> depths_;
  std::string text_;
  std::vector<std::string> texts_;                           ///< of the objects
  std::vector<std::vector<Classification>> second_classes_;  ///< of the objects
};

/// Agreement of a model's predictions with the reference's, image by image, without ground truth.
class Agreement {
 public:
  /// Predictions of at least this confidence should be matched...
  static constexpr float kSure = 0.25F;
  /// ... by one of at least this confidence, which tolerates predictions near the threshold.
  static constexpr float kNearlySure = 0.2F;
  /// Depths agree if they differ by at most this share of the reference's range.
  static constexpr float kNearby = 0.05F;

  /// Both results belong to the same image.
  void add(const Result& result, const Result& reference);

  /// A ratio of counts.
  struct Share {
    std::int64_t part = 0;
    std::int64_t whole = 0;  ///< 0: there was nothing to compare
    double value() const { return whole == 0 ? -1 : static_cast<double>(part) / static_cast<double>(whole); }
  };
  /// Boxes of the reference that a box of the same class matches one to one with an IoU of at least 0.9 (0.5).
  Share matched90;
  Share matched50;
  /// The same with model and reference exchanged.
  Share confirmed90;
  Share confirmed50;
  Share same_class;   ///< images with the same top class
  Share same_pixels;  ///< of class maps
  Share near_pixels;  ///< of depths of the same kind
  /// Objects that match with an IoU of at least 0.5, with the same best class by the second model.
  Share same_second_class;
  /// Texts that are equal: of these objects and of images.
  Share same_texts;
  /// The edit distance of these texts, and the characters of the reference: the character error rate (CER).
  Share character_errors;

 private:
  void compare_second(const Detection& object, const Detection& reference);
  void compare_texts(std::string_view text, std::string_view reference);
};

}  // namespace saccade
