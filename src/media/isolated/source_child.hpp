#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "media/isolated/child_process.hpp"
#include "media/isolated/received.hpp"
#include "media/isolated/restarts.hpp"
#include "media/isolated/serve_source.hpp"
#include "media/isolated/shared_memory.hpp"

namespace saccade::isolated {

/// A child from its start to its first frame: what it opens, and what it says of the source.
class SourceChild {
 public:
  enum class Phase { kOpening, kNames, kOpen, kReading };

  /// Starts HELPER. Throws Error (kNotFound, kIo).
  explicit SourceChild(const std::filesystem::path& helper)
      : process_(helper), at_(SharedMemory::create(1, sizeof(Word))) {}

  ChildProcess& process() { return process_; }
  const std::shared_ptr<const Channel>& channel() const { return process_.channel(); }
  Phase phase() const { return phase_; }

  /// Requests that it opens SPEC, from the beginning.
  void open(const SourceSpec& spec);
  /// Handles a message that may precede the first frame: a line of the log, or a part of the description, which is
  /// stored in INFO unless that is null. False if it is another one. Throws BadMessage.
  bool handle(const Packet& packet, SourceInfo* info);
  /// Requests frames, once it is kOpen.
  void start(const Restarts& restarts);
  /// The number of the packet or image that it decodes, or was decoding when it died; negative: unknown.
  std::int64_t at() const;

 private:
  ChildProcess process_;
  SharedMemory at_;  ///< a Word
  Phase phase_ = Phase::kOpening;
  std::size_t names_ = 0;       ///< of images that it announced
  std::size_t names_read_ = 0;  ///< of these
};

}  // namespace saccade::isolated
