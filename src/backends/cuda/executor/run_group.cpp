#include "cuda/executor/run_group.hpp"

#include <algorithm>
#include <exception>

#include "cuda/driver/capture.hpp"

namespace saccade::cuda {
namespace {

std::vector<Copy> inputs_of(const std::vector<GraphExecutor*>& members) {
  std::vector<Copy> inputs;
  for (const GraphExecutor* member : members) std::ranges::copy(member->inputs(), std::back_inserter(inputs));
  return inputs;
}

/// The frames are the same for all of them.
FrameReaders readers_of(const std::vector<GraphExecutor*>& members) {
  FrameReaders readers(members[0]->frames().size());
  for (const GraphExecutor* member : members) {
    const FrameReaders own = member->frame_readers();
    for (std::size_t i = 0; i < readers.size(); ++i) readers[i].insert(readers[i].end(), own[i].begin(), own[i].end());
  }
  return readers;
}

std::string names_of(const std::vector<GraphExecutor*>& members) {
  std::string names;
  for (const GraphExecutor* member : members) names += (names.empty() ? "" : ", ") + member->name();
  return names;
}

}  // namespace

GraphExecutorGroup::GraphExecutorGroup(Device& device, std::vector<GraphExecutor*> members, bool graph)
    : device_(device), members_(std::move(members)), upload_(device, inputs_of(members_), readers_of(members_)) {
  device.make_current();
  uploaded_ = make_event(CU_EVENT_DISABLE_TIMING);
  for (std::size_t i = 1; i < members_.size(); ++i) done_.push_back(make_event(CU_EVENT_DISABLE_TIMING));
  if (graph) executable_ = capture(members_[0]->queue().stream.get(), names_of(members_), [this] { enqueue(); });
}

/// Frees its resources in the device's context, after any run that was not waited for.
GraphExecutorGroup::~GraphExecutorGroup() {
  static_cast<void>(driver().cuCtxSetCurrent(device_.context()));
  static_cast<void>(driver().cuStreamSynchronize(members_[0]->queue().stream.get()));
}

void GraphExecutorGroup::submit() {
  apart_ = is_timed();
  if (apart_) return;
  const auto start = Clock::now();
  failed_ = 0;  // what concerns all of them counts as the first one's
  device_.make_current();
  try {
    upload_.prepare(members_[0]->frames());
  } catch (const Error&) {
    failed_ = member_with(upload_.refused_by());
    throw;
  }
  upload_.await_frames(members_[0]->queue().stream.get());
  for (GraphExecutor* member : members_) member->prepare_download();
  if (executable_)
    SACCADE_CUDA(cuGraphLaunch(executable_.get(), members_[0]->queue().stream.get()));
  else
    enqueue();
  submission_ = Clock::now() - start;
}

void GraphExecutorGroup::wait() {
  if (apart_) {
    for (failed_ = 0; failed_ < members_.size(); ++failed_) {
      members_[failed_]->submit();
      members_[failed_]->wait();
    }
    return;
  }
  const auto start = Clock::now();
  failed_ = 0;
  device_.make_current();
  SACCADE_CUDA(cuStreamSynchronize(members_[0]->queue().stream.get()));
  // Every member finishes, or its failure would be thrown by the next run.
  std::exception_ptr failure;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    try {
      members_[i]->finish();
    } catch (...) {
      if (!failure) failed_ = i;
      if (!failure) failure = std::current_exception();
    }
    members_[i]->set_model_time(submission_ + (Clock::now() - start));
  }
  if (failure) std::rethrow_exception(failure);
}

/// The index of the member with the frame reader READER.
std::size_t GraphExecutorGroup::member_with(const FrameReader* reader) const {
  for (std::size_t i = 0; i < members_.size(); ++i)
    if (std::ranges::count(members_[i]->queue().readers, reader) > 0) return i;
  return 0;
}

/// Fork and join: the other streams fork from the first member's after the upload and join it at the end.
void GraphExecutorGroup::enqueue() {
  const CUstream main = members_[0]->queue().stream.get();
  upload_.enqueue(main);
  SACCADE_CUDA(cuEventRecord(uploaded_.get(), main));
  for (std::size_t i = 1; i < members_.size(); ++i)
    SACCADE_CUDA(cuStreamWaitEvent(members_[i]->queue().stream.get(), uploaded_.get(), 0));
  for (GraphExecutor* member : members_) member->enqueue_branch();
  for (std::size_t i = 1; i < members_.size(); ++i) {
    SACCADE_CUDA(cuEventRecord(done_[i - 1].get(), members_[i]->queue().stream.get()));
    SACCADE_CUDA(cuStreamWaitEvent(main, done_[i - 1].get(), 0));
  }
}

bool GraphExecutorGroup::is_timed() const { return std::ranges::any_of(members_, &GraphExecutor::is_timed); }

}  // namespace saccade::cuda
