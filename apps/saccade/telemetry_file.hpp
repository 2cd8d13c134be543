#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <saccade/rotation.hpp>
#include <string>
#include <thread>

namespace saccade {
class RecordFile;
}

namespace saccade::app {

/// The file of `run --telemetry`. A thread of its own writes it, so that one that blocks (a FIFO or a pipe that is not
/// read) does not stop the run. All functions are for one thread.
class TelemetryFile {
 public:
  struct Options {
    std::string path;  ///< "-" is standard output
    Rotation rotation = {};
    bool retry = false;  ///< after an error, try the next line
  };

  /// Creates the file. Throws Error.
  explicit TelemetryFile(const Options& options);
  /// Waits for a line that is being written. Without close(), the file is abandoned.
  ~TelemetryFile();
  TelemetryFile(const TelemetryFile&) = delete;
  TelemetryFile& operator=(const TelemetryFile&) = delete;

  /// Whether the line before has been written.
  bool is_ready() const;
  /// Writes LINE. Call it only if is_ready().
  void write(std::string line);
  /// Counts a line that is not written because the one before blocks.
  void skip();
  /// Whether an error has ended it.
  bool has_ended() const noexcept { return has_ended_; }
  /// Completes the file. Returns the first fault, which may be that it still blocks; empty: none.
  std::string close();

 private:
  enum class Ending { kNone, kComplete, kAbandon };
  void write_all();
  void complete();
  void note(const std::string& fault);

  const std::string name_;
  const bool retries_;
  std::unique_ptr<RecordFile> file_;  ///< of the thread; null: an error has ended it

  mutable std::mutex mutex_;  ///< of what follows
  std::condition_variable wake_;
  std::condition_variable done_;
  std::optional<std::string> line_;  ///< to be written, or under way
  Ending ending_ = Ending::kNone;
  bool is_done_ = false;  ///< the thread ends
  std::string fault_;     ///< the first one

  bool is_failing_ = false;  ///< of the thread
  std::atomic<bool> has_ended_ = false;
  std::int64_t skipped_ = 0;  ///< since the last line
  std::thread thread_;        ///< last member: the thread uses all the others
};

}  // namespace saccade::app
