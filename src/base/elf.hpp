#pragma once

#include <string_view>

namespace saccade {

/// Whether FILE is a 64-bit ELF file all of whose parts lie within it: the loader trusts the headers.
bool is_whole_elf(std::string_view file);

}  // namespace saccade
