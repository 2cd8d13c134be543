#pragma once

namespace saccade::cpu {

/// Makes oneDNN and Highway keep to isa_limit(). Before either chooses its first kernel.
void apply_isa_limit();

}  // namespace saccade::cpu
