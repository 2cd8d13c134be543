#pragma once

#include <string>
#include <string_view>

namespace saccade {

/// 128 bits of BYTES as 32 hexadecimal digits, the same on every machine: tells contents apart and finds damage. It is
/// no protection against who wants two contents to look alike.
std::string digest(std::string_view bytes);

}  // namespace saccade
