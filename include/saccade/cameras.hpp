#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "saccade/source.hpp"

namespace saccade {

/// What a mode of a camera costs, in points. 0 is a mode at 60 frames per second of the model's size that needs no
/// decoder; more is worse.
struct CameraScore {
  double rate = 0;        ///< 40 at 0 frames per second, 0 at 60 or more, by the square root; 20 if the rate is unknown
  double size = 0;        ///< 60 times the share that a frame lacks of the model's size; 2 per doubling above it
  double conversion = 0;  ///< 20 for a decoder that keeps one core busy; 30 for grey, 15 for a Bayer mosaic
  double bus = 0;         ///< 5 per 100 MB/s

  /// The sum.
  double total() const { return rate + size + conversion + bus; }
};

/// A mode of a camera whose frames can be read.
struct CameraModeInfo {
  std::string format;  ///< "YUYV", as in a URI
  int width = 0;       ///< pixels
  int height = 0;      ///< pixels
  double rate = 0;     ///< frames per second; 0: the driver does not say
  CameraScore score;   ///< for the model's size
};

/// A control of a camera that a URI can set.
struct CameraControlInfo {
  std::string name;        ///< "brightness", as in a URI
  std::int64_t value = 0;  ///< now
  std::string values;      ///< "from 0 to 255", "one of manual_mode (1), aperture_priority_mode (3)"
  bool read_only = false;  ///< it can't be set
};

/// A camera of this machine.
struct CameraInfo {
  std::string path;                              ///< "/dev/video0"
  std::string name;                              ///< of the camera, as its driver says
  std::string driver;                            ///< "uvcvideo"
  std::string bus;                               ///< where it is connected
  std::vector<CameraModeInfo> modes;             ///< the best first: Source::open() takes it if its URI leaves all open
  std::vector<std::string> unsupported_formats;  ///< formats of the camera that can't be read
  std::vector<CameraControlInfo> controls;       ///< in the driver's order
  std::string fault;                             ///< why it can't be used; empty: it can
};

/// The cameras of this machine by the numbers of their devices, also those that can't be opened. Modes are scored for
/// OPTIONS' model size. Any thread; cameras in use are listed, too.
std::vector<CameraInfo> list_cameras(const SourceOptions& options = {});

/// Whether URI names a camera: /dev/videoN, a path below /dev/v4l/, the number N where no file has that name, or a path
/// of a V4L2 device; each with or without options (?NAME=VALUE&...).
bool is_camera(const std::string& uri);

}  // namespace saccade
