#pragma once

#include <cstddef>
#include <saccade/results.hpp>
#include <string>

namespace saccade::app {

/// The line that `run` prints for RESULT, without a line feed; names in it are escaped. With several MODELS it names
/// the model.
std::string frame_line(const Result& result, std::size_t models);

}  // namespace saccade::app
