import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
export const BRIDGE = [process.execPath, join(root, 'dist/main.js')];

/**
 * A stand-in for the CLI, in both drivers: `BENCH-CAT <file>` prints the file, `BENCH-SLEEP <seconds>` sleeps. It stamps its start and
 * its end, in seconds since the epoch, into $HOME/stamps.
 */
const AGENT = `#!/bin/bash
if [ "$1" = --version ]; then
  case $0 in */claude) echo '2.1.330 (Claude Code)' ;; *) echo 'agent 1.0' ;; esac
  exit
fi
echo "start $EPOCHREALTIME" >> "$HOME/stamps"
read -r word what
case $word in
  BENCH-CAT) cat "$what" ;;
  BENCH-SLEEP) sleep "$what" ;;
esac
echo AGENT-DONE
echo "end $EPOCHREALTIME" >> "$HOME/stamps"
`;

export interface Workplace {
  readonly folder: string;
  readonly agent: string;
  readonly stamps: string;
  readonly env: Readonly<Record<string, string>>;
  readonly minimalServer: readonly string[];
  project(name: string): string;
  dispose(): void;
}

/**
 * A temp folder with homes, projects and the stand-in agent; the environment is built from nothing. By the name `claude` the agent
 * is driven as Claude Code is, with hooks; by another one as any program, each of whose lines goes to the log.
 */
export async function createWorkplace(
  settings: Readonly<Record<string, string>> = {},
  agentName: 'agent' | 'claude' = 'agent',
): Promise<Workplace> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'ccb-bench-')));
  const home = join(folder, 'home');
  mkdirSync(home);
  const agent = join(folder, agentName);
  writeFileSync(agent, AGENT);
  chmodSync(agent, 0o755);
  const minimalServer = await bundledServer('minimal-server', folder);
  return {
    folder,
    agent,
    stamps: join(home, 'stamps'),
    env: {
      HOME: home,
      PATH: `${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`,
      LANG: 'C.UTF-8',
      MCP_ALLOWED_ROOTS: folder,
      MCP_STATE_DIR: join(folder, 'state'),
      MCP_CLAUDE_COMMAND: agent,
      TMPDIR: folder,
      ...settings,
    },
    minimalServer,
    project: (name) => {
      const path = join(folder, name);
      mkdirSync(path, { recursive: true });
      return path;
    },
    dispose: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** When the programs of a workplace stamped their start or their end, in milliseconds since the epoch. */
export function stampsOf({ stamps }: Workplace, word: 'start' | 'end'): number[] {
  const text = readFileSync(stamps, 'utf8');
  return [...text.matchAll(/^(start|end) ([\d.]+)/gm)]
    .filter(([, found]) => found === word)
    .map(([, , seconds]) => Number(seconds) * 1000);
}

/** The command of the server `bench/<name>.ts`, bundled into `folder` as the bridge is. */
export async function bundledServer(name: string, folder: string): Promise<readonly string[]> {
  const outfile = join(folder, `${name}.mjs`);
  await build({
    entryPoints: [join(root, `bench/${name}.ts`)],
    outfile,
    bundle: true,
    minify: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    logLevel: 'error',
    banner: { js: "import{createRequire as __r}from'node:module';const require=__r(import.meta.url);" },
  });
  return [process.execPath, outfile];
}
