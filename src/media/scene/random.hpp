#pragma once

#include <cstdint>

namespace saccade::scene {

/// splitmix64's finalizer: each bit of the result depends on each bit of KEY.
constexpr std::uint64_t mix(std::uint64_t key) {
  key += 0x9e3779b97f4a7c15ULL;
  key = (key ^ (key >> 30)) * 0xbf58476d1ce4e5b9ULL;
  key = (key ^ (key >> 27)) * 0x94d049bb133111ebULL;
  return key ^ (key >> 31);
}

constexpr std::uint64_t mix(std::uint64_t a, std::uint64_t b) { return mix(mix(a) ^ b); }

/// A random generator that depends on its key alone, equal on every machine (the standard library's distributions are
/// not).
class Random {
 public:
  explicit constexpr Random(std::uint64_t key) : state_(mix(key)) {}
  constexpr Random(std::uint64_t a, std::uint64_t b) : state_(mix(a, b)) {}

  constexpr std::uint64_t next() { return state_ = mix(state_); }
  /// In [0, 1).
  constexpr float unit() { return static_cast<float>(next() >> 40) * 0x1p-24F; }
  constexpr float between(float low, float high) { return low + (high - low) * unit(); }
  /// In 0 .. COUNT - 1.
  constexpr int below(int count) { return static_cast<int>((next() >> 33) % static_cast<std::uint64_t>(count)); }
  constexpr float sign() { return (next() >> 63) != 0 ? 1.0F : -1.0F; }

 private:
  std::uint64_t state_;
};

}  // namespace saccade::scene
