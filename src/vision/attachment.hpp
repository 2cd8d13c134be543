#pragma once

#include <map>

#include "vision/attach.hpp"
#include "vision/batching/batch_images.hpp"
#include "vision/fragment.hpp"
#include "vision/thresholds.hpp"

namespace saccade {

/// Adds the attributes of saccade.Preprocess that place a frame in CARD's image to ATTRIBUTES.
void set_placement(Attributes& attributes, const Card& card);

/// The outputs of a model for a batch, by image.
class ImageSlices {
 public:
  /// Turns MODEL, one for one image, into one for IMAGES images. Throws Error (kUnsupported) naming a node that does
  /// not keep them apart.
  ImageSlices(Graph& model, const Card& card, std::size_t images);

  /// The model for one image.
  const Graph& model() const { return images_ == 1 ? model_ : *single_; }
  /// The part of the output VALUE that belongs to the image with the index IMAGE; the node is added to POST.
  ValueId of(Fragment& post, ValueId value, std::size_t image) const;

 private:
  const Graph& model_;
  std::size_t images_;
  std::optional<Graph> single_;
  std::map<ValueId, ImageAxis> axes_;  ///< empty: there is one image
};

/// The context of a decoder: the outputs of its head, the options, and the predictions that it fills.
class Attachment {
 public:
  /// KEPT: IDs of the first head's classes to keep, empty: all. INDEX of the head in the card; WHERE is the geometry.
  /// SLICES has the outputs of the image with the index IMAGE. The tensors of predictions are added to LIST.
  Attachment(Graph& graph, const Card& from, const PostprocessOptions& post_options, std::span<const int> kept,
             std::size_t index, ValueId where, const ImageSlices& slices, std::size_t image, OutputList& list)
      : post(graph, Stage::kPost),
        model(slices.model()),
        card(from),
        head(from.heads[index]),
        options(post_options),
        geometry(where),
        outputs(list),
        classes_(kept),
        index_(index),
        slices_(slices),
        image_(image) {}

  /// An output of the head, as float32.
  ValueId output(std::size_t role) { return post.cast(raw_output(role), DType::kFloat32); }
  /// The same in the model's type.
  ValueId raw_output(std::size_t role);

  /// The least confidence threshold.
  float conf() const { return graph_thresholds(head, options).least(); }
  /// bool [classes], or kNone if all classes are selected. It is always kNone for heads after the first, whose classes
  /// the selection refers to.
  ValueId class_filter();
  /// The attributes of box decoders: conf, threshold, multi_label, remap.
  void set_candidate_attributes(Node& node) const;

  /// Selected objects.
  struct Objects {
    ValueId detections;  ///< [N, 6 or 7]
    ValueId count;       ///< int32 [1]
    ValueId anchors;     ///< int32 [N]: index of each in the output
  };
  /// Adds a decoder node with its inputs, and the selection among its candidates; the result becomes a prediction.
  Objects choose(Node decoder);
  /// The same from boxes float32 [1, A, 4] (corners in the model's pixels; [1, A, 5]: oriented) and scores
  /// float32 [1, A, classes].
  Objects choose(ValueId boxes, ValueId scores);
  /// Keypoints float32 [1, N, K * NUMBERS] (x, y, ... in the model's pixels) of the selected objects become a
  /// prediction. Throws Error (kInvalidFile) if the shape does not match the card's number of keypoints.
  void add_keypoints(ValueId points, std::int64_t numbers);
  /// Mask GRIDS of the selected objects and the runs traced from them become a prediction. OBJECTS.detections are
  /// unused for MaskWithin::kImage.
  void add_masks(MaskWithin within, ValueId grids, const Objects& objects);
  /// Selected objects become a prediction. FAULTS: int32 [1].
  void add_detections(const Objects& objects, ValueId faults);

  Fragment post;
  const Graph& model;  ///< for one image: shapes and operators of its outputs
  const Card& card;
  const Head& head;
  const PostprocessOptions& options;
  const ValueId geometry;  ///< of saccade.Preprocess
  OutputList& outputs;
  HeadOutputs predictions;

 private:
  std::span<const int> classes_;
  std::size_t index_;
  const ImageSlices& slices_;
  std::size_t image_;
};

}  // namespace saccade
