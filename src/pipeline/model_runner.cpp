#include "pipeline/model_runner.hpp"

#include <algorithm>
#include <array>

namespace saccade {

ModelRunner::ModelRunner(const Model& model, int index)
    : model_(model),
      vision_(model.impl()->vision_plan()),
      execution_(open_execution(model.name(), vision_.plan)),
      reader_(vision_.card, vision_.answers, vision_.options) {
  result_.model = model_.name();
  result_.model_index = index;
  reader_.prepare(result_);
  outputs_.resize(vision_.plan->graph().outputs().size());
}

void ModelRunner::submit(const FrameView& frame) {
  *execution_.frame() = frame;
  execution_.submit();
}

void ModelRunner::read(const Frame& frame) {
  const auto start = std::chrono::steady_clock::now();
  for (std::size_t i = 0; i < outputs_.size(); ++i) outputs_[i] = execution_.output(i);
  reader_.read(outputs_, frame.view.width, frame.view.height, result_);
  result_.name = frame.name;
  result_.image_id = frame.image_id;
  result_.frame = frame.sequence;
  result_.timestamp_ns = frame.timestamp_ns;
  result_.width = frame.view.width;
  result_.height = frame.view.height;
  result_.latency.pre = execution_.stage_time(Stage::kPre);
  result_.latency.model = execution_.stage_time(Stage::kModel);
  result_.latency.post = execution_.stage_time(Stage::kPost) + (std::chrono::steady_clock::now() - start);
}

}  // namespace saccade
