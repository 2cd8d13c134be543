#pragma once

#include <filesystem>
#include <string>

#include "vision/cards/card.hpp"

namespace saccade {

/// A card to complete for a model that is not recognised, as a TOML file: its inputs and outputs as comments, the input
/// that was found, the first decoder that takes the outputs, and the others as comments. Throws Error (kUnsupported) if
/// the model's inputs are not those of an image.
std::string card_template(const Graph& graph, const std::filesystem::path& model);

/// Throws UnrecognisedModel with card_template() and the reason WHY.
[[noreturn]] void refuse_unrecognised(const Graph& graph, const std::filesystem::path& model, const std::string& why);

}  // namespace saccade
