#pragma once

#include <string>

#include "device/object.hpp"

// Runs a kernel: cluster after cluster (of one block as a rule), thread after thread.
namespace saccade::emulator {

struct Grid {
  saccade_emulator::Index blocks{1, 1, 1};
  saccade_emulator::Index threads{1, 1, 1};
  saccade_emulator::Index cluster{1, 1, 1};
  unsigned shared_bytes = 0;
};

/// Runs all of GRID on the calling thread; one call at a time in a process. Ends the process with a message where the
/// kernel does what a device would hang or fail at. Answers whether any of its threads waited for the kernel before.
bool run_grid(const saccade_emulator::Object& object, const saccade_emulator::Entry& entry, const Grid& grid,
              void** arguments);

/// Ends the process, naming the kernel that runs, its block and thread.
[[noreturn]] void fail_kernel(const saccade_emulator::Site& site, const std::string& text);
/// "__syncthreads (convolution.cu:12)"
std::string describe(const saccade_emulator::Site& site);

}  // namespace saccade::emulator
