#!/usr/bin/env bash
# Unpacks Debian's openssh-server into a folder, for tests with machines of their own: scripts/fetch-sshd.sh .cache/sshd
#
# Nothing is installed: no service starts, no user is added, no setting changes. Needs apt-get.
set -euo pipefail

[ $# -eq 1 ] || { echo 'usage: scripts/fetch-sshd.sh <folder>' >&2; exit 64; }
[ ! -x "$1/usr/sbin/sshd" ] || exit 0
# A mirror that does not answer must not hold a run for ever.
readonly apt_seconds=240
mkdir -p "$(dirname "$1")"
folder="$(mktemp -d "$1.XXXXXX")"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
download() { timeout "$apt_seconds" apt-get -qq -o APT::Sandbox::User=root download openssh-server >apt.log 2>&1; }
download || { timeout "$apt_seconds" apt-get -qq update >apt.log 2>&1 && download; } || {
  tail -n 5 apt.log >&2
  echo 'fetch-sshd: apt-get could not fetch openssh-server' >&2
  exit 1
}
dpkg-deb -x openssh-server_*.deb root
if ldd root/usr/sbin/sshd | grep 'not found' >&2; then
  echo 'fetch-sshd: this machine lacks these libraries of sshd' >&2
  exit 1
fi
cd - >/dev/null
# Another run may have been faster: then its copy stays.
mv -T "$folder/root" "$1" 2>/dev/null || true
