#include <cstring>
#include <thread>

#include "op_case/built_case.hpp"
#include "op_case/op_case.hpp"
#include "runtime/cpu_backend.hpp"

// A case on the CPU: one launch, bound to memory with fences.
namespace saccade {
namespace {

constexpr std::size_t kGuard = 64;
constexpr auto kPoison = std::byte{0xFF};  // a NaN in every floating-point type
constexpr auto kFence = std::byte{0xA5};

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

  void expect(std::span<const Tensor> tensors, std::span<const Tensor> wanted, Tolerance tolerance,
              const std::map<std::size_t, std::size_t>& defined) const {
    for (std::size_t i = 0; i < wanted.size(); ++i)
      expect_near(output(i), wanted[i], tolerance, defined.contains(i) ? defined.at(i) : SIZE_MAX,
                  fmt::format("output {}", i));
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

void OpCase::check_cpu(std::string_view name, Tolerance tolerance, Layout layout) const {
  const Built built = build(layout);
  const std::string chosen = name.empty() ? preferred_tactic(TestedBackend::kCpu, layout) : std::string(name);
  const Tactic& tactic = find_tactic(on_cpu(chosen));
  const Support support = tactic.supports(built.context());
  ASSERT_TRUE(support.yes) << support.reason;
  cpu_backend().prepare_thread(2);
  const std::vector<Tensor> wanted = wanted_of(built);
  // The second launch takes the weights that the first has packed.
  PackedConstants packed;
  packed.record();
  NodeContext context = built.context();
  context.packed = &packed;
  for (int compilation = 0; compilation < 2; ++compilation) {
    const std::unique_ptr<Launch> launch = tactic.compile(context);
    Bound bound(context, built.inputs, *launch);
    for (int repeat = 0; repeat < 2; ++repeat) {
      bound.run();
      bound.expect(built.inputs, wanted, tolerance, defined_);
    }
  }
}

void OpCase::run(const On& on) const {
  const Built built = build(Layout::kRowMajor);
  const std::unique_ptr<Launch> launch = find_tactic(on).compile(built.context());
  Bound(built.context(), built.inputs, *launch).run();
}

void OpCase::check_two_threads(const On& on, Layout layout, Tolerance tolerance) const {
  ASSERT_NE(find_op(node_.domain, node_.op), nullptr) << "there is no operator " << node_.op;
  const Built built = build(layout);
  const std::unique_ptr<Launch> launch = find_tactic(on).compile(built.context());
  Bound first(built.context(), built.inputs, *launch);
  Bound second(built.context(), built.inputs, *launch);
  const auto work = [](Bound& bound) {
    cpu_backend().prepare_thread(2);
    for (int i = 0; i < 20; ++i) bound.run();
  };
  std::thread other([&] { work(second); });
  work(first);
  other.join();
  const std::vector<Tensor> wanted = wanted_of(built);
  first.expect(built.inputs, wanted, tolerance, defined_);
  second.expect(built.inputs, wanted, tolerance, defined_);
}

}  // namespace saccade
