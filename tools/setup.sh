#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
# setup.sh build|test — installs the distribution's packages that ./demo (build) or ./check (test) needs and that are
# missing. Says what it installs, asks nothing. Exit 2, with the exact line to run, where it may not or cannot install.
# Debian 12, Debian 13 and Ubuntu 24.04 have every package under the same name.
set -euo pipefail

build_packages=(
  clang-19 libomp-19-dev cmake ninja-build pkg-config
  libyaml-cpp-dev libcmark-dev libfmt-dev libcli11-dev libexpected-dev nlohmann-json3-dev libmd-dev libpng-dev
  libhwy-dev
)
test_packages=(
  "${build_packages[@]}"
  g++ clang-format-19 clang-tidy-19 libclang-rt-19-dev llvm-19 python3
  libgtest-dev libgmock-dev libbenchmark-dev
  g++-aarch64-linux-gnu qemu-user
)

case ${1:-} in
  build) wanted=("${build_packages[@]}") ;;
  test) wanted=("${test_packages[@]}") ;;
  *) echo "usage: tools/setup.sh build|test" >&2; exit 2 ;;
esac

if ! command -v dpkg-query >/dev/null; then
  echo "setup: this is neither Debian nor Ubuntu; install what these packages hold, then build with CMake:" >&2
  echo "  ${wanted[*]}" >&2
  exit 2
fi

missing=()
for package in "${wanted[@]}"; do
  status=$(dpkg-query -W -f='${db:Status-Status}\n' "$package" 2>/dev/null || true)
  [[ $status == *installed* && $status != *not-installed* ]] || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

give_up() {
  {
    echo "setup: $1. Run this, then try again:"
    if grep -qs '^ID=ubuntu' /etc/os-release; then
      echo "  sudo add-apt-repository -y universe   # where it is not enabled"
    fi
    echo "  sudo apt-get update && sudo apt-get install -y --no-install-recommends ${missing[*]}"
  } >&2
  exit 2
}

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null || ! sudo -n true 2>/dev/null; then
    give_up "${#missing[@]} packages are missing and installing them takes rights that this account lacks"
  fi
  as_root=(sudo -n)
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
apt() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get -q -y -o DPkg::Lock::Timeout=120 -o Acquire::Retries=2 "$@" >>"$log" 2>&1 </dev/null
}
install() { apt install --no-install-recommends "${missing[@]}"; }

echo "setup: installing ${missing[*]}"
# The lists on the machine may be fresh enough; where they are not, or there are none, fetch them and try once more.
if ! install && ! { apt update && install; }; then
  tail -n 5 "$log" >&2
  give_up "apt-get could not install them (is there a network?)"
fi
echo "setup: done"
