// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "program.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <iterator>

namespace convoke::apps_test {
namespace {

struct Pipe {
  int read = -1, write = -1;
};

Pipe make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) std::abort();
  return {ends[0], ends[1]};
}

[[noreturn]] void become(const std::vector<std::string>& command, Out out, const std::filesystem::path& directory,
                         const Pipe& stdout_pipe, const Pipe& stderr_pipe) {
  if (!directory.empty() && ::chdir(directory.c_str()) != 0) ::_exit(126);
  ::dup2(stderr_pipe.write, STDERR_FILENO);
  if (out == Out::captured) ::dup2(stdout_pipe.write, STDOUT_FILENO);
  if (out == Out::full_disk) ::dup2(::open("/dev/full", O_WRONLY), STDOUT_FILENO);
  if (out == Out::broken_pipe) {
    const Pipe unread = make_pipe();
    ::close(unread.read);
    ::dup2(unread.write, STDOUT_FILENO);
  }
  for (int stream = 3; stream < 64; ++stream) ::close(stream);
  if (out == Out::closed) ::close(STDOUT_FILENO);
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  ::execvp(words[0], words.data());
  ::_exit(127);
}

// Both pipes at once, so that neither fills up while the other is waited for.
void drain(int out, int err, Ran& ran) {
  std::array<pollfd, 2> streams = {{{out, POLLIN, 0}, {err, POLLIN, 0}}};
  const std::array<std::string*, 2> texts = {&ran.out, &ran.err};
  for (int open = 2; open > 0;) {
    ::poll(streams.data(), streams.size(), -1);
    for (std::size_t i = 0; i < streams.size(); ++i) {
      if (streams[i].fd < 0 || streams[i].revents == 0) continue;
      std::array<char, 4096> block{};
      const ssize_t got = ::read(streams[i].fd, block.data(), block.size());
      if (got > 0) {
        texts[i]->append(block.data(), static_cast<std::size_t>(got));
      } else {
        streams[i].fd = -1;
        --open;
      }
    }
  }
}

}  // namespace

Ran execute(const std::vector<std::string>& command, Out out, const std::filesystem::path& directory) {
  const Pipe stdout_pipe = make_pipe(), stderr_pipe = make_pipe();
  const pid_t child = ::fork();
  if (child == 0) become(command, out, directory, stdout_pipe, stderr_pipe);
  ::close(stdout_pipe.write);
  ::close(stderr_pipe.write);
  Ran ran;
  drain(stdout_pipe.read, stderr_pipe.read, ran);
  ::close(stdout_pipe.read);
  ::close(stderr_pipe.read);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (WIFEXITED(status)) ran.exit = WEXITSTATUS(status);
  return ran;
}

Ran convoke(const std::vector<std::string>& arguments, Out out, const std::filesystem::path& directory) {
  std::vector<std::string> command = {CONVOKE_PROGRAM};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return execute(command, out, directory);
}

Json json_of(const Ran& ran) { return Json::parse(ran.out, nullptr, false); }

std::vector<std::string> keys_of(const Json& object) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : object.items()) keys.push_back(key);
  return keys;
}

Scratch::Scratch() {
  std::string name = (std::filesystem::temp_directory_path() / "convoke-test-XXXXXX").native();
  if (::mkdtemp(name.data()) == nullptr) std::abort();
  path_ = name;
}

Scratch::~Scratch() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string Scratch::write(const std::string& name, std::string_view bytes) const {
  std::filesystem::create_directories((path_ / name).parent_path());
  std::ofstream(path_ / name, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return at(name);
}

std::size_t Scratch::entries() const {
  const std::filesystem::directory_iterator entries(path_);
  return static_cast<std::size_t>(std::distance(begin(entries), end(entries)));
}

std::string read_bytes(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string npy(std::string_view descr, std::string_view shape, std::string_view data) {
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}", descr, shape);
  constexpr std::size_t before_header = 10;
  while ((before_header + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  std::string file = {'\x93', 'N', 'U', 'M', 'P', 'Y', '\x01', '\x00'};
  file += static_cast<char>(header.size() & 0xFF);
  file += static_cast<char>(header.size() >> 8);
  return file + header + std::string(data);
}

std::string floats(const std::vector<float>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

}  // namespace convoke::apps_test
