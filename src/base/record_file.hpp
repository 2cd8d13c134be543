#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/file_series.hpp"
#include "base/output_file.hpp"
#include "saccade/rotation.hpp"

namespace saccade {

/// What a file has beside its records.
struct RecordForm {
  std::string header = {};
  std::string separator = {};  ///< between two records
  std::string end = {};
};

/// A growing file of records: lines, rows, elements of a list. With a rotation it is a series of such files. A file is
/// well-formed after every record. One thread at a time.
class RecordFile {
 public:
  using Now = Clock::time_point (*)();

  /// PATH "-" is standard output. Creates the first file. NOW is the clock of the rotation's period. Throws Error (kIo,
  /// kConflict).
  explicit RecordFile(const std::string& path, const Rotation& rotation = {}, RecordForm form = {},
                      Now now = Clock::now);

  /// Writes RECORD and passes it to the system; before that, it begins the next file if one is due. An empty record
  /// writes nothing. After an error, the record is not in the file, and the next one is written as if it had not been.
  /// Throws Error (kIo).
  void append(std::string_view record);
  /// Ends the last file with LAST, whatever its size. Throws Error (kIo) if not everything could be stored.
  void close(std::string_view last = {});

 private:
  void begin();
  void rotate();
  bool is_due(std::size_t bytes) const;

  std::string path_;
  Rotation rotation_;
  RecordForm form_;
  Now now_;
  std::optional<FileSeries> series_;  ///< nothing: one file
  std::optional<OutputFile> file_;    ///< nothing: the next one could not be created
  std::uint64_t bytes_ = 0;           ///< of the file, without its end
  bool is_empty_ = true;              ///< it has no record
  Clock::time_point start_;           ///< of its first record
};

}  // namespace saccade
