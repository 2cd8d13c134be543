#include "cpu/team/team.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cfenv>
#include <chrono>
#include <ctime>
#include <latch>
#include <mutex>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "base/error.hpp"
#include "cpu/team/parallel.hpp"

extern "C" {
void GOMP_parallel(void (*function)(void*), void* data, unsigned threads, unsigned flags);
void GOMP_barrier();
int omp_get_max_threads();
int omp_get_num_threads();
int omp_get_thread_num();
int omp_in_parallel();
/// The thread sanitizer's: by default it ends a child process that starts threads.
const char* __tsan_default_options() { return "die_after_fork=0"; }  // NOLINT(bugprone-reserved-identifier)
}

namespace saccade::cpu {
namespace {

/// Runs BODY(rank) as a region.
template <typename Body>
void in_ranks(Ranks kind, int ranks, const Body& body) {
  const auto run = [](void* data, int rank) { (*static_cast<const Body*>(data))(rank); };
  run_region(kind, ranks, {.run = run, .data = const_cast<Body*>(&body)});
}

TEST(Team, RunsEachRankOnce) {
  set_team_size(4);
  for (int ranks = 1; ranks <= 9; ++ranks) {
    std::vector<std::atomic<int>> runs(static_cast<std::size_t>(ranks));
    in_ranks(Ranks::kAll, ranks, [&](int rank) {
      EXPECT_EQ(current_rank().rank, rank);
      EXPECT_EQ(current_rank().ranks, ranks);
      ++runs[static_cast<std::size_t>(rank)];
    });
    for (const auto& count : runs) EXPECT_EQ(count, 1) << ranks;
  }
  EXPECT_FALSE(in_region());
}

TEST(Team, RanksMayWaitForEachOther) {
  for (const int ranks : {2, 3, 4}) {
    set_team_size(ranks);
    std::atomic<int> arrived = 0;
    for (int round = 0; round < 200; ++round) {
      arrived = 0;
      in_ranks(Ranks::kAll, ranks, [&](int) {
        for (int stop = 1; stop <= 3; ++stop) {
          ++arrived;
          wait_at_barrier();
          EXPECT_GE(arrived, stop * ranks);
          wait_at_barrier();
        }
      });
    }
  }
}

/// Workers divided among regions that each wait for one more would wait for ever.
TEST(Team, OwnersWhoseRanksWaitShareTheWorkers) {
  std::vector<std::jthread> owners;
  std::atomic<int> done = 0;
  for (int owner = 0; owner < 4; ++owner)
    owners.emplace_back([&, owner] {
      const int ranks = 2 + owner % 3;
      set_team_size(4);
      for (int round = 0; round < 300; ++round)
        in_ranks(Ranks::kAll, ranks, [&](int) {
          wait_at_barrier();
          ++done;
        });
    });
  owners.clear();
  EXPECT_EQ(done, 300 * (2 + 3 + 4 + 2));
}

TEST(Team, AnOwnerDoesNotWaitForBusyWorkers) {
  constexpr int kAll = 9;  // more than any other test: no worker is left
  set_team_size(kAll);
  std::latch busy(kAll);
  std::latch released(1);
  std::jthread other([&] {
    set_team_size(kAll);
    in_ranks(Ranks::kAll, kAll, [&](int) {
      busy.count_down();
      released.wait();
    });
  });
  busy.wait();
  int ranks = 0;
  in_ranks(Ranks::kAll, 3, [&](int) { ++ranks; });
  EXPECT_EQ(ranks, 3);
  std::int64_t elements = 0;
  parallel_for(1000, 1, [&](std::int64_t begin, std::int64_t end) { elements += end - begin; });
  EXPECT_EQ(elements, 1000);
  released.count_down();
}

TEST(Team, ARegionInARegionIsSerial) {
  set_team_size(2);
  in_ranks(Ranks::kAll, 2, [](int rank) {
    int runs = 0;
    in_ranks(Ranks::kAll, 2, [&](int inner) {
      EXPECT_EQ(inner, 0);
      EXPECT_EQ(current_rank().ranks, 1);
      EXPECT_TRUE(in_region()) << "another region would need workers that wait for this one";
      ++runs;
    });
    EXPECT_EQ(runs, 1);
    EXPECT_EQ(current_rank().rank, rank);
    EXPECT_EQ(current_rank().ranks, 2);
  });
}

double processor_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

TEST(Team, IdleWorkersSleep) {
  set_team_size(4);
  in_ranks(Ranks::kAll, 4, [](int) { wait_at_barrier(); });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const double before = processor_seconds();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_LT(processor_seconds() - before, 0.02);
}

TEST(Team, AChildProcessHasATeamOfItsOwn) {
  set_team_size(3);
  in_ranks(Ranks::kAll, 3, [](int) { wait_at_barrier(); });
  const pid_t child = fork();
  if (child == 0) {
    set_team_size(3);
    in_ranks(Ranks::kAll, 3, [](int) { wait_at_barrier(); });
    _exit(0);
  }
  int status = -1;
  for (int i = 0; i < 1000 && waitpid(child, &status, WNOHANG) == 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  kill(child, SIGKILL);
  EXPECT_EQ(status, 0) << "the child waits for workers that it does not have";
}

/// A handler may clean up what the program's own thread works on.
TEST(Team, WorkersLeaveSignalsToTheProgram) {
  set_team_size(2);
  in_ranks(Ranks::kAll, 2, [](int rank) {
    wait_at_barrier();  // rank 1 is a worker's
    sigset_t blocked;
    pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
    EXPECT_EQ(sigismember(&blocked, SIGINT), rank);
    EXPECT_EQ(sigismember(&blocked, SIGALRM), rank);
  });
}

TEST(Team, AWorkersNanIsTheOwners) {
  set_team_size(2);
  take_note();
  in_ranks(Ranks::kAll, 2, [](int rank) {
    wait_at_barrier();  // rank 1 is a worker's
    if (rank == 1) std::feraiseexcept(FE_INVALID);
  });
  EXPECT_TRUE(take_note());
  in_ranks(Ranks::kAll, 2, [](int) { wait_at_barrier(); });
  EXPECT_FALSE(take_note()) << "the worker kept its flag";
}

TEST(Team, ALoopHidesItsNan) {
  set_team_size(4);
  take_note();
  for (int round = 0; round < 50; ++round)
    parallel_for(64, 1, [](std::int64_t, std::int64_t) { std::feraiseexcept(FE_INVALID); });
  EXPECT_FALSE(take_note());
  in_ranks(Ranks::kAll, 4, [](int) { wait_at_barrier(); });
  EXPECT_FALSE(take_note()) << "a worker kept its flag";
}

TEST(Team, SizesThatNobodyHasAreRefused) {
  set_team_size(2);
  EXPECT_THROW(set_team_size(kMaxRanks + 1), Error);
  EXPECT_EQ(team_size(), 2);
  set_team_size(0);
  EXPECT_EQ(team_size(), 1);
}

TEST(Team, SizeIsTheThreadsOwn) {
  set_team_size(3);
  std::jthread([] { EXPECT_EQ(team_size(), 1); });
  EXPECT_EQ(team_size(), 3);
}

TEST(ParallelFor, CoversEveryElementOnce) {
  std::mt19937 random(5);
  for (int round = 0; round < 500; ++round) {
    set_team_size(1 + static_cast<int>(random() % 5));
    const std::int64_t count = random() % 3000;
    const std::int64_t grain = random() % 100;
    std::vector<std::atomic<int>> runs(static_cast<std::size_t>(count));
    std::atomic<int> shortest = 1 << 30;
    parallel_for(count, grain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) ++runs[static_cast<std::size_t>(i)];
      int known = shortest;
      while (end - begin < known && !shortest.compare_exchange_weak(known, static_cast<int>(end - begin))) {
      }
    });
    for (const auto& element : runs) ASSERT_EQ(element, 1) << count << " by " << grain;
    if (count >= grain && count > 0) {
      EXPECT_GE(shortest, grain);
    }
  }
}

/// Kernels have buffers by rank.
TEST(ParallelFor, ThreadsAtWorkHaveDifferentRanks) {
  set_team_size(4);
  std::mutex mutex;
  std::set<int> at_work;
  for (int round = 0; round < 200; ++round)
    parallel_for(64, 1, [&](std::int64_t, std::int64_t) {
      {
        const std::scoped_lock lock(mutex);
        EXPECT_TRUE(at_work.insert(current_rank().rank).second);
        EXPECT_LT(current_rank().rank, team_size() == 1 ? 4 : team_size());
      }
      std::this_thread::yield();
      const std::scoped_lock lock(mutex);
      at_work.erase(current_rank().rank);
    });
}

TEST(OpenMpEntry, IsATeamToOneDnn) {
  set_team_size(3);
  EXPECT_EQ(omp_get_max_threads(), 3);
  EXPECT_EQ(omp_get_num_threads(), 1);
  EXPECT_EQ(omp_get_thread_num(), 0);
  EXPECT_EQ(omp_in_parallel(), 0);
  for (const unsigned threads : {0U, 2U, 3U}) {
    std::array<std::atomic<int>, 3> runs{};
    const auto run = [](void* data) {
      EXPECT_EQ(omp_in_parallel(), 1);
      auto& counts = *static_cast<std::array<std::atomic<int>, 3>*>(data);
      ++counts[static_cast<std::size_t>(omp_get_thread_num())];
      GOMP_barrier();
      for (int rank = 0; rank < omp_get_num_threads(); ++rank) EXPECT_EQ(counts[static_cast<std::size_t>(rank)], 1);
    };
    GOMP_parallel(run, &runs, threads, 0);
    EXPECT_EQ(runs[2], threads == 2 ? 0 : 1);
  }
}

}  // namespace
}  // namespace saccade::cpu
