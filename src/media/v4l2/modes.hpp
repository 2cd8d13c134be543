#pragma once

#include <span>
#include <string>
#include <vector>

#include "media/v4l2/camera_options.hpp"
#include "media/v4l2/system_calls.hpp"
#include "saccade/cameras.hpp"

namespace saccade::v4l2 {

/// Seconds between two frames, as a fraction; 0/0: the driver does not say.
struct FrameInterval {
  std::uint32_t numerator = 0;
  std::uint32_t denominator = 0;

  /// Frames per second; 0: unknown.
  double rate() const { return numerator == 0 ? 0 : static_cast<double>(denominator) / numerator; }
};

/// What a camera can deliver.
struct Mode {
  const CameraFormat* format = nullptr;
  int width = 0;
  int height = 0;
  FrameInterval interval;
};
/// "1280x720 YUYV at 30 fps"
std::string to_string(const Mode& mode);

/// The modes of DEVICE, an open descriptor, in formats that can be read. Of a range of sizes or rates, usual ones and
/// those of WANTED.
std::vector<Mode> modes_of(SystemCalls& calls, int device, const CameraOptions& wanted);

/// The names of the formats of DEVICE that can't be read.
std::vector<std::string> unsupported_formats_of(SystemCalls& calls, int device);

/// Whether MODE is what WANTED leaves open or says. Rates are equal within 1 %, as 59.94 and 60 are.
bool is_wanted(const Mode& mode, const CameraOptions& wanted);

/// The size of the input of a model.
struct ModelSize {
  int width = 640;  ///< pixels
  int height = 640;
};

CameraScore score_of(const Mode& mode, const ModelSize& model);

/// The one of MODES with the fewest points; the first of equal ones. MODES is not empty.
const Mode& best_mode(std::span<const Mode> modes, const ModelSize& model);

}  // namespace saccade::v4l2
