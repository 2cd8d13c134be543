#include "block.hpp"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "calls.hpp"
#include "fiber.hpp"
#include "shared_memory.hpp"
#include "waiting.hpp"

namespace saccade::emulator {
namespace {

using saccade_emulator::Combine;
using saccade_emulator::Entry;
using saccade_emulator::Index;
using saccade_emulator::Object;
using saccade_emulator::Runtime;
using saccade_emulator::Site;

/// The kernel that runs. Threads begin one after the other on one fiber; a thread that has to wait keeps the fiber, and
/// the next begins on another. So a kernel without barriers needs one fiber and no switch.
struct Running {
  Running(const Object& its_object, const Entry& its_entry, const Grid& its_grid, void** its_arguments)
      : object(its_object),
        entry(its_entry),
        grid(its_grid),
        arguments(its_arguments),
        shared(its_object, its_grid.shared_bytes),
        waiting(threads, ready) {}

  const Object& object;
  const Entry& entry;
  const Grid& grid;
  void** arguments;
  SharedMemory shared;
  std::vector<Thread> threads;
  std::deque<Thread*> ready;
  Waiting waiting;
  std::size_t begun = 0;    // threads of the block
  bool descending = false;  // the block's threads begin and go on in the order of falling numbers
  Thread* current = nullptr;
  Fiber* on = nullptr;
  Fiber host;
};

// Fibers have no argument; kernels run one at a time.
Running* running = nullptr;

std::vector<Fiber*>& idle_fibers() {
  static auto* idle = new std::vector<Fiber*>;  // kept: kernels may run while the process ends
  return *idle;
}

Runtime& runtime() { return *running->object.runtime; }

/// Until somebody puts the current thread among those that are ready.
void suspend() {
  running->current->fiber = running->on;
  running->host.switch_from(*running->on);
}

void wait_block(const Site& site, void* mine, Combine combine) {
  if (!running->waiting.at_block(*running->current, {site, mine, combine})) suspend();
}

void wait_warp(const Site& site, unsigned mask, void* mine, Combine combine) {
  if (!running->waiting.at_warp(*running->current, mask, {site, mine, combine})) suspend();
}

void copy_async(const Site& site, void* to, const void* from, unsigned bytes, unsigned read) {
  if (reinterpret_cast<std::uintptr_t>(to) % bytes != 0 || reinterpret_cast<std::uintptr_t>(from) % bytes != 0)
    fail_kernel(site, "an address is no multiple of " + std::to_string(bytes));
  if (!running->shared.holds(to, bytes)) fail_kernel(site, "the destination does not lie in shared memory");
  running->current->copies.begin({to, from, bytes, read});
}

void fill(Runtime& filled) {
  filled.threads = running->grid.threads;
  filled.blocks = running->grid.blocks;
  filled.dynamic_shared = running->shared.dynamic();
  filled.waited = false;
  filled.wait_block = wait_block;
  filled.wait_warp = wait_warp;
  filled.copy_async = copy_async;
  filled.commit_copies = [] { running->current->copies.commit(); };
  filled.wait_copies = [](unsigned pending) { running->current->copies.wait(pending); };
  filled.is_shared = [](const void* address) { return running->shared.holds(address, 1); };
  filled.fail = [](const Site& site, const char* text) { fail_kernel(site, text); };
}

/// What a fiber does: threads that have not begun, one after the other.
void run_threads() {
  for (;;) {
    while (running->begun < running->threads.size()) {
      const std::size_t number = running->begun++;
      running->current = &running->threads[running->descending ? running->threads.size() - 1 - number : number];
      runtime().thread = running->current->index;
      running->entry.call(running->arguments);
      running->waiting.leave(*running->current);
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
  running->current = next;
  runtime().thread = next->index;
  enter(*next->fiber);
}

void run_block() {
  running->begun = 0;
  running->waiting.begin();
  running->shared.poison();
  while (running->begun < running->threads.size() || !running->ready.empty())
    running->ready.empty() ? begin_threads() : go_on();
  running->waiting.expect_end();
  if (!running->shared.intact()) fail_kernel({"shared memory", "", 0}, "something is written behind its end");
}

void make_threads() {
  const Index& size = running->grid.threads;
  running->threads.resize(std::size_t{size.x} * size.y * size.z);
  for (unsigned i = 0; i < running->threads.size(); ++i) {
    running->threads[i].number = i;
    running->threads[i].index = {i % size.x, i / size.x % size.y, i / size.x / size.y};
  }
}

}  // namespace

bool run_grid(const Object& object, const Entry& entry, const Grid& grid, void** arguments) {
  static std::mutex mutex;
  const std::scoped_lock lock(mutex);
  Running now(object, entry, grid, arguments);
  running = &now;
  make_threads();
  fill(*object.runtime);
  // An order that hides a missing barrier shows it when turned around.
  static const std::string order = setting("SACCADE_EMULATOR_ORDER", "alternate");
  unsigned count = 0;
  Index& block = object.runtime->block;
  for (block.z = 0; block.z < grid.blocks.z; ++block.z)
    for (block.y = 0; block.y < grid.blocks.y; ++block.y)
      for (block.x = 0; block.x < grid.blocks.x; ++block.x, ++count) {
        now.descending = order == "descending" || (order != "ascending" && count % 2 == 1);
        run_block();
      }
  running = nullptr;
  return object.runtime->waited;
}

void fail_kernel(const Site& site, const std::string& text) {
  const Index& block = runtime().block;
  const Index& thread = runtime().thread;
  std::fprintf(stderr, "emulator: kernel %s, block (%u, %u, %u), thread (%u, %u, %u): %s: %s (%s:%d)\n",
               running->entry.name, block.x, block.y, block.z, thread.x, thread.y, thread.z, site.what, text.c_str(),
               site.file, site.line);
  std::fflush(stderr);
  std::abort();
}

}  // namespace saccade::emulator
