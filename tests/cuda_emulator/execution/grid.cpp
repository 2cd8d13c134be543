#include "execution/grid.hpp"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <vector>

#include "calls.hpp"
#include "driver/state.hpp"
#include "execution/cluster.hpp"
#include "execution/fiber.hpp"
#include "execution/waiting.hpp"
#include "guard.hpp"

namespace saccade::emulator {
namespace {

using saccade_emulator::Combine;
using saccade_emulator::Entry;
using saccade_emulator::Index;
using saccade_emulator::Object;
using saccade_emulator::Runtime;
using saccade_emulator::Site;

/// The running kernel. Threads start one after the other on one fiber. A thread that waits keeps its fiber, and the
/// next starts on another one: a kernel without barriers needs one fiber and no switch.
struct Running {
  Running(const Object& its_object, const Entry& its_entry, const Grid& its_grid, void** its_arguments)
      : object(its_object), entry(its_entry), grid(its_grid), arguments(its_arguments), cluster(blocks, ready) {}

  const Object& object;
  const Entry& entry;
  const Grid& grid;
  void** arguments;
  Ready ready;
  std::vector<std::unique_ptr<Block>> blocks;  // of the running cluster
  Cluster cluster;
  std::vector<Thread*> threads;  // of all blocks
  std::size_t begun = 0;         // threads started
  bool descending = false;       // threads start and resume in descending order
  Thread* current = nullptr;
  Block* in_place = nullptr;  // the block whose shared memory is mapped into the object
  Fiber* on = nullptr;
  Fiber host;
};

// Fibers have no argument; kernels run one at a time.
Running* running = nullptr;

std::vector<Fiber*>& idle_fibers() {
  static auto* idle = new std::vector<Fiber*>;  // never destroyed: kernels may run during exit
  return *idle;
}

Runtime& runtime() { return *running->object.runtime; }

/// Suspends the current thread until it is made ready.
void suspend() {
  running->current->before_wait = runtime().before_wait;
  running->current->fiber = running->on;
  running->host.switch_from(*running->on);
}

/// What ADDRESS, in an allocation or in the guard behind it, is to the kernel: "8 bytes behind const float* input".
std::string place_of(std::uintptr_t address) {
  std::uintptr_t nearest = 0;
  unsigned parameter = 0;
  for (unsigned i = 0; i < running->entry.count; ++i) {
    std::uintptr_t pointed = 0;
    if (running->entry.parameters[i].pointer) std::memcpy(&pointed, running->arguments[i], sizeof pointed);
    if (pointed <= nearest || pointed > address) continue;
    const std::uintptr_t allocated = address - pointed < kGuardBytes ? pointed : address - kGuardBytes;
    if (!is_device_memory(pointed, allocated - pointed + 1)) continue;
    nearest = pointed;
    parameter = i;
  }
  if (nearest == 0) return "that no parameter leads to";
  return std::to_string(address - nearest) + " bytes behind " + running->entry.declarations[parameter];
}

/// Called before griddepcontrol.wait.
void expect_constant(const Site& site, const void* address, std::size_t bytes, bool writes) {
  const auto number = reinterpret_cast<std::uintptr_t>(address);
  if (writes ? !is_device_memory(number, 0) : !is_variable(address)) return;
  fail_kernel(site, std::to_string(bytes) + " bytes are " + (writes ? "written" : "read") +
                        " before griddepcontrol.wait, while the kernel before may still use them: " + place_of(number));
}

void cp_async(const Site& site, void* to, const void* from, unsigned bytes, unsigned read) {
  if (reinterpret_cast<std::uintptr_t>(to) % bytes != 0 || reinterpret_cast<std::uintptr_t>(from) % bytes != 0)
    fail_kernel(site, "an address is no multiple of " + std::to_string(bytes));
  if (!running->current->block->shared.holds(to, bytes))
    fail_kernel(site, "the destination does not lie in shared memory");
  if (runtime().before_wait && read > 0) expect_constant(site, from, read, false);
  running->current->copies.begin({to, from, bytes, read});
}

using Word = unsigned long long;

void fill(Runtime& filled) {
  filled.threads = running->grid.threads;
  filled.blocks = running->grid.blocks;
  filled.waited = false;
  filled.wait_block = [](const Site& site, void* mine, Combine combine) {
    if (!running->current->block->waiting.at_block(*running->current, {site, mine, combine})) suspend();
  };
  filled.wait_warp = [](const Site& site, unsigned mask, void* mine, Combine combine) {
    if (!running->current->block->waiting.at_warp(*running->current, mask, {site, mine, combine})) suspend();
  };
  filled.cp_async = cp_async;
  filled.cp_async_commit = [] { running->current->copies.commit(); };
  filled.cp_async_wait = [](unsigned pending) { running->current->copies.wait(pending); };
  filled.mbarrier_init = [](Word* barrier, unsigned arrivals) {
    running->cluster.mbarrier_init(*running->current, barrier, arrivals);
  };
  filled.mbarrier_arrive_expect_tx = [](Word* barrier, int bytes) {
    running->cluster.mbarrier_arrive_expect_tx(*running->current, barrier, bytes);
  };
  filled.mbarrier_arrive = [](Word* barrier) { running->cluster.mbarrier_arrive(*running->current, barrier); };
  filled.cp_async_mbarrier_arrive = [](Word* barrier) {
    running->cluster.cp_async_mbarrier_arrive(*running->current, barrier);
  };
  filled.mbarrier_wait = [](Word* barrier, unsigned parity) {
    if (!running->cluster.mbarrier_wait(*running->current, barrier, parity)) suspend();
  };
  filled.cp_async_bulk = [](void* shared, const void* global, unsigned bytes, Word* barrier) {
    if (runtime().before_wait) expect_constant({"cp_async_bulk", "", 0}, global, bytes, false);
    running->cluster.cp_async_bulk(*running->current, shared, global, bytes, barrier);
  };
  filled.st_async_dsmem = [](unsigned peer, void* shared, const void* value, unsigned bytes, Word* barrier) {
    running->cluster.st_async_dsmem(*running->current, peer, shared, value, bytes, barrier);
  };
  filled.cluster_arrive = [] { running->cluster.arrive_cluster(*running->current); };
  filled.cluster_wait = [] {
    if (!running->cluster.wait_for_all(*running->current)) suspend();
  };
  filled.issue_wgmma = [](void (*work)(const void*), const void* data, unsigned bytes) {
    running->current->products.begin(work, data, bytes);
  };
  filled.wgmma_commit = [] { running->current->products.commit(); };
  filled.wgmma_wait = [](unsigned pending) { running->current->products.wait(pending); };
  filled.access_before_wait = [](const void* address, unsigned long bytes, bool writes) {
    expect_constant({writes ? "a store" : "a load", "", 0}, address, bytes, writes);
  };
  filled.shadow = shadow_memory();
  filled.access_poisoned = [](const void* address, unsigned long bytes, bool writes) {
    if (!is_poisoned(address, bytes)) return;
    fail_kernel({writes ? "a store" : "a load", "", 0},
                std::to_string(bytes) +
                    " bytes, not all in allocated memory: " + place_of(reinterpret_cast<std::uintptr_t>(address)));
  };
  filled.is_shared = [](const void* address) { return running->current->block->shared.holds(address, 1); };
  filled.fail = [](const Site& site, const char* text) { fail_kernel(site, text); };
}

void make_current(Thread& thread) {
  running->current = &thread;
  runtime().thread = thread.index;
  runtime().before_wait = thread.before_wait;
  if (running->in_place == thread.block) return;
  if (running->in_place != nullptr) running->in_place->shared.move_out();
  running->in_place = thread.block;
  thread.block->shared.move_in();
  runtime().block = thread.block->index;
  runtime().dynamic_shared = thread.block->shared.dynamic();
}

/// Body of a fiber: runs threads that have not started, one after the other.
void run_threads() {
  for (;;) {
    while (running->begun < running->threads.size()) {
      const std::size_t number = running->begun++;
      make_current(*running->threads[running->descending ? running->threads.size() - 1 - number : number]);
      running->entry.call(running->arguments);
      if (!running->current->products.none()) fail_kernel({"wgmma_wait", "", 0}, "a thread left without it");
      running->current->block->waiting.leave(*running->current);
      running->cluster.leave(*running->current);
    }
    Fiber& mine = *running->on;
    idle_fibers().push_back(&mine);
    running->host.switch_from(mine);
  }
}

void enter(Fiber& fiber) {
  running->on = &fiber;
  fiber.switch_from(running->host);
}

void begin_threads() {
  if (idle_fibers().empty()) idle_fibers().push_back(new Fiber(run_threads));
  Fiber& fiber = *idle_fibers().back();
  idle_fibers().pop_back();
  enter(fiber);
}

void go_on() {
  Thread* next = running->descending ? running->ready.back() : running->ready.front();
  running->descending ? running->ready.pop_back() : running->ready.pop_front();
  make_current(*next);
  enter(*next->fiber);
}

/// FIRST is its first block.
void run_cluster(const Index& first) {
  const Index& size = running->grid.cluster;
  running->begun = 0;
  if (running->in_place != nullptr) running->in_place->shared.move_out();
  running->in_place = nullptr;
  for (unsigned i = 0; i < running->blocks.size(); ++i) {
    Block& block = *running->blocks[i];
    block.index = {first.x + i % size.x, first.y + i / size.x % size.y, first.z + i / size.x / size.y};
    block.shared.poison();
    block.waiting.begin();
    for (Thread& thread : block.threads) thread.before_wait = running->grid.overlaps;
  }
  running->cluster.begin(running->descending);
  do {
    while (running->begun < running->threads.size() || !running->ready.empty())
      running->ready.empty() ? begin_threads() : go_on();
  } while (running->cluster.deliver());
  running->cluster.expect_end();
  for (const auto& block : running->blocks)
    if (!block->shared.intact()) fail_kernel({"shared memory", "", 0}, "something is written behind its end");
}

void make_blocks() {
  const Grid& grid = running->grid;
  const Index& size = grid.threads;
  for (unsigned i = 0; i < grid.cluster.x * grid.cluster.y * grid.cluster.z; ++i) {
    Block& block =
        *running->blocks.emplace_back(std::make_unique<Block>(running->object, grid.shared_bytes, running->ready));
    block.threads.resize(std::size_t{size.x} * size.y * size.z);
    for (unsigned j = 0; j < block.threads.size(); ++j) {
      Thread& thread = block.threads[j];
      thread.number = j;
      thread.block = &block;
      thread.index = {j % size.x, j / size.x % size.y, j / size.x / size.y};
      running->threads.push_back(&thread);
    }
  }
}

}  // namespace

bool run_grid(const Object& object, const Entry& entry, const Grid& grid, void** arguments) {
  static std::mutex mutex;
  const std::scoped_lock lock(mutex);
  Running now(object, entry, grid, arguments);
  running = &now;
  make_blocks();
  fill(*object.runtime);
  // A missing barrier that one thread order hides shows in the reverse order.
  static const std::string order = setting("SACCADE_EMULATOR_ORDER", "alternate");
  unsigned count = 0;
  for (unsigned z = 0; z < grid.blocks.z; z += grid.cluster.z)
    for (unsigned y = 0; y < grid.blocks.y; y += grid.cluster.y)
      for (unsigned x = 0; x < grid.blocks.x; x += grid.cluster.x, ++count) {
        now.descending = order == "descending" || (order != "ascending" && count % 2 == 1);
        run_cluster({x, y, z});
      }
  running = nullptr;
  return object.runtime->waited;
}

void fail_kernel(const Site& site, const std::string& text) {
  const Index& block = runtime().block;
  const Index& thread = runtime().thread;
  std::fprintf(stderr, "emulator: kernel %s, block (%u, %u, %u), thread (%u, %u, %u): %s: %s\n", running->entry.name,
               block.x, block.y, block.z, thread.x, thread.y, thread.z, describe(site).c_str(), text.c_str());
  std::fflush(stderr);
  std::abort();
}

std::string describe(const Site& site) {
  if (site.line == 0) return site.what;
  return std::string(site.what) + " (" + site.file + ":" + std::to_string(site.line) + ")";
}

}  // namespace saccade::emulator
