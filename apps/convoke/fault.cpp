// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "apps/convoke/fault.hpp"

#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstring>
#include <string_view>

#include "apps/convoke/output.hpp"

namespace convoke::cli {
namespace {

// What a signal handler may read: plain characters behind lock-free pointers.
std::array<std::atomic<const char*>, most_workers> announced{};

extern "C" void on_fault(int) {
  write_stderr("\nconvoke: error: a kernel touched memory outside its operands; one of these made it:\n");
  for (const auto& line : announced)
    if (const char* text = line.load(); text != nullptr) {
      write_stderr("    convoke run ");
      write_stderr(std::string_view(text, std::strlen(text)));
      write_stderr("\n");
    }
  ::_exit(exit_found_wrong);
}

}  // namespace

void report_faults() {
  for (const int fault : {SIGSEGV, SIGBUS}) {
    struct sigaction now{};
    if (::sigaction(fault, nullptr, &now) != 0 || now.sa_handler != SIG_DFL) continue;
    now.sa_handler = on_fault;
    ::sigaction(fault, &now, nullptr);
  }
}

Running::Running(std::size_t worker, const std::string& line) noexcept : worker_(worker) {
  announced[worker_] = line.c_str();
}
Running::~Running() { announced[worker_] = nullptr; }

}  // namespace convoke::cli
