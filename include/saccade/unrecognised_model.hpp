#pragma once

#include <string>
#include <utility>

#include "saccade/error.hpp"

namespace saccade {

/// A model that has no card and is not recognised, where a prediction is needed. The code is kUnsupported.
class UnrecognisedModel : public Error {
 public:
  UnrecognisedModel(const std::string& message, std::string card)
      : Error(ErrorCode::kUnsupported, message), card_(std::move(card)) {}

  /// A model card to complete, as a TOML file of several lines: the model's inputs and outputs, and the decoders that
  /// take their shapes. Names in it are escaped.
  const std::string& card() const noexcept { return card_; }

 private:
  std::string card_;
};

}  // namespace saccade
