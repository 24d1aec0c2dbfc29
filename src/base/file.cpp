// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "base/file.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <system_error>

#include "base/fail.hpp"

namespace convoke {
namespace {

tl::unexpected<Error> fail_io(const std::string& path, std::string_view what, int error) {
  const std::string reason = std::generic_category().message(error);  // strerror is not for many threads
  return fail(ErrorCode::io, "file", {named("path", path), named("errno", error)}, "{}: {}: {}", path, what, reason);
}

/// A file descriptor that closes itself.
class Descriptor {
 public:
  explicit Descriptor(int number) noexcept : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { close(); }
  int number() const noexcept { return number_; }
  bool open() const noexcept { return number_ >= 0; }
  /// False where the system reports at last that a write was lost.
  bool close() noexcept {
    const bool good = number_ < 0 || ::close(number_) == 0;
    number_ = -1;
    return good;
  }

 private:
  int number_;
};

bool write_all(int number, std::string_view bytes) noexcept {
  while (!bytes.empty()) {
    const ssize_t written = ::write(number, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

Result<void> write_directly(const std::string& path, std::string_view bytes) {
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!file.open() || !write_all(file.number(), bytes) || !file.close()) return fail_io(path, "cannot write", errno);
  return {};
}

/// What `path` finally names, so that writing through a symbolic link replaces the file and not the link.
std::string followed(const std::string& path) {
  const std::unique_ptr<char, void (*)(void*)> real(::realpath(path.c_str(), nullptr), std::free);
  return real ? real.get() : path;
}

/// A name that no other thread or living process uses; one left by a dead process of the same number is removed.
std::string temporary_beside(const std::string& target) {
  static std::atomic<unsigned> count = 0;
  std::string name = fmt::format("{}.{}-{}.tmp", target, ::getpid(), ++count);
  ::unlink(name.c_str());
  return name;
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash + 1);
}

}  // namespace

Result<std::string> read_file(const std::string& path, std::size_t max_bytes) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.open()) return fail_io(path, "cannot open", errno);
  struct stat status = {};
  if (::fstat(file.number(), &status) != 0) return fail_io(path, "cannot read", errno);
  if (S_ISDIR(status.st_mode)) return fail_io(path, "cannot read", EISDIR);
  // The size is only a hint: pipes have none, and a file may grow meanwhile. What is read decides.
  std::string bytes;
  for (std::size_t chunk = 1 << 16;; chunk = std::min<std::size_t>(chunk * 2, 1 << 24)) {
    const std::size_t old = bytes.size();
    bytes.resize(old + chunk);
    const ssize_t got = ::read(file.number(), bytes.data() + old, chunk);
    if (got < 0 && errno != EINTR) return fail_io(path, "cannot read", errno);
    bytes.resize(old + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (bytes.size() > max_bytes)
      return fail(ErrorCode::io, "file", {named("path", path), named("max_bytes", max_bytes)},
                  "{}: longer than the {} bytes that are read here", path, max_bytes);
    if (got == 0) return bytes;
  }
}

Result<void> write_file_whole(const std::string& path, std::string_view bytes) {
  const std::string target = followed(path);
  struct stat status = {};
  const bool exists = ::stat(target.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) return fail_io(path, "cannot write", EISDIR);
  if (exists && !S_ISREG(status.st_mode)) return write_directly(path, bytes);

  const std::string temporary = temporary_beside(target);
  Descriptor file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!file.open()) return fail_io(path, "cannot write", errno);
  const bool written = write_all(file.number(), bytes) &&
                       (!exists || ::fchmod(file.number(), status.st_mode & 0777) == 0) &&
                       ::fsync(file.number()) == 0 && file.close() && ::rename(temporary.c_str(), target.c_str()) == 0;
  if (!written) {
    const int error = errno;
    ::unlink(temporary.c_str());
    return fail_io(path, "cannot write", error);
  }
  const Descriptor folder(::open(folder_of(target).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.open()) ::fsync(folder.number());  // keeps the new name through a power cut; the file is whole either way
  return {};
}

Result<std::vector<std::string>> list_files(const std::string& dir, std::string_view suffix) {
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(dir.c_str()), ::closedir);
  if (!folder) return fail_io(dir, "cannot list", errno);
  std::vector<std::string> paths;
  errno = 0;
  while (const dirent* entry = ::readdir(folder.get())) {
    const std::string_view name = entry->d_name;
    const std::string path = fmt::format("{}{}{}", dir, dir.ends_with('/') ? "" : "/", name);
    struct stat status = {};
    if (name.ends_with(suffix) && ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode)) paths.push_back(path);
    errno = 0;
  }
  if (errno != 0) return fail_io(dir, "cannot list", errno);
  std::sort(paths.begin(), paths.end());
  return paths;
}

bool is_directory(const std::string& path) noexcept {
  struct stat status = {};
  return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

}  // namespace convoke
