#pragma once

#include <filesystem>
#include <string_view>

namespace saccade {

/// Where what was found out is kept from one process to the next: $SACCADE_CACHE, else $XDG_CACHE_HOME/saccade, else
/// ~/.cache/saccade. Empty: nowhere, where $SACCADE_CACHE is set to nothing or there is no home. It need not exist.
std::filesystem::path cache_folder();

/// Writes a file so that no reader ever sees half of it, making its folder. False, and errno says why, where it can't.
bool write_whole(const std::filesystem::path& path, std::string_view bytes) noexcept;

}  // namespace saccade
