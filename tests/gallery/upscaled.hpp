#pragma once

#include <string>

namespace saccade {

/// Draws FILE: a small frame of the scene, magnified, and beside it the output of an upscaling network.
void draw_upscaled(const std::string& file);

}  // namespace saccade
