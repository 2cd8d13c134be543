#include "execution/fiber.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

// Sanitizer hooks for stack switches; null without sanitizers.
extern "C" {
__attribute__((weak)) void __sanitizer_start_switch_fiber(void** fake_stack, const void* bottom, std::size_t bytes);
__attribute__((weak)) void __sanitizer_finish_switch_fiber(void* fake_stack, const void** bottom, std::size_t* bytes);
__attribute__((weak)) void* __tsan_get_current_fiber();
__attribute__((weak)) void* __tsan_create_fiber(unsigned flags);
__attribute__((weak)) void __tsan_destroy_fiber(void* fiber);
__attribute__((weak)) void __tsan_switch_to_fiber(void* fiber, unsigned flags);

/// Saves callee-saved registers and the stack pointer in *FROM, and resumes the stack TO.
void saccade_emulator_switch(void** from, void* to);
}

#ifdef __x86_64__
// swapcontext() makes a system call per switch; a GEMM switches a million times.
asm(R"(
.text
.hidden saccade_emulator_switch
.globl saccade_emulator_switch
.type saccade_emulator_switch, @function
saccade_emulator_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size saccade_emulator_switch, .-saccade_emulator_switch
)");
#else
#error "write the switch of stacks for this processor: what a called function must keep, and the stack's pointer"
#endif

namespace saccade::emulator {
namespace {

// One host thread runs kernels at a time (block.cpp).
Fiber* left = nullptr;
Fiber* entered = nullptr;

}  // namespace

Fiber::Fiber(void (*main)()) : main_(main), bytes_(kStackBytes) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  mapping_ = mmap(nullptr, page + bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping_ == MAP_FAILED) std::perror("emulator: a stack for a thread of a kernel"), std::abort();
  mprotect(mapping_, page, PROT_NONE);  // guard page
  bottom_ = static_cast<std::byte*>(mapping_) + page;
  // Initial frame as left by a switch: six registers, the entry point and its return address.
  auto** top = reinterpret_cast<void**>(static_cast<std::byte*>(mapping_) + page + bytes_);
  top[-2] = reinterpret_cast<void*>(&Fiber::begin);
  stack_pointer_ = top - 8;
  if (__tsan_create_fiber != nullptr) race_detector_ = __tsan_create_fiber(0);
}

Fiber::~Fiber() {
  if (race_detector_ != nullptr && mapping_ != nullptr) __tsan_destroy_fiber(race_detector_);
  if (mapping_ != nullptr) munmap(mapping_, static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) + bytes_);
}

void Fiber::begin() {
  if (__sanitizer_finish_switch_fiber != nullptr)
    __sanitizer_finish_switch_fiber(nullptr, &left->bottom_, &left->bytes_);
  entered->main_();
  std::abort();
}

void Fiber::switch_from(Fiber& from) {
  if (__tsan_get_current_fiber != nullptr) from.race_detector_ = __tsan_get_current_fiber();
  left = &from;
  entered = this;
  if (__sanitizer_start_switch_fiber != nullptr) __sanitizer_start_switch_fiber(&from.fake_stack_, bottom_, bytes_);
  if (__tsan_switch_to_fiber != nullptr) __tsan_switch_to_fiber(race_detector_, 0);
  saccade_emulator_switch(&from.stack_pointer_, stack_pointer_);
  if (__sanitizer_finish_switch_fiber != nullptr)
    __sanitizer_finish_switch_fiber(from.fake_stack_, &left->bottom_, &left->bytes_);
}

}  // namespace saccade::emulator
