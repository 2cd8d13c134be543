#pragma once

#include <span>
#include <string_view>

#include "graph/graph.hpp"
#include "saccade/results.hpp"

namespace saccade {

struct Card;
struct Head;
class Attachment;

/// Which keys of a card's [output] a decoder reads, of those that not all do. Decoders of objects read the first four,
/// multi_label only where a box has the scores of several classes.
struct OutputKeys {
  bool labels = true;
  bool conf = true;
  bool remap = true;
  bool multi_label = true;
  bool strides = false;
  bool anchors = false;
  bool softmax = false;
  bool sigmoid = false;
  bool keypoints = false;
  bool depth = false;
};

/// One way to read a model's outputs: all that Saccade knows about it. A file in decoders/ and a line of its table.
struct Decoder {
  std::string_view name;   ///< as cards have it
  std::string_view reads;  ///< what it reads, a sentence for docs/cards.md
  Task task = Task::kDetect;
  /// Sets the pixels that such models are usually trained with.
  void (*usual_pixels)(Card& card);
  /// Finds the outputs that it reads, among those that HEAD names, else among all, and sets in HEAD what they say:
  /// outputs, classes, and what else the card left open (anchors stay empty where none are usual). False where there
  /// are none, or where they contradict the card.
  bool (*fit)(const Graph& graph, const Card& card, Head& head);
  /// Whether the model, its head fitted, is this decoder's beyond doubt, without metadata. Null: never.
  bool (*recognises)(const Graph& graph, const Card& card, const Head& head);
  /// Adds the nodes that turn the outputs into answers.
  void (*attach)(Attachment& to);
  /// The model chooses among its boxes itself: none is suppressed.
  bool selects_itself = false;
  /// A card that says others is refused.
  OutputKeys uses = {};
};

/// All decoders, in the order in which they are tried on a model.
std::span<const Decoder* const> decoders();
/// By name; null: there is none.
const Decoder* find_decoder(std::string_view name);

}  // namespace saccade
