#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "graph/graph.hpp"
#include "saccade/results.hpp"

namespace saccade {

struct Card;

/// What an output's shape says under one decoder.
struct OutputFit {
  int classes = 0;           ///< 0: the shape does not say
  std::int64_t anchors = 0;  ///< 0: there are none
};

/// One way to read a model's output: all that Saccade knows about it besides its operator. A line of the table in
/// decoders.cpp.
struct Decoder {
  std::string_view name;  ///< as cards have it
  Task task = Task::kDetect;
  std::string_view op;          ///< saccade.OP turns the output into candidates, or classes
  bool selects_itself = false;  ///< the model has dropped overlapping boxes already
  /// Nothing where the output can't be the decoder's.
  std::optional<OutputFit> (*fit)(const Shape& output);
  /// Whether the model, its input known, is this decoder's beyond doubt, without metadata.
  bool (*recognises)(const Graph& graph, const Card& card, ValueId output, const OutputFit& fit);
  /// Sets the pixels that such models are usually trained with.
  void (*usual_pixels)(Card& card);
  /// Sets what else the output says; false where it contradicts the card. May be null.
  bool (*settle)(const Graph& graph, ValueId output, const OutputFit& fit, Card& card) = nullptr;
  /// Adds to the operator's attributes. May be null.
  void (*attributes)(const Card& card, Attributes& attributes) = nullptr;
};

/// All decoders, in the order in which they are tried on a model.
std::span<const Decoder> decoders();
/// By name; null: there is none.
const Decoder* find_decoder(std::string_view name);

}  // namespace saccade
