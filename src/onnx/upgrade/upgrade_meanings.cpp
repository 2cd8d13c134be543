#include <algorithm>
#include <limits>

#include "onnx/upgrade/upgrade_rule.hpp"
#include "ops/core/values.hpp"

// Operators that were replaced, and attributes whose semantics or default changed.
namespace saccade {
namespace {

/// Keeps the first output. Throws if another one is read: those exist in training only.
void keep_first_output(Upgrade& upgrade) {
  for (std::size_t i = 1; i < upgrade.node.outputs.size(); ++i)
    if (upgrade.wants(i))
      fail(ErrorCode::kUnsupported, "its output {} is read, which exists in training only; export for inference", i);
  upgrade.node.outputs.resize(1, ValueId::kNone);
}

void check_not_training(bool training) {
  if (training) fail(ErrorCode::kUnsupported, "it is in training mode; export for inference: model.eval()");
}

/// Training with a ratio of 0 is inference.
bool drops_elements(const Upgrade& upgrade) {
  if (!upgrade.has(2)) return false;
  const Tensor* training = upgrade.known(2);
  if (training != nullptr && training->elements() != 1)
    fail(ErrorCode::kInvalidFile, "its training_mode has shape {}, not a scalar's", training->shape().to_string());
  if (training != nullptr && !training->data<bool>()[0]) return false;
  const Tensor* ratio = upgrade.known(1);
  return ratio == nullptr || real_of(view_of(*ratio)) != 0;
}

/// Dropout is kept if its mask is read.
void drop_dropout(Upgrade& upgrade) {
  check_not_training(drops_elements(upgrade));
  upgrade.node.inputs.resize(1);
  if (upgrade.wants(1)) return;
  keep_first_output(upgrade);
  upgrade.node = {
      .op = "Identity", .name = upgrade.node.name, .inputs = upgrade.node.inputs, .outputs = upgrade.node.outputs};
}

void simplify_batch_norm(Upgrade& upgrade) {
  Attributes& attributes = upgrade.node.attributes;
  if (attributes.integer("training_mode", 0) != 0) measure_batch_norm(upgrade);
  if (attributes.integer("spatial", 1) == 0)
    fail(ErrorCode::kUnsupported,
         "statistics per element (spatial=0) are not supported; export with a newer operator set");
  keep_first_output(upgrade);
  for (const std::string_view name : {"training_mode", "spatial", "momentum"}) attributes.erase(name);
}

/// Softmax, LogSoftmax and Hardmax used to work on the input flattened to two dimensions at `axis`.
void unflatten_softmax(Upgrade& upgrade) {
  Node& node = upgrade.node;
  const Shape shape = upgrade.shape(0);
  const int axis = InferContext::axis(node.attributes.integer("axis", 1), shape.rank());
  std::int64_t rows = 1;
  std::int64_t columns = 1;
  int busy = axis;  // the last of the flattened dimensions that is larger than 1
  bool one_dimension = true;
  for (int i = 0; i < shape.rank(); ++i) {
    (i < axis ? rows : columns) *= shape[i];
    if (i <= axis || shape[i] == 1) continue;
    one_dimension = shape[busy] == 1;
    busy = i;
  }
  if (one_dimension) {
    node.attributes.set("axis", std::int64_t{busy});
    return;
  }
  const ValueId flat = upgrade.reshaped("flat", node.inputs[0], {rows, columns});
  Node inner{.op = node.op, .inputs = {flat}};
  inner.attributes.set("axis", std::int64_t{1});
  const ValueId result = upgrade.before("rows", std::move(inner));
  upgrade.node = {.op = "Reshape", .name = node.name, .inputs = {result}, .outputs = node.outputs};
  upgrade.set_input(1, "shape", Tensor::of<std::int64_t>(Shape{shape.rank()}, std::span(shape.begin(), shape.end())));
}

void count_split_outputs(Upgrade& upgrade) {
  if (!upgrade.has(1))
    upgrade.node.attributes.set("num_outputs", static_cast<std::int64_t>(upgrade.node.outputs.size()));
}

/// Resize had no modes before operator set 11: coordinates were scaled from the corner, and "nearest" was floor when
/// enlarging, ceil when shrinking.
void modernise_resize(Upgrade& upgrade) {
  Node& node = upgrade.node;
  bool shrinks = false;
  bool enlarges = false;
  if (const Tensor* scales = upgrade.known(1)) {
    shrinks = std::ranges::any_of(scales->data<float>(), [](float scale) { return scale < 1; });
    enlarges = std::ranges::any_of(scales->data<float>(), [](float scale) { return scale > 1; });
  }
  if (node.inputs.size() < 2) fail(ErrorCode::kInvalidFile, "its scales are missing");
  node.op = "Resize";
  node.inputs = {node.inputs[0], ValueId::kNone, node.inputs[1]};
  node.attributes.set("coordinate_transformation_mode", std::string("asymmetric"));
  node.attributes.set("nearest_mode", std::string(shrinks && !enlarges ? "ceil" : "floor"));
}

/// tf_half_pixel_for_nn was half_pixel without the final half: floor with one is round with the other.
void replace_tf_half_pixel(Upgrade& upgrade) {
  Attributes& attributes = upgrade.node.attributes;
  if (attributes.text("coordinate_transformation_mode") != "tf_half_pixel_for_nn") return;
  if (attributes.text("mode", "nearest") != "nearest" || attributes.text("nearest_mode") != "floor")
    fail(ErrorCode::kUnsupported, "tf_half_pixel_for_nn is supported for mode 'nearest', nearest_mode 'floor' only");
  attributes.set("coordinate_transformation_mode", std::string("half_pixel"));
  attributes.set("nearest_mode", std::string("round_prefer_ceil"));
}

/// Drops inputs without effect: some operator sets required them, as empty tensors.
void drop_unused_resize_inputs(Upgrade& upgrade) {
  Node& node = upgrade.node;
  const bool crops = node.attributes.text("coordinate_transformation_mode") == "tf_crop_and_resize";
  for (std::size_t i = 1; i < node.inputs.size(); ++i)
    if (upgrade.has(i) && ((i == 1 && !crops) || upgrade.shape(i).elements() == 0)) node.inputs[i] = ValueId::kNone;
  while (node.inputs.back() == ValueId::kNone) node.inputs.pop_back();
}

void rename_grid_sample_modes(Upgrade& upgrade) {
  Attributes& attributes = upgrade.node.attributes;
  const std::string mode = attributes.text("mode", "bilinear");
  attributes.set("mode", mode == "bilinear" ? std::string("linear") : mode == "bicubic" ? std::string("cubic") : mode);
}

void set_roi_align_mode(Upgrade& upgrade) {
  upgrade.node.attributes.set("coordinate_transformation_mode", std::string("output_half_pixel"));
}

/// One scale and bias per group became one per channel.
void spread_group_norm(Upgrade& upgrade) {
  Node& node = upgrade.node;
  const std::int64_t groups = node.attributes.integer("num_groups", 0);
  const Shape& shape = upgrade.shape(0);
  if (shape.rank() < 2 || groups < 1 || shape[1] % groups != 0)
    fail(ErrorCode::kInvalidFile, "{} channels can't be split into {} groups", shape.to_string(), groups);
  const std::int64_t channels = shape[1];
  for (const std::size_t i : {1, 2}) {
    if (upgrade.shape(i) != Shape{groups})
      fail(ErrorCode::kInvalidFile, "input {} has shape {}, not one number per group", i, upgrade.shape(i).to_string());
    const std::string what = i == 1 ? "scale" : "bias";
    const ValueId column = upgrade.reshaped(what + "_column", node.inputs[i], {groups, 1});
    const ValueId spread = upgrade.expanded(what + "_spread", column, {groups, channels / groups});
    node.inputs[i] = upgrade.reshaped(what, spread, {channels});
  }
}

void rename_simplified_norm(Upgrade& upgrade) {
  keep_first_output(upgrade);
  upgrade.node.op = "RMSNormalization";
}

void rename_scatter(Upgrade& upgrade) { upgrade.node.op = "ScatterElements"; }

// Resize's rules come before Upsample's, whose result is a Resize of the newest form.
constexpr UpgradeRule kMeaningRules[] = {
    {"BatchNormalization", kAlways, simplify_batch_norm},
    {"Dropout", kAlways, drop_dropout},
    {"GridSample", 20, rename_grid_sample_modes},
    {"GroupNormalization", 21, spread_group_norm},
    {"Hardmax", 13, unflatten_softmax},
    {"LogSoftmax", 13, unflatten_softmax},
    {"Resize", 11, modernise_resize},
    {"Resize", 13, replace_tf_half_pixel},
    {"Resize", kAlways, drop_unused_resize_inputs},
    {"RoiAlign", 16, set_roi_align_mode},
    {"Scatter", kAlways, rename_scatter},
    {"SimplifiedLayerNormalization", kAlways, rename_simplified_norm},
    {"Softmax", 13, unflatten_softmax},
    {"Split", 18, count_split_outputs},
    {"Upsample", kAlways, modernise_resize},
};

}  // namespace

std::span<const UpgradeRule> meaning_rules() { return kMeaningRules; }

}  // namespace saccade
