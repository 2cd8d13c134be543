#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "graph/graph.hpp"
#include "onnx.pb.h"

namespace saccade::fuzz {

/// The memory limit of a model under fuzzing: small, so that limits are reached often and quickly.
inline constexpr std::size_t kMaxMemory = std::size_t{64} << 20;

/// Runs WORK; a refusal is a valid outcome. std::bad_alloc propagates, and an Error of kInternal aborts: these are what
/// fuzzing looks for.
void expect_refusal_or_success(const std::function<void()>& work);

/// The graph of a file's bytes as the reader returns it, through a file on disk or from the parsed protobuf.
Graph import_bytes(const std::uint8_t* data, std::size_t size);
Graph import_model(onnx::ModelProto model);

}  // namespace saccade::fuzz
