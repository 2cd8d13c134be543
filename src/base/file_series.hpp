#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>

namespace saccade {

/// The numbered files of an output that is rotated: out-000001.jsonl, out-000002.jsonl, ... for out.jsonl, in its
/// folder (behind symbolic links). The first number follows the highest one that is there. One thread at a time.
class FileSeries {
 public:
  /// KEEP: number of finished files to keep; 0: all. Throws Error: kConflict if PATH is read or written otherwise, kIo
  /// if it is a folder.
  FileSeries(const std::string& path, std::size_t keep);

  /// Finishes the current file. Returns the name of the next one, which does not exist. A name whose file was never
  /// created is returned again.
  const std::string& next();
  /// Counts the current file, if it exists, as finished and removes the oldest finished ones beyond the number to keep.
  /// A file that cannot be removed costs a warning. Later calls do nothing until next().
  void finish();

 private:
  std::string name_of(std::uint64_t number) const;

  std::string folder_;  ///< with a slash at its end; empty: the current one
  std::string stem_;    ///< "out-"
  std::string ending_;  ///< ".jsonl"
  std::size_t keep_;
  std::uint64_t number_ = 1;
  std::string current_;               ///< empty: none
  std::deque<std::string> finished_;  ///< the oldest first; empty if all are kept
};

}  // namespace saccade
