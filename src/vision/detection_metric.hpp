#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace saccade {

/// A box as COCO has it, in pixels. Doubles, because COCO's definition is computed in them.
struct CocoBox {
  double x = 0;  ///< left
  double y = 0;  ///< top
  double width = 0;
  double height = 0;
};

/// The share of the union that two boxes have in common; where B is a crowd, of A alone. 0 for boxes that do not meet.
double overlap(const CocoBox& a, const CocoBox& b, bool crowd);

/// What is in a picture.
struct TrueObject {
  CocoBox box;
  int class_id = 0;
  double area = 0;     ///< pixels, of its mask where one is known
  bool crowd = false;  ///< neither found nor missed: answers that lie in it do not count
};

/// What a model says is in a picture.
struct FoundObject {
  CocoBox box;
  int class_id = 0;
  double score = 0;
};

/// COCO's twelve figures, 0 to 1; -1 where there was nothing to find.
struct DetectionScores {
  double ap = -1;    ///< average precision, mean over overlaps 0.50, 0.55 ... 0.95 and over the classes
  double ap50 = -1;  ///< at an overlap of 0.50
  double ap75 = -1;
  double ap_small = -1;   ///< of objects below 32^2 pixels
  double ap_medium = -1;  ///< from 32^2 to 96^2
  double ap_large = -1;
  double ar1 = -1;  ///< average recall with one answer a picture and class
  double ar10 = -1;
  double ar100 = -1;
  double ar_small = -1;
  double ar_medium = -1;
  double ar_large = -1;
};

/// Average precision and recall of boxes by COCO's definition, as pycocotools' COCOeval computes it: answers matched
/// greedily by falling score, each to the best object that is still free; precision made monotone and read at 101
/// recalls. One thread at a time.
class DetectionMetric {
 public:
  /// Class ids are 0 to CLASSES - 1; others are left out.
  explicit DetectionMetric(int classes);

  /// One picture, its answers in any order.
  void add(std::span<const TrueObject> truth, std::span<const FoundObject> found);

  int pictures() const { return pictures_; }
  DetectionScores scores() const;

  struct ClassScores {
    int objects = 0;  ///< to be found
    double ap = -1;
    double ap50 = -1;
  };
  ClassScores class_scores(int class_id) const;

 private:
  static constexpr int kOverlaps = 10;
  static constexpr int kAreas = 4;
  using Flags = std::array<std::uint16_t, kAreas>;  ///< a bit an overlap

  /// An answer of one class, matched.
  struct Answer {
    double score;
    int rank;  ///< its place among the picture's answers of the class
    Flags right;
    Flags ignored;
  };
  struct ClassRecord {
    std::vector<Answer> answers;
    std::array<int, kAreas> objects{};  ///< to be found
  };
  struct Curve {
    double precision = -1;  ///< mean over 101 recalls
    double recall = -1;     ///< the highest
  };

  void match(std::span<const TrueObject> truth, std::span<const FoundObject> found, int class_id);
  static Curve curve(const ClassRecord& record, int overlap, int area, int most);
  /// Over the classes that have something to find; OVERLAP -1: over all ten too.
  double mean(double Curve::*figure, int overlap, int area, int most) const;

  std::vector<ClassRecord> classes_;
  int pictures_ = 0;
};

}  // namespace saccade
