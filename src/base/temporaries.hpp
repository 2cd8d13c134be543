#pragma once

namespace saccade {

/// Files and folders that must not outlive the process. A fixed number of places: beyond it, and beyond the longest
/// path, they are not known here, and their owners alone remove them. Any thread; nothing throws or allocates.

/// PATH, a file, or a folder with all that it holds.
void note_temporary(const char* path) noexcept;
/// Its owner has removed it or given it a name.
void forget_temporary(const char* path) noexcept;
/// Removes all that are known: for a signal that ends the process (async-signal-safe).
void remove_temporaries() noexcept;

}  // namespace saccade
