#pragma once

#include "pipeline/sinks/json_text.hpp"
#include "vision/run_lengths.hpp"

namespace saccade {

/// A mask of a frame of WIDTH x HEIGHT in COCO's format: {"size":[HEIGHT,WIDTH],"counts":"..."}.
void append_mask(JsonBuffer& out, std::span<const MaskRun> runs, int width, int height, RunLengths& lengths);

}  // namespace saccade
