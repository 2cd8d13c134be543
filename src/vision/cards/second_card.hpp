#pragma once

#include <string>

#include "vision/cards/card_file.hpp"

// [second] of a card.
namespace saccade {

struct Field;

/// Sets the file of SECOND from FIELD and records it as read (base/file_registry.hpp). Throws Error (kInvalidFile,
/// kNotFound) with file and line.
void name_second(const Field& field, SecondModel& second);

/// Resolves the classes of CARD's second model, if there is one, once its labels are known. Throws Error (kInvalidFile)
/// with a key of SAID that contradicts the first model.
void complete_second(const CardFile& said, Card& card);

/// SECOND as the section of a card.
std::string to_toml(const SecondModel& second);

}  // namespace saccade
