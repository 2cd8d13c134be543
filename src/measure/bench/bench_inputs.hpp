#pragma once

#include <filesystem>

#include "measure/bench/own_engine.hpp"
#include "measure/limits/noise_frame.hpp"
#include "measure/peers/peer.hpp"
#include "runtime/plan.hpp"
#include "saccade/model.hpp"

namespace saccade {

/// Reads FILE with BATCH bound to the first dimension of every input whose size is open; with 1 as OPTIONS say. Throws
/// Error (kUnsupported) with the reason if the model does not support that batch.
Model load_batched(const std::string& file, const ModelOptions& options, int batch);

/// "int8" if the model's graph is quantized, else the precision of its options: "fp32", "fp16".
std::string precision_of(const Model& model);

/// An inference on BATCH times FRAME, from pixels to the predictions of all MODELS, as a pipeline runs them.
Inference on_frames(const std::vector<Model>& models, const NoiseFrame& frame, std::size_t batch);
/// An inference on INPUTS, one per input of the plan, converted to its types. RESIDENT: they are copied to the device
/// once, and outputs stay there.
Inference on_tensors(const std::shared_ptr<const Plan>& plan, std::span<const Tensor> inputs, bool resident);

/// The outputs of a plan for INPUTS, as on_tensors() takes them.
std::vector<Tensor> outputs_for(const std::shared_ptr<const Plan>& plan, std::span<const Tensor> inputs);

/// Two sets of inputs as .npy files in a folder that is removed with this object, or by a signal that ends the process.
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
