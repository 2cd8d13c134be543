#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "cuda/driver/device.hpp"
#include "runtime/tactic.hpp"

namespace saccade::cuda {

/// Launch dimensions and dynamic shared memory of a kernel.
struct Grid {
  std::array<unsigned, 3> blocks{1, 1, 1};
  std::array<unsigned, 3> threads{1, 1, 1};
  unsigned shared_bytes = 0;  ///< dynamic shared memory per block
};

/// A pointer argument of a kernel.
struct Argument {
  enum class Kind : std::uint8_t {
    kInput,         ///< node input INDEX; constants are uploaded once per launch object
    kOutput,        ///< node output INDEX
    kPacked,        ///< NodeProgram::packed[INDEX]
    kScratch,       ///< INDEX bytes into the launch's scratch
    kIndexReports,  ///< words of NodeProgram::indexed from INDEX on (index_reports.hpp)
  };
  Kind kind = Kind::kInput;
  std::size_t index = 0;
};

/// One kernel call. All parameters are pointers; everything else is a compile-time constant. The kernel begins with
/// pdl_wait_and_trigger() (kernels/launch.cuh): consecutive kernels are linked by programmatic dependent launch and
/// overlap.
struct KernelCall {
  std::string source;  ///< CUDA C++; may include the files of kernels/
  std::string name;    ///< of its extern "C" __global__ function
  Grid grid;
  std::vector<Argument> arguments;
};

/// The kernel calls of one node, in order.
struct NodeProgram {
  std::vector<KernelCall> calls;
  std::vector<std::vector<std::byte>> packed;  ///< weights in kernel layout
  std::size_t scratch_bytes = 0;
  std::vector<std::int64_t> indexed;  ///< dimensions that kernels index with run-time indices (index_reports.hpp)
  std::string detail;                 ///< Launch::detail()
};

/// Compiles the kernels for DEVICE and uploads the packed weights and those constants of the node that a kernel reads.
/// Throws Error.
std::unique_ptr<Launch> make_launch(Device& device, const NodeContext& context, NodeProgram program);

}  // namespace saccade::cuda
