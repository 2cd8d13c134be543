#pragma once

#include <filesystem>

#include "measure/bench/own_engine.hpp"
#include "measure/limits/noise_frame.hpp"
#include "measure/peers/peer.hpp"
#include "runtime/plan.hpp"
#include "saccade/model.hpp"

namespace saccade {

/// Reads FILE with a batch of BATCH images bound to the first dimension of every input whose size is open; 1 leaves
/// all as OPTIONS say. Throws Error (kUnsupported) saying why the model takes no such batch.
Model load_batched(const std::string& file, const ModelOptions& options, int batch);

/// "int8" where the model's graph computes with quantised numbers, else what its options ask for: "fp32", "fp16".
std::string precision_of(const Model& model);

/// An inference of what FRAME shows, from pixels to the predictions of all MODELS, as a pipeline runs them.
Inference on_frames(const std::vector<Model>& models, const NoiseFrame& frame);
/// An inference of INPUTS, one an input of the plan, whose types they are brought to. RESIDENT: they are brought to the
/// device once, and outputs stay there.
Inference on_tensors(const std::shared_ptr<const Plan>& plan, std::span<const Tensor> inputs, bool resident);

/// What a plan answers to INPUTS, as on_tensors() takes them.
std::vector<Tensor> answers_to(const std::shared_ptr<const Plan>& plan, std::span<const Tensor> inputs);

/// Two sets of inputs as .npy files in a folder that is gone when this is, or when a signal ends the process.
class PeerFiles {
 public:
  PeerFiles(const Model& model, std::span<const Tensor> inputs, std::span<const Tensor> others);
  ~PeerFiles();
  PeerFiles(const PeerFiles&) = delete;
  PeerFiles& operator=(const PeerFiles&) = delete;

  const std::string& folder() const { return folder_; }
  std::span<const FedInput> inputs() const { return inputs_; }
  std::span<const FedInput> other_inputs() const { return others_; }

 private:
  std::string folder_;
  std::vector<FedInput> inputs_;
  std::vector<FedInput> others_;
};

}  // namespace saccade
