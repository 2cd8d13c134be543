#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace saccade {

struct TrackSequence;

/// The objects of one frame.
struct TrackedObjects {
  std::vector<std::int64_t> ids;             ///< each once
  std::vector<std::array<double, 4>> boxes;  ///< x1, y1, x2, y2, in the order of ids
};

/// How well tracks agree with the truth, over one or several sequences. Shares are 0 to 1.
struct TrackingScores {
  double hota = 0;                ///< J. Luiten et al., "HOTA: a higher order metric", 2020; mean over IoU 0.05 to 0.95
  double detection_accuracy = 0;  ///< HOTA's DetA
  double association_accuracy = 0;  ///< HOTA's AssA
  double idf1 = 0;                  ///< E. Ristani et al., 2016, at IoU 0.5
  double mota = 0;            ///< K. Bernardin and R. Stiefelhagen, 2008 (CLEAR MOT), at IoU 0.5; negative: many errors
  std::int64_t switches = 0;  ///< of identities, in CLEAR MOT
  std::int64_t false_positives = 0;  ///< in CLEAR MOT
  std::int64_t false_negatives = 0;  ///< in CLEAR MOT
};

/// Computes TrackingScores with the definitions of TrackEval (J. Luiten and A. Hoffhues, 2020). Several sequences are
/// combined as it does: counts are added, and the accuracy of association is weighted by true positives.
class TrackingMetric {
 public:
  static constexpr std::size_t kThresholds = 19;

  /// A sequence: the truth and the tracks of the same frames. Throws Error (kInvalidArgument) if there is not one of
  /// each for a frame, an identity occurs twice in it, or a coordinate is not below 1e9.
  void add(std::span<const TrackedObjects> truth, std::span<const TrackedObjects> found);
  TrackingScores scores() const;

 private:
  struct Counts {
    double true_positives = 0;
    double false_negatives = 0;
    double false_positives = 0;
    double association = 0;  ///< the sum over true positives
  };

  void add_hota(const TrackSequence& sequence);
  void add_clear(const TrackSequence& sequence);
  void add_identity(const TrackSequence& sequence);

  std::array<Counts, kThresholds> hota_{};
  std::int64_t matched_ = 0;  ///< CLEAR MOT
  std::int64_t missed_ = 0;
  std::int64_t extra_ = 0;
  std::int64_t switches_ = 0;
  double same_ = 0;  ///< detections with the right identity
  double truth_ = 0;
  double found_ = 0;
};

}  // namespace saccade
