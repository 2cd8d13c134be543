#include "pipeline/model/model_set.hpp"

#include <gtest/gtest.h>

#include <new>

#include "support/cpu_model.hpp"
#include "support/tiny_models.hpp"

namespace saccade {
namespace {

/// Pixels of a device, for whose copy there is no memory.
class ExhaustedAllocator final : public FrameAllocator {
 public:
  FrameLease acquire(std::size_t /*bytes*/) override { return {*this, buffer_}; }
  FrameLease try_acquire(std::size_t bytes) override { return acquire(bytes); }
  void release(FrameBuffer& /*buffer*/) noexcept override {}
  FrameView host_view(FrameBuffer& /*buffer*/, const FrameView& /*view*/) override { throw std::bad_alloc(); }

 private:
  FrameBuffer buffer_;
};

TEST(ModelSet, WhateverIsThrownIsTheFaultOfTheFrame) {
  const test::TempFolder folder;
  ModelSet models({test::load_on_cpu(test::write_box_detector(folder))});
  ExhaustedAllocator allocator;
  Frame frame;
  frame.view = {.format = PixelFormat::kRgb24, .width = 8, .height = 8};
  frame.view.memory = MemoryKind::kDevice;
  frame.view.device = 0;
  frame.lease = allocator.acquire(0);
  const Frame* const frames[] = {&frame};
  EXPECT_FALSE(models.begin(frames)) << "nothing begins early on the CPU";
  EXPECT_FALSE(models.wait());
  const auto fault = models.run(0, frames);
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->model, 0U);
  EXPECT_EQ(fault->message, "boxes: out of memory");
}

}  // namespace
}  // namespace saccade
