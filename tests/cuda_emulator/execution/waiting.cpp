#include "execution/waiting.hpp"

#include <cstring>

#include "execution/grid.hpp"

namespace saccade::emulator {
namespace {

constexpr std::size_t kLanes = 32;

bool same(const char* a, const char* b) { return a == b || std::strcmp(a, b) == 0; }
bool same(const Arrival& a, const Arrival& b) {
  return a.combine == b.combine && a.site.line == b.site.line && same(a.site.file, b.site.file) &&
         same(a.site.what, b.site.what);
}

}  // namespace

void Waiting::begin() {
  live_ = threads_.size();
  at_block_ = 0;
  warps_.assign((threads_.size() + kLanes - 1) / kLanes, {});
  for (Thread& thread : threads_) {
    thread.state = Thread::State::kGoing;
    thread.arrived = -1;
    warps_[thread.number / kLanes].live |= 1U << thread.number % kLanes;
  }
}

bool Waiting::at_block(Thread& thread, const Arrival& arrival) {
  thread.arrival = arrival;
  thread.state = Thread::State::kAtBlock;
  ++at_block_;
  return complete_block(&thread);
}

bool Waiting::at_warp(Thread& thread, unsigned mask, const Arrival& arrival) {
  const unsigned lane = 1U << thread.number % kLanes;
  if ((mask & lane) == 0) fail_kernel(arrival.site, "the mask leaves out the lane that calls");
  thread.arrival = arrival;
  thread.mask = mask;
  thread.state = Thread::State::kAtWarp;
  warps_[thread.number / kLanes].waiting |= lane;
  return complete_warp(thread.number / kLanes, mask, &thread);
}

void Waiting::leave(Thread& thread) {
  thread.state = Thread::State::kLeft;
  thread.copies.drop();
  --live_;
  complete_block(nullptr);
  const std::size_t warp = thread.number / kLanes;
  const std::size_t lane = thread.number % kLanes;
  warps_[warp].live &= ~(1U << lane);
  for (std::size_t i = 0; i < kLanes && warps_[warp].waiting >> i != 0; ++i) {
    if ((warps_[warp].waiting >> i & 1U) == 0) continue;
    const unsigned mask = threads_[warp * kLanes + i].mask;
    if ((mask >> lane & 1U) != 0) complete_warp(warp, mask, nullptr);
  }
}

bool Waiting::complete_block(Thread* last) {
  if (at_block_ < live_ || live_ == 0) return false;
  at_block_ = 0;
  members_.clear();
  for (Thread& thread : threads_) members_.push_back(thread.state == Thread::State::kAtBlock ? &thread : nullptr);
  release(last);
  return true;
}

bool Waiting::complete_warp(std::size_t warp, unsigned mask, Thread* last) {
  const unsigned present = mask & warps_[warp].live;
  if ((warps_[warp].waiting & present) != present) return false;
  members_.assign(kLanes, nullptr);
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    if ((present >> lane & 1U) == 0) continue;
    Thread& thread = threads_[warp * kLanes + lane];
    if (thread.mask != mask) return false;
    members_[lane] = &thread;
  }
  warps_[warp].waiting &= ~present;
  release(last);
  return true;
}

void Waiting::release(Thread* last) {
  const Arrival* arrival = nullptr;
  passed_.clear();
  for (const Thread* member : members_) {
    passed_.push_back(member == nullptr ? nullptr : member->arrival.mine);
    if (member == nullptr) continue;
    if (arrival == nullptr) arrival = &member->arrival;
    if (!same(*arrival, member->arrival))
      fail_kernel(member->arrival.site, "others of its group wait in " + describe(arrival->site));
  }
  if (arrival != nullptr && arrival->combine != nullptr)
    arrival->combine(passed_.data(), static_cast<unsigned>(passed_.size()));
  for (Thread* member : members_) {
    if (member == nullptr) continue;
    member->state = Thread::State::kGoing;
    if (member != last) ready_.push_back(member);
  }
}

}  // namespace saccade::emulator
