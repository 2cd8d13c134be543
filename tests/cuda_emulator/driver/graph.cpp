#include "driver/driver_functions.hpp"
#include "driver/state.hpp"

// Graphs: captured work, replayed.
namespace saccade::cuda {

using namespace emulator;

CUresult cuGraphInstantiateWithFlags(CUgraphExec* executable, CUgraph graph, unsigned long long flags) {
  SACCADE_BEGIN(cuGraphInstantiateWithFlags, Needs::kContext);
  const auto found = handles<CUgraph_st>().find(graph);
  if (found == nullptr) return kInvalidHandle;
  if (flags != 0) return kNotSupported;
  auto made = std::make_shared<CUgraphExec_st>();
  made->operations = std::make_shared<const std::vector<Operation>>(found->operations);
  *executable = handles<CUgraphExec_st>().add(std::move(made));
  return CUDA_SUCCESS;
}

CUresult cuGraphLaunch(CUgraphExec executable, CUstream stream) {
  SACCADE_BEGIN(cuGraphLaunch, Needs::kContext);
  const auto found = handles<CUgraphExec_st>().find(executable);
  if (found == nullptr) return kInvalidHandle;
  return enqueue(stream, [operations = found->operations] { return run(*operations); });
}

CUresult cuGraphExecDestroy(CUgraphExec executable) {
  SACCADE_BEGIN(cuGraphExecDestroy, Needs::kContext);
  return handles<CUgraphExec_st>().take(executable) == nullptr ? kInvalidHandle : CUDA_SUCCESS;
}

CUresult cuGraphDestroy(CUgraph graph) {
  SACCADE_BEGIN(cuGraphDestroy, Needs::kContext);
  return handles<CUgraph_st>().take(graph) == nullptr ? kInvalidHandle : CUDA_SUCCESS;
}

}  // namespace saccade::cuda
