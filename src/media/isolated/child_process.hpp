#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>

#include "media/isolated/channel.hpp"

namespace saccade::isolated {

/// A running saccade-source. It ends with this object, and with this process.
class ChildProcess {
 public:
  /// Starts HELPER. Throws Error (kNotFound) if it is missing, (kIo) if no process can be started.
  explicit ChildProcess(const std::filesystem::path& helper);
  /// Kills it.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  const std::shared_ptr<const Channel>& channel() const { return channel_; }
  pid_t id() const { return id_; }
  /// Lets it end by itself within PATIENCE, so that a camera's library can put the camera down.
  void cancel(std::chrono::milliseconds patience);
  /// Kills it, unless it has ended, and says how it ended: "was killed by signal 11 (Segmentation fault)". One that
  /// waits in a driver may not end: it is left to itself after two seconds.
  std::string end();
  /// Whether it may still run after end().
  bool is_left() const { return is_left_; }

 private:
  pid_t id_ = 0;
  bool is_left_ = false;
  std::shared_ptr<const Channel> channel_;
};

}  // namespace saccade::isolated
