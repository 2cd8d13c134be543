#pragma once

#include <string>

namespace saccade {

/// From now on this process refuses to write a file that it has read, to write one file twice, and to read a file that
/// it writes: opening it throws Error (kConflict) naming both. Files are compared by device and inode. Off at start,
/// since a program may replace what it has read; the command switches it on. What was read before is not known. Any
/// thread.
void protect_files() noexcept;

/// Throws Error (kConflict) where files are protected and PATH, which need not exist, has been read: to be asked before
/// an output is worked out that could not be written. Any thread.
void check_output(const std::string& path);

}  // namespace saccade
