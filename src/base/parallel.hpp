#pragma once

#include <cstddef>
#include <functional>

namespace saccade {

/// Calls WORK for 0 to COUNT - 1, started in this order, concurrently on up to THREADS threads including the caller's,
/// and returns when all are done. After an exception no further calls start; that of the smallest number is rethrown.
void in_parallel(std::size_t count, int threads, const std::function<void(std::size_t)>& work);

}  // namespace saccade
