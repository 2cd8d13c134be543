#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "pipeline/model/model_runner.hpp"
#include "pipeline/model/tensor_batches.hpp"
#include "saccade/model.hpp"
#include "serve/job.hpp"

namespace saccade::serve {

/// The mutable memory of a model that runs for requests. One thread at a time.
class ModelExecution {
 public:
  /// Compiles MODEL for up to BATCH images at once, and runs it once. PREDICTS: for frames, too. Throws Error.
  ModelExecution(const Model& model, bool predicts, std::size_t batch);

  /// Runs on all REQUESTS at once, whose images are as many as the constructor's BATCH at most. Throws Error.
  void run(std::span<const TensorInput> requests);
  /// Of request I of the last run on tensors, in the model's order; valid until the next call.
  std::span<const OutputBuffer> outputs(std::size_t i);

  /// The most frames of a run.
  std::size_t most_frames() const { return most_frames_; }
  /// Runs on FRAMES, most_frames() at most. Throws Error.
  void run(std::span<const FrameView> frames);
  /// Of frame I of the last run on frames; valid until the next call. Throws Error.
  Result& result(std::size_t i);

  /// See TensorBatches; null: one image at a time.
  const TensorBatches* batches() const { return batches_ ? &*batches_ : nullptr; }

 private:
  void warm_up();
  void place_outputs(std::span<void* const> on_device);

  Model model_;
  std::size_t batch_;
  // One of them.
  std::optional<Session> session_;
  std::optional<TensorBatches> batches_;
  std::vector<std::vector<std::byte>> elements_;  ///< of the outputs
  std::vector<OutputBuffer> outputs_;
  std::vector<std::size_t> counts_;  ///< of the images of the last run's requests
  std::vector<const std::byte*> images_;

  std::unique_ptr<ModelRunner> runner_;  ///< null: the model does not predict
  std::size_t most_frames_ = 1;
  std::vector<Frame> frames_;
  std::int64_t sequence_ = 0;
};

}  // namespace saccade::serve
