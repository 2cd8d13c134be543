#pragma once

#include <array>
#include <span>
#include <vector>

#include "metrics/precision_recall.hpp"
#include "metrics/similarity.hpp"

namespace saccade {

/// COCO's metrics, 0 to 1; -1 if there is no ground truth, and for small objects by keypoints, which COCO omits.
struct DetectionScores {
  double ap = -1;    ///< average precision, mean over IoU thresholds 0.50, 0.55 ... 0.95 and over classes
  double ap50 = -1;  ///< at IoU 0.50
  double ap75 = -1;
  double ap_small = -1;   ///< of objects below 32^2 pixels
  double ap_medium = -1;  ///< from 32^2 to 96^2
  double ap_large = -1;
  double ar1 = -1;  ///< average recall with one prediction per image and class
  double ar10 = -1;
  double ar = -1;  ///< with the maximum: 100, by keypoints 20
  double ar50 = -1;
  double ar75 = -1;
  double ar_small = -1;
  double ar_medium = -1;
  double ar_large = -1;
};

/// Average precision and recall by COCO's definition, as in pycocotools' COCOeval: predictions are matched greedily in
/// descending order of score, each to the free object with the greatest similarity; precision is made monotone and
/// sampled at 101 recalls. One thread at a time.
class DetectionMetric {
 public:
  /// Class ids are 0 to CLASSES - 1; others are ignored. SIGMAS, for keypoints: see keypoint_sigmas().
  explicit DetectionMetric(int classes, Similarity by = Similarity::kBox, std::vector<double> sigmas = {});

  /// Adds one image, its predictions in any order. The data that the similarity compares (masks, or one joint per
  /// sigma) must be present.
  void add(std::span<const TrueObject> truth, std::span<const FoundObject> found);

  Similarity by() const { return by_; }
  int images() const { return images_; }
  DetectionScores scores() const;

  struct ClassScores {
    int objects = 0;  ///< ground-truth objects
    double ap = -1;
    double ap50 = -1;
  };
  ClassScores class_scores(int class_id) const;

  /// Each class's predictions, for curves over any selection of images; see average_precision().
  std::vector<RankedPredictions> ranked() const;
  /// COCO's maximum number of predictions per image and class.
  int max_predictions() const;

 private:
  /// One class over all images.
  struct ClassRecord {
    std::vector<MatchedPrediction> predictions;
    std::vector<WantedObjects> wanted;
  };

  double similarity(const FoundObject& found, const TrueObject& truth) const;
  double area_of(const FoundObject& found) const;
  void match(std::span<const TrueObject> truth, std::span<const FoundObject> found, int class_id);

  Similarity by_;
  std::vector<double> sigmas_;
  std::vector<ClassRecord> classes_;
  int images_ = 0;
};

/// The ap of DetectionScores with image i, in the order of add(), weighted by TIMES[i].
double average_precision(std::span<const RankedPredictions> classes, int most, std::span<const int> times);

}  // namespace saccade
