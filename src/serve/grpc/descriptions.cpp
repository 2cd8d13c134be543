#include "grpc/descriptions.hpp"

#include "grpc/text.hpp"
#include "serve/protocol.hpp"
#include "serve/tensor_json.hpp"

namespace saccade::serve {
namespace {

void describe_tensor(const Signature& model, const TensorInfo& tensor, std::optional<int> axis,
                     inference::ModelMetadataResponse::TensorMetadata& to) {
  to.set_name(text_of(tensor.name));
  to.set_datatype(std::string(datatype_of(tensor.dtype)));
  for (const std::int64_t side : described_shape(model, tensor, axis)) to.add_shape(side);
}

template <typename Tensor>
void configure_tensor(const Signature& model, const TensorInfo& tensor, Tensor& to) {
  inference::DataType type = inference::TYPE_INVALID;
  inference::DataType_Parse("TYPE_" + std::string(datatype_of(tensor.dtype)), &type);
  to.set_name(text_of(tensor.name));
  to.set_data_type(type);
  for (const std::int64_t side : configured_shape(model, tensor)) to.add_dims(side);
}

}  // namespace

void describe(const ServedModel& served, inference::ModelMetadataResponse& response) {
  const Signature& model = *served.signature();
  response.set_name(text_of(model.name));
  response.add_versions(std::string(kVersion));
  response.set_platform(std::string(kPlatform));
  for (const TensorInfo& input : model.inputs) describe_tensor(model, input, 0, *response.add_inputs());
  for (std::size_t i = 0; i < model.outputs.size(); ++i)
    describe_tensor(model, model.outputs[i], image_axis_of(model, i), *response.add_outputs());
  if (served.predicts()) (*response.mutable_properties())["task"] = to_string(served.model().task());
}

void describe(const ServedModel& served, inference::ModelConfig& config) {
  const Signature& model = *served.signature();
  config.set_name(text_of(model.name));
  config.set_platform(std::string(kPlatform));
  config.set_backend(std::string(kBackend));
  config.set_max_batch_size(model.most_images > 1 ? static_cast<int>(model.most_images) : 0);
  for (const TensorInfo& input : model.inputs) configure_tensor(model, input, *config.add_input());
  for (const TensorInfo& output : model.outputs) configure_tensor(model, output, *config.add_output());
}

}  // namespace saccade::serve
