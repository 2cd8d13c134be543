#pragma once

#include <chrono>
#include <span>
#include <vector>

#include "saccade/model.hpp"
#include "saccade/pipeline.hpp"
#include "saccade/source.hpp"

namespace saccade {

/// The measured run of a batch.
struct BatchTime {
  std::size_t images = 1;
  std::chrono::nanoseconds time{};
};

/// What a batch has to do.
struct BatchDemand {
  double rate = 0;                  ///< frames per second of all sources; 0: as many as possible
  std::chrono::nanoseconds goal{};  ///< of the latency; 0: none
  std::chrono::nanoseconds wait{};  ///< the longest that a frame may wait for others
};

/// How many frames run together, and how long they wait for each other.
struct BatchChoice {
  std::size_t images = 1;
  std::chrono::nanoseconds wait{};
};

/// The smallest batch of TIMES, ascending, that does twice the rate and keeps the goal; without such a
/// batch, the fastest one that keeps the goal. A frame may have to wait for the run before it: the goal holds two runs
/// and the wait, which is shortened for that.
BatchChoice choose_batch(std::span<const BatchTime> times, const BatchDemand& demand);

/// The median time of MODELS, one after the other, on a black frame of the largest of SOURCES. Compiles the models.
/// Throws Error.
std::chrono::nanoseconds time_frame(const std::vector<Model>& models, std::span<const Source> sources);

/// The batch for OPTIONS: its own, or that of choose_batch() if it is 0, by runs of MODELS on black frames. Compiles
/// the models. Throws Error.
BatchChoice find_batch(const std::vector<Model>& models, std::span<const Source> sources,
                       const PipelineOptions& options);

}  // namespace saccade
