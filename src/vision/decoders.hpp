#pragma once

#include <span>
#include <string_view>

#include "graph/graph.hpp"
#include "saccade/results.hpp"

namespace saccade {

struct Card;
struct Head;
class Attachment;

/// The optional keys of a card's [output] that a decoder reads. Object decoders read the first four, multi_label only
/// if a box has scores of several classes.
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
  bool normalize = false;
  bool background = false;
  bool text_map = false;  ///< map_threshold, unclip_ratio
  bool characters = false;
};

/// The decoder of one output format: a file in decoders/ and a line in its table.
struct Decoder {
  std::string_view name;   ///< name in cards
  std::string_view reads;  ///< description of its outputs for docs/cards.md
  /// The shapes that fit() accepts, for errors and docs/cards.md. A: anchors, C: classes, K: mask coefficients or
  /// keypoints, N: selected boxes, Q: queries, T: columns of a line of text, h, w: the sides of a grid.
  std::string_view shapes;
  Task task = Task::kDetect;
  /// Sets the default preprocessing of such models.
  void (*usual_pixels)(Card& card);
  /// Finds its outputs among those named by HEAD, else among all, and completes HEAD: outputs, classes, and other
  /// missing keys (anchors stay empty without defaults). False if there are none, or if they contradict the card.
  bool (*fit)(const Graph& graph, const Card& card, Head& head);
  /// Whether the model with its fitted head certainly belongs to this decoder, without metadata. Null: never.
  bool (*recognises)(const Graph& graph, const Card& card, const Head& head);
  /// Adds the nodes that turn the outputs into predictions.
  void (*attach)(Attachment& to);
  /// The model has built-in NMS: no box is suppressed.
  bool selects_itself = false;
  /// Other keys in a card are an error.
  OutputKeys uses = {};
  /// The class ID that its outputs give the first class: 1 where 0 is the background or unused.
  int first_class = 0;
  /// What recognition assumes without evidence in the model; empty: nothing.
  std::string_view assumes = {};

  /// Whether its boxes are suppressed by NMS.
  bool needs_nms() const {
    const bool finds_boxes =
        task == Task::kDetect || task == Task::kSegment || task == Task::kPose || task == Task::kOriented;
    return finds_boxes && !selects_itself;
  }
};

/// All decoders, in the order in which they are tried on a model.
std::span<const Decoder* const> decoders();
/// By name; null: none.
const Decoder* find_decoder(std::string_view name);

}  // namespace saccade
