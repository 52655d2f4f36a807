import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { build } from 'esbuild';

export const BRIDGE = [process.execPath, join(import.meta.dirname, '../dist/main.js')];

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

export type Workplace = Awaited<ReturnType<typeof createWorkplace>>;

/**
 * A temp folder with homes, projects and the stand-in agent; the environment is built from nothing. By the name `claude` the agent
 * is driven as Claude Code is, with hooks; by another one as any program, each of whose lines goes to the log.
 */
export async function createWorkplace(
  settings: Readonly<Record<string, string>> = {},
  agentName: 'agent' | 'claude' = 'agent',
) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'ccb-bench-')));
  const project = (name: string): string => {
    mkdirSync(join(folder, name), { recursive: true });
    return join(folder, name);
  };
  const home = project('home');
  const agent = join(folder, agentName);
  writeFileSync(agent, AGENT, { mode: 0o755 });
  const env: Readonly<Record<string, string>> = {
    HOME: home,
    PATH: `${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`,
    LANG: 'C.UTF-8',
    MCP_ALLOWED_ROOTS: folder,
    MCP_STATE_DIR: join(folder, 'state'),
    MCP_CLAUDE_COMMAND: agent,
    TMPDIR: folder,
    ...settings,
  };
  return {
    folder,
    agent,
    env,
    stamps: join(home, 'stamps'),
    minimalServer: await bundledServer('minimal-server', folder),
    /** Makes a folder, if it is not there. */
    project,
    dispose: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** When the programs of a workplace stamped their start or their end, in milliseconds since the epoch. */
export function stampsOf({ stamps }: Workplace, word: 'start' | 'end'): number[] {
  const found = readFileSync(stamps, 'utf8').matchAll(new RegExp(`^${word} ([\\d.]+)`, 'gm'));
  return [...found].map(([, seconds]) => Number(seconds) * 1000);
}

/** The command of the server `bench/<name>.ts`, bundled into `folder` as the bridge is. */
export async function bundledServer(name: string, folder: string): Promise<readonly string[]> {
  const outfile = join(folder, `${name}.mjs`);
  await build({
    entryPoints: [join(import.meta.dirname, `${name}.ts`)],
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
