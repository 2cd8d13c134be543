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
  Precision precision = Precision::kFloat32;
  Bound whole;
  Bound fused;
};

struct ModelReport {
  ModelLimits limits;
  std::vector<PrecisionBound> precisions;
};

/// The arithmetic of the frame period, and what it was done with.
struct PeriodReport {
  CameraMode camera;
  std::optional<double> bus_rate;
  FramePeriod period;
};

/// All that `limits` says.
struct LimitsReport {
  Ceilings ceilings;
  std::string origin;  ///< "measured", or the device file
  std::vector<ModelReport> models;
  std::optional<PeriodReport> period;
  std::size_t top = 15;  ///< layers to list; 0: all
};

ReportText to_text(const LimitsReport& report);
nlohmann::ordered_json to_json(const LimitsReport& report);

/// Every model's measured times against its bounds, and the worst offenders.
ReportText check_text(const LimitsReport& report, double tolerance);
nlohmann::ordered_json check_json(const LimitsReport& report, double tolerance);

}  // namespace saccade::app
