#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
# bundle.sh OUT PROGRAM... — packs programs with all shared libraries they need, the loader and libc too, into the new
# folder OUT, which runs on any Linux machine of the same architecture, whatever its own libraries:
#   OUT/NAME       starts the program NAME
#   OUT/programs/  the programs, stripped
#   OUT/lib/       their libraries, stripped
#   OUT/suites/    the layer lists and cases that programs are given
# Exit 1 where a library is missing or OUT would be larger than 64 MiB compressed, 2 where it could not run.
set -euo pipefail

most_bytes=$((64 << 20))
root=$(cd "$(dirname "$0")/.." && pwd)

could_not() {
  echo "bundle: $1" >&2
  exit 2
}

[ $# -ge 2 ] || could_not "usage: tools/bundle.sh OUT PROGRAM..."
out=$1
shift
[ ! -e "$out" ] || could_not "$out is there already; remove it, or name another folder"
for program in "$@"; do
  [ -f "$program" ] && [ -x "$program" ] || could_not "$program is no program"
done
command -v readelf >/dev/null && command -v strip >/dev/null || could_not "readelf and strip are needed (binutils)"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bundle=$work/bundle
mkdir -p "$bundle/lib" "$bundle/programs"

loader_of() { # PROGRAM; nothing for a file that has none
  readelf -l "$1" 2>/dev/null | sed -n 's/.*program interpreter: \(.*\)\]/\1/p' || true
}

copy_stripped() { # FILE TO
  cp -L "$1" "$2"
  chmod 755 "$2"
  strip --strip-unneeded "$2" 2>/dev/null || true # a file that has nothing to strip stays as it is
}

write_wrapper() { # NAME LOADER
  # The loader is started by name, since a program's own is an absolute path. It looks into lib/ first, and never into
  # the other machine's cache of libraries.
  cat >"$bundle/$1" <<EOF
#!/bin/sh
here=\$(dirname "\$(readlink -f "\$0")")
exec "\$here/lib/$2" --inhibit-cache --library-path "\$here/lib" "\$here/programs/$1" "\$@"
EOF
  chmod 755 "$bundle/$1"
}

for program in "$@"; do
  name=$(basename "$program")
  [ ! -e "$bundle/$name" ] || could_not "two programs are called $name"
  loader=$(loader_of "$program")
  [ -n "$loader" ] || could_not "$program is not linked dynamically"
  # `NAME => PATH (ADDRESS)`; the loader has no arrow, the kernel's own library no path.
  needed=$(ldd "$program") || could_not "$program cannot be looked at by ldd; is it for this machine?"
  if missing=$(grep 'not found' <<<"$needed"); then
    echo "bundle: $program lacks libraries:" >&2
    echo "$missing" >&2
    exit 1
  fi
  while read -r library path; do
    [ -e "$bundle/lib/$library" ] || copy_stripped "$path" "$bundle/lib/$library"
  done < <(sed -n 's/^\s*\([^ /]*\) => \(\/[^ ]*\) (.*/\1 \2/p' <<<"$needed")
  [ -e "$bundle/lib/$(basename "$loader")" ] || copy_stripped "$loader" "$bundle/lib/$(basename "$loader")"
  copy_stripped "$program" "$bundle/programs/$name"
  write_wrapper "$name" "$(basename "$loader")"
done
mkdir "$bundle/suites"
cp "$root"/suites/*.csv "$root"/suites/*.json "$bundle/suites/"

# What the loader of the bundle would take must lie in the bundle.
for program in "$bundle"/programs/*; do
  loader=$(basename "$(loader_of "$program")")
  list=$(env -i "$bundle/lib/$loader" --inhibit-cache --library-path "$bundle/lib" --list "$program") || {
    echo "bundle: $(basename "$program") does not load from the bundle" >&2
    exit 1
  }
  if strays=$(grep '=> /' <<<"$list" | grep -vF "=> $bundle/lib/"); then
    echo "bundle: $(basename "$program") would take libraries from elsewhere:" >&2
    echo "$strays" >&2
    exit 1
  fi
done

bytes=$(tar -C "$work" -czf - bundle | wc -c)
if [ "$bytes" -gt "$most_bytes" ]; then
  echo "bundle: $bytes bytes compressed, more than $most_bytes; pack fewer programs" >&2
  exit 1
fi
mkdir -p "$(dirname "$out")"
mv "$bundle" "$out"
echo "bundle: $# program(s) in $out, $(((bytes + (1 << 20) - 1) >> 20)) MiB compressed; start $out/$(basename "$1")"
