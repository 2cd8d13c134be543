#pragma once

#include <saccade/rotation.hpp>
#include <string>

#include "flags/binder.hpp"

namespace saccade::app {

/// --rotate and --keep.
struct RotationFlags {
  Rotation rotation;

  void bind(FlagBinder& binder);
};

/// SIZE or TIME with its unit: "500M", "1G", "30s", "10m", "1h", "1d". Throws UsageError.
Rotation parse_rotation(const std::string& text);

}  // namespace saccade::app
