#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "saccade/region.hpp"
#include "saccade/results.hpp"
#include "saccade/tensor.hpp"

namespace saccade {

/// How a model is compiled, and what it is asked for.
struct ModelOptions {
  /// "auto", "cpu", "cuda" or "cuda:N" (a GPU), or "reference", the slow kernels that define right answers.
  std::string device = "auto";
  std::string precision = "auto";  ///< "auto", "fp32"; on a GPU "fp16" and "bf16", too
  bool fallback = false;           ///< on a GPU: operators without a kernel there may run on the host
  bool graph = true;               ///< on a GPU: a run is one captured graph
  int threads = 0;                 ///< that one inference may use; 0: one a core
  /// Bytes that a model may take while it is read and compiled; 0: three quarters of the machine's memory, or of what
  /// the process's control group allows. Error where a model needs more, before that is allocated.
  std::size_t max_memory = 0;
  /// Full shapes by input name, and sizes by symbolic dimension name; every other symbolic dimension is 1.
  std::map<std::string, std::vector<std::int64_t>> shapes;
  std::map<std::string, std::int64_t> dimensions;
  std::string card;  ///< a model card's file; empty: MODEL.toml beside the model, else what the model says of itself
  std::vector<std::string> disabled_passes;
  std::optional<std::vector<std::string>> only_passes;  ///< run these passes alone

  std::optional<float> confidence;  ///< answers below it are left out; nothing: what the card says, else 0.25
  float iou = 0.7F;                 ///< of two boxes of a class that overlap more, the weaker is left out
  /// How boxes that overlap a better one are suppressed, where the model does not choose among them itself: "greedy",
  /// "linear" and "gaussian" (Soft-NMS), "none".
  std::string nms = "greedy";
  bool agnostic = false;             ///< boxes of different classes suppress each other too
  std::optional<bool> multi_label;   ///< an answer for every class of a box above the confidence, or the best alone;
                                     ///< nothing: as the model's card says
  int max_detections = 300;          ///< a frame
  int top_k = 5;                     ///< classes a frame, of a classifier
  std::vector<std::string> classes;  ///< names or numbers of the classes to keep; empty: all
  std::optional<Region> roi;         ///< the part of a frame to look at
};

/// A model's input or output. Where an output's size depends on the data, the shape holds as much as there can be.
struct TensorInfo {
  std::string name;
  DType dtype = DType::kFloat32;
  Shape shape;
};

/// A compiled model: immutable, shared by its copies, safe from any thread. Plans are compiled when first needed.
class Model {
 public:
  /// Reads an ONNX file. Throws Error naming the file, and the node where one is to blame.
  static Model load(const std::string& path, const ModelOptions& options = {});

  /// The file's name without folder and ending.
  const std::string& name() const;
  const ModelOptions& options() const;
  /// What the file itself takes and gives, by its names.
  std::span<const TensorInfo> inputs() const;
  std::span<const TensorInfo> outputs() const;

  /// What the model answers. The first call recognises the model; Error where nobody could and no card says.
  Task task() const;
  /// The class names in the order of class ids; empty where the model has none.
  std::span<const std::string> labels() const;

  class Impl;
  const std::shared_ptr<Impl>& impl() const { return impl_; }

 private:
  explicit Model(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<Impl> impl_;
};

/// Runs a model on raw tensors. Owns the memory that changes: one thread at a time, several sessions of one model may
/// run side by side.
class Session {
 public:
  /// Compiles the model's plan if no session did before. Throws Error.
  explicit Session(Model model);
  ~Session();
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;

  /// One tensor an input, in the model's order, of exactly its type and shape; gives one an output, cut to its size
  /// where that depends on the data. Throws Error (kInvalidArgument) naming the input that does not fit, or where the
  /// contents make no sense to an operator.
  std::vector<Tensor> run(std::span<const Tensor> inputs);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace saccade
