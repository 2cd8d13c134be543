#pragma once

#include <array>
#include <span>
#include <vector>

#include "metrics/precision_recall.hpp"
#include "metrics/similarity.hpp"

namespace saccade {

/// COCO's figures, 0 to 1; -1 where there was nothing to find, and for small objects by keypoints, which COCO leaves
/// out.
struct DetectionScores {
  double ap = -1;    ///< average precision, mean over overlaps 0.50, 0.55 ... 0.95 and over the classes
  double ap50 = -1;  ///< at an overlap of 0.50
  double ap75 = -1;
  double ap_small = -1;   ///< of objects below 32^2 pixels
  double ap_medium = -1;  ///< from 32^2 to 96^2
  double ap_large = -1;
  double ar1 = -1;  ///< average recall with one answer an image and class
  double ar10 = -1;
  double ar = -1;  ///< with as many as count: 100, by keypoints 20
  double ar50 = -1;
  double ar75 = -1;
  double ar_small = -1;
  double ar_medium = -1;
  double ar_large = -1;
};

/// Average precision and recall by COCO's definition, as pycocotools' COCOeval computes it: answers matched greedily by
/// falling score, each to the object that is most like it of those that are still free; precision made monotone and
/// read at 101 recalls. One thread at a time.
class DetectionMetric {
 public:
  /// Class ids are 0 to CLASSES - 1; others are left out. SIGMAS, for keypoints: see keypoint_sigmas().
  explicit DetectionMetric(int classes, Similarity by = Similarity::kBox, std::vector<double> sigmas = {});

  /// One image, its predictions in any order. What the similarity compares (masks, or a joint a sigma) must be there.
  void add(std::span<const TrueObject> truth, std::span<const FoundObject> found);

  Similarity by() const { return by_; }
  int pictures() const { return pictures_; }
  DetectionScores scores() const;

  struct ClassScores {
    int objects = 0;  ///< to be found
    double ap = -1;
    double ap50 = -1;
  };
  ClassScores class_scores(int class_id) const;

  /// Each class's answers, for curves of any selection of images; see average_precision().
  std::vector<RankedAnswers> ranked() const;
  /// Answers of an image and class that count.
  int most_answers() const;

 private:
  /// One class over all images.
  struct ClassRecord {
    std::vector<MatchedAnswer> answers;
    std::vector<WantedObjects> wanted;
  };

  double similarity(const FoundObject& found, const TrueObject& truth) const;
  double area_of(const FoundObject& found) const;
  void match(std::span<const TrueObject> truth, std::span<const FoundObject> found, int class_id);

  Similarity by_;
  std::vector<double> sigmas_;
  std::vector<ClassRecord> classes_;
  int pictures_ = 0;
};

/// The ap of DetectionScores where image i, in the order of add(), counts TIMES[i] times.
double average_precision(std::span<const RankedAnswers> classes, int most, std::span<const int> times);

}  // namespace saccade
