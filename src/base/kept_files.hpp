#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace saccade {

/// The bytes that keep_file() stored under NAME, in this or another process; nothing if there are none or they are
/// damaged, which is logged. They lie in the folder KIND of cache_folder(). Any thread.
std::optional<std::string> kept_file(const std::string& kind, const std::string& name);

/// Stores BYTES; logs failures. Above half a gigabyte per kind the oldest files are removed.
void keep_file(const std::string& kind, const std::string& name, std::string_view bytes);

}  // namespace saccade
