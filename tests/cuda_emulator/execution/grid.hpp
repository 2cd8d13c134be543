#pragma once

#include <string>

#include "device/object.hpp"

// Runs a kernel: cluster by cluster (usually of one block), thread by thread.
namespace saccade::emulator {

struct Grid {
  saccade_emulator::Index blocks{1, 1, 1};
  saccade_emulator::Index threads{1, 1, 1};
  saccade_emulator::Index cluster{1, 1, 1};
  unsigned shared_bytes = 0;
  bool overlaps = false;  ///< programmatic stream serialization
};

/// Runs GRID on the calling thread; one call at a time per process. Aborts with a message where a device would hang or
/// fail, and where a thread of an overlapping kernel touches more than constants before griddepcontrol.wait. Returns
/// whether any thread executed griddepcontrol.wait.
bool run_grid(const saccade_emulator::Object& object, const saccade_emulator::Entry& entry, const Grid& grid,
              void** arguments);

/// Aborts with the running kernel, block and thread.
[[noreturn]] void fail_kernel(const saccade_emulator::Site& site, const std::string& text);
/// "__syncthreads (convolution.cu:12)"
std::string describe(const saccade_emulator::Site& site);

}  // namespace saccade::emulator
