#pragma once

#include <optional>
#include <span>
#include <vector>

#include "graph/graph.hpp"
#include "ops/vision/mask_place.hpp"

// The outputs of a graph with post-processing, in one group per prediction. A decoder fills the groups with what
// OutputList returns, and ResultReader reads them with OutputViews: neither knows the order of the outputs.
namespace saccade {

/// A tensor among the outputs.
enum class TensorIndex : std::size_t {};
/// A number of valid rows, int32 [1], among the outputs.
enum class CountIndex : std::size_t {};

/// N is the capacity; the first COUNT rows are valid.
struct DetectionOutputs {
  TensorIndex rows;    ///< float32 [N, 6]: x1, y1, x2, y2 (source pixels), score, class. Oriented boxes [N, 7]: x, y
                       ///< (centre), width, height, angle (source pixels), score, class
  CountIndex count;    ///< of rows, keypoints and mask numbers
  TensorIndex faults;  ///< int32 [1]: bits of Faults
};

/// Of the head's detections, row by row.
struct KeypointOutputs {
  TensorIndex points;  ///< float32 [N, K, 2 or 3]: x, y (source pixels), confidence
};

/// Of the head's detections.
struct MaskOutputs {
  MaskWithin within = MaskWithin::kImage;
  TensorIndex grids;     ///< float32 [N, h, w]: logits; probabilities for MaskWithin::kRegions
  CountIndex untraced;   ///< of grids: 0, or the number of objects whose masks must be traced from them
  TensorIndex runs;      ///< int32 [R, 3]: MaskRuns by object, unless masks are untraced
  CountIndex run_count;  ///< of runs
  TensorIndex numbers;   ///< int32 [N, 2]: number of runs and pixels per object
  TensorIndex faults;    ///< int32 [1]: bits of Faults
};

struct ClassOutputs {
  TensorIndex rows;    ///< float32 [k, 2]: score, class; a negative class: none
  TensorIndex faults;  ///< int32 [1]: bits of Faults
};

struct ClassMapOutputs {
  TensorIndex cells;        ///< int32 [h, w]: class IDs on the model's image
  bool from_model = false;  ///< from the model's own ArgMax; otherwise -1 marks a score that is NaN
};

struct DepthOutputs {
  TensorIndex cells;  ///< float32 [h, w], on the model's image
  TensorIndex rows;   ///< float32 [h, 5]: min, max, mean and number of finite depths per row, and number of infinities
};

struct ImageOutputs {
  TensorIndex pixels;  ///< uint8 [h, w, 3]: the generated image
  TensorIndex norm;    ///< float32 []: sum of absolute values, to detect numbers that are not finite
};

struct EmbeddingOutputs {
  TensorIndex vector;  ///< float32 [D]
};

/// A map of text, whose boxes are found by the reader.
struct TextMapOutputs {
  TensorIndex cells;  ///< float32 [h, w]: probability of text, on the model's image
};

/// The best class of each column of a line of text; class 0 is the blank.
struct TextOutputs {
  TensorIndex classes;  ///< int32 [T]
  TensorIndex scores;   ///< float32 [T]: probability of the class
  TensorIndex norms;    ///< float32 [T]: sum of absolute values, to detect a NaN
};

/// The predictions of one head.
struct HeadOutputs {
  std::optional<DetectionOutputs> detections;
  std::optional<KeypointOutputs> keypoints;
  std::optional<MaskOutputs> masks;
  std::optional<ClassOutputs> classes;
  std::optional<ClassMapOutputs> class_map;
  std::optional<DepthOutputs> depth;
  std::optional<ImageOutputs> image;
  std::optional<EmbeddingOutputs> embedding;
  std::optional<TextMapOutputs> text_map;
  std::optional<TextOutputs> text;
};

/// All outputs of a graph.
struct PredictionOutputs {
  std::vector<HeadOutputs> heads;  ///< in the order of the card's
  std::size_t tensors = 0;         ///< outputs before the counts
};

/// Collects a graph's outputs while decoders build it.
class OutputList {
 public:
  TensorIndex add(ValueId tensor);
  /// COUNT is int32 [1].
  CountIndex add_count(ValueId count);
  /// A tensor of which only the first ROWS rows are valid.
  TensorIndex add(ValueId tensor, CountIndex rows);

  /// Sets the outputs of GRAPH: the tensors, then the counts as extents of their rows. Returns the number of tensors.
  std::size_t set_on(Graph& graph) const;

 private:
  struct Rows {
    TensorIndex tensor;
    CountIndex count;
  };

  std::vector<ValueId> tensors_;
  std::vector<ValueId> counts_;
  std::vector<Rows> rows_;
};

/// The outputs of a run. Borrows OUTPUTS, the graph's, in their order.
class OutputViews {
 public:
  OutputViews(std::span<const TensorView> outputs, std::size_t tensors) : outputs_(outputs), tensors_(tensors) {}

  const TensorView& operator[](TensorIndex i) const { return outputs_[static_cast<std::size_t>(i)]; }
  /// A number of rows, at least 0. It may exceed the capacity.
  std::size_t operator[](CountIndex i) const;

 private:
  std::span<const TensorView> outputs_;
  std::size_t tensors_;
};

}  // namespace saccade
