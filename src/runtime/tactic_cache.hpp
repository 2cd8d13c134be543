#pragma once

#include "runtime/tactic.hpp"
#include "runtime/tactic_choices.hpp"

namespace saccade {

/// Earlier results of tuning on BACKEND's device, from this or another process: the file in cache_folder() for the
/// device, its driver, the kernel version and, where it matters, the number of THREADS (0: one per available
/// processor). Empty if there is none or, with a warning, if it is damaged. Any thread.
TacticChoices cached_choices(const Backend& backend, int threads);

/// Adds CHOICES to that file. Logs a warning if it can't be written.
void cache_choices(const Backend& backend, int threads, const TacticChoices& choices);

}  // namespace saccade
