#pragma once

#include "grpc_predict_v2.pb.h"
#include "serve/served_model.hpp"

namespace saccade::serve {

/// Writes the metadata of SERVED to RESPONSE.
void describe(const ServedModel& served, inference::ModelMetadataResponse& response);

/// Writes what Triton's tools read of the configuration of SERVED to CONFIG.
void describe(const ServedModel& served, inference::ModelConfig& config);

}  // namespace saccade::serve
