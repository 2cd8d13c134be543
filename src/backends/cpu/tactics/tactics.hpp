#pragma once

#include "runtime/tactic.hpp"

// The tactics of the CPU, one function per file; backend.cpp lists them in order of preference.
namespace saccade::cpu {

const Tactic& bf16_attention();
const Tactic& bf16_convolution();
const Tactic& bf16_depthwise();
const Tactic& bf16_matmul();
const Tactic& bf16_max_pool();
const Tactic& bf16_winograd();
const Tactic& onednn_convolution();
const Tactic& onednn_deconvolution();
const Tactic& onednn_integer_convolution();
const Tactic& onednn_matmul();
const Tactic& onednn_pooling();
const Tactic& onednn_quantized_convolution();
const Tactic& onednn_quantized_matmul();
const Tactic& vector_arg_max();
const Tactic& vector_attention();
const Tactic& vector_box_masks();
const Tactic& vector_convert();
const Tactic& vector_convolution();
const Tactic& vector_dynamic_quantize();
const Tactic& vector_elementwise();
const Tactic& vector_gather();
const Tactic& vector_grid_sample();
const Tactic& vector_group_norm();
const Tactic& vector_layer_norm();
const Tactic& vector_matmul();
const Tactic& vector_max_pool();
const Tactic& vector_move();
const Tactic& vector_preprocess();
const Tactic& vector_reduce();
const Tactic& vector_resize();
const Tactic& vector_roi_align();
const Tactic& vector_softmax();
const Tactic& vector_top_k();
const Tactic& vector_trace_masks();
const Tactic& vector_winograd();
const Tactic& sliced_elementwise();

}  // namespace saccade::cpu
