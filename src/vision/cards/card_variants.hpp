#pragma once

#include <string>
#include <vector>

#include "vision/cards/card.hpp"

namespace saccade {

/// The cards that a model could have: first the recognised one, then fitting_cards(), all complete with labels. Empty
/// if no decoder fits. Throws Error (kUnsupported) unless the input is one image.
std::vector<Card> possible_cards(const Graph& graph);

/// CARD with each usual combination of channel order and normalization that its task and GRAPH's input can have, CARD
/// first. Integers are raw pixels.
std::vector<Card> with_each_normalization(const Card& card, const Graph& graph);

/// CARD with each way to resize that its task can have, CARD first.
std::vector<Card> with_each_resize(const Card& card);

/// CARD with each usual interpolation, CARD first.
std::vector<Card> with_each_interpolation(const Card& card);

/// A class by name, with its ID in a data set.
struct NumberedClass {
  std::int64_t id = 0;
  std::string name;
};

/// Whether neither the outputs nor the metadata tell CARD's classes.
bool has_unknown_classes(const Card& card);

/// CARD, whose classes are unknown, and CARD with CLASSES: in the order of their IDs, in this order after a background
/// class, and by their IDs.
std::vector<Card> with_each_numbering(const Card& card, std::vector<NumberedClass> classes);

/// CARD with the preprocessing of FROM, a card of the same model.
Card with_pixels_of(Card card, const Card& from);

/// The interpolation that the decoder of CARD's first head assumes.
Interpolation usual_interpolation(const Card& card);

/// Whether both map each of red, green and blue alike, whatever their channel orders are.
bool has_same_normalization(const Card& a, const Card& b);

/// "yolov8: rgb, 0..1, letterbox", for people; with the interpolation where it is not the usual one.
std::string summary_of(const Card& card);

}  // namespace saccade
