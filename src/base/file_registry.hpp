#pragma once

#include <filesystem>
#include <string_view>

#include "saccade/files.hpp"

namespace saccade {

/// The registry behind protect_files(): the files and folders that this process reads and writes. Nothing is recorded
/// or refused while it is off. All functions may be called from any thread and throw Error (kConflict). check_output()
/// of saccade/files.hpp is for the files of a claimed folder, whose number is unbounded.

/// Records the file or folder PATH as read; a missing path is ignored.
void note_input(const std::filesystem::path& path);

/// Records the file PATH, which need not exist, as written. Refuses inputs, claimed files, and files of claimed
/// folders.
void claim_output(const std::filesystem::path& path);

/// Whether a sink may write a file of this NAME into its folder.
using WritesName = bool (*)(std::string_view name);

/// Whether PATH names an open descriptor, as /proc/self/fd/1 and /dev/fd/1 do. Does not follow links.
bool is_open_descriptor(const std::filesystem::path& path);
/// The target of PATH's chain of symbolic links, which need not exist, or the first name of an open descriptor among
/// them. If the links form a cycle, one of them.
std::filesystem::path behind_links(std::filesystem::path path);

/// Records that files whose names match WRITES are written into FOLDER, which exists. Refuses folders that are read as
/// a whole, and folders in which such a file is read or claimed.
void claim_output_folder(const std::filesystem::path& folder, WritesName writes);

}  // namespace saccade
