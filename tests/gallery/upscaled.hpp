#pragma once

#include <string>

namespace saccade {

/// Draws FILE: a small frame of the scene, its pixels as squares, and beside it what a network made of it whose answer
/// is a larger picture.
void draw_upscaled(const std::string& file);

}  // namespace saccade
