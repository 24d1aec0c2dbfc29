// SPDX-License-Identifier: Apache-2.0 OR MIT
// Importing every built-in contract from text to binding table: what the first call of a program pays, once.
#include <benchmark/benchmark.h>

#include "base/host.hpp"
#include "bind/binding_table.hpp"
#include "bind/builtin_documents.hpp"
#include "contract/contract.hpp"

namespace convoke {
namespace {

void import_builtin(benchmark::State& state) {
  const std::uint32_t isa = host().isa;
  std::size_t bindings = 0;
  for (auto _ : state) {
    bind::BindingTable table;
    for (const bind::BuiltinDocument& builtin : bind::builtin_documents()) {
      const contract::ParsedDocument document = contract::parse_document(builtin.text, builtin.path);
      if (document.has_errors() || !table.add(document, false, isa)) return state.SkipWithError("import failed");
    }
    bindings = table.all().size();
    benchmark::DoNotOptimize(bindings);
  }
  state.counters["bindings"] = static_cast<double>(bindings);
}
BENCHMARK(import_builtin)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace convoke

BENCHMARK_MAIN();
