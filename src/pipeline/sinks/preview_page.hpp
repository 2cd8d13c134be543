#pragma once

#include <span>
#include <string>
#include <vector>

#include "pipeline/sinks/preview_stream.hpp"

namespace saccade {

/// The page that shows the streams of NAMES.
std::string preview_page(std::span<const std::string> names);

/// A list of {"stream":0,"name":...,"frames":...,"frame_rate":...,"objects":...,"ended":...}.
std::string preview_status(std::span<const std::string> names, std::span<const PreviewStream::State> states);

}  // namespace saccade
