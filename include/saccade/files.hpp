#pragma once

#include <string>

namespace saccade {

/// After this call the process refuses to write a file that it has read, to write one file twice, and to read a file
/// that it writes: opening it throws Error (kConflict) with both names. Files are compared by device and inode. Off by
/// default, because a program may want to replace its inputs; the command line enables it. Files read earlier are not
/// covered. Any thread.
void protect_files() noexcept;

/// Throws Error (kConflict) if files are protected and PATH, which need not exist, has been read. Call it before
/// computing an output that could not be written. Any thread.
void check_output(const std::string& path);

}  // namespace saccade
