#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/report_text.hpp"
#include "measure/limits/device_file.hpp"
#include "measure/limits/limits.hpp"

namespace saccade::app {

/// The bounds of one model if its floating-point tensors had another precision.
struct PrecisionBound {
  OperandType precision = OperandType::kFloat32;
  Bound whole;
  Bound fused;
};

struct ModelReport {
  ModelLimits limits;
  std::vector<PrecisionBound> precisions;
};

/// The frame-period report and its inputs.
struct PeriodReport {
  CameraMode camera;
  std::optional<double> bus_rate;
  FramePeriod period;
};

/// The complete report of `limits`.
struct LimitsReport {
  Ceilings ceilings;
  std::string origin;  ///< "measured", or the device file
  std::vector<ModelReport> models;
  std::optional<PeriodReport> period;
  std::size_t top = 15;  ///< layers to list; 0: all
};

nlohmann::ordered_json to_json(const FramePeriod& period);
ReportText to_text(const LimitsReport& report);
nlohmann::ordered_json to_json(const LimitsReport& report);

/// Measured times against bounds for every model, with the worst violations.
ReportText check_text(const LimitsReport& report, double tolerance);
nlohmann::ordered_json check_json(const LimitsReport& report, double tolerance);

}  // namespace saccade::app
