#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace saccade {

/// Why a call on the frame path has no value. These are ordinary events: a source ends, a camera stalls, a frame is
/// dropped.
enum class Status {
  kEnd,        ///< the source has no more frames
  kTimeout,    ///< nothing arrived in time
  kCancelled,  ///< the wait was cancelled
  kCorrupt,    ///< this frame could not be decoded; the source continues
  kLost,       ///< the device or file failed; the source has ended
  kFailed,     ///< a model could not run on this frame; the next frame may succeed
};
/// "end", "timeout", "cancelled", "corrupt", "lost", "failed"
std::string_view to_string(Status status) noexcept;

struct Failure {
  Status status;
  std::string message;
};

/// A value, or the reason why there is none.
template <typename T>
class [[nodiscard]] Outcome {
 public:
  Outcome(T value) : state_(std::move(value)) {}            // NOLINT(google-explicit-constructor)
  Outcome(Failure failure) : state_(std::move(failure)) {}  // NOLINT(google-explicit-constructor)

  explicit operator bool() const noexcept { return state_.index() == 0; }
  T& operator*() { return std::get<0>(state_); }
  const T& operator*() const { return std::get<0>(state_); }
  T* operator->() { return &std::get<0>(state_); }
  const T* operator->() const { return &std::get<0>(state_); }
  const Failure& failure() const { return std::get<1>(state_); }

 private:
  std::variant<T, Failure> state_;
};

/// A reference, or the reason why there is none.
template <typename T>
class [[nodiscard]] Outcome<T&> {
 public:
  Outcome(T& value) : value_(&value) {}                       // NOLINT(google-explicit-constructor)
  Outcome(Failure failure) : failure_(std::move(failure)) {}  // NOLINT(google-explicit-constructor)

  explicit operator bool() const noexcept { return value_ != nullptr; }
  T& operator*() const { return *value_; }
  T* operator->() const { return value_; }
  const Failure& failure() const { return failure_; }

 private:
  T* value_ = nullptr;
  Failure failure_{};
};

}  // namespace saccade
