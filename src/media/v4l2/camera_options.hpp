#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "media/v4l2/formats.hpp"

namespace saccade::v4l2 {

/// How frames get into memory.
enum class CameraIo {
  kAuto,     ///< kUserptr for memory that a GPU reads directly, else kMmap
  kMmap,     ///< the driver's buffers are mapped, and lent as frames
  kUserptr,  ///< the driver writes into buffers of the pipeline
};
/// "auto", "mmap", "userptr"
std::string_view to_string(CameraIo io);

/// A control and its value as it was written.
struct ControlSetting {
  std::string name;
  std::string value;
};

inline constexpr int kFewestBuffers = 2;
inline constexpr int kMostBuffers = 32;

/// The options of `/dev/videoN?...`.
struct CameraOptions {
  std::string uri;   ///< as it was given
  std::string path;  ///< of the device
  int width = 0;     ///< pixels, with height; 0: the best mode's
  int height = 0;
  double rate = 0;                       ///< frames per second; 0: the best mode's
  const CameraFormat* format = nullptr;  ///< null: the best mode's
  CameraIo io = CameraIo::kAuto;
  int buffers = 4;                       ///< of the driver, kFewestBuffers to kMostBuffers
  std::vector<ControlSetting> controls;  ///< in their order
};

/// Throws Error (kInvalidArgument) naming the option and its valid values. A name that is not an option is a control.
CameraOptions parse_camera(const std::string& uri);

}  // namespace saccade::v4l2
