#pragma once

#include <string>

namespace saccade {

/// Writes the scripts that run other engines to FOLDER; returns the path of the main script. Throws Error (kIo).
std::string write_peer_files(const std::string& folder);

}  // namespace saccade
