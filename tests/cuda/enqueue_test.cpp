#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "cuda/driver/driver_api.hpp"
#include "runtime/cuda_backend.hpp"
#include "runtime/plan.hpp"
#include "saccade/saccade.hpp"
#include "support/graph_builder.hpp"
#include "support/tiny_models.hpp"

// Runs on tensors in a GPU's memory, in the stream of the caller.
namespace saccade {
namespace {

using testing::Each;
using testing::ElementsAre;

template <auto Function>
auto driver(const char* name) {
  using Pointer = std::remove_reference_t<decltype(std::declval<cuda::DriverApi>().*Function)>;
  return reinterpret_cast<Pointer>(dlsym(dlopen("libcuda.so.1", RTLD_NOW), name));
}
#define SACCADE_DRIVER(name) driver<&cuda::DriverApi::name>(#name)

/// A stream of the current context.
class CallersStream {
 public:
  CallersStream() { EXPECT_EQ(SACCADE_DRIVER(cuStreamCreate)(&stream_, 0), cuda::CUDA_SUCCESS); }
  CallersStream(const CallersStream&) = delete;
  CallersStream& operator=(const CallersStream&) = delete;
  ~CallersStream() { SACCADE_DRIVER(cuStreamDestroy_v2)(stream_); }

  cuda::CUstream get() const { return stream_; }
  void synchronize() const { EXPECT_EQ(SACCADE_DRIVER(cuStreamSynchronize)(stream_), cuda::CUDA_SUCCESS); }

 private:
  cuda::CUstream stream_ = nullptr;
};

/// Elements in the memory of the current context's GPU.
template <typename T>
class DeviceArray {
 public:
  explicit DeviceArray(const std::vector<T>& elements) : size_(elements.size()) {
    EXPECT_EQ(SACCADE_DRIVER(cuMemAlloc_v2)(&address_, size_ * sizeof(T)), cuda::CUDA_SUCCESS);
    EXPECT_EQ(SACCADE_DRIVER(cuMemcpyHtoD_v2)(address_, elements.data(), size_ * sizeof(T)), cuda::CUDA_SUCCESS);
  }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  ~DeviceArray() { SACCADE_DRIVER(cuMemFree_v2)(address_); }

  void* get() const { return reinterpret_cast<void*>(address_); }
  std::size_t bytes() const { return size_ * sizeof(T); }
  std::vector<T> elements(const CallersStream& stream) const {
    std::vector<T> result(size_);
    EXPECT_EQ(SACCADE_DRIVER(cuMemcpyDtoHAsync_v2)(result.data(), address_, bytes(), stream.get()), cuda::CUDA_SUCCESS);
    stream.synchronize();
    return result;
  }

 private:
  cuda::CUdeviceptr address_ = 0;
  std::size_t size_;
};

Execution executed(const Graph& graph, bool captured) {
  return Execution(Plan::compile(graph, cuda_backend({.graph = captured}), {}));
}

class CudaEnqueue : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(, CudaEnqueue, testing::Bool(), [](const auto& each) {
  return each.param ? std::string("Captured") : std::string("CallByCall");
});

TEST_P(CudaEnqueue, ReadsAndWritesTheCallersTensors) {
  test::GraphBuilder b;
  const Graph graph = b.build({b.op("Neg", {b.input("x", {3})})});
  Execution execution = executed(graph, GetParam());
  const CallersStream stream;
  const DeviceArray<float> first({1, 2, 3});
  const DeviceArray<float> second({4, 5, 6});
  const DeviceArray<float> to({0, 0, 0});
  const DeviceArray<float> also_to({0, 0, 0});
  execution.enqueue(stream.get(), std::array<const void*, 1>{first.get()}, std::array{to.get()});
  execution.enqueue(stream.get(), std::array<const void*, 1>{second.get()}, std::array{also_to.get()});
  EXPECT_THAT(to.elements(stream), ElementsAre(-1, -2, -3));
  EXPECT_THAT(also_to.elements(stream), ElementsAre(-4, -5, -6));
}

TEST_P(CudaEnqueue, RunsInSeveralStreamsFollowEachOther) {
  test::GraphBuilder b;
  const Graph graph = b.build({b.op("Neg", {b.input("x", {1})})});
  Execution execution = executed(graph, GetParam());
  const std::array<CallersStream, 2> streams;
  std::vector<std::unique_ptr<DeviceArray<float>>> from;
  std::vector<std::unique_ptr<DeviceArray<float>>> to;
  for (int i = 0; i < 6; ++i) {
    from.push_back(std::make_unique<DeviceArray<float>>(std::vector<float>{static_cast<float>(i)}));
    to.push_back(std::make_unique<DeviceArray<float>>(std::vector<float>{9}));
    execution.enqueue(streams[i % 2].get(), std::array<const void*, 1>{from[i]->get()}, std::array{to[i]->get()});
  }
  for (int i = 5; i >= 0; --i) EXPECT_THAT(to[i]->elements(streams[i % 2]), ElementsAre(static_cast<float>(-i)));
}

TEST_P(CudaEnqueue, OutputsMayBeInputsAndConstants) {
  test::GraphBuilder b;
  const ValueId x = b.input("x", {2});
  const Graph graph = b.build({x, b.floats({3}, {7, 8, 9}), b.op("Neg", {x})});
  Execution execution = executed(graph, GetParam());
  const CallersStream stream;
  const DeviceArray<float> from({1, 2});
  const DeviceArray<float> same({0, 0});
  const DeviceArray<float> constant({0, 0, 0});
  const DeviceArray<float> negative({0, 0});
  execution.enqueue(stream.get(), std::array<const void*, 1>{from.get()},
                    std::array{same.get(), constant.get(), negative.get()});
  EXPECT_THAT(same.elements(stream), ElementsAre(1, 2));
  EXPECT_THAT(constant.elements(stream), ElementsAre(7, 8, 9));
  EXPECT_THAT(negative.elements(stream), ElementsAre(-1, -2));
}

TEST_P(CudaEnqueue, ALaterCallReportsAnIndexOutOfRange) {
  test::GraphBuilder b;
  const ValueId indices = b.input("indices", {1}, DType::kInt64);
  const Graph graph = b.build({b.op("Gather", {b.floats({2}, {5, 6}), indices})});
  Execution execution = executed(graph, GetParam());
  const CallersStream stream;
  const DeviceArray<std::int64_t> bad({2});
  const DeviceArray<std::int64_t> good({1});
  const DeviceArray<float> to({0});
  const auto run = [&](const DeviceArray<std::int64_t>& from) {
    execution.enqueue(stream.get(), std::array<const void*, 1>{from.get()}, std::array{to.get()});
    stream.synchronize();
  };
  run(bad);
  EXPECT_THROW(run(good), Error);
  run(good);
  EXPECT_THAT(to.elements(stream), ElementsAre(6));
}

class CudaEnqueueSession : public testing::Test {
 protected:
  CudaEnqueueSession() : model_(Model::load(test::write_color_classifier(folder_), {.device = Device::cuda()})) {}

  static std::vector<float> solid(float value) { return std::vector<float>(3 * 64, value); }

  test::TempFolder folder_;
  Model model_;
};

TEST_F(CudaEnqueueSession, TakesTurnsWithRunsOnTheHost) {
  Session session(model_);
  const CallersStream stream;
  for (const float value : {0.25F, 0.5F}) {
    const DeviceArray<float> image(solid(value));
    const DeviceArray<float> scores({0, 0, 0});
    std::array outputs{OutputBuffer{.data = scores.get(), .bytes = scores.bytes()}};
    session.enqueue(std::array{InputBuffer{.data = image.get(), .shape = {1, 3, 8, 8}}}, outputs, stream.get());
    EXPECT_EQ(outputs[0].shape, (Shape{1, 3}));
    const auto on_host = session.run(std::array{Tensor::of<float>({1, 3, 8, 8}, solid(value + 1))});
    EXPECT_FLOAT_EQ(on_host[0].data<float>()[0], value + 1);
    EXPECT_THAT(scores.elements(stream), ElementsAre(value, value, value));
  }
}

TEST_F(CudaEnqueueSession, RefusesWhatCantBeRight) {
  Session session(model_);
  const CallersStream stream;
  const DeviceArray<float> image(solid(1));
  const DeviceArray<float> scores({0, 0, 0});
  std::array outputs{OutputBuffer{.data = scores.get(), .bytes = scores.bytes()}};
  const InputBuffer input{.data = image.get(), .shape = {1, 3, 8, 8}};
  std::array too_small{OutputBuffer{.data = scores.get(), .bytes = 8}};
  EXPECT_THROW(session.enqueue(std::array{input}, too_small, stream.get()), Error);
  EXPECT_THROW(
      session.enqueue(std::array{InputBuffer{.data = image.get(), .shape = {1, 3, 8, 9}}}, outputs, stream.get()),
      Error);
  ASSERT_EQ(SACCADE_DRIVER(cuStreamBeginCapture_v2)(stream.get(), cuda::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL),
            cuda::CUDA_SUCCESS);
  EXPECT_THROW(session.enqueue(std::array{input}, outputs, stream.get()), Error);
  cuda::CUgraph graph = nullptr;
  ASSERT_EQ(SACCADE_DRIVER(cuStreamEndCapture)(stream.get(), &graph), cuda::CUDA_SUCCESS);
  SACCADE_DRIVER(cuGraphDestroy)(graph);
  session.enqueue(std::array{input}, outputs, stream.get());
  EXPECT_THAT(scores.elements(stream), ElementsAre(1, 1, 1));
}

TEST_F(CudaEnqueueSession, RunsOnTensorsOfBothSides) {
  Session session(model_);
  const CallersStream stream;
  const Shape sides{1, 3, 8, 8};
  for (int i = 0; i < 8; ++i) {
    const bool reads_device = i % 2 == 1;
    const bool writes_device = i / 2 % 2 == 1;
    const auto value = static_cast<float>(i + 1);
    const std::vector<float> pixels = solid(value);
    const DeviceArray<float> image(reads_device ? pixels : solid(-1));
    const DeviceArray<float> scores({-1, -1, -1});
    std::array<float, 3> on_host{-1, -1, -1};
    const InputBuffer input{
        .data = reads_device ? image.get() : pixels.data(), .shape = sides, .on_device = reads_device};
    std::array outputs{OutputBuffer{
        .data = writes_device ? scores.get() : on_host.data(), .bytes = scores.bytes(), .on_device = writes_device}};
    session.run(std::array{input}, outputs);
    EXPECT_EQ(outputs[0].shape, (Shape{1, 3}));
    EXPECT_THAT(scores.elements(stream), Each(writes_device ? value : -1)) << i;
    EXPECT_THAT(on_host, Each(writes_device ? -1 : value)) << i;
  }
}

TEST_F(CudaEnqueueSession, MemoryOfARunIsNotUsedAfterIt) {
  Session session(model_);
  const CallersStream stream;
  const DeviceArray<float> scores({-1, -1, -1});
  std::array outputs{OutputBuffer{.data = scores.get(), .bytes = scores.bytes(), .on_device = true}};
  {
    const DeviceArray<float> image(solid(1));
    const DeviceArray<float> other({0, 0, 0});
    std::array freed{OutputBuffer{.data = other.get(), .bytes = other.bytes(), .on_device = true}};
    session.run(std::array{InputBuffer{.data = image.get(), .shape = {1, 3, 8, 8}, .on_device = true}}, freed);
  }
  const DeviceArray<float> image(solid(2));
  session.enqueue(std::array{InputBuffer{.data = image.get(), .shape = {1, 3, 8, 8}}}, outputs, stream.get());
  EXPECT_THAT(scores.elements(stream), Each(2));
  EXPECT_FLOAT_EQ(session.run(std::array{Tensor::of<float>({1, 3, 8, 8}, solid(3))})[0].data<float>()[0], 3);
}

TEST_F(CudaEnqueueSession, OutputsOfTheGpuAreForRun) {
  Session session(model_);
  const std::vector<float> pixels = solid(1);
  const DeviceArray<float> scores({0, 0, 0});
  std::array outputs{OutputBuffer{.data = scores.get(), .bytes = scores.bytes(), .on_device = true}};
  session.submit(std::array{InputBuffer{.data = pixels.data(), .shape = {1, 3, 8, 8}}});
  EXPECT_THROW(session.wait(outputs), Error);
  std::array<float, 3> on_host{};
  outputs[0] = {.data = on_host.data(), .bytes = sizeof on_host};
  session.wait(outputs);
  EXPECT_THAT(on_host, Each(1.0F));
}

TEST_F(CudaEnqueueSession, AModelOnTheHostRefusesTensorsOfTheGpu) {
  ModelOptions options = model_.options();
  options.device = Device::cpu();
  Session session(Model::load(test::write_color_classifier(folder_), options));
  const std::vector<float> pixels = solid(1);
  const InputBuffer input{.data = pixels.data(), .shape = {1, 3, 8, 8}, .on_device = true};
  EXPECT_THROW(session.submit(std::array{input}), Error);
}

TEST_P(CudaEnqueue, TensorsOfARunMayBeOnTheDevice) {
  test::GraphBuilder b;
  const ValueId x = b.input("x", {2});
  const ValueId negative = b.op("Neg", {x});
  const Graph graph = b.build({x, b.floats({3}, {7, 8, 9}), negative, negative});
  Execution execution = executed(graph, GetParam());
  const CallersStream stream;
  const DeviceArray<float> from({1, 2});
  const DeviceArray<float> same({0, 0});
  const DeviceArray<float> constant({0, 0, 0});
  const DeviceArray<float> on_device({0, 0});
  const auto on_host = [&](std::size_t i) {
    const auto elements = execution.output(i).as<float>();
    return std::vector(elements.begin(), elements.end());
  };
  execution.use_device_tensors(std::array<const void*, 1>{from.get()},
                               std::array<void*, 4>{same.get(), constant.get(), on_device.get(), nullptr});
  execution.run();
  EXPECT_THAT(same.elements(stream), ElementsAre(1, 2));
  EXPECT_THAT(constant.elements(stream), ElementsAre(7, 8, 9));
  EXPECT_THAT(on_device.elements(stream), ElementsAre(-1, -2));
  EXPECT_THAT(on_host(3), ElementsAre(-1, -2)) << "the same value";
  // An output that is an input which only the device has.
  execution.use_device_tensors(std::array<const void*, 1>{from.get()}, std::array<void*, 4>{});
  execution.run();
  EXPECT_THAT(on_host(0), ElementsAre(1, 2));
  EXPECT_THAT(on_host(2), ElementsAre(-1, -2));
  execution.use_device_tensors(std::array<const void*, 1>{}, std::array<void*, 4>{});
  execution.input(0).as<float>()[0] = 5;
  execution.input(0).as<float>()[1] = 6;
  execution.run();
  EXPECT_THAT(on_host(0), ElementsAre(5, 6));
  EXPECT_THAT(on_host(2), ElementsAre(-5, -6));
}

TEST_P(CudaEnqueue, ARunThatReadsTheDeviceReportsItsOwnIndices) {
  test::GraphBuilder b;
  const ValueId indices = b.input("indices", {1}, DType::kInt64);
  const Graph graph = b.build({b.op("Gather", {b.floats({2}, {5, 6}), indices})});
  Execution execution = executed(graph, GetParam());
  const DeviceArray<std::int64_t> bad({2});
  const DeviceArray<std::int64_t> good({1});
  execution.use_device_tensors(std::array<const void*, 1>{bad.get()}, std::array<void*, 1>{});
  EXPECT_THROW(execution.run(), Error);
  execution.use_device_tensors(std::array<const void*, 1>{good.get()}, std::array<void*, 1>{});
  execution.run();
  EXPECT_EQ(execution.output(0).as<float>()[0], 6);
}

TEST_F(CudaEnqueueSession, AFrameMayLieOnTheModelsGpu) {
  FrameSession session(model_);
  std::vector<std::uint8_t> pixels(3 * 64);
  for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = i % 3 == 1 ? 200 : 10;
  FrameView frame{.format = PixelFormat::kRgb24, .range = ColorRange::kFull, .width = 8, .height = 8};
  frame.pitch_bytes[0] = 24;
  frame.planes[0] = pixels.data();
  const float on_host = session.run(frame).classes.at(0).confidence;
  const DeviceArray<std::uint8_t> on_device(pixels);
  frame.planes[0] = static_cast<const std::uint8_t*>(on_device.get());
  frame.memory = MemoryKind::kDevice;
  frame.device = 0;
  const Result& result = session.run(frame);
  EXPECT_EQ(result.classes.at(0).class_name, "green");
  EXPECT_EQ(result.classes.at(0).confidence, on_host);
  frame.device = 1;
  EXPECT_THROW(session.run(frame), Error);
  FrameSession on_cpu(Model::load(folder_ / "color.onnx", {.device = Device::cpu()}));
  EXPECT_THROW(on_cpu.run(frame), Error);
}

TEST(CudaEnqueueSizes, RefusesOutputsWhoseSizeDependsOnTheData) {
  const test::TempFolder folder;
  onnx_writer::Model file(13);
  file.input("x", {2, 2}).output("places");
  file.node({.op = "NonZero", .inputs = {"x"}, .outputs = {"places"}});
  file.save(folder / "places.onnx");
  Session session(Model::load(folder / "places.onnx", {.device = Device::cuda(), .fallback = true}));
  const CallersStream stream;
  const DeviceArray<float> x({1, 0, 0, 1});
  const DeviceArray<std::int64_t> places(std::vector<std::int64_t>(8));
  std::array outputs{OutputBuffer{.data = places.get(), .bytes = places.bytes(), .dtype = DType::kInt64}};
  const auto expect_refused = [](const auto& run) {
    try {
      run();
      FAIL() << "it was run";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
      EXPECT_THAT(error.what(), testing::HasSubstr("'places' depends on the data"));
    }
  };
  InputBuffer input{.data = x.get(), .shape = {2, 2}};
  expect_refused([&] { session.enqueue(std::array{input}, outputs, stream.get()); });
  input.on_device = true;
  outputs[0].on_device = true;
  expect_refused([&] { session.run(std::array{input}, outputs); });
  // Inputs may be there.
  std::array<std::int64_t, 8> on_host{};
  outputs[0] = {.data = on_host.data(), .bytes = sizeof on_host, .dtype = DType::kInt64};
  session.run(std::array{input}, outputs);
  EXPECT_EQ(outputs[0].shape, (Shape{2, 2}));
  EXPECT_THAT(std::span(on_host).first(4), ElementsAre(0, 1, 0, 1));
}

}  // namespace
}  // namespace saccade
