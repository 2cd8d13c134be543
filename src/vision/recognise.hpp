#pragma once

#include "vision/card.hpp"

namespace saccade {

/// The pre-processing that models of a decoder are usually trained with; the rest is left empty.
Card default_card(const Decoder& decoder);

/// Sets the input's name and size, and pixels that are not scaled where it takes integers: 0..255, or -128..127 as
/// int8. Throws Error (kUnsupported) where the model has another input than one image, of batch 1, and those that
/// tell it the image's size (size_input()).
void recognise_input(const Graph& graph, Card& card);

/// Fits HEAD to the model: the outputs that its decoder reads (those that it names, where it names any), classes, and
/// what else they say. Throws Error (kInvalidFile) where no output is the decoder's, one that it names does not
/// exist, or anchors are missing that only a card can say.
void fit_output(const Graph& graph, const Card& card, Head& head);

/// How many classes the model's metadata names (Ultralytics'); 0: none. Throws Error (kInvalidFile) quoting what can't
/// be read.
int metadata_classes(const Graph& graph);

/// The whole card, from metadata or shapes; nothing where the model is not recognised, with the reason in WHY.
std::optional<Card> recognise(const Graph& graph, std::string& why);

/// What to give an input that tells a model the image's size, so that its predictions are in its own pixels: of the
/// type and shape that it has; nothing where it is another kind of input.
std::optional<Tensor> size_input(const Value& input, const Card& card);

/// The value of a name. Throws Error (kInvalidArgument) where none of AMONG has it.
ValueId find_value(const Graph& graph, std::span<const ValueId> among, const std::string& name);

/// The shape of one image, [1, C, H, W] or [1, H, W, C], of an input that may have no batch axis.
Shape with_batch(const Shape& image);

/// The image's channels lie last: [1, H, W, C].
bool is_channels_last(const Shape& image);

}  // namespace saccade
