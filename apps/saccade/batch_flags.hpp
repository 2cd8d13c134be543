#pragma once

#include <saccade/pipeline.hpp>

#include "flags/binder.hpp"

namespace saccade::app {

/// Binds --batch and --batch-wait to OPTIONS.
void bind_batch(FlagBinder& binder, PipelineOptions& options);

}  // namespace saccade::app
