#pragma once

#include <string>
#include <vector>

#include "vision/cards/card.hpp"

namespace saccade {

/// The characters in the model's metadata (`character`, one per line, as RapidOCR's conversion writes them); empty:
/// none.
std::vector<std::string> metadata_characters(const Graph& graph);

/// Whether COUNT characters name the CLASSES of an output: all but the blank, or also without the space at the end.
constexpr bool are_characters_of(std::int64_t classes, std::size_t count) {
  return static_cast<std::int64_t>(count) == classes - 1 || static_cast<std::int64_t>(count) == classes - 2;
}

/// Sets HEAD's characters, one per class after the blank: its own, else the metadata's; the space is added if it is
/// missing. Throws Error (kInvalidFile) with both numbers if they are not those of the output.
void complete_characters(const Graph& graph, Head& head);

}  // namespace saccade
