#include "cpu/loops/move_plan.hpp"
#include "cpu/loops/strided_copy.hpp"
#include "cpu/tactics/tactics.hpp"

#include "cpu/loops/element_program.hpp"

// Data movement operators: strided copies, computed at compile time. Bound: bytes / bandwidth.
namespace saccade::cpu {
namespace {

struct Copy {
  MovePiece piece;
  StridedCopy copy;
};

class BoundMove : public BoundLaunch {
 public:
  BoundMove(const std::vector<Copy>& copies, const std::optional<MoveFill>& fill, const Bindings& bindings)
      : fill_(fill) {
    if (fill_) {
      target_ = static_cast<std::byte*>(bindings.outputs[0].data);
      bytes_ = bindings.outputs[0].bytes();
    }
    for (const Copy& copy : copies) {
      const TensorView& from = bindings.inputs[static_cast<std::size_t>(copy.piece.input)];
      const TensorView& to = bindings.outputs[static_cast<std::size_t>(copy.piece.output)];
      if (to.data == nullptr) continue;
      const auto size = static_cast<std::int64_t>(bits_of(from.dtype) / 8);
      jobs_.push_back({&copy.copy, static_cast<const std::byte*>(from.data) + copy.piece.src_offset * size,
                       static_cast<std::byte*>(to.data) + copy.piece.dst_offset * size});
    }
  }

  void run() override {
    if (fill_) fill_elements(*fill_, target_, bytes_);
    for (const Job& job : jobs_) job.copy->run(job.src, job.dst);
  }

 private:
  struct Job {
    const StridedCopy* copy;
    const std::byte* src;
    std::byte* dst;
  };
  const std::optional<MoveFill>& fill_;
  std::byte* target_ = nullptr;
  std::size_t bytes_ = 0;
  std::vector<Job> jobs_;
};

class MoveLaunch : public Launch {
 public:
  MoveLaunch(MovePlan plan, std::size_t element_bytes) : fill_(plan.fill) {
    for (MovePiece& piece : plan.pieces) {
      StridedCopy copy(std::move(piece.loops), element_bytes);
      copies_.push_back({std::move(piece), std::move(copy)});
    }
  }
  std::unique_ptr<BoundLaunch> bind(const Bindings& bindings) const override {
    return std::make_unique<BoundMove>(copies_, fill_, bindings);
  }

 private:
  std::vector<Copy> copies_;
  std::optional<MoveFill> fill_;
};

class Move : public Tactic {
 public:
  std::string_view name() const override { return "vector.move"; }

  Support supports(const NodeContext& context) const override {
    Support why;
    if (!plan_move(context, why)) return why;
    return supports_post_ops(context);
  }

  bool supports_strided_operands(const NodeContext& context) const override {
    return moves_strided_operands(context.node);
  }

  std::unique_ptr<Launch> compile(const NodeContext& context) const override {
    Support why;
    auto plan = plan_move(context, why);
    if (!plan) fail(ErrorCode::kInternal, "{}", why.reason);
    const std::size_t bytes = bits_of(context.input(0).type.dtype) / 8;
    return with_post_ops(context, std::make_unique<MoveLaunch>(std::move(*plan), bytes));
  }
};

}  // namespace

const Tactic& vector_move() {
  static const Move tactic;
  return tactic;
}

}  // namespace saccade::cpu
