#pragma once

#include "pipeline/sinks/json_text.hpp"
#include "saccade/summary.hpp"

namespace saccade {

/// LEDGER as a JSON object.
void append_ledger(JsonBuffer& out, const Ledger& ledger);

}  // namespace saccade
