#pragma once

#include <filesystem>
#include <string_view>

namespace saccade {

/// The folder of data that is kept between processes: $SACCADE_CACHE, else $XDG_CACHE_HOME/saccade, else
/// ~/.cache/saccade. Empty if $SACCADE_CACHE is set to nothing or there is no home folder. It need not exist.
std::filesystem::path cache_folder();

/// Writes a file atomically and creates its folder. False, with errno set, on failure.
bool write_whole(const std::filesystem::path& path, std::string_view bytes) noexcept;

}  // namespace saccade
