#pragma once

#include "vision/attach.hpp"
#include "vision/text_boxes.hpp"

namespace saccade {

/// Turns the outputs of an attached graph into a Result. What a result points to lies in the outputs, in the reader
/// and, for class names, in the card: all must outlive it. Allocates for the first frames only. One thread at a time.
class ResultReader {
 public:
  ResultReader(const Card& card, PredictionOutputs outputs, const PostprocessOptions& options);

  /// Sets the task and reserves memory for the most predictions that the options allow.
  void prepare(Result& result) const;

  /// The most detections of a frame that the options allow.
  std::size_t most_objects() const;

  /// OUTPUTS are the graph's, in their order, of a frame of WIDTH x HEIGHT pixels. Throws Error if the card's region
  /// lies outside of the frame.
  void read(std::span<const TensorView> outputs, int width, int height, Result& result);

 private:
  /// The keypoints and runs of an object, by index: they move while they are collected.
  struct Owned {
    std::size_t keypoints = 0;
    std::size_t keypoint_count = 0;
    std::size_t runs = 0;
    std::size_t run_count = 0;
    std::optional<Mask> mask;  ///< with its runs, unless they were traced here
  };

  /// Position on the frame of a grid of COLUMNS x ROWS over the model's image.
  GridPlace place_of(std::int64_t columns, std::int64_t rows) const;
  void read_head(const Head& head, const HeadOutputs& outputs, const OutputViews& views, Result& result);
  void read_detections(const Head& head, const TensorView& rows, std::size_t count, Result& result);
  void read_keypoints(const TensorView& points, Result& result);
  void read_masks(const MaskOutputs& masks, const OutputViews& views, Result& result);
  void read_runs(const TensorView& runs, const TensorView& numbers);
  void trace_masks(MaskWithin within, const TensorView& grids, Result& result);
  void read_classes(const Head& head, const TensorView& rows, Result& result);
  /// Negative class IDs are faults, unless they come FROM_MODEL.
  void read_class_map(const Head& head, const TensorView& cells, bool from_model, Result& result);
  void read_depth(const Head& head, const TensorView& cells, const TensorView& rows, Result& result);
  void read_image(const TensorView& pixels, const TensorView& norm, Result& result);
  static void read_embedding(const TensorView& vector, Result& result);
  void read_text_map(const Head& head, const TensorView& cells, Result& result);
  void read_text(const Head& head, const TextOutputs& text, const OutputViews& views, Result& result);
  /// Points every detection to its keypoints and runs.
  void hand_over(Result& result) const;

  const Card* card_;
  PredictionOutputs outputs_;
  PostprocessOptions options_;
  PreprocessSpec spec_;
  Placement placement_;  ///< of the current frame
  int width_ = 0;
  int height_ = 0;
  std::size_t first_ = 0;  ///< of the current head's detections
  std::vector<Owned> owned_;
  std::vector<Keypoint> keypoints_;
  std::vector<MaskRun> runs_;
  std::vector<std::int64_t> columns_;  ///< frame columns per column of a grid
  std::vector<std::int64_t> pixels_;   ///< by class
  MaskTracer tracer_;
  TextBoxFinder text_boxes_;
  std::string text_;  ///< of the current frame
};

}  // namespace saccade
