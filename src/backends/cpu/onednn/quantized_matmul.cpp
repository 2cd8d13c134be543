#include <algorithm>
#include <utility>

#include "cpu/kernels/integer_kernels.hpp"
#include "cpu/onednn/byte_product.hpp"
#include "cpu/onednn/onednn.hpp"
#include "cpu/onednn/onednn_product.hpp"
#include "cpu/tactics/tactics.hpp"
#include "cpu/team/parallel.hpp"
#include "ops/layers/matmul_shape.hpp"

// MatMulInteger and QLinearMatMul with oneDNN, which multiplies the stored bytes. Zero points and scales, which may be
// known only at run time, are applied in one pass over the int32 sums, row by row. With zero points za and zb:
//   sum (a - za)(b - zb) = sum ab - zb * sum a - za * sum b + k * za * zb
// modulo 2^32, so that the result equals the reference exactly. oneDNN requires signed right operands: unsigned ones
// and their zero points are shifted down by 128, which preserves differences. Signed left operands are shifted up by
// 128: oneDNN does the same, but computes its correction in float32, which is exact up to 2^24 only.
namespace saccade::cpu {
namespace {

using dnnl::memory;
using Descriptor = dnnl::matmul::primitive_desc;

constexpr std::uint8_t kFlip = 0x80;

/// Sizes, operands and scratch layout of a GEMM: everything that a run needs of the node.
struct Product {
  explicit Product(const NodeContext& context);

  ByteProductInputs places;
  MatMulShape shape;
  OnednnProduct operands;
  std::vector<std::int64_t> left_rows;       ///< by matrix of the batch: the first row of its left operand
  std::vector<std::int64_t> right_matrices;  ///< by matrix of the batch: the index of its right operand
  std::int64_t matrices = 1;                 ///< number of right operands
  bool turns_left = false;                   ///< the run converts the left operand to unsigned bytes
  bool turns_right = false;                  ///< the run converts the right operand to signed bytes
  std::vector<std::uint32_t> column_sums;    ///< of a constant right operand, as signed bytes; else the run's

  // Offsets in the scratch memory, in bytes.
  std::size_t sums = 0;
  std::size_t left = 0;
  std::size_t right = 0;
  std::size_t columns = 0;
  std::size_t offsets = 0;
  std::size_t row_factors = 0;
  std::size_t scales = 0;
  std::size_t onednn_scratch = 0;
};

Product::Product(const NodeContext& context)
    : places(byte_product_inputs(context.node)),
      shape(context.input(0).type.shape, context.input(places.right).type.shape),
      operands(context.input(0).type.shape, context.input(places.right).type.shape) {
  for (std::int64_t i = 0; i < shape.batch; ++i) {
    left_rows.push_back(shape.left(i) / shape.k);
    right_matrices.push_back(shape.right(i) / (shape.k * shape.n));
  }
  const std::int64_t right_bytes = context.input(places.right).type.shape.elements();
  matrices = right_bytes / (shape.k * shape.n);
  const bool constant = context.constant(places.right) != nullptr;
  turns_left = context.input(0).type.dtype == DType::kInt8;
  turns_right = !constant && context.input(places.right).type.dtype == DType::kUInt8;
  std::size_t end = 0;
  const auto take = [&](std::int64_t elements, std::size_t size) {
    return std::exchange(end, end + (static_cast<std::size_t>(elements) * size + 63) / 64 * 64);
  };
  if (places.requantizes()) sums = take(operands.output.elements(), 4);
  if (turns_left) left = take(context.input(0).type.shape.elements(), 1);
  if (turns_right) right = take(right_bytes, 1);
  if (!constant) columns = take(matrices * shape.n, 4);
  offsets = take(matrices * shape.n, 4);
  row_factors = take(shape.n, 4);
  if (places.requantizes()) scales = take(shape.n, 4);
  onednn_scratch = end;
}

/// Shifts unsigned bytes to signed ones, by -128, or the reverse.
void turn(const std::uint8_t* from, std::uint8_t* to, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) to[i] = from[i] ^ kFlip;
}

/// The sums of the columns FIRST to FIRST + COUNT of one right matrix; also converts its bytes into TURNED if that is
/// set.
void sum_columns(const MatMulShape& shape, const std::uint8_t* right, std::uint8_t* turned, std::int64_t first,
                 std::int64_t count, std::uint32_t* sums) {
  std::fill_n(sums + first, count, 0U);
  for (std::int64_t row = 0; row < shape.k; ++row) {
    const std::uint8_t* from = right + row * shape.n + first;
    if (turned != nullptr) {
      std::uint8_t* to = turned + row * shape.n + first;
      turn(from, to, count);
      from = to;
    }
    integer_kernels().add(reinterpret_cast<const std::int8_t*>(from), sums + first, static_cast<std::size_t>(count));
  }
}

/// A constant right operand as signed bytes.
Tensor signed_right(const NodeContext& context) {
  const Tensor& right = *context.constant(byte_product_inputs(context.node).right);
  if (right.dtype() == DType::kInt8) return right;
  Tensor result(DType::kInt8, right.shape());
  turn(right.data<std::uint8_t>().data(), reinterpret_cast<std::uint8_t*>(result.raw()), right.elements());
  return result;
}

class BoundProduct : public BoundLaunch {
 public:
  BoundProduct(const Product& product, const Launch& primitive, const Bindings& bindings)
      : product_(product),
        bytes_(product.places, bindings),
        scratch_(bindings.scratch),
        sums_(product.places.requantizes() ? words(product.sums)
                                           : static_cast<std::uint32_t*>(bindings.outputs[0].data)) {
    TensorView operands[] = {bytes_.input(0), right()};
    if (product.turns_left) operands[0].data = scratch_ + product.left;
    if (product.turns_right) operands[1].data = scratch_ + product.right;
    left_ = static_cast<const std::uint8_t*>(operands[0].data);
    const TensorView sums{sums_, DType::kInt32, Layout::kRowMajor, product.operands.output};
    primitive_ =
        primitive.bind({.inputs = operands, .outputs = {&sums, 1}, .scratch = scratch_ + product.onednn_scratch});
  }

  void run() override {
    if (product_.turns_left) turn_left();
    if (product_.column_sums.empty()) read_right();
    primitive_->run();
    const bool moves = prepare();
    if (!moves && !product_.places.requantizes()) return;
    const MatMulShape& shape = product_.shape;
    parallel_for(shape.batch * shape.m, kParallelGrain / shape.n + 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t row = begin; row < end; ++row) finish_row(row, moves);
    });
  }

 private:
  const TensorView& right() const { return bytes_.input(product_.places.right); }
  std::uint32_t* words(std::size_t at) const { return reinterpret_cast<std::uint32_t*>(scratch_ + at); }
  float* scales() const { return reinterpret_cast<float*>(scratch_ + product_.scales); }

  void turn_left() {
    const auto* from = static_cast<const std::uint8_t*>(bytes_.input(0).data);
    auto* to = reinterpret_cast<std::uint8_t*>(scratch_ + product_.left);
    parallel_for(bytes_.input(0).elements(), 4 * kParallelGrain,
                 [&](std::int64_t begin, std::int64_t end) { turn(from + begin, to + begin, end - begin); });
  }

  void read_right() {
    constexpr std::int64_t kColumns = 256;
    const MatMulShape& shape = product_.shape;
    const std::int64_t blocks = (shape.n + kColumns - 1) / kColumns;
    const std::int64_t cost = shape.k * std::min(kColumns, shape.n);
    parallel_for(product_.matrices * blocks, kParallelGrain / cost + 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t unit = begin; unit < end; ++unit) {
        const std::int64_t matrix = unit / blocks;
        const std::int64_t first = unit % blocks * kColumns;
        const std::int64_t at = matrix * shape.k * shape.n;
        auto* turned = product_.turns_right ? reinterpret_cast<std::uint8_t*>(scratch_ + product_.right) + at : nullptr;
        sum_columns(shape, static_cast<const std::uint8_t*>(right().data) + at, turned, first,
                    std::min(kColumns, shape.n - first), words(product_.columns) + matrix * shape.n);
      }
    });
  }

  /// Computes the corrections of the sums and their scales; false if there is no correction.
  bool prepare() {
    const ByteProductInputs& places = product_.places;
    const MatMulShape& shape = product_.shape;
    const auto zero_point = [&](int i, std::int64_t column) {
      return static_cast<std::uint32_t>(bytes_.zero_point(i, column));
    };
    const std::uint32_t left_zero = zero_point(places.left_zero, 0) + (product_.turns_left ? kFlip : 0);
    const std::uint32_t moved = right().dtype == DType::kUInt8 ? kFlip : 0;
    std::uint32_t* row_factors = words(product_.row_factors);
    sums_rows_ = false;
    for (std::int64_t col = 0; col < shape.n; ++col) {
      row_factors[col] = moved - zero_point(places.right_zero, col);
      sums_rows_ = sums_rows_ || row_factors[col] != 0;
    }
    if (places.requantizes()) bytes_.read_scales(scales(), shape.n);
    if (left_zero == 0 && !sums_rows_) return false;
    const std::uint32_t* columns = product_.column_sums.empty() ? words(product_.columns) : product_.column_sums.data();
    std::uint32_t* offsets = words(product_.offsets);
    const auto k = static_cast<std::uint32_t>(shape.k);
    for (std::int64_t i = 0; i < product_.matrices * shape.n; ++i)
      offsets[i] = 0U - left_zero * (columns[i] + k * row_factors[i % shape.n]);
    return true;
  }

  void finish_row(std::int64_t row, bool moves) {
    const MatMulShape& shape = product_.shape;
    const auto batch = static_cast<std::size_t>(row / shape.m);
    const auto count = static_cast<std::size_t>(shape.n);
    std::uint32_t* sums = sums_ + row * shape.n;
    if (moves)
      integer_kernels().correct(sums, words(product_.offsets) + product_.right_matrices[batch] * shape.n,
                                sums_rows_ ? left_sum(product_.left_rows[batch] + row % shape.m) : 0,
                                words(product_.row_factors), count);
    if (product_.places.requantizes()) bytes_.store(sums, scales(), row * shape.n, shape.n);
  }

  /// The sum of row ROW of the left operand, as unsigned bytes.
  std::uint32_t left_sum(std::int64_t row) const {
    const std::int64_t k = product_.shape.k;
    return integer_kernels().sum(left_ + row * k, static_cast<std::size_t>(k));
  }

  const Product& product_;
  BoundByteProduct bytes_;
  std::byte* scratch_;
  std::uint32_t* sums_;
  const std::uint8_t* left_;  // in oneDNN's type
  std::unique_ptr<BoundLaunch> primitive_;
  bool sums_rows_ = false;
};

class ProductLaunch : public Launch {
 public:
  ProductLaunch(Product product, std::unique_ptr<Launch> primitive)
      : product_(std::move(product)), primitive_(std::move(primitive)) {}

  std::size_t scratch_bytes() const override { return product_.onednn_scratch + primitive_->scratch_bytes(); }
  std::string detail() const override { return primitive_->detail(); }
  std::unique_ptr<BoundLaunch> bind(const Bindings& bindings) const override {
    return std::make_unique<BoundProduct>(product_, *primitive_, bindings);
  }

 private:
  Product product_;
  std::unique_ptr<Launch> primitive_;
};

memory::desc matrices(DType dtype, const Shape& shape) { return describe(dtype, shape, Layout::kRowMajor); }

Descriptor descriptor(const NodeContext& context, const OnednnProduct& operands) {
  memory::desc right = matrices(DType::kInt8, operands.right);
  if (context.constant(byte_product_inputs(context.node).right) != nullptr && operands.right.rank() == 2)
    right = {right.dims(), memory::data_type::s8, memory::format_tag::any};
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  const dnnl::matmul::desc operation(matrices(DType::kUInt8, operands.left), right,
                                     matrices(DType::kInt32, operands.output));
  return {operation, attributes, onednn_engine()};
}

Support check(const NodeContext& context) {
  const Node& node = context.node;
  if (!node.is("MatMulInteger") && !node.is("QLinearMatMul"))
    return Support::other_operator("not a matrix multiplication of 8-bit integers");
  if (Support bytes = supports_byte_product(context); !bytes) return bytes;
  for (const int i : {0, byte_product_inputs(node).right})
    if (context.input(i).layout != Layout::kRowMajor && context.input(i).type.shape.rank() >= 3)
      return Support::no("its operands are channels-last");
  if (context.output().layout != Layout::kRowMajor && context.output().type.shape.rank() >= 3)
    return Support::no("its output is channels-last");
  return {};
}

class QuantizedMatMul : public Tactic {
 public:
  std::string_view name() const override { return "onednn.quantized_matmul"; }

  Support supports(const NodeContext& context) const override {
    if (Support checked = check(context); !checked) return checked;
    const Product product(context);
    return onednn_supports(context, [&] { descriptor(context, product.operands); });
  }

  std::unique_ptr<Launch> compile(const NodeContext& context) const override {
    return onednn_compile(context, [&] {
      Product product(context);
      const Descriptor chosen = descriptor(context, product.operands);
      std::vector<TensorArgument> tensors{{DNNL_ARG_SRC, false, 0, chosen.src_desc()},
                                          {DNNL_ARG_DST, true, 0, chosen.dst_desc()}};
      std::vector<PackedArgument> packed;
      if (context.constant(product.places.right) != nullptr) {
        const Tensor right = signed_right(context);
        product.column_sums.resize(static_cast<std::size_t>(product.matrices * product.shape.n));
        const MatMulShape& shape = product.shape;
        for (std::int64_t i = 0; i < product.matrices; ++i)
          sum_columns(shape, reinterpret_cast<const std::uint8_t*>(right.raw()) + i * shape.k * shape.n, nullptr, 0,
                      shape.n, product.column_sums.data() + i * shape.n);
        packed.push_back(pack(context, DNNL_ARG_WEIGHTS, right, matrices(DType::kInt8, product.operands.right),
                              chosen.weights_desc()));
      } else {
        tensors.push_back({DNNL_ARG_WEIGHTS, false, 1, chosen.weights_desc()});
      }
      auto primitive = onednn_launch<dnnl::matmul>(chosen, std::move(tensors), std::move(packed));
      return std::make_unique<ProductLaunch>(std::move(product), std::move(primitive));
    });
  }
};

}  // namespace

const Tactic& onednn_quantized_matmul() {
  static const QuantizedMatMul tactic;
  return tactic;
}

}  // namespace saccade::cpu
