#include "execution/cluster.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <utility>

#include "execution/grid.hpp"

namespace saccade::emulator {
namespace {

using saccade_emulator::Site;

constexpr unsigned char kPrepared = 0xB5;

Site site(const char* what) { return {what, "", 0}; }

void expect_multiple(const char* what, std::uintptr_t number) {
  if (number % 16 != 0) fail_kernel(site(what), "an address or length is no multiple of 16");
}

}  // namespace

void Cluster::begin(bool at_once) {
  at_once_ = at_once;
  round_ = 0;
  arrived_ = 0;
}

void Cluster::arrive_cluster(Thread& thread) {
  if (thread.arrived == round_) fail_kernel(site("cluster_arrive"), "a second time before cluster_wait");
  thread.arrived = round_;
  ++arrived_;
  complete_arrivals();
}

bool Cluster::wait_for_all(Thread& thread) {
  if (thread.arrived < 0) fail_kernel(site("cluster_wait"), "without cluster_arrive before");
  if (thread.arrived < round_) return true;
  thread.state = Thread::State::kAtCluster;
  thread.arrival = {site("cluster_wait"), nullptr, nullptr};
  return false;
}

void Cluster::complete_arrivals() {
  if (arrived_ == 0) return;
  std::size_t live = 0;
  for (const auto& block : blocks_) live += block->waiting.live();
  if (arrived_ < live) return;
  arrived_ = 0;
  ++round_;
  for (const auto& block : blocks_)
    for (Thread& thread : block->threads)
      if (thread.state == Thread::State::kAtCluster) {
        thread.state = Thread::State::kGoing;
        ready_.push_back(&thread);
      }
}

void Cluster::leave(Thread& thread) {
  if (thread.arrived == round_) --arrived_;
  complete_arrivals();
}

Cluster::Barrier& Cluster::barrier_of(Block& block, void* address, const char* what) {
  if (reinterpret_cast<std::uintptr_t>(address) % sizeof(Barrier) != 0 || !block.shared.holds(address, sizeof(Barrier)))
    fail_kernel(site(what), "no barrier: its address is misaligned, or not in shared memory");
  auto& barrier = *reinterpret_cast<Barrier*>(block.shared.really(address));
  if (barrier.prepared != kPrepared) fail_kernel(site(what), "its barrier is not prepared, or written over");
  return barrier;
}

void Cluster::mbarrier_init(Thread& thread, void* barrier, unsigned arrivals) {
  if (!thread.block->shared.holds(barrier, sizeof(Barrier)))
    fail_kernel(site("mbarrier_init"), "the barrier does not lie in shared memory");
  const auto count = static_cast<unsigned char>(arrivals);
  const Barrier made{kPrepared, 0, count, count, 0};
  std::memcpy(thread.block->shared.really(barrier), &made, sizeof made);
}

void Cluster::arrive(Block& block, void* address, const char* what) {
  Barrier& barrier = barrier_of(block, address, what);
  if (barrier.pending == 0) fail_kernel(site(what), "more arrivals than the barrier is prepared for");
  --barrier.pending;
  check_round(block, address, barrier);
}

void Cluster::mbarrier_arrive_expect_tx(Thread& thread, void* address, int bytes) {
  barrier_of(*thread.block, address, "mbarrier_arrive_expect_tx").bytes += bytes;
  arrive(*thread.block, address, "mbarrier_arrive_expect_tx");
}

void Cluster::mbarrier_arrive(Thread& thread, void* address) { arrive(*thread.block, address, "mbarrier_arrive"); }

void Cluster::cp_async_mbarrier_arrive(Thread& thread, void* address) {
  barrier_of(*thread.block, address, "cp_async_mbarrier_arrive");
  transfers_.push_back({thread.block, nullptr, nullptr, {}, 0, address, thread.copies.take()});
  if (at_once_) deliver();
}

bool Cluster::mbarrier_wait(Thread& thread, void* address, unsigned parity) {
  if (barrier_of(*thread.block, address, "mbarrier_wait").round != parity) return true;
  thread.state = Thread::State::kAtBarrier;
  thread.arrival = {site("mbarrier_wait"), nullptr, nullptr};
  waiters_.push_back({&thread, address, parity});
  return false;
}

void Cluster::check_round(Block& block, void* address, Barrier& barrier) {
  if (barrier.pending > 0 || barrier.bytes != 0) return;
  barrier.round ^= 1;
  barrier.pending = barrier.arrivals;
  const auto done = [&](const Waiter& waiter) {
    if (waiter.thread->block != &block || waiter.barrier != address || waiter.parity == barrier.round) return false;
    waiter.thread->state = Thread::State::kGoing;
    ready_.push_back(waiter.thread);
    return true;
  };
  waiters_.erase(std::remove_if(waiters_.begin(), waiters_.end(), done), waiters_.end());
}

void Cluster::cp_async_bulk(Thread& thread, void* shared, const void* global, unsigned bytes, void* barrier) {
  for (const void* address : {static_cast<const void*>(shared), global})
    expect_multiple("cp_async_bulk", reinterpret_cast<std::uintptr_t>(address));
  expect_multiple("cp_async_bulk", bytes);
  if (!thread.block->shared.holds(shared, bytes))
    fail_kernel(site("cp_async_bulk"), "the destination does not lie in shared memory");
  barrier_of(*thread.block, barrier, "cp_async_bulk");
  transfers_.push_back({thread.block, shared, global, {}, bytes, barrier, {}});
  if (at_once_) deliver();
}

void Cluster::st_async_dsmem(Thread& thread, unsigned peer, void* shared, const void* value, unsigned bytes,
                             void* barrier) {
  if (peer >= blocks_.size()) fail_kernel(site("st_async_dsmem"), "there is no such block in the cluster");
  Block& block = *blocks_[peer];
  const SharedMemory& mine = thread.block->shared;
  expect_multiple("st_async_dsmem", reinterpret_cast<std::uintptr_t>(shared));
  if (!mine.holds(shared, bytes)) fail_kernel(site("st_async_dsmem"), "the address is none of shared memory");
  void* its_barrier = mine.as_seen_by(block.shared, barrier);
  barrier_of(block, its_barrier, "st_async_dsmem");
  const auto* first = static_cast<const std::byte*>(value);
  transfers_.push_back(
      {&block, mine.as_seen_by(block.shared, shared), nullptr, {first, first + bytes}, bytes, its_barrier, {}});
  if (at_once_) deliver();
}

bool Cluster::deliver() {
  if (transfers_.empty()) return false;
  Transfer transfer = std::move(transfers_.front());
  transfers_.pop_front();
  if (transfer.block->waiting.live() == 0)
    fail_kernel(site(transfer.to == nullptr     ? "cp_async_mbarrier_arrive"
                     : transfer.from == nullptr ? "st_async_dsmem"
                                                : "cp_async_bulk"),
                "the block whose memory is written has left");
  if (transfer.to == nullptr) {
    for (Copies::Copy& copy : transfer.copies) copy.to = transfer.block->shared.really(copy.to);
    Copies::finish(transfer.copies);
    arrive(*transfer.block, transfer.barrier, "cp_async_mbarrier_arrive");
    return true;
  }
  const void* from = transfer.from == nullptr ? transfer.value.data() : transfer.from;
  std::memcpy(transfer.block->shared.really(transfer.to), from, transfer.bytes);
  Barrier& barrier = barrier_of(*transfer.block, transfer.barrier, "the end of a copy");
  barrier.bytes -= static_cast<int>(transfer.bytes);
  check_round(*transfer.block, transfer.barrier, barrier);
  return true;
}

void Cluster::expect_end() const {
  std::map<std::string, int> places;
  const Thread* stuck = nullptr;
  std::size_t all = 0;
  for (const auto& block : blocks_) {
    all += block->threads.size();
    for (const Thread& thread : block->threads) {
      if (thread.state == Thread::State::kLeft) continue;
      stuck = &thread;
      ++places[describe(thread.arrival.site)];
    }
  }
  if (stuck == nullptr) return;
  std::string text = "the kernel hangs, not all come:";
  for (const auto& [where, count] : places) text += " " + std::to_string(count) + " threads in " + where + ";";
  text.pop_back();
  fail_kernel(stuck->arrival.site, text + " of " + std::to_string(all));
}

}  // namespace saccade::emulator
