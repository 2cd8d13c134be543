#include "saccade/model.hpp"

#include <algorithm>
#include <filesystem>

#include "base/log.hpp"
#include "pipeline/model/compile.hpp"
#include "pipeline/model/device.hpp"
#include "pipeline/model/model_impl.hpp"
#include "pipeline/model/second_model.hpp"
#include "pipeline/model/tiling.hpp"
#include "vision/thresholds.hpp"

namespace saccade {
namespace {

std::vector<TensorInfo> describe(const Graph& graph, std::span<const ValueId> values) {
  std::vector<TensorInfo> infos;
  for (ValueId id : values) {
    const Value& value = graph.value(id);
    infos.push_back({value.name, value.type.dtype, value.type.shape});
  }
  return infos;
}

/// Calls WORK and prepends the file's name to an Error that does not start with it.
template <typename Work>
decltype(auto) naming(const std::string& path, Work work) {
  try {
    return work();
  } catch (const Error& error) {
    if (std::string_view(error.what()).find(path) != std::string_view::npos) throw;
    throw error.in(path);
  }
}

}  // namespace

Model::Impl::Impl(const std::string& path, const ModelOptions& options)
    : path_(path), name_(std::filesystem::path(path).stem().string()) {
  check_postprocess(options.post);
  if (options.tiles) check_tiles(*options.tiles);
  check_device_of(path, options);  // fails before a large file is read
  OpenedModel opened = naming(path, [&] { return open_model(path, options); });
  graph_ = std::move(opened.graph);
  options_ = std::move(opened.options);
  // Merging the tiles would enlarge boxes by detections of a low confidence.
  if (options_.tiles && options_.post.tracker) options_.post.tracker->low = 1;
  plan_ = std::move(opened.plan);
  if (plan_) packed_.store(std::move(plan_->packed), std::move(opened.file));
  inputs_ = describe(graph_, graph_.inputs());
  outputs_ = describe(graph_, graph_.data_outputs());
}

void Model::Impl::recognise() {
  if (card_) return;
  Card card = naming(path_, [&] { return card_of(graph_, plan_, path_, options_.card); });
  if (options_.roi) card.roi = options_.roi;
  log(LogLevel::kInfo, "{}: read as {} ({}), by {}", path_, to_string(card.task()), card.head().decoder->name,
      card.origin);
  card_ = std::move(card);
}

const TacticChoices& Model::Impl::measured() const {
  static const TacticChoices kNone;
  return plan_ ? plan_->choices : kNone;
}

const Fp32KeepList& Model::Impl::find_keep_list(PlanFor what, const Graph& graph) {
  const auto found = keep_lists_.find(what);
  if (found != keep_lists_.end()) return found->second;
  const bool on_frames = what == PlanFor::kFrames;
  if (on_frames) recognise();
  Fp32KeepList list = resolve_fp32_keep_list(graph, on_frames ? &*card_ : nullptr, options_, plan_);
  list.add({.products = keep_for_accuracy_});
  return keep_lists_[what] = std::move(list);
}

const Fp32KeepList& Model::Impl::fp32_keep_list(PlanFor what, const Graph& graph) {
  const std::scoped_lock lock(mutex_);
  return naming(path_, [&]() -> const Fp32KeepList& { return find_keep_list(what, graph); });
}

void Model::Impl::use_card(Card card) {
  const std::scoped_lock lock(mutex_);
  card_ = std::move(card);
}

void Model::Impl::use_precision(const DecidedPrecision& decided) {
  const std::scoped_lock lock(mutex_);
  if (tensor_plan_ || !vision_plans_.empty()) fail(ErrorCode::kInternal, "{}: it is compiled already", path_);
  options_.precision = decided.precision;
  keep_for_accuracy_ = decided.keep_fp32;
  keep_lists_.clear();
}

Model Model::Impl::on(Device device) {
  const std::scoped_lock lock(mutex_);
  ModelOptions options = options_;
  options.device = device;
  Model other = Model::load(path_, options);
  if (card_) impl_of(other).use_card(*card_);
  if (!keep_for_accuracy_.empty()) impl_of(other).use_precision({options_.precision, keep_for_accuracy_});
  return other;
}

const Card& Model::Impl::card() {
  const std::scoped_lock lock(mutex_);
  recognise();
  return *card_;
}

bool Model::Impl::is_recognised() {
  try {
    card();
    return true;
  } catch (const Error& error) {
    if (!options_.card.empty() || error.code() != ErrorCode::kUnsupported) throw;
    return false;
  }
}

std::shared_ptr<const Plan> Model::Impl::compiled(Graph graph, const Fp32KeepList& keep_fp32) {
  auto plan = compile({.graph = std::move(graph),
                       .options = options_,
                       .measured = measured(),
                       .packed = packed(),
                       .keep_fp32 = keep_fp32});
  packed_.release_pages();
  return plan;
}

std::shared_ptr<const Plan> Model::Impl::tensor_plan() {
  const std::scoped_lock lock(mutex_);
  if (!tensor_plan_)
    tensor_plan_ = naming(path_, [&] { return compiled(graph_, find_keep_list(PlanFor::kTensors, graph_)); });
  return tensor_plan_;
}

const TensorBatchPlan& Model::Impl::tensor_batch_plan(std::size_t images) {
  const std::scoped_lock lock(mutex_);
  auto& made = tensor_batch_plans_[images];
  if (made == nullptr) made = naming(path_, [&] { return make_tensor_batch_plan(images); });
  return *made;
}

std::unique_ptr<const TensorBatchPlan> Model::Impl::make_tensor_batch_plan(std::size_t images) {
  if (graph_.inputs().size() != 1)
    fail(ErrorCode::kUnsupported, "it has {} inputs: only a model with one takes batches", graph_.inputs().size());
  auto made = std::make_unique<TensorBatchPlan>();
  Graph graph = graph_;
  made->axes.resize(graph.outputs().size());
  if (images > 1) made->axes = batch_images(graph, graph.inputs()[0], static_cast<std::int64_t>(images));
  // What stays in float32 is found for one image.
  made->plan = compiled(std::move(graph), find_keep_list(PlanFor::kTensors, graph_));
  return made;
}

const VisionPlan& Model::Impl::vision_plan(std::size_t images) {
  const std::scoped_lock lock(mutex_);
  // What stays in float32 is found for one image.
  for (const std::size_t each : {std::size_t{1}, images}) {
    auto& plan = vision_plans_[each];
    if (plan == nullptr) plan = naming(path_, [&] { return make_vision_plan(each); });
  }
  return *vision_plans_[images];
}

std::unique_ptr<const VisionPlan> Model::Impl::make_vision_plan(std::size_t images) {
  recognise();
  if (images == 1 && !card_->assumptions.empty())
    log(LogLevel::kWarning, "{}: assumed for lack of a card: {} (docs/cards.md)", path_,
        fmt::join(card_->assumptions, "; "));
  auto made = std::make_unique<VisionPlan>(VisionPlan{*card_, {}, nullptr, {}, {}});
  if (is_tiled(*card_, options_)) made->roi = take_region(made->card);
  if (made->card.track) made->target = attach_target(graph_, made->card);
  Attached attached = attach(graph_, made->card, options_.post, images);
  made->outputs = std::move(attached.outputs);
  const Fp32KeepList& keep_fp32 = find_keep_list(PlanFor::kFrames, attached.graph);
  made->plan = compiled(std::move(attached.graph), keep_fp32);
  return made;
}

const Model* Model::Impl::second() {
  const std::scoped_lock lock(mutex_);
  recognise();
  if (card_->second && !second_) second_ = naming(path_, [&] { return load_second(*card_->second, options_); });
  return second_ ? &*second_ : nullptr;
}

Execution open_execution(const std::string& name, std::shared_ptr<const Plan> plan) {
  try {
    return Execution(std::move(plan));
  } catch (const Error& error) {
    throw error.in(name);
  }
}

Model Model::load(const std::string& path, const ModelOptions& options) {
  return ImplAccess::make<Model>(path, options);
}

const std::string& Model::name() const { return impl_->name(); }

const ModelOptions& Model::options() const { return impl_->options(); }

std::span<const TensorInfo> Model::inputs() const { return impl_->inputs(); }

std::span<const TensorInfo> Model::outputs() const { return impl_->outputs(); }

Task Model::task() const { return impl_->card().task(); }

bool Model::tracks() const {
  const Card& card = impl_->card();
  return options().post.tracker && card.task() != Task::kTrack && find_objects_head(card) != nullptr;
}

std::span<const std::string> Model::labels() const { return impl_->card().head().labels; }

}  // namespace saccade
