#pragma once

#include "ops/vision/mask_place.hpp"
#include "vision/attach.hpp"

namespace saccade {

/// Turns the outputs of an attached graph into a Result. What a result points to lies in the outputs, in the reader
/// and, for class names, in the card: all must outlive it. Allocates for the first frames alone. One thread at a time.
class ResultReader {
 public:
  ResultReader(const Card& card, std::vector<AnswerOutput> answers, const PostOptions& options);

  /// Sets the task and makes room for the most answers that the options allow.
  void prepare(Result& result) const;

  /// OUTPUTS are the graph's, in their order, of a frame of WIDTH x HEIGHT pixels. Throws Error where the card's region
  /// lies outside of the frame.
  void read(std::span<const TensorView> outputs, int width, int height, Result& result);

 private:
  /// An object's share of the points and runs, which move while they are collected.
  struct Owned {
    std::size_t keypoints = 0;
    std::size_t keypoint_count = 0;
    std::size_t runs = 0;
    std::size_t run_count = 0;
    std::optional<Mask> mask;  ///< its runs, unless they were traced here
  };

  std::size_t most_objects() const;
  /// How a grid of COLUMNS x ROWS over the model's image lies on the frame.
  GridPlace place_of(std::int64_t columns, std::int64_t rows) const;
  void read_detections(const Head& head, const TensorView& rows, const TensorView& count, Result& result);
  void read_keypoints(const TensorView& points, Result& result);
  /// The grids at I and, where the graph traced them, what it found.
  std::span<const TensorView> masks_at(std::span<const TensorView> outputs, std::size_t i) const;
  void read_masks(Answer kind, std::span<const TensorView> outputs, Result& result);
  void read_runs(std::span<const TensorView> outputs);
  void trace_masks(Answer kind, const TensorView& grids, Result& result);
  void read_classes(const Head& head, const TensorView& rows, Result& result);
  /// Negative ones are faults where they ARE_OURS.
  void read_class_map(const Head& head, const TensorView& cells, bool are_ours, Result& result);
  void read_depth(const Head& head, const TensorView& cells, const TensorView& rows, Result& result);
  void read_image(const TensorView& pixels, const TensorView& norm, Result& result);
  /// Points every detection to what it owns.
  void hand_over(Result& result) const;

  const Card* card_;
  std::vector<AnswerOutput> answers_;
  PostOptions options_;
  PreprocessSpec spec_;
  Placement placement_;  ///< of the current frame
  int width_ = 0;
  int height_ = 0;
  std::size_t first_ = 0;  ///< of the current head's detections
  std::vector<Owned> owned_;
  std::vector<Keypoint> keypoints_;
  std::vector<MaskRun> runs_;
  std::vector<std::int64_t> columns_;  ///< frame columns that see each of a grid's
  std::vector<std::int64_t> pixels_;   ///< by class
  MaskTracer tracer_;
};

}  // namespace saccade
