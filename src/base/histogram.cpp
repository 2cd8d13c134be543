#include "base/histogram.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace saccade {

std::size_t Histogram::bucket(std::int64_t value) noexcept {
  if (value < 256) return static_cast<std::size_t>(value);
  const auto bits = static_cast<std::uint64_t>(value);
  const int exponent = static_cast<int>(std::bit_width(bits)) - 1;  // 8 and up
  if (exponent >= kTopBit) return kBuckets - 1;
  const std::uint64_t within = (bits >> (exponent - kOctaveBits)) & 127U;
  return 256 + (static_cast<std::size_t>(exponent - 8) << kOctaveBits) + within;
}

std::int64_t Histogram::low(std::size_t bucket) noexcept {
  if (bucket < 256) return static_cast<std::int64_t>(bucket);
  if (bucket == kBuckets - 1) return std::int64_t{1} << kTopBit;
  const auto within = static_cast<std::int64_t>((bucket - 256) & 127U);
  return (128 + within) * width(bucket);
}

std::int64_t Histogram::width(std::size_t bucket) noexcept {
  if (bucket < 256 || bucket == kBuckets - 1) return 1;
  return std::int64_t{1} << (((bucket - 256) >> kOctaveBits) + 1);
}

/// Clipped to the range of the samples, which is known exactly.
Histogram::Bucket Histogram::bucket_at(std::size_t i) const noexcept {
  const std::int64_t from = std::clamp(low(i), min_, max_);
  const std::int64_t to = i == kBuckets - 1 ? max_ + 1 : std::min(low(i) + width(i), max_ + 1);
  return {std::chrono::nanoseconds(from), std::chrono::nanoseconds(to - from), static_cast<std::int64_t>(buckets_[i])};
}

void Histogram::add(std::chrono::nanoseconds duration) noexcept {
  const std::int64_t value = std::max<std::int64_t>(duration.count(), 0);
  ++buckets_[bucket(value)];
  min_ = count_ == 0 ? value : std::min(min_, value);
  max_ = std::max(max_, value);
  sum_ += value;
  squares_ += static_cast<double>(value) * static_cast<double>(value);
  ++count_;
}

void Histogram::add(const Histogram& other) noexcept {
  if (other.count_ == 0) return;
  for (std::size_t i = 0; i < kBuckets; ++i) buckets_[i] += other.buckets_[i];
  min_ = count_ == 0 ? other.min_ : std::min(min_, other.min_);
  max_ = std::max(max_, other.max_);
  sum_ += other.sum_;
  squares_ += other.squares_;
  count_ += other.count_;
}

std::chrono::nanoseconds Histogram::min() const noexcept { return std::chrono::nanoseconds(min_); }

std::chrono::nanoseconds Histogram::mean() const noexcept {
  return std::chrono::nanoseconds(count_ == 0 ? 0 : sum_ / count_);
}

std::chrono::nanoseconds Histogram::deviation() const noexcept {
  if (count_ == 0) return {};
  const double mean = static_cast<double>(sum_) / static_cast<double>(count_);
  const double variance = squares_ / static_cast<double>(count_) - mean * mean;
  return std::chrono::nanoseconds(std::llround(std::sqrt(std::max(variance, 0.0))));
}

std::chrono::nanoseconds Histogram::percentile(double percent) const noexcept {
  if (count_ == 0) return {};
  const auto wanted =
      std::clamp<std::int64_t>(std::llround(std::ceil(percent / 100 * static_cast<double>(count_))), 1, count_);
  std::int64_t seen = 0;
  for (std::size_t i = 0; i < kBuckets; ++i) {
    seen += static_cast<std::int64_t>(buckets_[i]);
    if (seen >= wanted) return std::chrono::nanoseconds(std::clamp(low(i) + width(i) / 2, min_, max_));
  }
  return max();
}

}  // namespace saccade
