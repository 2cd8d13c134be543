#include "waiting.hpp"

#include <cstring>

#include "grid.hpp"

namespace saccade::emulator {
namespace {

constexpr std::size_t kLanes = 32;

bool same(const Arrival& a, const Arrival& b) {
  return a.combine == b.combine && a.site.line == b.site.line && std::strcmp(a.site.file, b.site.file) == 0 &&
         std::strcmp(a.site.what, b.site.what) == 0;
}

}  // namespace

void Waiting::begin() {
  live_ = threads_.size();
  at_block_ = 0;
  for (Thread& thread : threads_) {
    thread.state = Thread::State::kGoing;
    thread.greeted = -1;
  }
}

bool Waiting::at_block(Thread& thread, const Arrival& arrival) {
  thread.arrival = arrival;
  thread.state = Thread::State::kAtBlock;
  ++at_block_;
  return complete_block(&thread);
}

bool Waiting::at_warp(Thread& thread, unsigned mask, const Arrival& arrival) {
  const std::size_t lane = thread.number % kLanes;
  if ((mask >> lane & 1U) == 0) fail_kernel(arrival.site, "the mask leaves out the lane that calls");
  thread.arrival = arrival;
  thread.mask = mask;
  thread.state = Thread::State::kAtWarp;
  return complete_warp(thread.number - lane, mask, &thread);
}

void Waiting::leave(Thread& thread) {
  thread.state = Thread::State::kLeft;
  thread.copies.drop();
  --live_;
  complete_block(nullptr);
  const std::size_t lane = thread.number % kLanes;
  const std::size_t first = thread.number - lane;
  for (std::size_t i = first; i < first + kLanes && i < threads_.size(); ++i)
    if (threads_[i].state == Thread::State::kAtWarp && (threads_[i].mask >> lane & 1U) != 0)
      complete_warp(first, threads_[i].mask, nullptr);
}

bool Waiting::complete_block(Thread* last) {
  if (at_block_ < live_ || live_ == 0) return false;
  at_block_ = 0;
  std::vector<Thread*> members;
  for (Thread& thread : threads_) members.push_back(thread.state == Thread::State::kAtBlock ? &thread : nullptr);
  release(members, last);
  return true;
}

bool Waiting::complete_warp(std::size_t first, unsigned mask, Thread* last) {
  std::vector<Thread*> members(kLanes, nullptr);
  for (std::size_t lane = 0; lane < kLanes && first + lane < threads_.size(); ++lane) {
    Thread& thread = threads_[first + lane];
    if ((mask >> lane & 1U) == 0 || thread.state == Thread::State::kLeft) continue;
    if (thread.state != Thread::State::kAtWarp || thread.mask != mask) return false;
    members[lane] = &thread;
  }
  release(members, last);
  return true;
}

void Waiting::release(const std::vector<Thread*>& members, Thread* last) {
  const Arrival* arrival = nullptr;
  std::vector<void*> passed;
  for (const Thread* member : members) {
    passed.push_back(member == nullptr ? nullptr : member->arrival.mine);
    if (member == nullptr) continue;
    if (arrival == nullptr) arrival = &member->arrival;
    if (!same(*arrival, member->arrival))
      fail_kernel(member->arrival.site, "others of its group wait in " + describe(arrival->site));
  }
  if (arrival != nullptr && arrival->combine != nullptr)
    arrival->combine(passed.data(), static_cast<unsigned>(passed.size()));
  for (Thread* member : members) {
    if (member == nullptr) continue;
    member->state = Thread::State::kGoing;
    if (member != last) ready_.push_back(member);
  }
}

}  // namespace saccade::emulator
