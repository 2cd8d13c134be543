#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "cuda/driver/device.hpp"
#include "runtime/tactic.hpp"

namespace saccade::cuda {

/// How many threads, and how much shared memory, a kernel runs with.
struct Grid {
  std::array<unsigned, 3> blocks{1, 1, 1};
  std::array<unsigned, 3> threads{1, 1, 1};
  unsigned shared_bytes = 0;  ///< dynamic shared memory a block
};

/// A pointer that a kernel takes.
struct Argument {
  enum class Kind : std::uint8_t {
    kInput,    ///< the node's input number INDEX; a constant one lies on the device once a launch
    kOutput,   ///< the node's output number INDEX
    kPacked,   ///< NodeProgram::packed[INDEX]
    kScratch,  ///< INDEX bytes into the launch's scratch
    kFaults,   ///< the words of NodeProgram::indexed[INDEX] and those behind it (faults.hpp)
  };
  Kind kind = Kind::kInput;
  std::size_t index = 0;
};

/// One kernel. Its parameters are pointers alone: whatever else it needs is compiled into it. It begins with
/// pdl_wait_and_trigger() (kernels/launch.cuh), since the kernel before it may still run: they are linked by programmatic
/// dependent launch.
struct KernelCall {
  std::string source;  ///< CUDA C++; may include the files of kernels/
  std::string name;    ///< of its extern "C" __global__ function
  Grid grid;
  std::vector<Argument> arguments;
};

/// All that one node does on the device, call after call.
struct NodeProgram {
  std::vector<KernelCall> calls;
  std::vector<std::vector<std::byte>> packed;  ///< weights as the kernels read them
  std::size_t scratch_bytes = 0;
  std::vector<std::int64_t> indexed;  ///< dimensions into which kernels go by indices that a run gives (faults.hpp)
  std::string detail;                 ///< Launch::detail()
};

/// Compiles the kernels for DEVICE, and copies there the packed weights and those constants of the node that a kernel
/// reads. Throws Error.
std::unique_ptr<Launch> make_launch(Device& device, const NodeContext& context, NodeProgram program);

}  // namespace saccade::cuda
