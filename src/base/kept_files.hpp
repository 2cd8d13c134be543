#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace saccade {

/// The bytes that keep_file() was given for NAME, in this or another process; nothing where it was not, or they are
/// damaged, which the log says. They lie in the folder KIND of cache_folder(). Any thread.
std::optional<std::string> kept_file(const std::string& kind, const std::string& name);

/// Keeps BYTES; where that fails, a word in the log. Of more than half a gigabyte of a kind the oldest files go.
void keep_file(const std::string& kind, const std::string& name, std::string_view bytes);

}  // namespace saccade
