#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "serve/infer_request.hpp"

// A request of the Open Inference Protocol: up to the first zero byte the value of Inference-Header-Content-Length,
// then the body. What is accepted lies within the body, and gets a reply.
namespace {

const std::vector<saccade::TensorInfo> kInputs = {{"x", saccade::DType::kFloat32, saccade::Shape{2, 3}},
                                                  {"m", saccade::DType::kBool, saccade::Shape{4}},
                                                  {"i", saccade::DType::kInt64, saccade::Shape{}},
                                                  {"h", saccade::DType::kFloat16, saccade::Shape{2}}};
const std::vector<saccade::TensorInfo> kOutputs = {{"y", saccade::DType::kFloat32, saccade::Shape{2}},
                                                   {"z", saccade::DType::kBFloat16, saccade::Shape{2}}};

const std::array<saccade::serve::Signature, 2> kModels = {
    {{.name = "fuzzed", .inputs = kInputs, .outputs = kOutputs},
     {.name = "batched", .inputs = std::span(kInputs).first(1), .outputs = kOutputs, .most_images = 4}}};

// Clients may use no shared memory, whatever they say.
saccade::serve::MemoryRegions regions;

void infer(const saccade::serve::Signature& model, saccade::HttpRequest request) {
  auto parsed = saccade::serve::parse_infer_request(model, regions, std::move(request));
  if (!parsed.region_inputs.read(model, regions, parsed.inputs)) return;
  volatile std::uint8_t sum = 0;
  for (const saccade::InputBuffer& buffer : parsed.inputs) {
    const auto bytes = static_cast<std::size_t>(buffer.shape.elements()) * saccade::bits_of(buffer.dtype) / 8;
    for (std::size_t i = 0; i < bytes; ++i) sum = sum + static_cast<const std::uint8_t*>(buffer.data)[i];
  }
  std::vector<std::vector<std::byte>> elements;
  std::vector<saccade::OutputBuffer> outputs;
  for (const saccade::TensorInfo& output : kOutputs) {
    elements.emplace_back(static_cast<std::size_t>(output.shape.elements()) * saccade::bits_of(output.dtype) / 8);
    outputs.push_back({elements.back().data(), elements.back().size(), output.dtype, output.shape});
  }
  (void)saccade::serve::infer_reply(model, parsed, outputs);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t end = std::min(input.find('\0'), input.size());
  saccade::HttpRequest request;
  if (end > 0) request.headers.emplace_back("inference-header-content-length", input.substr(0, end));
  request.body = input.substr(std::min(end + 1, input.size()));
  for (const saccade::serve::Signature& model : kModels) {
    try {
      infer(model, request);
    } catch (const saccade::Error&) {  // refused
    }
  }
  return 0;
}
