#pragma once

#include <fmt/format.h>

#include <utility>

#include "saccade/error.hpp"

namespace saccade {

/// Throws Error with a formatted message.
template <typename... Args>
[[noreturn]] void fail(ErrorCode code, fmt::format_string<Args...> format, Args&&... args) {
  throw Error(code, fmt::format(format, std::forward<Args>(args)...));
}

/// Throws kInternal naming the condition: for bugs in Saccade, never for a user's model, file or device.
[[noreturn]] void assertion_failed(const char* condition, const char* file, int line);

}  // namespace saccade

#define SACCADE_ASSERT(condition) \
  ((condition) ? static_cast<void>(0) : ::saccade::assertion_failed(#condition, __FILE__, __LINE__))
