#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

namespace saccade {

/// Opens a file named by the user. Refuses anything but regular files, since opening a FIFO blocks and a device has no
/// end, and records the file as read (base/file_registry.hpp). Throws Error naming PATH: kNotFound, kInvalidFile (a
/// folder, a device, ...), kIo with the system's reason, kConflict if this run writes the file.
std::ifstream open_input(const std::filesystem::path& path);

/// The checks of open_input() without opening PATH. Throws Error.
void check_input(const std::filesystem::path& path);

/// Whether the directory entry PATH exists, of any type; a dangling link does.
bool has_entry(const std::filesystem::path& path);

/// PATH, or /dev/null if the file's size is 0: files of the kernel have that size, and reading one may block
/// (/proc/kmsg).
std::filesystem::path without_waiting(const std::filesystem::path& path);

/// The contents of PATH, opened as by open_input(). Also throws Error (kInvalidFile) if it has more than LIMIT bytes:
/// larger text files are not cards or labels.
std::string read_input(const std::filesystem::path& path, std::uintmax_t limit);

}  // namespace saccade
