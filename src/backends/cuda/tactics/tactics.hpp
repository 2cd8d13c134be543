#pragma once

#include <memory>

#include "cuda/driver/device.hpp"
#include "runtime/tactic.hpp"

// Tactics of a device, one function per file; backend.cpp lists them in order of preference.
namespace saccade::cuda {

std::unique_ptr<Tactic> prediction_ops(Device& device);
std::unique_ptr<Tactic> batch_normalization(Device& device);
std::unique_ptr<Tactic> channel_resize(Device& device);
std::unique_ptr<Tactic> cublaslt_matmul(Device& device);
std::unique_ptr<Tactic> cudnn_convolution(Device& device);
std::unique_ptr<Tactic> decode(Device& device);
std::unique_ptr<Tactic> direct_convolution(Device& device);
std::unique_ptr<Tactic> direct_matmul(Device& device);
std::unique_ptr<Tactic> elements(Device& device);
std::unique_ptr<Tactic> fused_elements(Device& device);
std::unique_ptr<Tactic> gathers(Device& device);
std::unique_ptr<Tactic> grid_sample(Device& device);
std::unique_ptr<Tactic> integer_products(Device& device);
std::unique_ptr<Tactic> group_normalization(Device& device);
std::unique_ptr<Tactic> layer_normalization(Device& device);
std::unique_ptr<Tactic> row_reductions(Device& device);
std::unique_ptr<Tactic> row_softmax(Device& device);
std::unique_ptr<Tactic> linear_quantization(Device& device);
std::unique_ptr<Tactic> quantized_pairs(Device& device);
std::unique_ptr<Tactic> moves(Device& device);
std::unique_ptr<Tactic> one_hot(Device& device);
std::unique_ptr<Tactic> pooling(Device& device);
std::unique_ptr<Tactic> preprocess(Device& device);
std::unique_ptr<Tactic> resize(Device& device);
std::unique_ptr<Tactic> roi_align(Device& device);
std::unique_ptr<Tactic> scatters(Device& device);
std::unique_ptr<Tactic> select_boxes(Device& device);
std::unique_ptr<Tactic> select_queries(Device& device);
std::unique_ptr<Tactic> top_classes(Device& device);
std::unique_ptr<Tactic> top_k(Device& device);
std::unique_ptr<Tactic> trace_masks(Device& device);

}  // namespace saccade::cuda
