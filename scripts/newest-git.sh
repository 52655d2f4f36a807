#!/usr/bin/env bash
# Puts the newest git that Debian has (its unstable release) into a folder, beside the system's git; prints its version.
# Usage: newest-git.sh FOLDER. FOLDER/bin/git runs it. What is there already is kept.
#
# Needs apt-get with sources of Debian, not root: packages are only downloaded and unpacked.
set -euo pipefail

folder="${1:?usage: newest-git.sh FOLDER}"
mkdir -p "$folder"
folder="$(cd "$folder" && pwd)"
readonly folder
# git itself, and the libraries that it was built with: those of the system may be older.
readonly packages=(git libc6 libpcre2-8-0 zlib1g)
# A mirror that does not answer must not hold a run for ever.
readonly apt_seconds=240
readonly keyring=/usr/share/keyrings/debian-archive-keyring.gpg

say() { printf 'newest-git: %s\n' "$*" >&2; }

if [ -x "$folder/bin/git" ] && "$folder/bin/git" --version 2>/dev/null; then exit 0; fi
if ! command -v apt-get >/dev/null || ! command -v dpkg-deb >/dev/null; then
  say "this needs apt-get and dpkg-deb, as Debian has them."
  exit 1
fi

# The same mirror as that of the system's own packages.
codename="$(. /etc/os-release && printf '%s' "${VERSION_CODENAME:-}")"
mirror="$(apt-get --print-uris update | sed -n "s|^'\(.*\)/dists/$codename/InRelease'.*|\1|p" | head -n 1)"
if [ -z "$mirror" ]; then
  say "apt-get knows no mirror of Debian: none of its sources has the release $codename."
  exit 1
fi

work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/lists/partial" "$work/cache/archives/partial" "$work/root"
printf 'Types: deb\nURIs: %s\nSuites: sid\nComponents: main\nSigned-By: %s\n' "$mirror" "$keyring" >"$work/sid.sources"
options=(-o "Dir::Etc::sourcelist=$work/sid.sources" -o Dir::Etc::sourceparts=- -o "Dir::State::lists=$work/lists"
  -o "Dir::Cache=$work/cache" -o APT::Sandbox::User=root -o Acquire::Retries=2)
for attempt in 1 2 3; do
  if (cd "$work" && timeout "$apt_seconds" apt-get -qq "${options[@]}" update &&
    timeout "$apt_seconds" apt-get -qq "${options[@]}" download "${packages[@]}") >"$work/log" 2>&1; then
    break
  fi
  say "apt-get did not download ${packages[*]} (attempt $attempt)"
  [ "$attempt" -lt 3 ] || { tail -n 20 "$work/log" >&2; exit 1; }
done
for package in "$work"/*.deb; do dpkg-deb -x "$package" "$work/root"; done

libraries="$(dirname "$(find "$work/root/usr/lib" -name 'libc.so.6' | head -n 1)")"
loader="$(find "$libraries" -name 'ld-linux*' | head -n 1)"
rm -rf "$folder/root" "$folder/bin"
mv "$work/root" "$folder/root"
inside() { printf '%s' "$folder/root${1#"$work/root"}"; }
# Each git that this git starts is found in its own folder of commands: there, too, it is this script, by whatever name.
cat >"$folder/git" <<EOF
#!/bin/sh
export GIT_EXEC_PATH='$folder/root/usr/lib/git-core' GIT_TEMPLATE_DIR='$folder/root/usr/share/git-core/templates'
exec '$(inside "$loader")' --argv0 "\${0##*/}" --library-path '$(inside "$libraries")' '$folder/root/usr/bin/git' "\$@"
EOF
chmod +x "$folder/git"
# Removed first: it may be one file with that of usr/bin.
rm "$folder/root/usr/lib/git-core/git"
cp "$folder/git" "$folder/root/usr/lib/git-core/git"
mkdir "$folder/bin"
mv "$folder/git" "$folder/bin/git"
"$folder/bin/git" --version
