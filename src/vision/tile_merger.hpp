#pragma once

#include <cstddef>
#include <vector>

#include "saccade/results.hpp"
#include "saccade/tiles.hpp"

namespace saccade {

/// Makes one list of detections from those of overlapping tiles, as SAHI does (Akyon, Altinuc, Temizel: "Slicing Aided
/// Hyper Inference and Fine-Tuning for Small Object Detection", 2022): greedy NMM or NMS by IoS, which also matches the
/// two parts of an object that a tile's border cuts. Unlike in SAHI, detections of the same tile never match, a union
/// is matched as it has grown, and only an object that a border cuts grows. Reuses its memory: only a frame with more
/// objects or larger masks than all before allocates. One thread at a time.
class TileMerger {
 public:
  /// Detections match from this IoS on; SAHI's default.
  static constexpr float kMatch = 0.5F;

  /// AGNOSTIC: detections of different classes match. MOST: number of detections of a result.
  TileMerger(TileMerge merge, bool agnostic, std::size_t most) : merge_(merge), agnostic_(agnostic), most_(most) {}

  /// Starts a frame of WIDTH x HEIGHT pixels, of which tiles cover AREA.
  void begin(int width, int height, const Region& area);
  /// Copies the detections of a tile, in its pixels. It is the frame's REGION.
  void add(const std::vector<Detection>& tile, const Region& region);
  /// The merged detections in descending order of confidence. What they refer to is valid until the next begin().
  void finish(std::vector<Detection>& merged);

 private:
  struct Part {
    Detection detection;
    int tile = 0;
    bool is_cut = false;        ///< by a border of its tile inside the area
    std::size_t keypoints = 0;  ///< index of the first
    std::size_t runs = 0;       ///< index of the first
    std::size_t run_count = 0;
    bool is_merged = false;
  };

  bool is_cut(const std::array<float, 4>& box, const Region& tile) const;
  bool match(const Detection& a, const Detection& b) const;
  void absorb_matches(std::size_t keeper);
  void absorb(Part& keeper, const Part& part);
  void unite_runs(Part& keeper);
  void hand_over(Part& part, std::vector<Detection>& merged) const;

  TileMerge merge_;
  bool agnostic_;
  std::size_t most_;
  Region area_;
  int tile_ = 0;  ///< number of the last one
  int width_ = 0;
  int height_ = 0;
  std::vector<Part> parts_;
  std::vector<std::size_t> order_;  ///< of parts, in descending order of confidence
  std::vector<Keypoint> keypoints_;
  std::vector<MaskRun> runs_;
  std::vector<int> tiles_;       ///< of an object's parts
  std::vector<MaskRun> joined_;  ///< the runs of an object's parts
};

}  // namespace saccade
