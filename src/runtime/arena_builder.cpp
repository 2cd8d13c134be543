#include "runtime/arena_builder.hpp"

#include <algorithm>

#include "graph/print.hpp"
#include "runtime/storage_aliasing.hpp"

namespace saccade {

ArenaBuilder::ArenaBuilder(const Graph& graph, const StorageAliasing& storage, MemoryBudget& budget,
                           std::vector<Stage> stages)
    : graph_(graph), storage_(storage), budget_(budget), stages_(std::move(stages)) {
  layout_.slots.resize(graph.value_count());
}

void ArenaBuilder::add_inputs() {
  std::size_t frames = 0;
  for (ValueId id : graph_.inputs()) {
    if (graph_.value(id).type.dtype == DType::kFrame) {
      slot(id) = {.root = id, .kind = Slot::Kind::kFrame, .offset = frames++};
      continue;
    }
    use_at(id, kInputTime);
    use_at(id, kEndTime);
  }
}

void ArenaBuilder::add_outputs() {
  for (ValueId id : graph_.outputs()) use_at(id, kEndTime);
}

ArenaBuilder::Times ArenaBuilder::times_of(std::size_t step) const {
  const auto time = static_cast<int>(step) + 1;
  if (stages_.empty() || stages_[step] == Stage::kModel) return {time, time};
  const auto first = std::ranges::find(stages_, stages_[step]);
  const auto last = std::find(stages_.rbegin(), stages_.rend(), stages_[step]).base();
  return {static_cast<int>(first - stages_.begin()) + 1, static_cast<int>(last - stages_.begin())};
}

void ArenaBuilder::use(ValueId id, std::size_t step) {
  const Times times = times_of(step);
  use_at(id, times.first);
  use_at(id, times.last);
}

void ArenaBuilder::use_at(ValueId id, int time) {
  if (id == ValueId::kNone) return;
  const ValueId root = storage_.of(id).root;
  if (graph_.constant(root) != nullptr) {
    slot(root) = {.root = root, .kind = Slot::Kind::kConstant};
  } else if (slot(root).kind != Slot::Kind::kFrame) {
    if (!request_of_.contains(root)) request(root, time);
    MemoryRequest& memory = requests_[request_of_.at(root)];
    memory.last = std::max(memory.last, time);
  }
  if (id != root) slot(id) = {.root = root, .kind = slot(root).kind};
}

void ArenaBuilder::request(ValueId id, int time) {
  const Value& value = graph_.value(id);
  if (value.type.dtype == DType::kString)
    fail(ErrorCode::kUnsupported, "value '{}' holds strings, which plans can't run", value.name);
  slot(id) = {.root = id, .kind = Slot::Kind::kArena, .bytes = bytes_of(value.type.dtype, value.type.shape)};
  try {
    budget_.check(slot(id).bytes);
  } catch (const Error& error) {
    throw error.in(describe_producer(id));
  }
  layout_.tensor_bytes += slot(id).bytes;
  request_of_.emplace(id, requests_.size());
  requests_.push_back({.bytes = slot(id).bytes, .first = time, .last = time});
  request_values_.push_back(id);
}

void ArenaBuilder::add_scratch(std::size_t step, std::size_t bytes) {
  if (bytes == 0) return;
  scratch_requests_.emplace(step, requests_.size());
  requests_.push_back({.bytes = bytes, .first = times_of(step).first, .last = times_of(step).last});
  request_values_.push_back(ValueId::kNone);
}

ArenaLayout ArenaBuilder::build() {
  layout_.bytes = plan_memory(requests_);
  charge_arena();
  charge_edges("input", graph_.inputs());
  charge_edges("output", graph_.data_outputs());
  assign_offsets();
  return std::move(layout_);
}

/// An error names the largest tensor.
void ArenaBuilder::charge_arena() {
  try {
    budget_.take(layout_.bytes);
  } catch (const Error& error) {
    const auto largest = std::ranges::max_element(requests_, {}, &MemoryRequest::bytes);
    const ValueId id = request_values_[static_cast<std::size_t>(largest - requests_.begin())];
    throw error.in(fmt::format("the memory for all tensors{}",
                               id == ValueId::kNone ? "" : ", the largest by " + describe_producer(id)));
  }
}

void ArenaBuilder::charge_edges(const char* what, std::span<const ValueId> ids) {
  for (const ValueId id : ids) {
    const Value& value = graph_.value(id);
    try {
      if (value.type.dtype != DType::kFrame) budget_.take(bytes_of(value.type.dtype, value.type.shape));
    } catch (const Error& error) {
      throw error.in(fmt::format("the {} '{}' ({})", what, value.name, value.type.shape.to_string()));
    }
  }
}

void ArenaBuilder::assign_offsets() {
  for (std::size_t i = 0; i < requests_.size(); ++i)
    if (request_values_[i] != ValueId::kNone) slot(request_values_[i]).offset = requests_[i].offset;
  for (std::size_t i = 0; i < layout_.slots.size(); ++i) {
    Slot& each = layout_.slots[i];
    const auto id = static_cast<ValueId>(i);
    if (each.kind != Slot::Kind::kArena || each.root == id) continue;
    const std::size_t bits = bits_of(graph_.value(each.root).type.dtype);
    each.offset = slot(each.root).offset + static_cast<std::size_t>(storage_.of(id).offset) * bits / 8;
  }
  for (const auto& [step, request] : scratch_requests_) layout_.scratch.emplace(step, requests_[request].offset);
}

std::string ArenaBuilder::describe_producer(ValueId id) const {
  const Node* producer = graph_.producer(id);
  return producer != nullptr ? describe(*producer) : fmt::format("input '{}'", graph_.value(id).name);
}

}  // namespace saccade
