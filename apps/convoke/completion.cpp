// SPDX-License-Identifier: Apache-2.0 OR MIT
// `convoke completion`: scripts for three shells, written from the program's own tree of options so that they cannot
// fall behind it.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/convoke/commands.hpp"

namespace convoke::cli {
namespace {

struct Word {
  std::string name, description;
  bool option = false;
};

// What can follow one command: `place` is its name with its parents', such as ` contracts check`.
struct Place {
  std::string place;
  std::vector<Word> words;
};

void collect(const CLI::App& app, const std::string& place, std::vector<Place>& places) {
  Place here{place, {}};
  const auto commands = app.get_subcommands([](const CLI::App*) { return true; });
  for (const CLI::App* command : commands) here.words.push_back({command->get_name(), command->get_description()});
  if (place == " run" || place == " explain")
    for (const char* op : {"conv2d", "conv_transpose2d"}) here.words.push_back({op, "Start of a problem line"});
  for (const CLI::Option* option : app.get_options())
    if (!option->get_lnames().empty())
      here.words.push_back({"--" + option->get_lnames().front(), option->get_description(), true});
  places.push_back(std::move(here));
  for (const CLI::App* command : commands) collect(*command, place + " " + command->get_name(), places);
}

// A text inside single quotes; `escape` is how the shell writes a quote there.
std::string quoted(std::string_view text, std::string_view escape) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string(escape) : std::string(1, c);
  return out + "'";
}

// `" run"|" contracts"`: every place but the top one.
std::string all_places(const std::vector<Place>& places) {
  std::string out;
  for (const Place& place : places)
    if (!place.place.empty()) out += fmt::format("{}\"{}\"", out.empty() ? "" : "|", place.place);
  return out;
}

std::string bash_script(const std::vector<Place>& places) {
  std::string out = fmt::format(
      "# Completion of convoke for bash. Load it with:  source <(convoke completion bash)\n"
      "_convoke() {{\n"
      "  local current=${{COMP_WORDS[COMP_CWORD]}} place= word words=\n"
      "  for word in \"${{COMP_WORDS[@]:1:COMP_CWORD-1}}\"; do\n"
      "    case \"$place $word\" in {}) place=\"$place $word\" ;; esac\n"
      "  done\n"
      "  case \"$place\" in\n",
      all_places(places));
  for (const Place& place : places) {
    std::string words;
    for (const Word& word : place.words) words += (words.empty() ? "" : " ") + word.name;
    out += fmt::format("    \"{}\") words=\"{}\" ;;\n", place.place, words);
  }
  return out +
         "  esac\n"
         "  COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
         "  [[ -n $place && $current != -* ]] && COMPREPLY+=($(compgen -f -- \"$current\"))\n"
         "  return 0\n"
         "}\n"
         "complete -o filenames -F _convoke convoke\n";
}

std::string zsh_script(const std::vector<Place>& places) {
  std::string out = fmt::format(
      "#compdef convoke\n"
      "# Completion of convoke for zsh. Load it with:  source <(convoke completion zsh)\n"
      "_convoke() {{\n"
      "  local place= word\n"
      "  local -a candidates\n"
      "  for word in ${{words[2,CURRENT-1]}}; do\n"
      "    case \"$place $word\" in {}) place=\"$place $word\" ;; esac\n"
      "  done\n"
      "  case \"$place\" in\n",
      all_places(places));
  for (const Place& place : places) {
    out += fmt::format("    \"{}\") candidates=(", place.place);
    for (const Word& word : place.words) out += " " + quoted(word.name + ":" + word.description, "'\\''");
    out += " ) ;;\n";
  }
  return out +
         "  esac\n"
         "  _describe convoke candidates\n"
         "  [[ -n $place ]] && _files\n"
         "}\n"
         "compdef _convoke convoke\n";
}

// When fish is at `place`: all its words were typed and none that would lead further down.
std::string fish_condition(const std::vector<Place>& places, const Place& place) {
  if (place.place.empty()) return "__fish_use_subcommand";
  std::string condition, below;
  std::string_view rest = std::string_view(place.place).substr(1);
  for (;;) {
    const std::size_t blank = rest.find(' ');
    condition +=
        fmt::format("{}__fish_seen_subcommand_from {}", condition.empty() ? "" : "; and ", rest.substr(0, blank));
    if (blank == std::string_view::npos) break;
    rest.remove_prefix(blank + 1);
  }
  for (const Place& other : places)
    if (other.place.starts_with(place.place + " ")) below += other.place.substr(place.place.size());
  return below.empty() ? condition : condition + "; and not __fish_seen_subcommand_from" + below;
}

std::string fish_script(const std::vector<Place>& places) {
  std::string out = "# Completion of convoke for fish. Load it with:  convoke completion fish | source\n";
  for (const Place& place : places) {
    const std::string condition = quoted(fish_condition(places, place), "\\'");
    for (const Word& word : place.words) {
      const std::string_view name = word.name;
      out += fmt::format("complete -c convoke -n {} {} {} -d {}\n", condition, word.option ? "-l" : "-a",
                         word.option ? name.substr(2) : name, quoted(word.description, "\\'"));
    }
  }
  return out;
}

Result<Report> print_script(const CLI::App& program, const std::string& shell) {
  std::vector<Place> places;
  collect(program, "", places);
  if (shell == "bash") return Report{bash_script(places)};
  if (shell == "zsh") return Report{zsh_script(places)};
  return Report{fish_script(places)};
}

}  // namespace

void add_completion(CLI::App& program, Action& action) {
  auto* command = program.add_subcommand("completion", "Print a completion script for a shell");
  auto shell = std::make_shared<std::string>();
  command->add_option("shell", *shell, "bash, zsh or fish")->required()->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command->footer(
      "Examples:\n"
      "  source <(convoke completion bash)\n"
      "  convoke completion zsh > ~/.zfunc/_convoke\n"
      "  convoke completion fish > ~/.config/fish/completions/convoke.fish");
  command->callback(
      [&program, &action, shell] { action = [&program, shell] { return print_script(program, *shell); }; });
}

}  // namespace convoke::cli
