#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "base/clock.hpp"

namespace saccade {

/// Lets ten warnings an hour pass. One thread.
class HourlyWarnings {
 public:
  enum class Verdict {
    kPass,
    kLast,  ///< passes, as the last one of this hour
    kDrop,
  };

  /// Of a warning at NOW.
  Verdict at(Clock::time_point now) {
    constexpr int kMost = 10;
    if (count_ == 0 || now - begin_ >= std::chrono::hours(1)) {
      begin_ = now;
      count_ = 0;
    }
    if (count_ == kMost) return Verdict::kDrop;
    return ++count_ == kMost ? Verdict::kLast : Verdict::kPass;
  }

 private:
  Clock::time_point begin_;  ///< of this hour: its first warning
  int count_ = 0;            ///< in this hour
};

/// The messages of an outage, each of which is logged once: attempts to open a source may fail in turn for a few
/// reasons, for days. One thread.
class OutageMessages {
 public:
  /// Whether MESSAGE is new in this outage.
  bool is_new(const std::string& message) {
    constexpr std::size_t kMost = 8;  // of messages with numbers in them
    if (messages_.size() == kMost || std::ranges::find(messages_, message) != messages_.end()) return false;
    messages_.push_back(message);
    return true;
  }
  /// The outage is over.
  void clear() { messages_.clear(); }

 private:
  std::vector<std::string> messages_;
};

}  // namespace saccade
