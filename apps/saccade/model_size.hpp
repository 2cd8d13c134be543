#pragma once

#include <saccade/model.hpp>
#include <saccade/source.hpp>

namespace saccade::app {

/// Sets OPTIONS' model size to that of MODEL's first input of images: four dimensions, one or three channels.
void set_model_size(SourceOptions& options, const Model& model);

}  // namespace saccade::app
