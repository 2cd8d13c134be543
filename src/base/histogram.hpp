#pragma once

#include <array>
#include <chrono>
#include <cstdint>

namespace saccade {

/// Histogram of durations in fixed memory, log-linear: 128 buckets per octave, so that a percentile's error is below
/// 0.4 %. Exact below 256 ns; everything from 2^42 ns (73 minutes) is in one bucket. One thread at a time.
class Histogram {
 public:
  void add(std::chrono::nanoseconds duration) noexcept;
  /// Adds the samples of OTHER.
  void add(const Histogram& other) noexcept;
  void clear() noexcept { *this = Histogram(); }

  std::int64_t count() const noexcept { return count_; }
  std::chrono::nanoseconds min() const noexcept;
  std::chrono::nanoseconds max() const noexcept { return std::chrono::nanoseconds(max_); }
  std::chrono::nanoseconds sum() const noexcept { return std::chrono::nanoseconds(sum_); }
  std::chrono::nanoseconds mean() const noexcept;
  /// Standard deviation around the mean.
  std::chrono::nanoseconds deviation() const noexcept;
  /// Percentile by nearest rank; 0 without samples.
  std::chrono::nanoseconds percentile(double percent) const noexcept;

  /// Samples in [low, low + width).
  struct Bucket {
    std::chrono::nanoseconds low{};
    std::chrono::nanoseconds width{};
    std::int64_t count = 0;
  };
  /// Calls VISITOR for every non-empty bucket in ascending order. A bucket's ends lie within min() and max().
  template <typename Visitor>
  void visit(Visitor&& visitor) const {
    for (std::size_t i = 0; i < kBuckets; ++i)
      if (buckets_[i] != 0) visitor(bucket_at(i));
  }

 private:
  static constexpr int kOctaveBits = 7;
  static constexpr int kTopBit = 42;
  static constexpr std::size_t kBuckets = 256 + (kTopBit - 8) * (1U << kOctaveBits) + 1;

  static std::size_t bucket(std::int64_t value) noexcept;
  static std::int64_t low(std::size_t bucket) noexcept;
  static std::int64_t width(std::size_t bucket) noexcept;
  Bucket bucket_at(std::size_t i) const noexcept;

  std::array<std::uint64_t, kBuckets> buckets_{};
  std::int64_t count_ = 0;
  std::int64_t min_ = 0;
  std::int64_t max_ = 0;
  std::int64_t sum_ = 0;
  double squares_ = 0;
};

}  // namespace saccade
