#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <thread>

#include "emulator_calls.hpp"
#include "graph/verify.hpp"
#include "ops/interpreter/interpret.hpp"
#include "runtime/cuda_backend.hpp"
#include "runtime/plan.hpp"
#include "support/frame_tensor.hpp"
#include "support/graph_builder.hpp"

// How a run reaches the device and returns: driver calls and their order.
namespace saccade {
namespace {

using Calls = std::vector<std::string>;

/// A frame of random samples in MEMORY, returned to it at the end.
class Noise {
 public:
  Noise(FrameMemory& memory, PixelFormat format, int width, int height) : memory_(memory) {
    const std::size_t bytes = frame_bytes(format, width, height);
    buffer_ = {.data = memory.allocate(bytes), .capacity = bytes, .memory = memory.kind()};
    std::mt19937 random(static_cast<std::uint32_t>(width + height));
    for (std::size_t i = 0; i < bytes; ++i) buffer_.data[i] = static_cast<std::byte>(random());
    view = lay_out(buffer_, format, width, height);
  }
  Noise(const Noise&) = delete;
  Noise& operator=(const Noise&) = delete;
  ~Noise() { memory_.deallocate(buffer_.data); }

  FrameView view;

 private:
  FrameMemory& memory_;
  FrameBuffer buffer_;
};

/// A frame's pixels as a WIDTH x HEIGHT tensor, and that tensor's mean.
Graph pixels_and_mean(std::int64_t width, std::int64_t height) {
  test::GraphBuilder b;
  const auto made = b.multi("saccade.Preprocess", {b.input("frame", {}, DType::kFrame)}, 2,
                            {{"width", width}, {"height", height}, {"resize", std::string("letterbox")}});
  return b.build({made[0], b.op("ReduceMean", {made[0]}, {{"keepdims", std::int64_t{0}}}), made[1]});
}

Execution execution_of(const Graph& graph, bool captured = true) {
  return Execution(Plan::compile(graph, cuda_backend({.fallback = false, .graph = captured}), {}));
}

void expect_outputs(const Execution& execution, const FrameView& frame) {
  const std::vector<Tensor> got = read_data_outputs(execution);
  const std::vector<Tensor> wanted = interpret(execution.plan().graph(), {{"frame", test::frame_tensor(frame)}});
  ASSERT_EQ(got.size(), wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i)
    for (std::size_t k = 0; k < got[i].data<float>().size(); ++k)
      ASSERT_NEAR(got[i].data<float>()[k], wanted[i].data<float>()[k], 1e-3) << "output " << i << ", element " << k;
}

class CudaGraphExecutor : public testing::Test {
 protected:
  Execution execution_ = execution_of(pixels_and_mean(24, 20));
  FrameMemory& memory_ = execution_.frame_memory();
  test::EmulatorCalls calls_;
};

TEST_F(CudaGraphExecutor, MakesOneLaunchAndOneWaitPerFrame) {
  if (!calls_) GTEST_SKIP() << "only the emulated driver logs its calls";
  const Noise large(memory_, PixelFormat::kI420, 64, 48);
  const Noise small(memory_, PixelFormat::kYuyv, 31, 17);
  const Noise elsewhere(plain_frame_memory(), PixelFormat::kNv12, 40, 30);
  // Only a frame larger than all before it may allocate.
  for (const Noise* frame : {&large, &elsewhere}) {
    *execution_.frame() = frame->view;
    execution_.run();
  }
  for (const Noise* frame : {&large, &small, &elsewhere, &large}) {
    calls_.forget();
    *execution_.frame() = frame->view;
    execution_.run();
    EXPECT_EQ(calls_.since(), (Calls{"cuGraphLaunch", "cuStreamSynchronize"}));
    expect_outputs(execution_, frame->view);
  }
}

TEST_F(CudaGraphExecutor, KeepsResultsWhileTheNextRunGoesOn) {
  const Noise first(memory_, PixelFormat::kRgb24, 50, 40);
  const Noise second(memory_, PixelFormat::kNv12, 44, 40);
  ASSERT_TRUE(execution_.overlaps());
  *execution_.frame() = first.view;
  execution_.submit();
  execution_.wait();
  const TensorView mean = execution_.output(1);
  const float value = mean.as<const float>()[0];
  *execution_.frame() = second.view;
  execution_.submit();
  expect_outputs(execution_, first.view);  // of the run that wait() waited for
  execution_.wait();
  expect_outputs(execution_, second.view);
  EXPECT_EQ(mean.as<const float>()[0], value);
  EXPECT_NE(execution_.output(1).data, mean.data);
}

TEST_F(CudaGraphExecutor, RunsCallByCallWhereThereIsNoGraph) {
  if (!calls_) GTEST_SKIP() << "only the emulated driver can be made to refuse";
  const Graph graph = pixels_and_mean(24, 20);
  const Noise frame(memory_, PixelFormat::kBgr24, 50, 40);
  for (const char* refused : {"", "cuStreamBeginCapture_v2", "cuLaunchKernelEx", "cuGraphInstantiateWithFlags"}) {
    SCOPED_TRACE(refused);
    if (*refused != 0) calls_.fail(refused, 900);
    testing::internal::CaptureStderr();
    Execution execution = execution_of(graph, *refused != 0);
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_EQ(said.find("launched one by one") != std::string::npos, *refused != 0) << said;
    EXPECT_EQ(said.find("failed with") != std::string::npos, *refused != 0) << said;
    calls_.forget();
    *execution.frame() = frame.view;
    execution.run();
    const Calls calls = calls_.since();
    EXPECT_EQ(std::ranges::count(calls, "cuGraphLaunch"), 0);
    EXPECT_GE(std::ranges::count(calls, "cuLaunchKernelEx"), 4);
    EXPECT_EQ(std::ranges::count(calls, "cuStreamSynchronize"), 1);
    expect_outputs(execution, frame.view);
  }
}

TEST_F(CudaGraphExecutor, RunsBesideOthersInTheirThreads) {
  const Graph graph = pixels_and_mean(24, 20);
  const Noise frame(memory_, PixelFormat::kYuyv, 50, 40);
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i)
    threads.emplace_back([&] {
      for (int round = 0; round < 3; ++round) {  // captures concurrently with the other's runs
        Execution execution = execution_of(graph);
        for (int run = 0; run < 5; ++run) {
          *execution.frame() = frame.view;
          execution.run();
          expect_outputs(execution, frame.view);
        }
      }
    });
  for (std::thread& thread : threads) thread.join();
}

TEST_F(CudaGraphExecutor, CopiesTheRowsThatAreCounted) {
  test::GraphBuilder b;
  const ValueId rows = b.input("rows", {1, 6, 5});
  const ValueId order = b.input("order", {4}, DType::kInt32);
  const ValueId count = b.op("Abs", {b.input("count", {1}, DType::kInt32)});
  Graph graph = b.build({b.op("saccade.TakeObjects", {rows, order, count}), count});
  graph.set_extents({{.output = 0, .axis = 0, .count = 1}});
  Execution execution = execution_of(graph);
  for (std::int32_t there : {2, 0, 4}) {
    execution.poison();
    std::ranges::fill(execution.input(0).as<float>(), 1.0F);
    std::ranges::fill(execution.input(1).as<std::int32_t>(), 1);
    execution.input(2).as<std::int32_t>()[0] = there;
    execution.run();
    const auto got = execution.output(0).as<const float>();
    EXPECT_EQ(std::ranges::count_if(got.first(static_cast<std::size_t>(5 * there)), [](float x) { return x != 1; }), 0);
    EXPECT_EQ(std::ranges::count_if(got, [](float x) { return std::isnan(x); }), 20 - 5 * there);
  }
}

/// The elements of -ROWS that reach the host, of which COUNT are valid along AXIS.
std::ptrdiff_t copied_elements(const Shape& rows, int axis, DType dtype, std::int64_t count) {
  test::GraphBuilder b;
  const ValueId made = b.op("Neg", {b.input("rows", rows)});
  const Shape counts = dtype == DType::kInt32 ? Shape{1} : Shape{};
  const ValueId counted = b.op("Abs", {b.input("count", counts, dtype)});
  Graph graph = b.build({made, counted});
  graph.set_extents({{.output = 0, .axis = axis, .count = 1}});
  verify(graph);
  Execution execution = execution_of(graph);
  execution.poison();
  std::ranges::fill(execution.input(0).as<float>(), -1.0F);
  const TensorView to = execution.input(1);
  if (dtype == DType::kInt32)
    to.as<std::int32_t>()[0] = static_cast<std::int32_t>(count);
  else
    to.as<std::int64_t>()[0] = count;
  execution.run();
  const auto got = execution.output(0).as<const float>();
  const auto copied = std::ranges::count(got, 1.0F);
  EXPECT_EQ(std::ranges::count(got.first(static_cast<std::size_t>(copied)), 1.0F), copied);
  EXPECT_EQ(std::ranges::count_if(got, [](float x) { return std::isnan(x); }), std::ssize(got) - copied);
  EXPECT_EQ(read_data_outputs(execution).at(0).shape()[axis], count);
  return copied;
}

TEST_F(CudaGraphExecutor, CopiesTheValidElementsOfAnExtent) {
  for (std::int64_t count : {2, 0, 4}) {
    EXPECT_EQ(copied_elements({4, 3}, 0, DType::kInt32, count), 3 * count);
    EXPECT_EQ(copied_elements({1, 4, 3}, 1, DType::kInt64, count), 3 * count);
    EXPECT_EQ(copied_elements({2, 4}, 1, DType::kInt64, count), 8) << "they are not contiguous";
  }
}

TEST_F(CudaGraphExecutor, CopiesAnOutputWholeWhoseCountIsAConstant) {
  test::GraphBuilder b;
  const ValueId made = b.op("Neg", {b.input("rows", {4})});
  Graph graph = b.build({made, b.constant(Tensor::of<std::int32_t>({1}, {2}))});
  graph.set_extents({{.output = 0, .axis = 0, .count = 1}});
  Execution execution = execution_of(graph);
  std::ranges::fill(execution.input(0).as<float>(), -1.0F);
  execution.run();
  EXPECT_EQ(std::ranges::count(execution.output(0).as<const float>(), 1.0F), 4);
  EXPECT_EQ(read_data_outputs(execution).at(0).shape(), (Shape{2}));
}

TEST_F(CudaGraphExecutor, CopiesTheRunsOfMasksThatAreCounted) {
  test::GraphBuilder b;
  const ValueId grids = b.op("Neg", {b.input("grids", {3, 1, 1})});
  const ValueId count = b.op("Abs", {b.input("count", {1}, DType::kInt32)});
  const ValueId geometry = b.op("Neg", {b.input("geometry", {6})});
  const auto made =
      b.multi("saccade.TraceMasks", {grids, count, ValueId::kNone, geometry}, 5,
              {{"width", std::int64_t{2}}, {"height", std::int64_t{2}}, {"within", std::string("image")}});
  Graph graph = b.build({made[0], made[1], made[2], count});
  graph.set_extents({{.output = 0, .axis = 0, .count = 2}, {.output = 1, .axis = 0, .count = 3}});
  Execution execution = execution_of(graph);
  execution.poison();
  // Outputs are double-buffered: the second buffer is still poisoned where the device keeps previous results.
  for (std::int32_t there : {3, 1}) {
    std::ranges::fill(execution.input(0).as<float>(), -1.0F);
    execution.input(1).as<std::int32_t>()[0] = there;
    std::ranges::copy(std::array{-1.0F, -1.0F, 0.0F, 0.0F, -5.0F, -7.0F}, execution.input(2).as<float>().begin());
    execution.run();
    EXPECT_EQ(execution.output(2).as<const std::int32_t>()[0], 7 * there);
    EXPECT_EQ(std::ranges::count(execution.output(0).as<const std::int32_t>().first(99), -1), 99 - 3 * 7 * there);
    EXPECT_EQ(std::ranges::count(execution.output(1).as<const std::int32_t>(), -1), 6 - 2 * there);
  }
}

class CudaGraphExecutorGroup : public CudaGraphExecutor {
 protected:
  void run(std::vector<Execution*> executions, RunGroup& group, const FrameView& frame) {
    for (Execution* execution : executions) *execution->frame() = frame;
    group.submit();
    group.wait();
  }
  Execution other_ = execution_of(pixels_and_mean(33, 7));
  Execution third_ = execution_of(pixels_and_mean(8, 8));
  std::vector<Runner*> others_{&other_.runner(), &third_.runner()};
};

TEST_F(CudaGraphExecutorGroup, IsOneGraphWhoseBranchesEqualSingleRuns) {
  const auto group = execution_.runner().group(others_);
  ASSERT_NE(group, nullptr);
  for (const auto& [format, width, height] :
       {std::tuple(PixelFormat::kNv12, 64, 48), {PixelFormat::kUyvy, 17, 31}, {PixelFormat::kNv12, 64, 48}}) {
    const Noise frame(memory_, format, width, height);
    if (calls_) calls_.forget();
    run({&execution_, &other_, &third_}, *group, frame.view);
    if (calls_ && height == 31) {
      EXPECT_EQ(calls_.since(), (Calls{"cuGraphLaunch", "cuStreamSynchronize"}));
    }
    for (const Execution* each : {&execution_, &other_, &third_}) expect_outputs(*each, frame.view);
  }
}

TEST_F(CudaGraphExecutorGroup, TakesItsMembersOneByOneInAProfile) {
  const auto group = execution_.runner().group(others_);
  const Noise frame(memory_, PixelFormat::kNv12, 64, 48);
  std::vector<StepTime> times(other_.plan().steps().size());
  other_.time_steps(times);
  run({&execution_, &other_, &third_}, *group, frame.view);
  EXPECT_GE(times[0].end, times[0].start);
  EXPECT_NE(times[0].end, Clock::time_point());
  for (const Execution* each : {&execution_, &other_, &third_}) expect_outputs(*each, frame.view);
}

TEST_F(CudaGraphExecutorGroup, ForksWithoutAGraph) {
  const Graph graph = pixels_and_mean(24, 20);
  Execution first = execution_of(graph, false);
  Execution second = execution_of(pixels_and_mean(9, 30), false);
  const std::vector<Runner*> others{&second.runner()};
  const auto group = first.runner().group(others);
  const Noise frame(memory_, PixelFormat::kGray8, 20, 48);
  for (int i = 0; i < 2; ++i) {
    run({&first, &second}, *group, frame.view);
    expect_outputs(first, frame.view);
    expect_outputs(second, frame.view);
  }
}

/// pixels_and_mean(), and a row of a constant selected at run time.
Graph with_row(std::int64_t width, std::int64_t rows) {
  test::GraphBuilder b;
  const auto made = b.multi("saccade.Preprocess", {b.input("frame", {}, DType::kFrame)}, 2,
                            {{"width", width}, {"height", width}, {"resize", std::string("stretch")}});
  return b.build({made[0], b.op("Gather", {b.random({rows, 2}), b.input("row", {1}, DType::kInt64)})});
}

TEST_F(CudaGraphExecutorGroup, ThrowsTheIndexReportsOfARunByThatRunAlone) {
  Execution first = execution_of(with_row(8, 4));
  Execution second = execution_of(with_row(9, 5));
  const std::vector<Runner*> others{&second.runner()};
  const auto group = first.runner().group(others);
  const Noise frame(memory_, PixelFormat::kNv12, 20, 48);
  const auto fault = [&](std::int64_t a, std::int64_t b) -> std::string {
    first.input(1).as<std::int64_t>()[0] = a;
    second.input(1).as<std::int64_t>()[0] = b;
    try {
      run({&first, &second}, *group, frame.view);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(fault(3, 4), "");
  EXPECT_EQ(fault(7, 9), "node 'Gather1' (Gather): index 7 is outside a dimension of 4");
  EXPECT_EQ(fault(3, 4), "") << "the run after";
  EXPECT_EQ(fault(3, 9), "node 'Gather1' (Gather): index 9 is outside a dimension of 5");
  EXPECT_EQ(fault(3, 4), "") << "the run after";
}

TEST_F(CudaGraphExecutorGroup, IsOfRunsOnFramesAlone) {
  test::GraphBuilder b;
  Execution tensors = execution_of(b.build({b.op("Relu", {b.input("x", {4})})}));
  const std::vector<Runner*> others{&tensors.runner()};
  EXPECT_EQ(execution_.runner().group(others), nullptr);
}

}  // namespace
}  // namespace saccade
