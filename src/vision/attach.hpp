#pragma once

#include "saccade/postprocess.hpp"
#include "vision/cards/card.hpp"
#include "vision/predictions.hpp"

namespace saccade {

/// A model with pre- and post-processing.
struct Attached {
  Graph graph;
  PredictionOutputs outputs;  ///< what the graph's outputs hold for an image
  std::size_t images = 1;     ///< whose tensors follow each other, and then their counts
};

/// Throws Error (kInvalidArgument) with the option of OPTIONS that is out of range. Classes depend on a card: attach()
/// checks them.
void check_postprocess(const PostprocessOptions& options);

/// The attributes of saccade.Preprocess for CARD.
PreprocessSpec preprocess_spec(const Card& card);

/// The preprocessing of a tracker's target alone: a frame in, the tensor for MODEL's input CARD.track->input out.
Graph attach_target(const Graph& model, const Card& card);

/// The whole pipeline as one graph: one input "frame" (kFrame), for a tracker also the tensor of its target;
/// saccade.Preprocess, the model, and for each head of the
/// card its decoder and selection. ResultReader reads the outputs. Throws Error if card, options and model contradict.
///
/// With IMAGES above 1, a MODEL for one image becomes one for a batch, with as many inputs "frame", preprocessing and
/// decoders. Throws Error (kUnsupported) naming a node that does not keep images apart.
Attached attach(Graph model, const Card& card, const PostprocessOptions& options, std::size_t images = 1);

}  // namespace saccade
