#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "saccade/device.hpp"
#include "saccade/postprocess.hpp"
#include "saccade/region.hpp"
#include "saccade/results.hpp"
#include "saccade/tensor.hpp"
#include "saccade/tiles.hpp"

namespace saccade {

/// Options of compilation, preprocessing and post-processing:
/// Model::load(path, {.device = Device::cuda(), .precision = Precision::kFp16, .post = {.confidence = 0.5F}}).
struct ModelOptions {
  /// What the model runs on.
  Device device;
  /// Of the computation.
  Precision precision = Precision::kAuto;
  bool fallback = false;  ///< on a GPU: run operators without a GPU kernel on the host
  bool graph = true;      ///< on a GPU: capture a run as one CUDA graph
  int threads = 0;        ///< per inference; 0: one per available processor
  /// Memory limit in bytes while a model is read and compiled; 0: three quarters of the machine's memory, or of the
  /// limit of the process's control group. Exceeding it is an Error, raised before the allocation.
  std::size_t max_memory = 0;
  /// Full shapes by input name ("": the only input), and sizes by symbolic dimension name; all other symbolic
  /// dimensions are 1.
  std::map<std::string, std::vector<std::int64_t>> shapes;
  /// Sizes by symbolic dimension name.
  std::map<std::string, std::int64_t> dimensions;
  std::string card;  ///< a model card file; empty: MODEL.toml beside the model, else recognition
  /// Names of passes that do not run.
  std::vector<std::string> disabled_passes;
  std::optional<std::vector<std::string>> only_passes;  ///< run only these passes

  PostprocessOptions post;    ///< for models that are recognised or have a card
  std::optional<Region> roi;  ///< region of interest in the frame
  /// The object that a tracker of one object (Task::kTrack) follows: its box in the first frame of the source, in
  /// pixels. An Error for other models.
  std::optional<Region> target;
  /// Runs the model on tiles of the frame, or of its region of interest; nullopt: on the whole. For detections, with
  /// masks, keypoints and oriented boxes, and for semantic segmentation; other predictions of a model that also detects
  /// are those for the whole frame. The limit of detections in `post` applies to each tile and to the result. A
  /// super-resolution model always runs on tiles, of its own size.
  std::optional<TileOptions> tiles;
};

/// A model's input or output. If an output's size depends on the data, the shape is its capacity.
struct TensorInfo {
  std::string name;               ///< in the file
  DType dtype = DType::kFloat32;  ///< element type
  Shape shape;                    ///< full, without symbols
};

/// A model: immutable, shared by its copies, usable from any thread. Plans are compiled when first needed.
class Model {
 public:
  /// Reads an ONNX file or a plan. Throws Error with the file's name, and the node's where one is the cause.
  static Model load(const std::string& path, const ModelOptions& options = {});

  /// The file name without folder and extension.
  const std::string& name() const;
  /// The options in effect: the device that was chosen for Device::Kind::kAuto, the precision of a plan file.
  const ModelOptions& options() const;
  /// The inputs and outputs of the file.
  std::span<const TensorInfo> inputs() const;
  /// The outputs of the file.
  std::span<const TensorInfo> outputs() const;

  /// The model's task. The first call recognises the model. Throws Error if it is not recognised and has no card.
  Task task() const;
  /// Whether a Pipeline assigns track IDs to its objects: it finds some, and has a PostprocessOptions::tracker. Throws
  /// Error as task() does.
  bool tracks() const;
  /// Class names by class ID; empty if the model has none.
  std::span<const std::string> labels() const;

 private:
  friend struct ImplAccess;
  class Impl;
  explicit Model(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<Impl> impl_;
};

/// An input in the caller's memory: dense, row-major, of any alignment.
struct InputBuffer {
  const void* data = nullptr;     ///< the elements
  DType dtype = DType::kFloat32;  ///< must be that of the input
  Shape shape;                    ///< must be that of the input
  /// Whether `data` is in the memory of the GPU that the model runs on. All work that writes it is complete, and it
  /// does not change before the run is complete. enqueue() ignores this.
  bool on_device = false;
};

/// Memory of the caller for an output, of any alignment. `shape` is set when the output is written: dense, row-major.
struct OutputBuffer {
  void* data = nullptr;           ///< where the elements are written
  std::size_t bytes = 0;          ///< size of the memory; at least that of the output's TensorInfo
  DType dtype = DType::kFloat32;  ///< must be that of the output
  Shape shape;                    ///< of the last run
  /// Whether `data` is in the memory of the GPU that the model runs on. For Session::run(); enqueue() ignores this.
  bool on_device = false;
};

/// Runs a model on raw tensors. Owns the mutable memory: one thread at a time. Several sessions of one model may run
/// concurrently.
class Session {
 public:
  /// Compiles the model's plan if this is its first session. Throws Error.
  explicit Session(Model model);
  ~Session();
  /// The session that was moved from can only be assigned or destroyed.
  Session(Session&&) noexcept;
  /// The session that was moved from can only be assigned or destroyed.
  Session& operator=(Session&&) noexcept;

  /// Takes one tensor per input, in the model's order, of exactly its type and shape. Returns one per output, cut to
  /// its actual size if that depends on the data. Throws Error (kInvalidArgument) with the name of a mismatched input,
  /// or if the contents are invalid for an operator.
  std::vector<Tensor> run(std::span<const Tensor> inputs);

  /// submit(), then wait(). Each input and output may be on the host or in the memory of the model's GPU, which then
  /// reads or writes it there, without a copy through the host. Throws Error as they do; (kUnsupported) if an output is
  /// on the GPU and the size of one depends on the data. Allocates nothing after the first call.
  void run(std::span<const InputBuffer> inputs, std::span<OutputBuffer> outputs);
  /// Starts a run. Inputs on the host are copied before it returns; those on the GPU stay unchanged until wait(). On a
  /// GPU the run continues beside the caller; on the CPU wait() does the work. Throws Error (kInvalidArgument) with the
  /// name of a mismatched input, or if the run before was not waited for; (kUnsupported) if an input or output holds
  /// strings, or is on a GPU and the model is not.
  void submit(std::span<const InputBuffer> inputs);
  /// Completes the run and writes one output per output of the model, in its order. Throws Error (kInvalidArgument)
  /// with the name of a mismatched output, which leaves the run to be waited for, or if there is no run; also if the
  /// contents of the inputs are invalid for an operator, which ends the run; (kUnsupported) if an output is on a GPU.
  void wait(std::span<OutputBuffer> outputs);

  /// A run on tensors in the memory of the model's GPU, in the order of STREAM: a CUstream (cudaStream_t) of the
  /// device's primary context, as the CUDA runtime and PyTorch use it; null: the legacy default stream. Returns when
  /// the work is enqueued: until it is complete, the memory must stay valid, and the inputs unchanged. Sets the shapes
  /// of the outputs. Several runs may be enqueued, in different streams, too; they use the session's memory one after
  /// the other. Throws Error as submit() and wait() do; (kUnsupported) if the model does not run on a GPU, has an
  /// output whose size depends on the data, or if STREAM is being captured. Contents that are invalid for an operator,
  /// as an index that is out of range, are found by the device: a later call throws that error.
  void enqueue(std::span<const InputBuffer> inputs, std::span<OutputBuffer> outputs, void* stream);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace saccade
