#include "backends/op_case.hpp"

#include <cmath>
#include <cstring>
#include <random>
#include <thread>

namespace saccade {
namespace {

constexpr std::size_t kGuard = 64;
constexpr auto kPoison = std::byte{0xFF};  // a NaN in every floating-point type
constexpr auto kFence = std::byte{0xA5};

const Tactic& find_tactic(std::string_view name) {
  for (const Tactic* tactic : cpu_backend().tactics())
    if (tactic->name() == name) return *tactic;
  fail(ErrorCode::kInternal, "no tactic '{}'", name);
}

/// Bytes on a 64-byte boundary with a fence behind them.
class Buffer {
 public:
  explicit Buffer(std::size_t bytes) : bytes_(bytes), storage_(DType::kUInt8, Shape{size_of(bytes)}) {
    std::memset(storage_.raw(), static_cast<int>(kPoison), bytes_);
    std::memset(storage_.raw() + bytes_, static_cast<int>(kFence), kGuard);
  }
  std::byte* data() { return storage_.raw(); }
  void poison() { std::memset(storage_.raw(), static_cast<int>(kPoison), bytes_); }
  bool fence_stands() const {
    for (std::size_t i = 0; i < kGuard; ++i)
      if (storage_.raw()[bytes_ + i] != kFence) return false;
    return true;
  }

 private:
  static std::int64_t size_of(std::size_t bytes) { return static_cast<std::int64_t>(bytes + kGuard); }
  std::size_t bytes_;
  Tensor storage_;
};

/// Copies a dense tensor from one layout to the other, element by element.
void relayout(const TensorView& from, const TensorView& to) {
  const Shape source = from.strides();
  const Shape target = to.strides();
  const std::size_t size = bits_of(from.dtype) / 8;
  Shape index = Shape::filled(from.shape.rank(), 0);
  for (std::int64_t n = from.shape.elements(); n > 0; --n) {
    std::int64_t s = 0;
    std::int64_t t = 0;
    for (int d = 0; d < index.rank(); ++d) {
      s += index[d] * source[d];
      t += index[d] * target[d];
    }
    std::memcpy(static_cast<std::byte*>(to.data) + static_cast<std::size_t>(t) * size,
                static_cast<const std::byte*>(from.data) + static_cast<std::size_t>(s) * size, size);
    for (int d = index.rank() - 1; d >= 0 && ++index[d] == from.shape[d]; --d) index[d] = 0;
  }
}

double element(const Tensor& tensor, std::int64_t i) {
  const auto at = static_cast<std::size_t>(i);
  switch (tensor.dtype()) {
    case DType::kFloat32: return tensor.data<float>()[at];
    case DType::kFloat64: return tensor.data<double>()[at];
    case DType::kInt8: return tensor.data<std::int8_t>()[at];
    case DType::kUInt8: return tensor.data<std::uint8_t>()[at];
    case DType::kInt16: return tensor.data<std::int16_t>()[at];
    case DType::kUInt16: return tensor.data<std::uint16_t>()[at];
    case DType::kInt32: return tensor.data<std::int32_t>()[at];
    case DType::kInt64: return static_cast<double>(tensor.data<std::int64_t>()[at]);
    case DType::kBool: return tensor.data<bool>()[at] ? 1 : 0;
    default: fail(ErrorCode::kInternal, "the tests can't compare {}", to_string(tensor.dtype()));
  }
}

void expect_near(const Tensor& wanted, const Tensor& got, Tolerance tolerance) {
  ASSERT_EQ(wanted.shape(), got.shape());
  int wrong = 0;
  for (std::int64_t i = 0; i < wanted.elements() && wrong < 5; ++i) {
    const double w = element(wanted, i);
    const double g = element(got, i);
    if (w == g || (std::isnan(w) && std::isnan(g))) continue;
    if (std::abs(w - g) <= tolerance.absolute + tolerance.relative * std::abs(w)) continue;
    ++wrong;
    ADD_FAILURE() << "element " << i << " of " << wanted.shape().to_string() << " is " << g << ", the reference says "
                  << w;
  }
}

}  // namespace

struct OpCase::Built {
  Graph graph;
  NodeId node = NodeId::kNone;
  std::vector<Tensor> inputs;

  NodeContext context() const { return {graph, graph.node(node), 2}; }
  std::vector<Tensor> wanted() const { return evaluate(graph, graph.node(node), inputs); }
};

namespace {

/// One launch's tensors, as an execution would own them.
struct Bound {
  std::vector<Buffer> inputs;
  std::vector<Buffer> outputs;
  std::vector<TensorView> in;
  std::vector<TensorView> out;
  Buffer scratch;
  std::unique_ptr<BoundLaunch> launch;

  Bound(const NodeContext& context, std::span<const Tensor> tensors, const Launch& made)
      : scratch(made.scratch_bytes()) {
    for (std::size_t i = 0; i < tensors.size(); ++i) bind_input(context, static_cast<int>(i), tensors[i]);
    for (int i = 0; i < static_cast<int>(context.node.outputs.size()); ++i) {
      const Value& value = context.output(i);
      outputs.emplace_back(bytes_of(value.type.dtype, value.type.shape));
      out.push_back({outputs.back().data(), value.type.dtype, value.layout, value.type.shape});
    }
    launch = made.bind({.inputs = in, .outputs = out, .scratch = scratch.data()});
  }

  void bind_input(const NodeContext& context, int i, const Tensor& tensor) {
    inputs.emplace_back(tensor.bytes());
    if (tensor.empty()) return static_cast<void>(in.emplace_back());
    const Value& value = context.input(i);
    in.push_back({inputs.back().data(), value.type.dtype, value.layout, value.type.shape});
    relayout(view_of(tensor), in.back());
  }

  Tensor output(std::size_t i) const {
    Tensor tensor(out[i].dtype, out[i].shape);
    relayout(out[i], view_of(tensor));
    return tensor;
  }

  void run() {
    for (Buffer& buffer : outputs) buffer.poison();
    scratch.poison();
    launch->run();
    // As a runner does.
    if (!launch->may_lose_nan() || !cpu_backend().met_nan()) return;
    for (Buffer& buffer : outputs) buffer.poison();
    scratch.poison();
    launch->run_keeping_nan();
    cpu_backend().met_nan();  // what these noted is known
  }

  void expect(std::span<const Tensor> tensors, std::span<const Tensor> wanted, Tolerance tolerance) const {
    for (std::size_t i = 0; i < wanted.size(); ++i) expect_near(wanted[i], output(i), tolerance);
    for (const Buffer& buffer : outputs) EXPECT_TRUE(buffer.fence_stands()) << "wrote behind an output";
    EXPECT_TRUE(scratch.fence_stands()) << "wrote behind the scratch";
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      if (tensors[i].empty()) continue;
      Tensor now(in[i].dtype, in[i].shape);
      relayout(in[i], view_of(now));
      EXPECT_EQ(0, std::memcmp(now.raw(), tensors[i].raw(), now.bytes())) << "input " << i << " was written";
    }
  }
};

}  // namespace

Tensor random_tensor(const Shape& shape, float low, float high, std::uint32_t seed) {
  Tensor tensor(DType::kFloat32, shape);
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> uniform(low, high);
  for (float& value : tensor.data<float>()) value = uniform(generator);
  return tensor;
}

int lowest_byte(DType dtype) { return dtype == DType::kUInt8 ? 0 : -128; }
int highest_byte(DType dtype) { return dtype == DType::kUInt8 ? 255 : 127; }

Tensor random_bytes(DType dtype, const Shape& shape, std::uint32_t seed) {
  return random_integers(dtype, shape, lowest_byte(dtype), highest_byte(dtype), seed);
}

Tensor zero_point(DType dtype, int value) { return random_integers(dtype, {}, value, value, 1); }

Tensor random_integers(DType dtype, const Shape& shape, int low, int high, std::uint32_t seed) {
  Tensor tensor(dtype, shape);
  std::mt19937 generator(seed);
  std::uniform_int_distribution<int> uniform(low, high);
  const std::size_t size = bits_of(dtype) / 8;
  for (std::size_t i = 0; i < tensor.bytes(); i += size) {
    const auto value = static_cast<std::int64_t>(uniform(generator));
    std::memcpy(tensor.raw() + i, &value, size);  // two's complement, low bytes first
  }
  return tensor;
}

OpCase::OpCase(std::string op, std::string domain)
    : node_{.domain = std::move(domain), .op = std::move(op), .name = "case"} {
  outputs(1);
}

OpCase& OpCase::input(const Shape& shape, float low, float high) {
  return activation(random_tensor(shape, low, high, seed_++));
}

OpCase& OpCase::activation(Tensor tensor) {
  tensors_.push_back(std::move(tensor));
  constant_.push_back(false);
  return *this;
}

OpCase& OpCase::constant(Tensor tensor) {
  tensors_.push_back(std::move(tensor));
  constant_.push_back(true);
  return *this;
}

OpCase& OpCase::weights(const Shape& shape, float low, float high) {
  return constant(random_tensor(shape, low, high, seed_++));
}

OpCase& OpCase::absent() { return constant({}); }

OpCase& OpCase::attribute(std::string name, Attribute value) {
  node_.attributes.set(std::move(name), std::move(value));
  return *this;
}

OpCase& OpCase::outputs(int count) {
  node_.outputs.assign(static_cast<std::size_t>(count), ValueId::kNone);
  return *this;
}

OpCase& OpCase::post(std::string op, float alpha, float beta) {
  node_.post_ops.push_back({.op = std::move(op), .alpha = alpha, .beta = beta});
  return *this;
}

OpCase& OpCase::post_with_operand(std::string op) {
  node_.post_ops.push_back({.op = std::move(op), .operand = 0});
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

OpCase::Built OpCase::build(Layout layout) const {
  Built built;
  Node node = node_;
  built.inputs = tensors_;
  const auto add = [&](const Tensor& tensor, bool constant) {
    if (tensor.empty()) return node.inputs.push_back(ValueId::kNone);
    const std::string name = "input" + std::to_string(node.inputs.size());
    const ValueId id = constant ? built.graph.add_constant(name, tensor)
                                : built.graph.add_input(name, {tensor.dtype(), tensor.shape()});
    if (!constant && tensor.shape().rank() >= 3) built.graph.value(id).layout = layout;
    node.inputs.push_back(id);
  };
  for (std::size_t i = 0; i < tensors_.size(); ++i) add(tensors_[i], constant_[i]);
  for (std::size_t i = 0; i < node.outputs.size(); ++i)
    node.outputs[i] = built.graph.add_value("output" + std::to_string(i));
  // Shape rules must not see the post-ops' operands, which follow the operator's own inputs.
  KnownValues known(built.graph);
  const auto types = infer_node(built.graph, node, known);
  for (PostOp& post : node.post_ops) {
    if (post.operand < 0) continue;
    post.operand = static_cast<int>(node.inputs.size());
    built.inputs.push_back(random_tensor(types[0].shape, -2, 2, 100 + static_cast<std::uint32_t>(node.inputs.size())));
    add(built.inputs.back(), false);
  }
  for (std::size_t i = 0; i < types.size(); ++i) {
    Value& value = built.graph.value(node.outputs[i]);
    value.type = types[i];
    if (types[i].shape.rank() >= 3) value.layout = output_layout_.value_or(layout);
  }
  for (const auto& [i, wanted] : input_layouts_)
    built.graph.value(node.inputs[static_cast<std::size_t>(i)]).layout = wanted;
  built.node = built.graph.add_node(std::move(node));
  return built;
}

void OpCase::check(std::string_view name, Layout layout, Tolerance tolerance) const {
  if (find_op(node_.domain, node_.op) == nullptr) FAIL() << "there is no operator " << node_.op;
  SCOPED_TRACE(
      fmt::format("{} by {}, {}", node_.op, name, layout == Layout::kChannelsLast ? "channels-last" : "row-major"));
  const Built built = build(layout);
  const Tactic& tactic = find_tactic(name);
  const Support support = tactic.supports(built.context());
  ASSERT_TRUE(support.yes) << support.reason;
  cpu_backend().prepare_thread(2);
  const std::unique_ptr<Launch> launch = tactic.compile(built.context());
  Bound bound(built.context(), built.inputs, *launch);
  const std::vector<Tensor> wanted = built.wanted();
  for (int repeat = 0; repeat < 2; ++repeat) {
    bound.run();
    bound.expect(built.inputs, wanted, tolerance);
  }
}

void OpCase::check_layouts(std::string_view tactic, Tolerance tolerance) const {
  check(tactic, Layout::kRowMajor, tolerance);
  check(tactic, Layout::kChannelsLast, tolerance);
}

void OpCase::run(std::string_view tactic) const {
  const Built built = build(Layout::kRowMajor);
  const std::unique_ptr<Launch> launch = find_tactic(tactic).compile(built.context());
  Bound(built.context(), built.inputs, *launch).run();
}

Support OpCase::supports(std::string_view tactic, Layout layout) const {
  if (find_op(node_.domain, node_.op) == nullptr) return Support::no("there is no such operator");
  const Built built = build(layout);
  return find_tactic(tactic).supports(built.context());
}

LayoutRule OpCase::layout_rule() const {
  const Built built = build(Layout::kRowMajor);
  return cpu_backend().target().layout_rule(built.context().graph, built.context().node);
}

void OpCase::check_two_threads(std::string_view name, Layout layout, Tolerance tolerance) const {
  if (find_op(node_.domain, node_.op) == nullptr) FAIL() << "there is no operator " << node_.op;
  const Built built = build(layout);
  const std::unique_ptr<Launch> launch = find_tactic(name).compile(built.context());
  Bound first(built.context(), built.inputs, *launch);
  Bound second(built.context(), built.inputs, *launch);
  const auto work = [](Bound& bound) {
    cpu_backend().prepare_thread(2);
    for (int i = 0; i < 20; ++i) bound.run();
  };
  std::thread other([&] { work(second); });
  work(first);
  other.join();
  const std::vector<Tensor> wanted = built.wanted();
  first.expect(built.inputs, wanted, tolerance);
  second.expect(built.inputs, wanted, tolerance);
}

}  // namespace saccade
