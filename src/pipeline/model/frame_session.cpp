#include "saccade/frame_session.hpp"

#include "base/error.hpp"
#include "pipeline/model/model_runner.hpp"

namespace saccade {

struct FrameSession::State {
  explicit State(const Model& model) : device(model.options().device), runner(model, 0) {}

  /// Whether FRAME may lie where it does: on the host, or on the model's GPU.
  void check(const FrameView& frame) const {
    if (frame.memory != MemoryKind::kDevice || frame.device < 0) return check_readable(frame);
    if (device != Device::cuda(frame.device))
      fail(ErrorCode::kInvalidArgument, "the frame is on GPU {}, the model on {}", frame.device, to_string(device));
    check_planes(frame);
  }

  Device device;
  ModelRunner runner;
  Frame frame;
};

namespace {

/// Frames of a session belong to no stream.
const Model& untracked(const Model& model) {
  if (model.options().post.tracker)
    fail(ErrorCode::kInvalidArgument, "{}: only a Pipeline tracks objects: leave PostprocessOptions::tracker empty",
         model.name());
  return model;
}

}  // namespace

FrameSession::FrameSession(const Model& model) : state_(std::make_unique<State>(untracked(model))) {}

FrameSession::~FrameSession() = default;
FrameSession::FrameSession(FrameSession&&) noexcept = default;
FrameSession& FrameSession::operator=(FrameSession&&) noexcept = default;

void FrameSession::follow(const std::array<float, 4>& box) { state_->runner.follow(box); }

const Result& FrameSession::run(const FrameView& frame) {
  state_->check(frame);
  state_->frame.view = frame;
  state_->runner.run(state_->frame);
  ++state_->frame.sequence;
  Result& result = state_->runner.result();
  result.latency.total = result.latency.pre + result.latency.model + result.latency.post;
  return result;
}

}  // namespace saccade
