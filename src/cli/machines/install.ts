import { posix } from 'node:path';
import { OLDEST_NODE, VERSION } from '../../base/package.js';
import { shellWord, shownLine } from '../../base/text.js';
import { LAUNCHER } from '../../machines/bridge-start.js';
import { REFUSED, runThere, SEND, type FarShell } from './far-shell.js';
import { packOwn } from './own-package.js';

/** The folder of the launcher and of all versions there, below the home folder. */
export const INSTALL_FOLDER = posix.dirname(LAUNCHER);
const MEBIBYTE = 1024 * 1024;
/** What the package takes there while it is unpacked, with room to spare. */
const NEEDED_MIB = 200;

/** Shell text: `$node` is the first Node that is new enough, `$old` the others. No PATH of a shell without a login has those of nvm, fnm and volta. */
const FIND_NODE = `
node= old=
for one in "$(command -v node)" "$HOME/.local/bin/node" "\${NVM_DIR:-$HOME/.nvm}"/versions/node/*/bin/node \\
  "\${FNM_DIR:-$HOME/.local/share/fnm}"/node-versions/*/installation/bin/node \\
  "$HOME"/.fnm/node-versions/*/installation/bin/node \\
  "\${VOLTA_HOME:-$HOME/.volta}"/tools/image/node/*/bin/node /usr/local/bin/node /opt/homebrew/bin/node
do
  [ -x "$one" ] || continue
  is=$("$one" -p 'process.versions.node + (process.versions.node.localeCompare("${OLDEST_NODE}", "en", { numeric: true }) < 0 ? " " : "")' </dev/null) || is=' '
  case "$is" in *' ') old="$old $is" ;; *) node=$("$one" -p process.execPath </dev/null); break ;; esac
done
[ -n "$node" ] || [ -z "$old" ] || refuse "has no Node that is new enough:\${old% }."
[ -n "$node" ] || refuse 'has no Node: none on PATH, nor in ~/.local/bin, nor of nvm, fnm or volta.'
PATH="$(dirname "$node"):$PATH"`;

/** Shell text: whether something runs with the version `$1`, as the table of processes says; where none can be read, all count as used. */
const USED = `
running=$(cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' '\\n')
[ -n "$running" ] || running=$(ps -Aww -o args= 2>/dev/null) || :
used() { case "$running" in '' | *"/${INSTALL_FOLDER}/$1/dist/"*) return 0 ;; esac; return 1; }`;

/**
 * Brings this build of the bridge to the other machine, below the home folder of its user there. Where what it needs does not load there, npm there
 * brings it for that platform. Nothing is there before all of it is there and has said its version; then the launcher names it, and versions
 * that nothing runs in are removed. Resolves with the folder of this build. Throws MACHINE_UNREACHABLE, and INVALID_ARGUMENTS where Node or
 * npm is missing there.
 */
export async function install(shell: FarShell, root: string, say: (line: string) => void): Promise<string> {
  const { name, needs, archive } = await packOwn(root);
  const size = `${(archive.length / MEBIBYTE).toFixed(1)} MiB`;
  await runThere(shell, installScript(name, needs, size), {
    failed: `did not take version ${name}`,
    refused: `Nothing was changed. Install Node ${OLDEST_NODE} or newer there, such as by: curl -fsSL https://fnm.vercel.app/install | bash && ~/.local/share/fnm/fnm install 22`,
    input: archive,
    onLine: (line) => say(shownLine(line)),
  });
  return `~/${INSTALL_FOLDER}/${name}`;
}

/** Takes the archive over stdin, unless this build is there; then makes the launcher, and removes what is old. */
function installScript(name: string, needs: readonly string[], size: string): string {
  const load = `const all = ${JSON.stringify(needs)}.map((name) => import(name));
Promise.all(all).catch(({ message }) => { console.log(message.split("\\n")[0]); process.exit(1); })`;
  const npm = 'npm install --omit=dev --omit=peer --ignore-scripts --no-audit --no-fund --loglevel=error';
  return `
set -e
umask 077
fail() { echo "$1" >&2; exit 1; }
refuse() { echo "$1" >&2; exit ${REFUSED}; }
${FIND_NODE}
echo "Node $is, $(uname -sm), at $node."
base="$HOME/${INSTALL_FOLDER}"
if [ -e "$base/${name}" ]; then echo 'Version ${name} is there already.'
else
  free=$("$node" -p 'const { bavail, bsize } = fs.statfsSync(process.env.HOME); Math.floor(bavail * bsize / ${MEBIBYTE})' </dev/null)
  [ "$free" -ge ${NEEDED_MIB} ] || fail "the disk of $HOME has $free MiB left; the bridge needs ${NEEDED_MIB}"
  echo 'Copying version ${name} (${size}).'
  new="$base/.new-$$"
  trap 'rm -rf "$new"; rmdir "$base" 2>/dev/null || :' EXIT
  trap 'exit 1' HUP INT TERM PIPE
  mkdir -p "$new"
  echo ${SEND}
  tar -xzf - -C "$new"
  loads() { why=$(cd "$new" && "$node" --input-type=module -e ${shellWord(load, '/')} </dev/null 2>/dev/null); }
  loads || {
    command -v npm >/dev/null || refuse "does not load what the bridge needs ($why), and its Node at $node has no npm that could bring it."
    rm -rf "$new/node_modules"
    (cd "$new" && ${npm} >&2)
    loads || fail "what npm brought does not load there: $why"
  }
  [ "$("$node" "$new/dist/main.js" --version)" = ${VERSION} ] || fail 'it does not run there'
  [ -d "$base/${name}" ] || mv "$new" "$base/${name}"
fi
# What agents and checks find on PATH is as in a shell without a login; what lies beside Node comes last.
cat >"$base/.bridge-$$" <<END
#!/bin/sh
[ -n "\\$LC_ALL\\$LC_CTYPE\\$LANG" ] || { LANG=C.UTF-8; export LANG; }
PATH="\\$PATH:$(dirname "$node"):\\$HOME/.local/bin"
export PATH
exec "$node" "\\$HOME/${INSTALL_FOLDER}/${name}/dist/main.js" "\\$@"
END
chmod 700 "$base/.bridge-$$"
mv -f "$base/.bridge-$$" "$HOME/${LAUNCHER}"
${USED}
for old in "$base"/*/; do
  old=$(basename "$old")
  [ "$old" = ${name} ] || used "$old" || rm -rf "$base/$old"
done`;
}

/** Removes the folder there and all versions in it, unless something runs with one of them. Throws INVALID_ARGUMENTS then, and MACHINE_UNREACHABLE. */
export async function purge(shell: FarShell): Promise<void> {
  const script = `${USED}
for one in "$HOME/${INSTALL_FOLDER}"/*/; do
  [ ! -d "$one" ] || ! used "$(basename "$one")" || { echo 'has tasks or programs that run with the bridge' >&2; exit ${REFUSED}; }
done
rm -rf "$HOME/${INSTALL_FOLDER}"`;
  const refused = 'Nothing was removed. Wait for their end, or end them first.';
  await runThere(shell, script, { failed: 'did not remove the bridge', refused });
}
