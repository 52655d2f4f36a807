import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
export const BRIDGE = [process.execPath, join(root, 'dist/main.js')];

/**
 * A stand-in for the CLI, in both drivers: `BENCH-CAT <file>` prints the file, `BENCH-SLEEP <seconds>` sleeps, `BENCH-SHOW
 * <file>` prints the file and stays, `BENCH-FLOOD -` prints until Ctrl-C, `BENCH-GATE <file>` prints the file when the pipe $HOME/gate is opened. It stamps its
 * start and its end, in seconds since the epoch, into $HOME/stamps.
 */
const AGENT = `#!/bin/bash
if [ "$1" = --version ]; then echo '2.1.330 (Claude Code)'; exit; fi
echo "start $EPOCHREALTIME" >> "$HOME/stamps"
read -r word what
case $word in
  BENCH-CAT) cat "$what" ;;
  BENCH-SLEEP) sleep "$what" ;;
  BENCH-FLOOD) trap 'echo; echo STOPPED; sleep 600' INT; yes 'a line of a flood that goes on until it is interrupted' ;;
  BENCH-SHOW) cat "$what"; sleep 600 ;;
  BENCH-GATE) : < "$HOME/gate"; cat "$what" ;;
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
