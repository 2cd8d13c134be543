#pragma once

namespace saccade {

/// Files and folders that must not outlive the process. The number of entries and the length of paths are limited: what
/// exceeds them is removed by its owner alone. Any thread; nothing throws or allocates.

/// Registers PATH, a file, or a folder with its contents.
void note_temporary(const char* path) noexcept;
/// Unregisters PATH: its owner has removed or renamed it.
void forget_temporary(const char* path) noexcept;
/// Removes all registered paths; async-signal-safe, for signals that end the process.
void remove_temporaries() noexcept;

}  // namespace saccade
