#pragma once

#include <string>

#include "vision/card.hpp"

namespace saccade::app {

/// Throws Error (kInvalidArgument) if PATH exists: cards are not overwritten.
void check_card_output(const std::string& path);

/// Writes CARD with its origin and assumptions as comments. Throws Error (kIo, kInvalidArgument).
void write_card(const std::string& path, const Card& card);

}  // namespace saccade::app
