// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "contract/front_matter.hpp"

#include <fmt/core.h>

#include "contract/block_parts.hpp"
#include "contract/reader.hpp"
#include "contract/words.hpp"

namespace convoke::contract {
namespace {

std::optional<std::string> read_field(Reader& provider, std::string_view key, FrontMatter& out) {
  const std::size_t before = provider.report().errors();
  std::optional<std::string> value = provider.text(key);
  if (provider.report().errors() != before) out.faulty.emplace(key);
  if (value && value->empty()) value.reset();
  if (value) out.places.emplace(key, provider.report().place(provider.place(key)));
  return value;
}

}  // namespace

FrontMatter read_front_matter(const YamlNode& root, Report& report) {
  FrontMatter out;
  Reader top(&root, "", report);
  out.version_at = top.place("fkc_version");
  const std::size_t before = report.errors();
  out.fkc_version = top.natural("fkc_version");
  if (report.errors() != before) out.faulty.emplace("fkc_version");
  const YamlNode* node = top.get("provider");
  out.at = node != nullptr ? node->at : top.at();
  Reader provider(node, "provider", report);
  out.name = read_field(provider, "name", out);
  out.kernel_source = read_field(provider, "kernel_source", out);
  check_name(provider, "name");
  check_name(provider, "kernel_source");
  out.link_registry = read_field(provider, "link_registry", out);
  out.revision_base = read_field(provider, "revision_base", out);
  if (const auto word = read_field(provider, "backend", out)) {
    out.backend = look_up(backend_words, *word);
    if (!out.backend) out.faulty.emplace("backend");
    if (!out.backend)
      provider.error("backend",
                     {"", "UnknownBackend", fmt::format("`{}` is no backend", *word), words_of(backend_words)});
  }
  provider.finish();
  top.finish();
  return out;
}

FrontMatter inherit(FrontMatter own, const FrontMatter& inherited) {
  const auto fill = [&](std::string_view field, auto& mine, const auto& theirs) {
    if (!mine && !own.faulty.contains(field)) mine = theirs;
  };
  if (!own.fkc_version) own.version_at = own.at;
  fill("fkc_version", own.fkc_version, inherited.fkc_version);
  fill("name", own.name, inherited.name);
  fill("kernel_source", own.kernel_source, inherited.kernel_source);
  fill("link_registry", own.link_registry, inherited.link_registry);
  fill("revision_base", own.revision_base, inherited.revision_base);
  fill("backend", own.backend, inherited.backend);
  return own;
}

std::optional<Provider> complete(const FrontMatter& front, Report& report) {
  const auto require = [&](std::string_view field, std::string_view path, bool present, Position at,
                           std::string accepted) {
    if (!present && !front.faulty.contains(field))
      report.error(
          at, {"2", "MissingField", fmt::format("`{}` is required in the front matter", path), std::move(accepted)});
  };
  require("fkc_version", "fkc_version", front.fkc_version.has_value(), {1, 1},  // the fence that opens it
          fmt::format("`fkc_version: {}`", newest_version));
  require("name", "provider.name", front.name.has_value(), front.at, "the name of the provider");
  require("kernel_source", "provider.kernel_source", front.kernel_source.has_value(), front.at,
          "a word for where the kernels come from, such as portable-cpu");
  require("backend", "provider.backend", front.backend.has_value(), front.at, words_of(backend_words));
  const bool supported = front.fkc_version && *front.fkc_version <= newest_version;
  if (front.fkc_version && !supported)
    report.error(front.version_at, {"1", "UnsupportedVersion", fmt::format("fkc_version is {}", *front.fkc_version),
                                    fmt::format("at most {}", newest_version)});
  if (!supported || !front.name || !front.kernel_source || !front.backend) return std::nullopt;
  return Provider{.fkc_version = static_cast<std::uint32_t>(*front.fkc_version),
                  .name = *front.name,
                  .backend = *front.backend,
                  .kernel_source = *front.kernel_source,
                  .link_registry = front.link_registry,
                  .revision_base = front.revision_base,
                  .places = front.places};
}

}  // namespace convoke::contract
