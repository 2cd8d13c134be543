#pragma once

#include <string>
#include <vector>

#include "vision/card.hpp"

namespace saccade {

/// One card for each decoder that fits the outputs of GRAPH, complete with labels and the decoder's default
/// preprocessing: first the recognised one, then in the order of decoders(). Empty if none fits. Throws Error
/// (kUnsupported) unless the input is one image.
std::vector<Card> fitting_cards(const Graph& graph);

/// CARD with each usual combination of channel order and normalization that its input can have, CARD first.
std::vector<Card> with_each_normalization(const Card& card);

/// CARD with each way to resize that its task can have, CARD first.
std::vector<Card> with_each_resize(const Card& card);

/// "yolov8: rgb, 0..1, letterbox", for people.
std::string summary_of(const Card& card);

}  // namespace saccade
