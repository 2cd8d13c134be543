#pragma once

#include "metrics/detection_metric.hpp"
#include "validate/data/class_match.hpp"
#include "validate/data/coco_annotations.hpp"
#include "validate/data/coco_results.hpp"
#include "validate/data/data_set.hpp"

namespace saccade {

/// The annotations per similarity; null if there are none.
struct CocoTruth {
  const CocoAnnotations* boxes = nullptr;
  const CocoAnnotations* masks = nullptr;
  const CocoAnnotations* keypoints = nullptr;
};

/// Evaluates boxes, and masks and keypoints if the model predicts and the data set annotates them.
class CocoEvaluator final : public Evaluator {
 public:
  /// IMAGES are the data set's. Throws Error (kInvalidArgument) if the model's classes match no category.
  CocoEvaluator(const Model& model, const CocoTruth& truth, std::span<const DataImage> images, CocoResults* results);

  void add(std::size_t image, const Result& result) override;
  std::vector<Score> scores() const override;
  std::vector<Headline> headlines() const override;
  std::vector<std::string> notes() const override;

 private:
  /// Whether the model predicts what a similarity compares: known with the first prediction at the latest.
  enum class Holds : std::uint8_t { kUnknown, kYes, kNo };

  /// An image of the data set, and its size.
  struct Shown {
    std::size_t image = 0;
    int width = 0;
    int height = 0;
  };

  /// The state of one similarity.
  struct Part {
    const CocoAnnotations* annotations;
    ClassMatch classes;
    DetectionMetric metric;
    Holds holds = Holds::kUnknown;
    std::vector<Shown> waiting{};  ///< images without a prediction, before the first one
  };

  void add_part(Similarity by, const CocoAnnotations* annotations, bool is_sure);
  void add(Part& part, const Shown& shown, const Result* result);
  static std::vector<TrueObject> truth_of(const Part& part, const CocoImage& said, const Shown& shown);
  std::vector<FoundObject> found_in(const Part& part, const Result& result) const;
  void write(std::size_t image, const Result& result);
  bool is_evaluated(const Part& part) const { return part.holds == Holds::kYes; }

  Model model_;
  std::span<const DataImage> images_;
  CocoResults* results_;
  std::vector<Part> parts_;  ///< the boxes first
};

}  // namespace saccade
