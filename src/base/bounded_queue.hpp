#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "saccade/drop_policy.hpp"

namespace saccade {

/// The result of pop().
enum class PopStatus {
  kItem,
  kLaneClosed,  ///< the lane is closed and empty; reported once per lane
  kClosed,      ///< all lanes are closed and empty; reported from then on
  kTimeout,
  kCancelled,
};

/// One lane of a BoundedQueue.
struct LaneOptions {
  DropPolicy policy = DropPolicy::kWait;  ///< not kAuto
  std::size_t capacity = 1;               ///< items
};

/// Bounded lanes, one per producer, read round-robin by one consumer: an overflowing lane drops its own items only, and
/// a busy lane cannot starve the others. Allocates in its constructor only. T is default-constructible and moves
/// without throwing.
template <typename T>
class BoundedQueue {
 public:
  using Clock = std::chrono::steady_clock;

  /// Throws Error on a capacity of 0.
  explicit BoundedQueue(const std::vector<LaneOptions>& lanes) {
    for (const LaneOptions& lane : lanes) {
      if (lane.capacity == 0) fail(ErrorCode::kInvalidArgument, "a queue needs room for at least one frame");
      lanes_.emplace_back(lane.policy, lane.capacity);
    }
  }

  /// Appends ITEM to its lane and returns the item that was dropped for it, if any. Under kWait none is dropped, unless
  /// the queue is cancelled or the lane closed: then ITEM itself is returned.
  std::optional<T> push(std::size_t lane_index, T item) {
    std::unique_lock lock(mutex_);
    Lane& lane = lanes_[lane_index];
    if (lane.policy == DropPolicy::kWait)
      lane.space.wait(lock, [&] { return cancelled_ || lane.closed || !lane.full(); });
    if (cancelled_ || lane.closed) return item;
    std::optional<T> dropped;
    if (lane.full()) {
      if (lane.policy == DropPolicy::kNewest) return item;
      dropped = lane.take();
    }
    lane.put(std::move(item));
    lock.unlock();
    arrived_.notify_one();
    return dropped;
  }

  /// No more items are accepted by the lane; queued items are still delivered.
  void close(std::size_t lane_index) {
    {
      const std::scoped_lock lock(mutex_);
      lanes_[lane_index].closed = true;
    }
    arrived_.notify_all();
    lanes_[lane_index].space.notify_all();
  }

  /// Waits until DEADLINE for an item, round-robin over lanes, or for a lane to be closed. LANE is set with kItem and
  /// kLaneClosed.
  PopStatus pop(T& item, std::size_t& lane, Clock::time_point deadline) {
    std::unique_lock lock(mutex_);
    while (true) {
      if (cancelled_) return PopStatus::kCancelled;
      // Or a busy lane would hide the end of another one.
      if (take_end(lane)) return PopStatus::kLaneClosed;
      if (take_next(item, lane)) {
        lock.unlock();
        lanes_[lane].space.notify_all();
        return PopStatus::kItem;
      }
      if (closed_ == lanes_.size()) return PopStatus::kClosed;
      if (deadline == Clock::time_point::max()) {
        arrived_.wait(lock);
      } else if (arrived_.wait_until(lock, deadline) == std::cv_status::timeout && !ready()) {
        return PopStatus::kTimeout;
      }
    }
  }

  /// Takes an item if one is available; false if none is, a lane's end is to be said, or the queue is cancelled.
  bool try_pop(T& item, std::size_t& lane) {
    {
      const std::scoped_lock lock(mutex_);
      if (cancelled_ || has_end() || !take_next(item, lane)) return false;
    }
    lanes_[lane].space.notify_all();
    return true;
  }

  /// Ends all waits, current and future; queued items are left for drain().
  void cancel() {
    {
      const std::scoped_lock lock(mutex_);
      cancelled_ = true;
    }
    arrived_.notify_all();
    for (Lane& lane : lanes_) lane.space.notify_all();
  }

  /// Number of items in the lane.
  std::size_t size(std::size_t lane_index) const {
    const std::scoped_lock lock(mutex_);
    return lanes_[lane_index].count;
  }

  bool is_cancelled() const {
    const std::scoped_lock lock(mutex_);
    return cancelled_;
  }

  /// The oldest item left in the lane, or nothing.
  std::optional<T> drain(std::size_t lane_index) {
    const std::scoped_lock lock(mutex_);
    Lane& lane = lanes_[lane_index];
    if (lane.count == 0) return std::nullopt;
    return lane.take();
  }

 private:
  struct Lane {
    Lane(DropPolicy its_policy, std::size_t capacity) : policy(its_policy), ring(capacity) {}

    DropPolicy policy;
    std::vector<T> ring;
    std::condition_variable space;  ///< for its producer alone: frames of other lanes do not wake it
    std::size_t first = 0;
    std::size_t count = 0;
    bool closed = false;
    bool end_said = false;

    bool full() const { return count == ring.size(); }
    void put(T item) { ring[(first + count++) % ring.size()] = std::move(item); }
    T take() {
      T item = std::move(ring[first]);
      ring[first] = T();
      first = (first + 1) % ring.size();
      --count;
      return item;
    }
  };

  bool take_next(T& item, std::size_t& lane) {
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
      const std::size_t at = (turn_ + i) % lanes_.size();
      if (lanes_[at].count == 0) continue;
      item = lanes_[at].take();
      lane = at;
      turn_ = at + 1;
      return true;
    }
    return false;
  }

  static bool is_at_end(const Lane& lane) { return lane.closed && !lane.end_said && lane.count == 0; }
  bool has_end() const { return std::ranges::any_of(lanes_, is_at_end); }

  bool take_end(std::size_t& lane) {
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
      if (!is_at_end(lanes_[i])) continue;
      lanes_[i].end_said = true;
      ++closed_;
      lane = i;
      return true;
    }
    return false;
  }

  bool ready() const {
    if (cancelled_) return true;
    for (const Lane& lane : lanes_)
      if (lane.count != 0 || (lane.closed && !lane.end_said)) return true;
    return false;
  }

  mutable std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<Lane> lanes_;
  std::size_t turn_ = 0;
  std::size_t closed_ = 0;
  bool cancelled_ = false;
};

}  // namespace saccade
