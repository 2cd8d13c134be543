#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/histogram.hpp"
#include "measure/live/run_monitor.hpp"

namespace saccade::serve {

/// What happened to the requests of a model so far.
struct ModelUse {
  std::uint64_t run = 0;
  std::uint64_t failed = 0;   ///< for a reason of the machine's
  std::uint64_t invalid = 0;  ///< that do not fit the model
  std::uint64_t refused = 0;
  std::uint64_t cancelled = 0;   ///< by their clients, before they were run
  std::uint64_t executions = 0;  ///< each of one request or several
  std::uint64_t images = 0;      ///< of all executions
  std::size_t waiting = 0;
  Histogram latency = {};                   ///< of the requests run, from their arrival to their response
  std::vector<std::uint64_t> batches = {};  ///< executions of up to 1, 2, 4, 8 ... images

  void add_execution(std::size_t of_images);
  ModelUse& operator+=(const ModelUse& more);
};

/// A server at work.
struct ServeState {
  std::map<std::string, ModelUse> models;  ///< that are or were loaded, by name
  ProcessState process;
  std::vector<GpuUse> gpus;  ///< that the models use
};

}  // namespace saccade::serve
