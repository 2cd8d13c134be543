#include "op_case/op_case.hpp"

#include <cmath>
#include <cstdlib>
#include <cstring>

#include "op_case/built_case.hpp"
#include "ops/core/dispatch.hpp"
#include "ops/elementwise/cast.hpp"
#include "runtime/cuda_backend.hpp"
#include "runtime/reference_backend.hpp"
#include "saccade/isa.hpp"
#include "tensor/numbers.hpp"

namespace saccade {
namespace {

Tensor rounded(const Tensor& tensor, DType dtype) {
  if (tensor.empty() || tensor.dtype() != DType::kFloat32) return tensor;
  Tensor result(dtype, tensor.shape());
  cast_elements(view_of(tensor), view_of(result));
  return result;
}

/// Before the first kernel of the process is chosen.
[[maybe_unused]] const bool isa_is_limited = [] {
  const char* isa = std::getenv("SACCADE_TEST_ISA");
  if (isa != nullptr) limit_isa(parse_isa(isa));
  return isa != nullptr;
}();

Layout laid_out(const Shape& shape, Layout layout) { return shape.rank() >= 3 ? layout : Layout::kRowMajor; }

}  // namespace

std::string_view to_string(TestedBackend backend) {
  constexpr std::string_view kNames[] = {"reference", "cpu", "cuda"};
  return kNames[static_cast<std::size_t>(backend)];
}

const Backend& backend_of(TestedBackend backend) {
  if (backend == TestedBackend::kReference) return reference_backend();
  return backend == TestedBackend::kCpu ? cpu_backend() : cuda_backend({.fallback = true});
}

const Tactic& find_tactic(const On& on) {
  for (const Tactic* tactic : backend_of(on.backend).tactics())
    if (tactic->name() == on.tactic) return *tactic;
  fail(ErrorCode::kInternal, "no tactic '{}'", on.tactic);
}

void expect_near(const Tensor& got, const Tensor& wanted, Tolerance tolerance, std::size_t defined,
                 const std::string& what) {
  ASSERT_EQ(got.dtype(), wanted.dtype()) << what;
  ASSERT_EQ(got.shape(), wanted.shape()) << what;
  const auto a = numbers_of(got);
  const auto b = numbers_of(wanted);
  ASSERT_TRUE(a && b) << what << ": the tests can't compare " << to_string(wanted.dtype());
  int wrong = 0;
  for (std::size_t i = 0; i < std::min(a->size(), defined) && wrong < 5; ++i) {
    const double x = (*a)[i];
    const double y = (*b)[i];
    if (x == y || (std::isnan(x) && std::isnan(y))) continue;
    if (std::abs(x - y) <= tolerance.absolute + tolerance.relative * std::abs(y)) continue;
    ++wrong;
    ADD_FAILURE() << what << ": element " << i << " of " << wanted.shape().to_string() << " is " << x << ", not " << y;
  }
}

OpCase::OpCase(std::string op, std::string domain)
    : node_{.domain = std::move(domain), .op = std::move(op), .name = "case"} {
  outputs(1);
}

OpCase::OpCase(const OpCall& call) : OpCase(call.op, call.domain) {
  outputs(call.outputs);
  for (const auto& [name, value] : call.attributes) attribute(name, value);
  for (std::size_t i = 0; i < call.inputs.size(); ++i)
    i == 0 || is_float(call.inputs[i].dtype()) ? input(call.inputs[i]) : constant(call.inputs[i]);
}

OpCase& OpCase::input(Tensor tensor) {
  tensors_.push_back(std::move(tensor));
  constant_.push_back(false);
  return *this;
}

OpCase& OpCase::input(DType dtype, const Shape& shape, float low, float high) {
  return input(random_elements(dtype, shape, low, high, static_cast<std::uint32_t>(tensors_.size()) + 1));
}

OpCase& OpCase::constant(Tensor tensor) {
  input(std::move(tensor));
  constant_.back() = true;
  return *this;
}

OpCase& OpCase::constant(const Shape& shape, float low, float high) {
  return constant(random_tensor(shape, low, high, static_cast<std::uint32_t>(tensors_.size()) + 1));
}

OpCase& OpCase::absent() { return constant(Tensor()); }

OpCase& OpCase::attribute(std::string name, Attribute value) {
  node_.attributes.set(std::move(name), std::move(value));
  return *this;
}

OpCase& OpCase::outputs(int count) {
  node_.outputs.assign(static_cast<std::size_t>(count), ValueId::kNone);
  return *this;
}

OpCase& OpCase::defined(std::size_t output, std::size_t elements) {
  defined_[output] = elements;
  return *this;
}

OpCase& OpCase::expect(Tensor wanted) {
  expected_.push_back(std::move(wanted));
  return *this;
}

OpCase& OpCase::post(std::string op, float alpha, float beta) {
  node_.post_ops.push_back({.op = std::move(op), .alpha = alpha, .beta = beta});
  return *this;
}

OpCase& OpCase::post_with_operand(std::string op) {
  node_.post_ops.push_back({.op = std::move(op), .operand = 0});  // build() makes the operand
  return *this;
}

OpCase& OpCase::input_layout(int i, Layout layout) {
  input_layouts_.emplace_back(i, layout);
  return *this;
}

OpCase& OpCase::output_layout(Layout layout) {
  output_layout_ = layout;
  return *this;
}

OpCase OpCase::in(DType dtype) const {
  OpCase made = *this;
  for (Tensor& tensor : made.tensors_) tensor = rounded(tensor, dtype);
  for (Tensor& tensor : made.expected_) tensor = rounded(tensor, dtype);
  return made;
}

OpCase::Built OpCase::build(Layout layout) const {
  Built built;
  Node node = node_;
  built.inputs = tensors_;
  const auto add = [&](const Tensor& tensor, bool constant) {
    if (tensor.empty()) return node.inputs.push_back(ValueId::kNone);
    const std::string name = "input" + std::to_string(node.inputs.size());
    const ValueId id = constant ? built.graph.add_constant(name, tensor)
                                : built.graph.add_input(name, {tensor.dtype(), tensor.shape()});
    if (!constant) built.graph.value(id).layout = laid_out(tensor.shape(), layout);
    node.inputs.push_back(id);
  };
  for (std::size_t i = 0; i < tensors_.size(); ++i) add(tensors_[i], constant_[i]);
  for (std::size_t i = 0; i < node.outputs.size(); ++i)
    node.outputs[i] = built.graph.add_value("output" + std::to_string(i));
  // Shape rules must not see the post-ops' operands, which follow the operator's own inputs.
  Node bare = node;
  bare.post_ops.clear();
  KnownValues known(built.graph);
  const auto types = infer_node(built.graph, bare, known);
  for (PostOp& post : node.post_ops) {
    if (post.operand < 0) continue;
    post.operand = static_cast<int>(node.inputs.size());
    built.inputs.push_back(
        random_elements(types[0].dtype, types[0].shape, -2, 2, 100 + static_cast<std::uint32_t>(node.inputs.size())));
    add(built.inputs.back(), false);
  }
  for (std::size_t i = 0; i < types.size(); ++i) {
    Value& value = built.graph.value(node.outputs[i]);
    value.type = types[i];
    value.layout = laid_out(types[i].shape, output_layout_.value_or(layout));
  }
  for (const auto& [i, wanted] : input_layouts_)
    built.graph.value(node.inputs[static_cast<std::size_t>(i)]).layout = wanted;
  const std::vector<ValueId> outputs = node.outputs;
  built.node = built.graph.add_node(std::move(node));
  for (const ValueId output : outputs) built.graph.add_output(output);
  return built;
}

std::vector<Tensor> OpCase::wanted_of(const Built& built) const {
  if (!expected_.empty()) return expected_;
  return evaluate(built.graph, built.graph.node(built.node), built.inputs);
}

void OpCase::check(const On& on, Tolerance tolerance, Layout layout) const {
  ASSERT_NE(find_op(node_.domain, node_.op), nullptr) << "there is no operator " << node_.op;
  SCOPED_TRACE(fmt::format("{} on {} by {}, {}", node_.op, to_string(on.backend),
                           on.tactic.empty() ? "its preferred tactic" : on.tactic,
                           layout == Layout::kChannelsLast ? "channels-last" : "row-major"));
  // The layout pass leaves a node row-major where no tactic takes it channels-last.
  if (on.tactic.empty() && layout == Layout::kChannelsLast && preferred_tactic(on.backend, layout).empty()) return;
  switch (on.backend) {
    case TestedBackend::kReference: return check_reference(tolerance);
    case TestedBackend::kCpu: return check_cpu(on.tactic, tolerance, layout);
    case TestedBackend::kCuda: return check_cuda(on.tactic, tolerance, layout);
  }
}

void OpCase::check_layouts(const On& on, Tolerance tolerance) const {
  check(on, tolerance, Layout::kRowMajor);
  if (on.backend != TestedBackend::kReference) check(on, tolerance, Layout::kChannelsLast);
}

namespace {

/// What a reference kernel makes of INPUTS where the outputs' memory was full of POISON.
std::vector<Tensor> run_reference(const NodeContext& context, std::span<const Tensor> inputs, int poison) {
  std::vector<TensorView> in;
  for (const Tensor& tensor : inputs) in.push_back(tensor.empty() ? TensorView{} : view_of(tensor));
  std::vector<Tensor> outputs;
  std::vector<TensorView> out;
  for (const ValueId id : context.node.outputs) {
    const TensorType& type = context.graph.value(id).type;
    outputs.emplace_back(type.dtype, type.shape);
    std::memset(outputs.back().raw(), poison, outputs.back().bytes());
    out.push_back(view_of(outputs.back()));
  }
  find_op(context.node.domain, context.node.op)->reference(KernelContext(context.node, in, out));
  return outputs;
}

}  // namespace

void OpCase::check_reference(Tolerance tolerance) const {
  const Built built = build(Layout::kRowMajor);
  std::vector<Tensor> kept;
  for (const Tensor& tensor : built.inputs) kept.push_back(tensor.empty() ? tensor : tensor.clone());
  // Post-ops and their operands are not the kernel's.
  const std::span<const Tensor> own(built.inputs.data(), tensors_.size());
  const std::vector<Tensor> first = run_reference(built.context(), own, 0xFF);
  const std::vector<Tensor> second = run_reference(built.context(), own, 0xA5);
  for (std::size_t i = 0; i < first.size(); ++i) {
    const std::size_t size = bits_of(first[i].dtype()) / 8;
    const std::size_t bytes = defined_.contains(i) ? defined_.at(i) * size : first[i].bytes();
    EXPECT_EQ(0, std::memcmp(first[i].raw(), second[i].raw(), bytes)) << "output " << i << " is not all written";
  }
  for (std::size_t i = 0; i < kept.size(); ++i) {
    if (kept[i].empty()) continue;
    EXPECT_EQ(0, std::memcmp(kept[i].raw(), built.inputs[i].raw(), kept[i].bytes())) << "input " << i << " was written";
  }
  const std::vector<Tensor> got = evaluate(built.graph, built.graph.node(built.node), built.inputs);
  for (std::size_t i = 0; i < expected_.size(); ++i)
    expect_near(got[i], expected_[i], tolerance, defined_.contains(i) ? defined_.at(i) : SIZE_MAX,
                fmt::format("output {}", i));
}

Support OpCase::supports(const On& on, Layout layout) const {
  if (find_op(node_.domain, node_.op) == nullptr) return Support::no("there is no such operator");
  const Built built = build(layout);
  return find_tactic(on).supports(built.context());
}

std::string OpCase::preferred_tactic(TestedBackend backend, Layout layout) const {
  const Built built = build(layout);
  for (const bool leads : {true, false})
    for (const Tactic* tactic : backend_of(backend).tactics())
      if (tactic->leads(built.context()) == leads && tactic->supports(built.context()))
        return std::string(tactic->name());
  return "";
}

LayoutRule OpCase::layout_rule() const {
  const Built built = build(Layout::kRowMajor);
  return cpu_backend().target().layout_rule(built.context().graph, built.context().node);
}

}  // namespace saccade
