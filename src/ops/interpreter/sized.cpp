#include "ops/interpreter/sized.hpp"

#include <algorithm>

#include "ops/core/op.hpp"
#include "ops/core/strided_copy.hpp"

// saccade.Sized runs another operator on tensors whose sizes are known only at run time. A tensor's shape is its
// capacity; along some axes only the first elements are valid, as many as a separate int64 says. The kernel cuts the
// inputs to their valid part, evaluates the operator's shape rule (all contents are known now), runs its reference
// kernel, and copies the results into the outputs, padded with zeros. So any operator works on any size, at the price
// of a copy of the outputs, and of inputs whose valid part is not contiguous.
namespace saccade {
namespace {

constexpr std::string_view kOperator = "sized_operator";
constexpr std::string_view kDomain = "sized_domain";
constexpr std::string_view kGiven = "sized_inputs";
constexpr std::string_view kMade = "sized_outputs";
constexpr std::string_view kTypes = "sized_types";
constexpr std::string_view kShapes = "sized_shapes";
constexpr std::string_view kGuarded = "sized_guarded";

/// A saccade.Sized parsed from its attributes.
struct Form {
  Node inner;
  const Op* op = nullptr;
  std::vector<SizedAxis> given;
  std::vector<SizedAxis> made;
  std::vector<TensorType> capacity;
  bool guarded = false;
};

std::vector<std::int64_t> numbers_of(const std::vector<SizedAxis>& axes) {
  std::vector<std::int64_t> numbers;
  for (const SizedAxis& each : axes) numbers.insert(numbers.end(), {static_cast<std::int64_t>(each.tensor), each.axis});
  return numbers;
}

std::vector<SizedAxis> axes_from(const std::vector<std::int64_t>& numbers) {
  std::vector<SizedAxis> axes;
  for (std::size_t i = 0; i + 1 < numbers.size(); i += 2) {
    if (numbers[i] < 0 || numbers[i + 1] < 0 || numbers[i + 1] >= Shape::kMaxRank)
      fail(ErrorCode::kInvalidFile, "there is no axis {} of tensor {}", numbers[i + 1], numbers[i]);
    axes.push_back({static_cast<std::size_t>(numbers[i]), static_cast<int>(numbers[i + 1])});
  }
  return axes;
}

std::vector<TensorType> capacity_from(const Attributes& attributes) {
  const std::vector<std::int64_t> shapes = attributes.integers(kShapes);
  std::vector<TensorType> capacity;
  std::size_t at = 0;
  for (std::int64_t type : attributes.integers(kTypes)) {
    const bool is_type = type >= 0 && type <= static_cast<std::int64_t>(DType::kFrame);
    if (!is_type || at >= shapes.size() || shapes[at] < 0 || shapes[at] > Shape::kMaxRank ||
        std::cmp_less(shapes.size() - at - 1, shapes[at]))
      fail(ErrorCode::kInvalidFile, "its outputs have no type and shape");
    TensorType& each = capacity.emplace_back();
    each.dtype = static_cast<DType>(type);
    if (each.dtype == DType::kString || each.dtype == DType::kFrame)
      fail(ErrorCode::kUnsupported, "a size that depends on the data is not supported for {}", to_string(each.dtype));
    for (std::int64_t rank = shapes[at++]; rank > 0; --rank) each.shape.push_back(shapes[at++]);
  }
  return capacity;
}

Form form_of(const Node& node) {
  const Attributes& attributes = node.attributes;
  // Member by member: if an initializer in an aggregate's braces throws, g++ 12 destroys the preceding members twice.
  Form form;
  form.given = axes_from(attributes.integers(kGiven));
  form.made = axes_from(attributes.integers(kMade));
  form.capacity = capacity_from(attributes);
  form.guarded = attributes.integer(kGuarded, 0) != 0;
  form.inner.domain = attributes.text(kDomain);
  form.inner.op = attributes.text(kOperator);
  form.inner.name = node.name;
  form.inner.inputs = node.inputs;
  form.inner.outputs = node.outputs;
  form.inner.attributes = attributes;
  form.op = find_op(form.inner.domain, form.inner.op);
  const std::size_t added = form.given.size() + (form.guarded ? 1 : 0);
  if (form.op == nullptr || form.op == find_op("saccade", "Sized") || node.inputs.size() < added ||
      node.outputs.size() != form.capacity.size() + form.made.size())
    fail(ErrorCode::kInvalidFile, "a Sized can't run '{}' so", form.inner.op);
  form.inner.inputs.resize(node.inputs.size() - added);
  form.inner.outputs.resize(form.capacity.size());
  return form;
}

void require_scalar(const InferContext& context, std::size_t at, DType dtype) {
  const TensorType& type = context.input(static_cast<int>(at));
  if (type.dtype != dtype || type.shape.rank() != 0)
    fail(ErrorCode::kInvalidFile, "input {} is {} {}, not one {}", at, to_string(type.dtype), type.shape.to_string(),
         to_string(dtype));
}

void infer_sized(InferContext& context) {
  const Form form = form_of(context.node());
  std::size_t at = form.inner.inputs.size();
  for (const SizedAxis& given : form.given) {
    if (given.tensor >= form.inner.inputs.size() || given.axis >= context.shape(static_cast<int>(given.tensor)).rank())
      fail(ErrorCode::kInvalidFile, "input {} has no axis {}", given.tensor, given.axis);
    require_scalar(context, at++, DType::kInt64);
  }
  if (form.guarded) require_scalar(context, at, DType::kBool);
  int output = 0;
  for (const TensorType& capacity : form.capacity) context.output(output++, capacity.dtype, capacity.shape);
  for (const SizedAxis& made : form.made) {
    if (made.tensor >= form.capacity.size() || made.axis >= form.capacity[made.tensor].shape.rank())
      fail(ErrorCode::kInvalidFile, "output {} has no axis {}", made.tensor, made.axis);
    context.output(output++, DType::kInt64, {});
  }
}

/// Whether the valid part is contiguous in row-major order: no axis is cut but the first one longer than 1.
bool lies_in_one_piece(const Shape& counted, const Shape& capacity) {
  int first = 0;
  while (first < capacity.rank() && counted[first] == 1) ++first;
  for (int axis = first + 1; axis < capacity.rank(); ++axis)
    if (counted[axis] != capacity[axis]) return false;
  return true;
}

// ---- execution ----------------------------------------------------------------------------------------------------

/// One run: the inner operator's tensors at their actual sizes.
class SizedRun {
 public:
  SizedRun(const KernelContext& context, const Form& form)
      : context_(context), form_(form), inputs_(form.inner.inputs.size()), contents_(inputs_.size()) {
    for (std::size_t i = 0; i < inputs_.size(); ++i) inputs_[i] = context.input(static_cast<int>(i));
  }

  void run() {
    cut();
    const std::vector<TensorType> types = infer();
    std::vector<Tensor> results(types.size());
    std::vector<TensorView> outputs(types.size());
    for (std::size_t i = 0; i < types.size(); ++i) {
      const TensorView& capacity = context_.output(static_cast<int>(i));
      if (capacity.data == nullptr) continue;
      check_capacity(i, types[i]);
      if (types[i].shape == capacity.shape)
        outputs[i] = capacity;
      else
        outputs[i] = view_of(results[i] = Tensor(types[i].dtype, types[i].shape));
    }
    form_.op->reference(KernelContext(form_.inner, inputs_, outputs));
    for (std::size_t i = 0; i < types.size(); ++i)
      if (!results[i].empty()) put(view_of(results[i]), context_.output(static_cast<int>(i)));
    for (std::size_t i = 0; i < form_.made.size(); ++i)
      set_count(i, types[form_.made[i].tensor].shape[form_.made[i].axis]);
  }

  /// Leaves every output empty, or zero.
  void skip() {
    for (std::size_t i = 0; i < form_.capacity.size(); ++i)
      if (context_.wants(static_cast<int>(i))) fill_with_zero(context_.output(static_cast<int>(i)));
    for (std::size_t i = 0; i < form_.made.size(); ++i) set_count(i, 0);
  }

 private:
  void cut() {
    for (std::size_t i = 0; i < form_.given.size(); ++i) {
      const SizedAxis& given = form_.given[i];
      const std::int64_t count = context_.in<std::int64_t>(static_cast<int>(inputs_.size() + i))[0];
      std::int64_t& size = inputs_[given.tensor].shape[given.axis];
      size = std::clamp<std::int64_t>(count, 0, size);
    }
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      const TensorView& whole = context_.input(static_cast<int>(i));
      if (whole.data == nullptr || lies_in_one_piece(inputs_[i].shape, whole.shape)) continue;
      contents_[i] = Tensor(whole.dtype, inputs_[i].shape);
      strided_copy(whole.dtype, inputs_[i].shape, strided(whole), strided(view_of(contents_[i])));
      inputs_[i] = view_of(contents_[i]);
    }
  }

  const Tensor* contents(std::size_t i) {
    if (contents_[i].empty() && inputs_[i].data != nullptr) {
      contents_[i] = Tensor(inputs_[i].dtype, inputs_[i].shape);
      strided_copy(inputs_[i].dtype, inputs_[i].shape, strided(inputs_[i]), strided(view_of(contents_[i])));
    }
    return inputs_[i].data == nullptr ? nullptr : &contents_[i];
  }

  std::vector<TensorType> infer() {
    std::vector<TensorType> types;
    for (const TensorView& input : inputs_) types.push_back({input.dtype, input.shape});
    std::vector<const TensorType*> given;
    for (std::size_t i = 0; i < inputs_.size(); ++i) given.push_back(inputs_[i].data == nullptr ? nullptr : &types[i]);
    InferContext context(
        form_.inner, std::move(given), [this](int i) { return contents(static_cast<std::size_t>(i)); },
        [](double) { return true; });  // no limit: run time is the model's own affair
    form_.op->infer(context);
    for (std::size_t i = 0; i < form_.inner.outputs.size(); ++i)
      if (form_.inner.outputs[i] != ValueId::kNone && !context.is_set(i))
        fail(ErrorCode::kInvalidFile, "the operator has no output {}", i);
    return context.outputs();
  }

  void check_capacity(std::size_t i, const TensorType& type) const {
    const TensorType& capacity = form_.capacity[i];
    bool fits = type.dtype == capacity.dtype && type.shape.rank() == capacity.shape.rank();
    for (int axis = 0; fits && axis < capacity.shape.rank(); ++axis) {
      const auto is_made = [&](const SizedAxis& made) { return made.tensor == i && made.axis == axis; };
      const bool open = std::ranges::any_of(form_.made, is_made);
      fits = open ? type.shape[axis] <= capacity.shape[axis] : type.shape[axis] == capacity.shape[axis];
    }
    if (!fits)
      fail(ErrorCode::kUnsupported, "its output {} is {} {}, but the capacity is {} {}", i, to_string(type.dtype),
           type.shape.to_string(), to_string(capacity.dtype), capacity.shape.to_string());
  }

  static void put(const TensorView& result, const TensorView& capacity) {
    fill_with_zero(capacity);
    strided_copy(result.dtype, result.shape, strided(result), strided(capacity));
  }

  void set_count(std::size_t i, std::int64_t count) {
    const int at = static_cast<int>(form_.capacity.size() + i);
    if (context_.wants(at)) context_.out<std::int64_t>(at)[0] = count;
  }

  const KernelContext& context_;
  const Form& form_;
  std::vector<TensorView> inputs_;
  std::vector<Tensor> contents_;  // of the inputs that were cut, or read by the shape rule
};

void run_sized(const KernelContext& context) {
  const Form form = form_of(context.node());
  try {
    SizedRun run(context, form);
    if (form.guarded && !context.in<bool>(context.input_count() - 1)[0]) return run.skip();
    run.run();
  } catch (const Error& error) {
    throw error.in(fmt::format("node '{}' ({})", form.inner.name, form.inner.op));
  }
}

constexpr Op kSizedOps[] = {{"saccade", "Sized", infer_sized, run_sized, {.arity = {0, kAnyNumber}}}};

}  // namespace

Node sized_node(Node inner, const SizedForm& form) {
  Node node = std::move(inner);
  node.attributes.set(std::string(kOperator), std::move(node.op));
  node.attributes.set(std::string(kDomain), std::move(node.domain));
  node.attributes.set(std::string(kGiven), numbers_of(form.given));
  node.attributes.set(std::string(kMade), numbers_of(form.made));
  std::vector<std::int64_t> types;
  std::vector<std::int64_t> shapes;
  for (const TensorType& each : form.capacity) {
    types.push_back(static_cast<std::int64_t>(each.dtype));
    shapes.push_back(each.shape.rank());
    shapes.insert(shapes.end(), each.shape.begin(), each.shape.end());
  }
  node.attributes.set(std::string(kTypes), std::move(types));
  node.attributes.set(std::string(kShapes), std::move(shapes));
  node.domain = "saccade";
  node.op = "Sized";
  for (const SizedAxis& given : form.given) node.inputs.push_back(given.count);
  for (const SizedAxis& made : form.made) node.outputs.push_back(made.count);
  if (form.guard != ValueId::kNone) {
    node.attributes.set(std::string(kGuarded), std::int64_t{1});
    node.inputs.push_back(form.guard);
  }
  return node;
}

std::span<const Op> sized_ops() { return kSizedOps; }

}  // namespace saccade
