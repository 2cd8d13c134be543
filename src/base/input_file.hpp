#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

namespace saccade {

/// The one way to the files that a user names: refuses what is no regular file, since opening a FIFO waits and a device
/// has no end, and records what is opened as read (base/file_registry.hpp). Throws Error naming PATH: kNotFound,
/// kInvalidFile (a folder, a device, ...), kIo with the system's reason, kConflict where this run writes the file.
std::ifstream open_input(const std::filesystem::path& path);

/// What open_input() checks before it opens PATH. Throws Error.
void check_input(const std::filesystem::path& path);

/// Whether a folder has an entry PATH, of whatever kind: a link that leads nowhere is one.
bool has_entry(const std::filesystem::path& path);

/// PATH, or /dev/null where the file has a size of 0: files of the kernel have, and reading one may wait (/proc/kmsg).
std::filesystem::path without_waiting(const std::filesystem::path& path);

/// All of PATH, as open_input(). Throws Error (kInvalidFile), too, where it has more than LIMIT bytes: text that people
/// write, as cards and labels, has a size beyond which it is something else.
std::string read_input(const std::filesystem::path& path, std::uintmax_t limit);

}  // namespace saccade
