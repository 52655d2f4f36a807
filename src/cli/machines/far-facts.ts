// Pure: what is asked of another machine before anything is installed there, and what its answer means.
import { posix } from 'node:path';
import { z } from 'zod';
import { BridgeError } from '../../base/errors.js';
import { isOlderVersion, OLDEST_NODE } from '../../base/package.js';
import { oneLine, shellWord } from '../../base/text.js';
import { LAUNCHER } from '../../machines/bridge-start.js';

/** The folder of the launcher and of all versions there, below the home folder. */
export const INSTALL_FOLDER = posix.dirname(LAUNCHER);
/** What the package takes there while it is unpacked, with room to spare. */
const NEEDED_BYTES = 200 * 1024 * 1024;
const MEBIBYTE = 1024 * 1024;
const MAX_VALUE_CHARS = 4_096;

const path = z.string().max(MAX_VALUE_CHARS);
const nodeFactsSchema = z.object({
  node: path.startsWith('/'),
  version: z.string().max(100),
  platform: z.string().max(100),
  arch: z.string().max(100),
  /** Of the C library of GNU; null for another one. */
  glibc: z.string().max(100).nullable(),
  home: path.startsWith('/'),
  freeBytes: z.number().nullable(),
  /** Whether the folder of Node has npm, too. */
  npm: z.boolean(),
  /** Whether this build is there already. */
  installed: z.boolean(),
});
export type NodeFacts = z.infer<typeof nodeFactsSchema>;

/** Runs there in any version of Node, and so uses what each of them has. `folder`: of this build, below the home folder. */
function nodeScript(folder: string): string {
  return [
    'var f=require("fs"),p=require("path"),h=require("os").homedir(),s=null,g=null;',
    'try{process.report.excludeNetwork=true;g=process.report.getReport().header.glibcVersionRuntime||null}catch(e){}',
    'try{s=f.statfsSync(h);s=s.bavail*s.bsize}catch(e){}',
    'console.log(JSON.stringify({node:process.execPath,version:process.versions.node,platform:process.platform,',
    'arch:process.arch,glibc:g,home:h,freeBytes:s,npm:f.existsSync(p.join(p.dirname(process.execPath),"npm")),',
    `installed:f.existsSync(p.join(h,${JSON.stringify(`${folder}/dist/main.js`)}))}))`,
  ].join('');
}

/** Where Node lies that no PATH of a shell without a login has: by nvm, fnm and volta, in their own folders. */
const NODES = [
  '"$(command -v node)"',
  '"$HOME/.local/bin/node"',
  '"${NVM_DIR:-$HOME/.nvm}"/versions/node/*/bin/node',
  '"${FNM_DIR:-$HOME/.local/share/fnm}"/node-versions/*/installation/bin/node',
  '"$HOME"/.fnm/node-versions/*/installation/bin/node',
  '"${VOLTA_HOME:-$HOME/.volta}"/tools/image/node/*/bin/node',
  '/usr/local/bin/node',
  '/opt/homebrew/bin/node',
];

/** Prints the facts of each Node that is there, a line each. `name`: of the folder of this build. */
export function factsScript(name: string): string {
  const script = shellWord(nodeScript(`${INSTALL_FOLDER}/${name}`), '/');
  return `for node in ${NODES.join(' ')}; do [ -x "$node" ] && "$node" -e ${script} </dev/null; done; :`;
}

/**
 * The Node that the bridge runs with there: the first that is new enough, which is that of PATH, else the newest. Throws INVALID_ARGUMENTS where there
 * is none, or no room.
 */
export function nodeOf(machine: string, output: string): NodeFacts {
  const found = output.split('\n').flatMap((line) => {
    const read = nodeFactsSchema.safeParse(jsonOf(line));
    return read.success ? [read.data] : [];
  });
  const isUsable = ({ version }: NodeFacts): boolean => !isOlderVersion(version, OLDEST_NODE);
  const usable = found.filter(isUsable);
  const newest = [...usable].sort((one, other) => (isOlderVersion(one.version, other.version) ? 1 : -1))[0];
  const node = found[0] !== undefined && isUsable(found[0]) ? found[0] : newest;
  if (node === undefined) {
    const older = found.map(({ version }) => oneLine(version, MAX_VALUE_CHARS)).join(', ');
    throw new BridgeError(
      'INVALID_ARGUMENTS',
      older === ''
        ? `${machine} has no Node: none on PATH, nor in ~/.local/bin, nor of nvm, fnm or volta.`
        : `Node on ${machine} is too old: ${older}.`,
      `Nothing was changed. Install Node ${OLDEST_NODE} or newer there, such as by: curl -fsSL https://fnm.vercel.app/install | bash && ~/.local/share/fnm/fnm install 22`,
    );
  }
  if (node.freeBytes !== null && node.freeBytes < NEEDED_BYTES && !node.installed)
    throw new BridgeError(
      'INVALID_ARGUMENTS',
      `The disk of ${oneLine(node.home, MAX_VALUE_CHARS)} on ${machine} has ${Math.floor(node.freeBytes / MEBIBYTE)} MiB left; the bridge needs ${NEEDED_BYTES / MEBIBYTE}.`,
      'Nothing was changed. Make room there, then try again.',
    );
  return node;
}

/** Whether programs that were built for this machine run on that one. */
export function isSamePlatform(
  { platform, arch, glibc }: NodeFacts,
  here: Pick<NodeFacts, 'platform' | 'arch' | 'glibc'>,
): boolean {
  return platform === here.platform && arch === here.arch && (glibc === null) === (here.glibc === null);
}

function jsonOf(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    // Another program of that name, or what a file of the shell printed.
    return undefined;
  }
}
