#!/usr/bin/env bash
# A Docker engine for the tests, with images made from what the machine has: no registry is asked.
#
#   scripts/test-engine.sh start <folder>   prints the DOCKER_HOST of an engine that answers and has the images
#   scripts/test-engine.sh stop <folder>    ends an engine that `start` began there, and removes the folder
#
# An engine that answers already (DOCKER_HOST, or the usual socket) is used as it is: it gets the images and is not stopped.
# Else one is started, as root, on Linux: `dockerd` of the machine, or Debian's, unpacked into the folder without being installed.
# It has a socket, a data root and a control group of its own, and touches neither bridges nor the firewall.
set -euo pipefail

readonly images='claude-code-bridge-test'
readonly usual_socket='/var/run/docker.sock'
# Starting takes 2 s; a machine that is busy with other tests may take longer.
readonly start_seconds=60
# Packages come from the mirror that apt knows; one that does not answer must not hold a run for ever.
readonly apt_seconds=240
# Containers of an interrupted test are killed: nothing in them is worth waiting for.
readonly stop_seconds=30

say() { printf 'test-engine: %s\n' "$*" >&2; }
fail() {
  say "$*"
  exit 1
}

usage() { fail 'usage: scripts/test-engine.sh start|stop <folder>'; }

# What the folder's own unpacked packages offer comes first.
with_own_programs() {
  local root="$folder/packages"
  local libraries
  libraries="$(find "$root" -type d -path '*/lib/*-linux-gnu' -printf '%p:' 2>/dev/null || true)"
  PATH="$root/usr/sbin:$root/usr/bin:$root/bin:$PATH:/usr/sbin:/sbin" LD_LIBRARY_PATH="$libraries${LD_LIBRARY_PATH:-}" "$@"
}

answers() { DOCKER_HOST="$1" with_own_programs timeout 10 docker version >/dev/null 2>&1; }

# unpack <package>...: with all they need that is not installed. `--download-only` changes nothing on the machine.
unpack() {
  command -v apt-get >/dev/null || fail "needs apt-get for $*, or a Docker engine that answers"
  [ "$(id -u)" -eq 0 ] || fail "needs root to fetch $* and to run dockerd, or a Docker engine that answers"
  local archives="$folder/archives" attempt
  mkdir -p "$archives/partial" "$folder/packages"
  for attempt in 1 2 3; do
    if timeout "$apt_seconds" apt-get -qq -o Acquire::Retries=2 update >"$folder/apt.log" 2>&1 &&
      timeout "$apt_seconds" apt-get -qq -y --no-install-recommends --download-only \
        -o "Dir::Cache::archives=$archives" -o APT::Sandbox::User=root -o DPkg::Lock::Timeout=60 \
        install "$@" >>"$folder/apt.log" 2>&1; then
      local package
      for package in "$archives"/*.deb; do
        [ -e "$package" ] && dpkg-deb -x "$package" "$folder/packages"
      done
      rm -rf "$archives"
      return
    fi
    say "apt-get did not deliver $* (attempt $attempt)"
  done
  tail -n 20 "$folder/apt.log" >&2
  fail "apt-get could not fetch $*"
}

start_engine() {
  [ "$(uname -s)" = Linux ] || fail 'an engine can be started on Linux only; start Docker yourself'
  local needed=()
  command -v dockerd >/dev/null && command -v docker >/dev/null || needed+=(docker.io)
  command -v busybox >/dev/null || needed+=(busybox-static)
  [ ${#needed[@]} -eq 0 ] || unpack "${needed[@]}"
  [ "$(id -u)" -eq 0 ] || fail 'dockerd has to be started as root'

  local init
  init="$(with_own_programs command -v docker-init || with_own_programs command -v tini-static)" ||
    fail 'found neither docker-init nor tini-static'
  # A file that is not there would be an error, and the machine's own settings are for another engine.
  echo '{}' >"$folder/daemon.json"
  [ -e /run/containerd ] || touch "$folder/made-run-containerd"
  with_own_programs setsid dockerd \
    --config-file "$folder/daemon.json" --host "$own_host" --pidfile "$folder/dockerd.pid" \
    --data-root "$folder/data" --exec-root "$folder/exec" --init-path "$init" \
    --cgroup-parent "$(cgroup_name)" --shutdown-timeout 5 \
    --bridge=none --iptables=false --ip6tables=false --ip-forward=false --ip-masq=false \
    </dev/null >"$folder/dockerd.log" 2>&1 &
  local daemon=$! deadline=$((SECONDS + start_seconds))
  until answers "$own_host"; do
    if ! kill -0 "$daemon" 2>/dev/null || [ "$SECONDS" -ge "$deadline" ]; then
      tail -n 30 "$folder/dockerd.log" >&2
      stop_engine
      fail 'dockerd did not start; its last lines are above'
    fi
    sleep 0.1
  done
}

cgroup_name() { printf '/claude-code-bridge-engine-%s' "$(basename "$folder")"; }

stop_engine() {
  if [ -s "$folder/dockerd.pid" ]; then
    local daemon
    daemon="$(cat "$folder/dockerd.pid")"
    if kill -0 "$daemon" 2>/dev/null; then
      local running
      running="$(DOCKER_HOST="$own_host" with_own_programs timeout 10 docker ps -aq 2>/dev/null || true)"
      # shellcheck disable=SC2086 # one word an id
      [ -z "$running" ] || DOCKER_HOST="$own_host" with_own_programs timeout "$stop_seconds" docker rm -fv $running >/dev/null 2>&1 || true
      kill "$daemon" 2>/dev/null || true
      local deadline=$((SECONDS + stop_seconds))
      while kill -0 "$daemon" 2>/dev/null; do
        if [ "$SECONDS" -ge "$deadline" ]; then
          kill -9 "$daemon" 2>/dev/null || true
          break
        fi
        sleep 0.1
      done
    fi
  fi
  # A dockerd that was killed leaves its containerd and the containers' keepers: all of them name the folder.
  local process
  for process in /proc/[0-9]*; do
    # It may have ended between the two looks.
    if { tr '\0' ' ' <"$process/cmdline" | grep -qE "(containerd|containerd-shim[a-z0-9-]*) .*$folder/exec/"; } 2>/dev/null; then
      kill -9 "${process#/proc/}" 2>/dev/null || true
    fi
  done
  local mount
  while read -r mount; do
    umount -l "$mount" 2>/dev/null || true
  done < <(awk -v folder="$folder/" 'index($5, folder) == 1 { print $5 }' /proc/self/mountinfo 2>/dev/null | sort -r)
  local group
  for group in /sys/fs/cgroup/*"$(cgroup_name)" /sys/fs/cgroup"$(cgroup_name)"; do
    [ ! -d "$group" ] || rmdir "$group" 2>/dev/null || true
  done
  [ ! -e "$folder/made-run-containerd" ] || find /run/containerd -depth -type d -empty -delete 2>/dev/null || true
  rm -rf "$folder"
}

# copy_with_libraries <root> <program>...: each at its own path, with what the loader needs for it.
copy_with_libraries() {
  local root="$1" program file
  shift
  for program in "$@"; do
    for file in "$program" $(ldd "$program" 2>/dev/null | grep -oE '/[^ ]+'); do
      mkdir -p "$root$(dirname "$file")"
      [ -e "$root$file" ] || cp -L "$file" "$root$file"
    done
  done
}

# import_image <root> <name>: the user `agent` (1000) owns its home, everything else is root's.
import_image() {
  local archive="$folder/image.tar"
  tar -C "$1" --owner=0 --group=0 --numeric-owner --exclude=./home/agent -cf "$archive" .
  tar -C "$1" --owner=1000 --group=1000 --numeric-owner -rf "$archive" ./home/agent
  docker_of_engine import --change 'ENV PATH=/usr/local/bin:/usr/bin:/bin HOME=/home/agent LANG=C.UTF-8' \
    --change 'CMD ["/bin/sh"]' --change 'WORKDIR /home/agent' "$archive" "$2" >/dev/null
  rm -f "$archive"
}

docker_of_engine() { DOCKER_HOST="$host" with_own_programs docker "$@"; }

has_image() { docker_of_engine image inspect "$1" >/dev/null 2>&1; }

make_images() {
  if has_image "$images/busybox:latest" && has_image "$images/node:latest"; then return; fi
  local busybox root="$folder/rootfs"
  with_own_programs command -v busybox >/dev/null || unpack busybox-static
  busybox="$(with_own_programs command -v busybox)"
  if ldd "$busybox" 2>/dev/null | grep -q '=>'; then
    unpack busybox-static
    busybox="$folder/packages/bin/busybox"
  fi
  mkdir -p "$root"/{bin,dev,etc,home/agent,proc,root,sys,tmp,usr/bin,usr/local/bin,var/tmp}
  chmod 1777 "$root/tmp" "$root/var/tmp"
  cp -L "$busybox" "$root/bin/busybox"
  local applet
  for applet in $("$busybox" --list); do
    [ "$applet" = busybox ] || ln -s busybox "$root/bin/$applet"
  done
  printf 'root:x:0:0:root:/root:/bin/sh\nagent:x:1000:1000:agent:/home/agent:/bin/sh\n' >"$root/etc/passwd"
  printf 'root:x:0:\nagent:x:1000:\n' >"$root/etc/group"
  import_image "$root" "$images/busybox:latest"

  # Claude Code runs its commands with bash; git and node for what tests do in a container.
  copy_with_libraries "$root" "$(readlink -f "$(command -v node)")" "$(readlink -f "$(command -v git)")" "$(readlink -f "$(command -v bash)")"
  ln -sf "$(readlink -f "$(command -v node)")" "$root/usr/local/bin/node" 2>/dev/null || true
  ln -sf "$(readlink -f "$(command -v git)")" "$root/usr/local/bin/git" 2>/dev/null || true
  ln -sf "$(readlink -f "$(command -v bash)")" "$root/bin/bash" 2>/dev/null || true
  import_image "$root" "$images/node:latest"
  rm -rf "$root"
}

[ $# -eq 2 ] || usage
mkdir -p "$2"
readonly folder="$(cd "$2" && pwd -P)"
readonly own_host="unix://$folder/docker.sock"
case "$1" in
  start)
    if [ -n "${DOCKER_HOST:-}" ] && answers "$DOCKER_HOST"; then
      host="$DOCKER_HOST"
    elif answers "unix://$usual_socket"; then
      host="unix://$usual_socket"
    else
      answers "$own_host" || start_engine
      host="$own_host"
    fi
    make_images
    printf '%s\n' "$host"
    ;;
  stop) stop_engine ;;
  *) usage ;;
esac
