#pragma once

#include <string>

#include "vision/cards/card.hpp"

namespace saccade::app {

/// Throws Error (kInvalidArgument) if PATH exists: cards are not overwritten.
void check_card_output(const std::string& path);

/// Writes TEXT to a new file. Throws Error (kIo, kInvalidArgument).
void write_card(const std::string& path, const std::string& text);

/// CARD with its origin and assumptions as comments. A comment ends with its line: names in it are escaped.
std::string commented_card(const Card& card);

}  // namespace saccade::app
