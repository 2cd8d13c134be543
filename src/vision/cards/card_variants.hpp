#pragma once

#include <string>
#include <vector>

#include "vision/cards/card.hpp"

namespace saccade {

/// The cards that a model could have: first the recognised one, then fitting_cards(), all complete with labels. Empty
/// if no decoder fits. Throws Error (kUnsupported) unless the input is one image.
std::vector<Card> possible_cards(const Graph& graph);

/// CARD with each usual combination of channel order and normalization that its input can have, CARD first.
std::vector<Card> with_each_normalization(const Card& card);

/// CARD with each way to resize that its task can have, CARD first.
std::vector<Card> with_each_resize(const Card& card);

/// "yolov8: rgb, 0..1, letterbox", for people.
std::string summary_of(const Card& card);

}  // namespace saccade
