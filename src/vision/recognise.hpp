#pragma once

#include "vision/card.hpp"

namespace saccade {

/// The pre-processing that models of a decoder are usually trained with; the rest is left empty.
Card default_card(const Decoder& decoder);

/// Sets the input's name and size. Throws Error (kUnsupported) where the model has another input than one picture, of
/// batch 1.
void recognise_input(const Graph& graph, Card& card);

/// Sets output, classes, strides, softmax for the card's decoder (and its output, where that is named). Throws Error
/// (kInvalidFile) where no output has the decoder's shape.
void fit_output(const Graph& graph, Card& card);

/// The whole card, from metadata or shapes; nothing where the model is not recognised, with the reason in WHY.
std::optional<Card> recognise(const Graph& graph, std::string& why);

/// The picture's channels lie last: [1, H, W, C].
bool is_channels_last(const Shape& image);

}  // namespace saccade
