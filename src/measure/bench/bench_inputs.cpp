#include "measure/bench/bench_inputs.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>

#include "base/error.hpp"
#include "base/temporaries.hpp"
#include "ops/elementwise/cast.hpp"
#include "pipeline/model/frame_pool.hpp"
#include "pipeline/model/model_set.hpp"
#include "saccade/npy.hpp"

namespace saccade {
namespace {

std::vector<FedInput> write(const Model& model, std::span<const Tensor> tensors, const std::string& prefix) {
  std::vector<FedInput> files;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    files.push_back({model.inputs()[i].name, prefix + std::to_string(i) + ".npy"});
    save_npy(files.back().file, tensors[i]);
  }
  return files;
}

void feed(const Execution& execution, std::span<const Tensor> inputs) {
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (const TensorView to = execution.input(i); to.data != nullptr && inputs[i].bytes() != 0)
      cast_elements(view_of(inputs[i]), to);
}

/// The shapes of MODEL's inputs with BATCH as first dimension.
std::map<std::string, std::vector<std::int64_t>> batched_shapes(const Model& model, int batch) {
  std::map<std::string, std::vector<std::int64_t>> shapes;
  for (const TensorInfo& input : model.inputs()) {
    std::vector<std::int64_t> shape(input.shape.begin(), input.shape.end());
    if (shape.empty()) continue;
    shape.front() = batch;
    shapes[input.name] = shape;
  }
  return shapes;
}

}  // namespace

Model load_batched(const std::string& file, const ModelOptions& options, int batch) {
  Model single = Model::load(file, options);
  if (batch == 1) return single;
  ModelOptions batched = options;
  for (auto& [name, shape] : batched_shapes(single, batch)) batched.shapes.insert_or_assign(name, shape);
  try {
    Model model = Model::load(file, batched);
    for (std::size_t i = 0; i < model.outputs().size(); ++i)
      if (model.outputs()[i].shape == single.outputs()[i].shape)
        fail(ErrorCode::kUnsupported, "its output '{}' stays {}", model.outputs()[i].name,
             model.outputs()[i].shape.to_string());
    return model;
  } catch (const Error& error) {
    fail(ErrorCode::kUnsupported, "{} takes no batch of {}: {}", file, batch, error.what());
  }
}

std::string precision_of(const Model& model) {
  const Graph& graph = impl_of(model).graph();
  for (NodeId id : graph.order()) {
    const std::string& op = graph.node(id).op;
    if (op.starts_with("QLinear") || op == "QuantizeLinear" || op == "DynamicQuantizeLinear" || op.ends_with("Integer"))
      return "int8";
  }
  const Precision precision = model.options().precision;
  return std::string(to_string(precision == Precision::kAuto ? Precision::kFp32 : precision));
}

Inference on_frames(const std::vector<Model>& models, const NoiseFrame& frame, std::size_t batch) {
  /// Models, and frames in the memory where a pipeline would have them.
  struct Fed {
    Fed(const std::vector<Model>& all, const FrameView& view, std::size_t count)
        : models(all, count), pool(count, models.frame_memory()), frames(count) {
      const std::size_t bytes = frame_bytes(view.format, view.width, view.height);
      for (Frame& each : frames) {
        each.lease = pool.acquire(bytes);
        each.view = lay_out(each.lease.buffer(), view.format, view.width, view.height);
        std::memcpy(each.lease.buffer().data, view.planes[0], bytes);
        inputs.push_back(&each);
      }
    }
    InferenceTimes run() {
      models.begin(inputs);
      models.wait();
      InferenceTimes times{};
      for (std::size_t i = 0; i < models.size(); ++i) {
        models.run(i, inputs);
        for (std::size_t place = 0; place < frames.size(); ++place) models.read(i, place, frames[place]);
        const auto& latency = models[i].result().latency;
        times[0] += latency.pre;
        // Overlapping branches share the measured time.
        times[1] = models.overlaps() ? latency.model : times[1] + latency.model;
        times[2] += latency.post;
      }
      return times;
    }
    ModelSet models;
    FramePool pool;
    std::vector<Frame> frames;
    std::vector<const Frame*> inputs;
  };
  const auto fed = std::make_shared<Fed>(models, frame.view(), batch);
  return [fed] { return fed->run(); };
}

Inference on_tensors(const std::shared_ptr<const Plan>& plan, std::span<const Tensor> inputs, bool resident) {
  const auto execution = std::make_shared<Execution>(plan);
  feed(*execution, inputs);
  if (resident) execution->leave_on_device(true);
  return [execution]() -> InferenceTimes {
    execution->run();
    return {execution->stage_time(Stage::kPre), execution->stage_time(Stage::kModel),
            execution->stage_time(Stage::kPost)};
  };
}

std::vector<Tensor> outputs_for(const std::shared_ptr<const Plan>& plan, std::span<const Tensor> inputs) {
  Execution execution(plan);
  feed(execution, inputs);
  execution.run();
  return read_data_outputs(execution);
}

namespace {

/// Creates a private folder below PARENT. Throws Error (kIo).
std::string make_temporary_folder(const std::filesystem::path& parent) {
  constexpr mode_t kOwner = 0700;
  static std::atomic<unsigned> number = 0;
  while (true) {
    std::string name = (parent / fmt::format("saccade-bench-{}-{}", getpid(), number++)).string();
    note_temporary(name.c_str());  // first: a signal may arrive as soon as the folder exists
    if (mkdir(name.c_str(), kOwner) == 0) return name;
    const int reason = errno;
    forget_temporary(name.c_str());
    if (reason != EEXIST) fail(ErrorCode::kIo, "can't make the folder {}: {}", name, std::strerror(reason));
  }
}

}  // namespace

PeerFiles::PeerFiles(const Model& model, std::span<const Tensor> inputs, std::span<const Tensor> others) {
  std::error_code error;
  const std::filesystem::path temporary = std::filesystem::temp_directory_path(error);
  if (error) fail(ErrorCode::kIo, "there is no folder for temporary files (TMPDIR names it): {}", error.message());
  folder_ = make_temporary_folder(temporary);
  inputs_ = write(model, inputs, folder_ + "/input_");
  others_ = write(model, others, folder_ + "/other_");
}

PeerFiles::~PeerFiles() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
  forget_temporary(folder_.c_str());
}

}  // namespace saccade
