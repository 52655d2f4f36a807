import { dirname } from 'node:path';
import { z } from 'zod';
import { BridgeError } from '../../base/errors.js';
import { VERSION } from '../../base/package.js';
import { shellWord } from '../../base/text.js';
import { LAUNCHER } from '../../machines/bridge-start.js';
import { factsScript, INSTALL_FOLDER, isSamePlatform, nodeOf, type NodeFacts } from './far-facts.js';
import { runThere, type FarShell } from './far-shell.js';
import { packOwn } from './own-package.js';

/** The first time a person may have to answer ssh. */
const LOOK_LIMIT_MS = 60_000;
/** For some ten megabytes over a slow line, and npm. */
const INSTALL_LIMIT_MS = 900_000;
/** Of those that no process runs in, beside the newest. */
const VERSIONS_LEFT = 2;
const MEBIBYTE = 1024 * 1024;

const reportHeader = z.looseObject({
  header: z.looseObject({ glibcVersionRuntime: z.string().optional() }).optional(),
});

/** What was done there. */
export interface Installed {
  readonly facts: NodeFacts;
  /** The folder of this build. */
  readonly folder: string;
}

/**
 * Brings this build of the bridge to the other machine, below the home folder of its user there: copied with what it needs where the platform is the
 * same, else with what npm brings there. Nothing is there before all of it is there and has said its version; then the launcher names it. Versions
 * that nothing runs in are removed but for the two newest. Throws MACHINE_UNREACHABLE, and INVALID_ARGUMENTS for what is missing there.
 */
export async function install(
  shell: FarShell,
  root: string,
  say: (line: string) => void,
): Promise<Installed> {
  const { name: machine } = shell;
  const whole = await packOwn(root, true);
  const looked = await runThere(shell, factsScript(whole.name), { limitMs: LOOK_LIMIT_MS });
  if (looked.failed !== undefined) throw failed(machine, 'could not be examined', looked.failed);
  const facts = nodeOf(machine, looked.output);
  say(`Node ${facts.version} at ${facts.node}, ${facts.platform} ${facts.arch}.`);
  const isSame = isSamePlatform(facts, ownFacts());
  if (!isSame && !facts.npm && !facts.installed)
    throw new BridgeError(
      'INVALID_ARGUMENTS',
      `${machine} is another platform than this machine, and its Node at ${facts.node} has no npm.`,
      'Nothing was changed. Install npm there beside Node, then try again.',
    );
  const { archive } = isSame ? whole : await packOwn(root, false);
  if (facts.installed) say(`Version ${whole.name} is there already.`);
  else say(`Copying version ${whole.name} (${(archive.length / MEBIBYTE).toFixed(1)} MiB).`);
  const script = installScript(whole.name, facts, isSame);
  const input = facts.installed ? undefined : archive;
  const { failed: why } = await runThere(shell, script, {
    limitMs: INSTALL_LIMIT_MS,
    ...(input !== undefined && { input }),
  });
  if (why !== undefined) throw failed(machine, `did not take version ${whole.name}`, why);
  return { facts, folder: `${facts.home}/${INSTALL_FOLDER}/${whole.name}` };
}

function failed(machine: string, what: string, why: string): BridgeError {
  return new BridgeError(
    'MACHINE_UNREACHABLE',
    `${machine} ${what}: ${why}`,
    'Nothing was changed here, and nothing half is left there. Mend that, then try again.',
  );
}

/** Of this machine, by the Node that runs this. */
export function ownFacts(): Pick<NodeFacts, 'platform' | 'arch' | 'glibc'> {
  const report = reportHeader.safeParse(process.report.getReport()).data;
  const glibc = report?.header?.glibcVersionRuntime ?? null;
  return { platform: process.platform, arch: process.arch, glibc };
}

/** Takes the archive over stdin, unless this build is there; then makes the launcher, and removes what is old. */
function installScript(name: string, { node, installed }: NodeFacts, isSame: boolean): string {
  const run = shellWord(node, '/');
  const bin = shellWord(dirname(node), '/');
  const unpack = [
    'new="$base/.new-$$"',
    `trap 'rm -rf "$new"' EXIT`,
    `trap 'exit 1' HUP INT TERM PIPE`,
    'mkdir "$new"',
    'tar -xzf - -C "$new"',
    ...(isSame
      ? []
      : [
          `(cd "$new" && PATH=${bin}:"$PATH" npm install --omit=dev --omit=peer --ignore-scripts --no-audit --no-fund --loglevel=error >&2)`,
        ]),
    `[ "$(${run} "$new/dist/main.js" --version)" = ${VERSION} ] || { echo 'it does not run there' >&2; exit 1; }`,
    `[ -d "$base/${name}" ] || mv "$new" "$base/${name}"`,
  ];
  return [
    'set -e',
    'umask 077',
    `base="$HOME/${INSTALL_FOLDER}"`,
    'mkdir -p "$base"',
    ...(installed ? [] : unpack),
    `cat >"$base/.bridge-$$" <<'END'`,
    launcher(name, node),
    'END',
    'chmod 700 "$base/.bridge-$$"',
    `mv -f "$base/.bridge-$$" "$HOME/${LAUNCHER}"`,
    `touch "$base/${name}"`,
    `${run} -e ${shellWord(sweepScript(name), '/')}`,
  ].join('\n');
}

/** What agents and checks find on PATH there is as in a shell without a login; what lies beside Node comes last. */
function launcher(name: string, node: string): string {
  return [
    '#!/bin/sh',
    '[ -n "$LC_ALL$LC_CTYPE$LANG" ] || { LANG=C.UTF-8; export LANG; }',
    `PATH="$PATH":${shellWord(dirname(node), '/')}:"$HOME/.local/bin"`,
    'export PATH',
    `exec ${shellWord(node, '/')} "$HOME/${INSTALL_FOLDER}/${name}/dist/main.js" "$@"`,
  ].join('\n');
}

/** JavaScript that prints what runs there with the bridge of a folder, as the process table says; without one, all folders count as used. */
const USED = [
  'var f=require("fs"),p=require("path"),b=p.join(require("os").homedir(),BASE),t;',
  'try{t=f.readdirSync("/proc").filter(function(n){return/^[0-9]+$/.test(n)&&+n!==process.pid}).map(function(n){',
  'try{return f.readFileSync("/proc/"+n+"/cmdline","latin1")}catch(e){return""}})}',
  'catch(e){try{t=String(require("child_process").execFileSync("ps",["-Aww","-o","args="])).split("\\n")}catch(e){}}',
  'function used(n){return!t||t.some(function(l){return l.indexOf(p.join(b,n)+p.sep+"dist"+p.sep)!==-1})}',
]
  .join('')
  .replace('BASE', JSON.stringify(INSTALL_FOLDER));

function sweepScript(name: string): string {
  return [
    USED,
    'var a=f.readdirSync(b).filter(function(n){return f.existsSync(p.join(b,n,"dist","main.js"))&&n[0]!=="."})',
    '.sort(function(x,y){return f.statSync(p.join(b,y)).mtimeMs-f.statSync(p.join(b,x)).mtimeMs});',
    `a.slice(${VERSIONS_LEFT}).forEach(function(n){if(n!==${JSON.stringify(name)}&&!used(n))f.rmSync(p.join(b,n),{recursive:true,force:true})})`,
  ].join('');
}

/** Removes the folder there and all versions in it, unless something runs with one of them. Throws INVALID_ARGUMENTS then, and MACHINE_UNREACHABLE. */
export async function purge(shell: FarShell): Promise<void> {
  const { output: facts } = await runThere(shell, factsScript(''), { limitMs: LOOK_LIMIT_MS });
  const { node } = nodeOf(shell.name, facts);
  const script = [
    USED,
    'if(f.existsSync(b)&&f.readdirSync(b).some(used))console.log("busy");',
    'else f.rmSync(b,{recursive:true,force:true})',
  ].join('');
  const { output, failed: why } = await runThere(
    shell,
    `${shellWord(node, '/')} -e ${shellWord(script, '/')}`,
    { limitMs: LOOK_LIMIT_MS },
  );
  if (why !== undefined) throw failed(shell.name, 'did not remove the bridge', why);
  if (output.trim() !== 'busy') return;
  throw new BridgeError(
    'INVALID_ARGUMENTS',
    `Tasks or programs of the bridge run on ${shell.name}.`,
    'Nothing was removed. Wait for their end, or end them first.',
  );
}
