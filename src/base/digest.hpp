#pragma once

#include <string>
#include <string_view>

namespace saccade {

/// The XXH3 hash of BYTES: 128 bits as 32 hexadecimal digits, equal on every machine. Identifies contents and detects
/// damage. Not cryptographic: it does not resist deliberate collisions.
std::string digest(std::string_view bytes);

}  // namespace saccade
