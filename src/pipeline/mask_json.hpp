#pragma once

#include "pipeline/json_text.hpp"
#include "vision/run_lengths.hpp"

namespace saccade {

/// MASK of a frame of WIDTH x HEIGHT as COCO writes it: {"size":[HEIGHT,WIDTH],"counts":"..."}.
void append_mask(JsonBuffer& out, const Mask& mask, int width, int height, RunLengths& lengths);

}  // namespace saccade
