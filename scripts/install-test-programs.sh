#!/usr/bin/env bash
# Installs the programs that the tests need besides Node, npm, git and a compiler, where the machine lacks them.
#
# Installing needs apt-get and root. Elsewhere it prints what is missing and fails.
set -euo pipefail

# Program and Debian package, one pair a line.
readonly needed='zsh zsh
bwrap bubblewrap
socat socat
chromium-headless-shell chromium-headless-shell'
# A mirror that does not answer must not hold a run for ever.
readonly apt_seconds=240

say() { printf 'install-test-programs: %s\n' "$*" >&2; }

packages=()
while read -r program package; do
  command -v "$program" >/dev/null || packages+=("$package")
done <<<"$needed"
[ "${#packages[@]}" -gt 0 ] || exit 0

if ! command -v apt-get >/dev/null || [ "$(id -u)" -ne 0 ]; then
  say "the tests need these packages, which are missing: ${packages[*]}. Install them, or run this as root on Debian."
  exit 1
fi
export DEBIAN_FRONTEND=noninteractive
log="$(mktemp)"
trap 'rm -f "$log"' EXIT
for attempt in 1 2 3; do
  if timeout "$apt_seconds" apt-get -qq -o Acquire::Retries=2 update >"$log" 2>&1 &&
    timeout "$apt_seconds" apt-get -qq -y --no-install-recommends -o DPkg::Lock::Timeout=60 \
      install "${packages[@]}" >>"$log" 2>&1; then
    exit 0
  fi
  say "apt-get did not install ${packages[*]} (attempt $attempt)"
done
tail -n 20 "$log" >&2
exit 1
