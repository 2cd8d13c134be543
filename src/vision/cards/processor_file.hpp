#pragma once

#include "vision/cards/card_file.hpp"

namespace saccade {

/// The preprocessing that another tool wrote beside a model, as the keys of a card.
struct ProcessorFile {
  CardFile card;
  std::vector<std::string> assumptions;  ///< what the file leaves open, with the keys of a card that settle it
};

/// Hugging Face's preprocessor_config.json or timm's config.json in the folder of MODEL; empty: neither is there. A
/// config.json of another kind is none.
std::filesystem::path find_processor_file(const std::filesystem::path& model);

/// Reads such a file for a model that is recognised as CARD. Throws Error (kInvalidFile) with file and key: no JSON, a
/// wrong type, an invalid value, or a transform that a card can't describe.
ProcessorFile read_processor_file(const std::filesystem::path& path, const Graph& graph, const Card& card);

}  // namespace saccade
