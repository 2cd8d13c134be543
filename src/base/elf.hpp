#pragma once

#include <string>
#include <string_view>

namespace saccade {

/// Whether FILE is a 64-bit ELF file all of whose parts lie within it: the loader trusts the headers.
bool is_whole_elf(std::string_view file);

/// The GNU build ID of the loaded object that contains ADDRESS, in hexadecimal digits: another one for other code.
/// Empty: the linker wrote none.
std::string build_id(const void* address);

}  // namespace saccade
