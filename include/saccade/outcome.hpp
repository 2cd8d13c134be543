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
  kTimeout,    ///< nothing arrived in time; with a message: the device is away, or has stalled
  kCancelled,  ///< the wait was cancelled
  kCorrupt,    ///< this frame could not be decoded; the source continues
  kNoBuffer,   ///< this frame had no buffer, because all were in use; the source continues
  kBehind,     ///< this frame was not decoded, because the decoder was behind; the source continues
  kLost,       ///< the device or file failed; the source has ended
  kFailed,     ///< a model could not run on this frame; the next frame may succeed
};
/// "end", "timeout", "cancelled", "corrupt", "no buffer", "behind", "lost", "failed"
std::string_view to_string(Status status) noexcept;

/// A reason why there is no value.
struct Failure {
  Status status;        ///< category
  std::string message;  ///< what happened, with the name of the source or model; may be empty
};

/// A value, or the reason why there is none.
template <typename T>
class [[nodiscard]] Outcome {
 public:
  /// A value.
  Outcome(T value) : state_(std::move(value)) {}  // NOLINT(google-explicit-constructor)
  /// A reason.
  Outcome(Failure failure) : state_(std::move(failure)) {}  // NOLINT(google-explicit-constructor)

  /// Whether there is a value.
  explicit operator bool() const noexcept { return state_.index() == 0; }
  /// The value; there must be one.
  T& operator*() { return std::get<0>(state_); }
  /// The value; there must be one.
  const T& operator*() const { return std::get<0>(state_); }
  /// The value; there must be one.
  T* operator->() { return &std::get<0>(state_); }
  /// The value; there must be one.
  const T* operator->() const { return &std::get<0>(state_); }
  /// The reason; there must be no value.
  const Failure& failure() const { return std::get<1>(state_); }

 private:
  std::variant<T, Failure> state_;
};

/// A reference, or the reason why there is none.
template <typename T>
class [[nodiscard]] Outcome<T&> {
 public:
  /// A reference to VALUE, which outlives it.
  Outcome(T& value) : value_(&value) {}  // NOLINT(google-explicit-constructor)
  /// A reason.
  Outcome(Failure failure) : failure_(std::move(failure)) {}  // NOLINT(google-explicit-constructor)

  /// Whether there is a reference.
  explicit operator bool() const noexcept { return value_ != nullptr; }
  /// What it refers to; there must be a reference.
  T& operator*() const { return *value_; }
  /// What it refers to; there must be a reference.
  T* operator->() const { return value_; }
  /// The reason; there must be no reference.
  const Failure& failure() const { return failure_; }

 private:
  T* value_ = nullptr;
  Failure failure_{};
};

}  // namespace saccade
