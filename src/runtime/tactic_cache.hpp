#pragma once

#include "runtime/tactic.hpp"
#include "runtime/tactic_choices.hpp"

namespace saccade {

/// What tuning found out on BACKEND's device before, in this or another process: the file that cache_folder() has for
/// the device, its driver and the version of its kernels. Nothing where there is none, or it is damaged, which the log
/// says. Any thread.
TacticChoices cached_choices(const Backend& backend);

/// Adds CHOICES to that file. Where it can't be written, a word in the log.
void cache_choices(const Backend& backend, const TacticChoices& choices);

}  // namespace saccade
