#include "cuda/executor/variant.hpp"

#include <utility>

#include "cuda/driver/capture.hpp"

namespace saccade::cuda {

DeviceVariant::DeviceVariant(Device& device, const Work& work, const Bind& bind) : device_(device) {
  device.make_current();
  queue_.stream = make_stream();
  start_ = make_event(CU_EVENT_DEFAULT);
  end_ = make_event(CU_EVENT_DEFAULT);
  scratch_ = DeviceMemory(work.scratch_bytes);
  launches_ = bind(scratch_.pointer(), queue_);
  upload_.emplace(device, work.inputs, by_frame(queue_.readers, work.frames));
  download_.emplace(device, work.outputs);
  if (work.graph) executable_ = capture(queue_.stream.get(), work.name, [this] { enqueue(); });
  upload_->prepare(work.frames);
  upload_->await_frames(queue_.stream.get());
  download_->prepare();
}

DeviceVariant::~DeviceVariant() {
  static_cast<void>(driver().cuCtxSetCurrent(device_.context()));
  static_cast<void>(driver().cuStreamSynchronize(queue_.stream.get()));
}

void DeviceVariant::enqueue() {
  upload_->enqueue(queue_.stream.get());
  for (const auto& launch : launches_)
    if (launch) launch->run();
  download_->enqueue(queue_.stream.get());
}

std::chrono::nanoseconds DeviceVariant::time(int runs) {
  device_.make_current();
  const CUstream stream = queue_.stream.get();
  SACCADE_CUDA(cuEventRecord(start_.get(), stream));
  for (int i = 0; i < runs; ++i) {
    if (executable_)
      SACCADE_CUDA(cuGraphLaunch(executable_.get(), stream));
    else
      enqueue();
  }
  SACCADE_CUDA(cuEventRecord(end_.get(), stream));
  SACCADE_CUDA(cuStreamSynchronize(stream));
  if (queue_.failure) std::rethrow_exception(std::exchange(queue_.failure, nullptr));
  float milliseconds = 0;
  SACCADE_CUDA(cuEventElapsedTime(&milliseconds, start_.get(), end_.get()));
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
      std::chrono::duration<double, std::milli>(milliseconds / static_cast<float>(runs)));
}

}  // namespace saccade::cuda
