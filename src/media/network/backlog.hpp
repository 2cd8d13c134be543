#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>

#include "base/clock.hpp"

namespace saccade::network {

/// What a backlog knows of a packet.
struct PacketFacts {
  std::optional<std::chrono::nanoseconds> decoded;  ///< its decoding timestamp
  Clock::time_point arrival;
  std::size_t bytes = 0;
  bool is_key = false;  ///< decoding can begin here
};

/// The packets that a decoder has yet to take: at most a second of them, by their timestamps and by the clock, and
/// kMostBytes. A decoder that is further behind goes on at the newest key frame, if need be at the next one; the frames
/// before it are dropped. They always precede the packets that are left. One thread at a time.
template <typename Packet>
class Backlog {
 public:
  static constexpr std::chrono::nanoseconds kLongest = std::chrono::seconds(1);
  static constexpr std::size_t kMostBytes = std::size_t{64} << 20;
  /// A stream of a frame per second is not behind because two of them are there.
  static constexpr std::size_t kFewest = 2;

  struct Item {
    Packet packet;
    PacketFacts facts;
    bool follows_gap = false;             ///< frames before it were dropped
    std::chrono::nanoseconds interval{};  ///< since the packet before
  };

  void push(Packet packet, const PacketFacts& facts) {
    const std::chrono::nanoseconds interval = interval_to(facts);
    if (waits_for_key_ && !facts.is_key) {
      ++dropped_;
      return;
    }
    items_.push_back({std::move(packet), facts, std::exchange(waits_for_key_, false), interval});
    bytes_ += facts.bytes;
    if (items_.size() > 1) span_ += interval;
    if (is_too_long()) drop();
  }

  bool empty() const { return items_.empty(); }
  std::size_t size() const { return items_.size(); }

  /// The oldest packet; there must be one.
  Item pop() {
    Item item = std::move(items_.front());
    remove_front();
    return item;
  }
  /// Goes on at the newest key frame, and forgets what was dropped: what came before the first reader is not counted.
  void begin() {
    if (const std::size_t key = newest_key(); key > 0) drop_before(key);
    dropped_ = 0;
  }
  /// The frames that were dropped since the last call.
  std::int64_t take_dropped() { return std::exchange(dropped_, 0); }

 private:
  /// A jump of the timestamps is no time.
  std::chrono::nanoseconds interval_to(const PacketFacts& facts) {
    const auto last = std::exchange(last_decoded_, facts.decoded);
    if (!last || !facts.decoded || *facts.decoded < *last) return {};
    // Unsigned: timestamps of a damaged stream may be any number.
    const std::uint64_t step =
        static_cast<std::uint64_t>(facts.decoded->count()) - static_cast<std::uint64_t>(last->count());
    return step > static_cast<std::uint64_t>(kLongest.count())
               ? std::chrono::nanoseconds()
               : std::chrono::nanoseconds(static_cast<std::int64_t>(step));
  }

  bool is_too_long() const {
    if (items_.size() <= kFewest) return false;
    return span_ > kLongest || bytes_ > kMostBytes ||
           items_.back().facts.arrival - items_.front().facts.arrival > kLongest;
  }

  /// Its index; 0: it is the oldest packet, or there is none.
  std::size_t newest_key() const {
    std::size_t key = items_.empty() ? 0 : items_.size() - 1;
    while (key > 0 && !items_[key].facts.is_key) --key;
    return key;
  }

  void drop() {
    const std::size_t key = newest_key();
    drop_before(key > 0 ? key : items_.size());
  }

  void drop_before(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) remove_front();
    dropped_ += static_cast<std::int64_t>(count);
    if (items_.empty())
      waits_for_key_ = true;
    else
      items_.front().follows_gap = true;
  }

  void remove_front() {
    bytes_ -= items_.front().facts.bytes;
    items_.pop_front();
    span_ = items_.empty() ? std::chrono::nanoseconds() : span_ - items_.front().interval;
  }

  std::deque<Item> items_;
  std::size_t bytes_ = 0;
  std::chrono::nanoseconds span_{};  ///< from the oldest packet to the newest
  std::optional<std::chrono::nanoseconds> last_decoded_;
  bool waits_for_key_ = false;
  std::int64_t dropped_ = 0;
};

}  // namespace saccade::network
