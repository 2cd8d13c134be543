#pragma once

#include <cstddef>
#include <functional>

namespace saccade {

/// Calls WORK for 0 to COUNT - 1, in this order but side by side on up to THREADS threads, the caller's among them, and
/// returns when all are done. Where some throw, no further ones begin, and the one with the smallest number is thrown.
void in_parallel(std::size_t count, int threads, const std::function<void(std::size_t)>& work);

}  // namespace saccade
