#include <fmt/format.h>

#include <fstream>

#include "run_op.hpp"
#include "tensor/half.hpp"

// Checks the reference kernels against ONNX Runtime's results (ort_cases.txt, written by ort_cases.py).
namespace saccade {
namespace {

template <typename T>
Tensor read_values(std::istream& in, const Shape& shape) {
  Tensor tensor(DTypeOf<T>::value, shape);
  for (T& value : tensor.data<T>()) {
    double number = 0;
    std::string word;
    in >> word;
    number = std::stod(word);
    if constexpr (std::is_same_v<T, Float16>)
      value = Float16(static_cast<float>(number));
    else
      value = static_cast<T>(number);
  }
  return tensor;
}

/// "none", or "DTYPE RANK DIMENSIONS... VALUES...".
Tensor read_tensor(std::istream& in) {
  std::string type;
  in >> type;
  if (type == "none") return {};
  int rank = 0;
  in >> rank;
  Shape shape = Shape::filled(rank, 0);
  for (int i = 0; i < rank; ++i) in >> shape[i];
  if (type == "float32") return read_values<float>(in, shape);
  if (type == "float64") return read_values<double>(in, shape);
  if (type == "float16") return read_values<Float16>(in, shape);
  if (type == "int8") return read_values<std::int8_t>(in, shape);
  if (type == "uint8") return read_values<std::uint8_t>(in, shape);
  if (type == "int32") return read_values<std::int32_t>(in, shape);
  if (type == "int64") return read_values<std::int64_t>(in, shape);
  throw std::runtime_error("ort_cases.txt is damaged: type '" + type + "'");
}

std::pair<std::string, Attribute> read_attribute(std::istream& in) {
  std::string kind;
  std::string name;
  in >> kind >> name;
  if (kind == "s") {
    std::string text;
    in >> text;
    return {name, text};
  }
  if (kind == "f") {
    float value = 0;
    in >> value;
    return {name, value};
  }
  std::size_t count = 1;
  if (kind == "I") in >> count;
  std::vector<std::int64_t> values(count);
  for (std::int64_t& value : values) in >> value;
  if (kind == "I") return {name, values};
  return {name, values.at(0)};
}

double element(const Tensor& tensor, std::int64_t i) {
  const auto at = static_cast<std::size_t>(i);
  switch (tensor.dtype()) {
    case DType::kFloat32: return static_cast<double>(tensor.data<float>()[at]);
    case DType::kFloat64: return tensor.data<double>()[at];
    case DType::kFloat16: return static_cast<double>(tensor.data<Float16>()[at]);
    case DType::kInt8: return tensor.data<std::int8_t>()[at];
    case DType::kUInt8: return tensor.data<std::uint8_t>()[at];
    case DType::kInt32: return tensor.data<std::int32_t>()[at];
    default: return static_cast<double>(tensor.data<std::int64_t>()[at]);
  }
}

/// Within TOLERANCE of the largest expected number.
void expect_close(const Tensor& have, const Tensor& want, double tolerance) {
  ASSERT_EQ(to_string(have.dtype()), to_string(want.dtype()));
  ASSERT_EQ(have.shape().to_string(), want.shape().to_string());
  double greatest = 1;
  for (std::int64_t i = 0; i < want.elements(); ++i) greatest = std::max(greatest, std::abs(element(want, i)));
  for (std::int64_t i = 0; i < want.elements(); ++i)
    ASSERT_NEAR(element(have, i), element(want, i), tolerance * greatest) << "element " << i;
}

TEST(OrtCases, ReferenceKernelsAgree) {
  std::ifstream in(SACCADE_SOURCE "/tests/ops/ort_cases.txt");
  std::string word;
  std::getline(in, word);
  int cases = 0;
  while (in >> word) {
    ASSERT_EQ(word, "case");
    OpCall call;
    double tolerance = 0;
    std::size_t attributes = 0;
    std::size_t inputs = 0;
    in >> call.domain >> call.op >> tolerance >> attributes >> inputs >> call.outputs;
    if (call.domain == "-") call.domain.clear();
    std::string trace = fmt::format("case {}: {}", ++cases, call.op);
    for (std::size_t i = 0; i < attributes; ++i) {
      call.attributes.push_back(read_attribute(in));
      trace += fmt::format(" {}={}", call.attributes.back().first, to_string(call.attributes.back().second));
    }
    for (std::size_t i = 0; i < inputs; ++i) call.inputs.push_back(read_tensor(in));
    SCOPED_TRACE(trace);
    std::vector<Tensor> wanted;
    for (int i = 0; i < call.outputs; ++i) wanted.push_back(read_tensor(in));
    std::vector<Tensor> results;
    ASSERT_NO_THROW(results = call.run());
    for (std::size_t i = 0; i < wanted.size(); ++i) expect_close(results[i], wanted[i], tolerance);
  }
  EXPECT_GT(cases, 200);
}

}  // namespace
}  // namespace saccade
