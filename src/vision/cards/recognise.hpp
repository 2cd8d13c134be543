#pragma once

#include "vision/cards/card.hpp"

namespace saccade {

/// A card with the default preprocessing of a decoder; the rest is empty.
Card default_card(const Decoder& decoder);

/// Sets the input's name and size, and for integer inputs unscaled pixels: 0..255, or -128..127 as int8. Throws Error
/// (kUnsupported) unless the inputs are one image of batch 1, or also one of a tracker's target (Card::track), and
/// inputs for their size (size_input()).
void recognise_input(const Graph& graph, Card& card);

/// Fits HEAD to the model: sets the outputs that its decoder reads (those that it names, if any), the classes, and what
/// else follows from the outputs. Throws Error (kInvalidFile) if no output fits the decoder, a named one does not
/// exist, or anchors are missing that only a card can name.
void fit_output(const Graph& graph, const Card& card, Head& head);

/// The number of classes in the model's metadata (Ultralytics'); 0: none. Throws Error (kInvalidFile) quoting invalid
/// metadata.
int metadata_classes(const Graph& graph);

/// The complete card, from metadata or shapes; nullopt if the model is not recognised, with the reason in WHY.
std::optional<Card> recognise(const Graph& graph, std::string& why);

/// One card with default preprocessing for each decoder that takes GRAPH's outputs, in the order of decoders(); without
/// labels. Throws Error (kUnsupported) unless the input is one image.
std::vector<Card> fitting_cards(const Graph& graph);

/// Completes the labels of every head whose decoder has some: the metadata's, COCO's for 80 classes, else numbers.
/// Throws Error (kInvalidFile) if labels, classes and remap contradict.
void complete_labels(const Graph& graph, Card& card);

/// The value of an input for the image size that makes predictions refer to the model's own pixels, of the input's type
/// and shape; nullopt if INPUT is another input.
std::optional<Tensor> size_input(const Value& input, const Card& card);

/// The value of AMONG with the given name. Throws Error (kInvalidArgument) if there is none.
ValueId find_value(const Graph& graph, std::span<const ValueId> among, const std::string& name);

/// The shape of one image, [1, C, H, W] or [1, H, W, C], of an input that may have no batch axis.
Shape with_batch(const Shape& image);

/// Whether the channels are last: [1, H, W, C].
bool is_channels_last(const Shape& image);

}  // namespace saccade
