#pragma once

#include "saccade/model.hpp"
#include "vision/cards/card.hpp"

namespace saccade {

/// Loads SECOND with the device, the precision and the compilation of OPTIONS, those of the model whose card names it.
/// Throws Error if it can't be loaded, is not recognised, or predicts nothing that an object can have.
Model load_second(const SecondModel& second, const ModelOptions& options);

}  // namespace saccade
