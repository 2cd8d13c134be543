#pragma once

#include <string_view>

namespace saccade {

/// Whether FILE is a 64-bit ELF file all of whose parts lie within it: who loads one believes what its headers say.
bool is_whole_elf(std::string_view file);

}  // namespace saccade
