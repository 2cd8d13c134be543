#include "pipeline/model/model_runner.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "base/log.hpp"

namespace saccade {

ModelRunner::ModelRunner(const Model& model, int index)
    : model_(model),
      vision_(impl_of(model).vision_plan()),
      execution_(open_execution(model.name(), vision_.plan)),
      reader_(vision_.card, vision_.outputs, model.options().post) {
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
  if (result_.invalid() && !std::exchange(has_warned_, true)) warn();
}

void ModelRunner::warn() const {
  fmt::memory_buffer text;
  const auto to = std::back_inserter(text);
  fmt::format_to(to, "{}, frame {}", result_.model, result_.frame);
  if (!result_.name.empty()) fmt::format_to(to, " ({})", result_.name);
  const char* before = ": the predictions are invalid: ";
  for (std::size_t i = 0; i < kFaults; ++i) {
    const auto fault = static_cast<Fault>(i);
    if (!result_.faults.has(fault)) continue;
    fmt::format_to(to, "{}{}", before, to_string(fault));
    before = ", ";
  }
  fmt::format_to(to,
                 "; the weights are damaged, or the card or the precision does not fit the model; further invalid "
                 "frames are only counted");
  write_log(LogLevel::kWarning, {text.data(), text.size()});
}

}  // namespace saccade
