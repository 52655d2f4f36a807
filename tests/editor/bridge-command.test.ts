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
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { runBridge, type BridgeCommandOptions } from '../../vscode/src/board/bridge-command.js';

let home: string;

beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'bridge-command-')));
  onTestFinished(() => rmSync(home, { recursive: true }));
});

function program(folder: string, name: string, script: string): string {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, name);
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
  return path;
}

function options(changes: Partial<BridgeCommandOptions> = {}): BridgeCommandOptions {
  return { configured: [], env: { PATH: '/usr/bin:/bin' }, homeDir: home, statePath: '/state', ...changes };
}

test('the command of the settings runs in the home directory, for the state directory of the window', async () => {
  const path = program(join(home, 'own'), 'bridge', 'echo "$@"; cat; pwd; echo $MCP_STATE_DIR');
  const said = await runBridge(options({ configured: [path, 'first'] }), ['board']);
  expect(said).toBe(`first board\n${home}\n/state\n`);
});

test('without the setting it is that of the PATH, whose relative folders are of the workspace and not looked at', async () => {
  program(join(home, 'bin'), 'claude-code-bridge', 'echo found');
  program(join(home, 'relative'), 'claude-code-bridge', 'echo taken');
  const env = { PATH: `relative:.:${join(home, 'bin')}:/usr/bin:/bin` };
  expect(await runBridge(options({ env }), [])).toBe('found\n');
});

test('without either nothing runs, whatever other programs there are', async () => {
  program(join(home, 'bin'), 'npx', 'echo taken');
  const env = { PATH: join(home, 'bin') };
  await expect(runBridge(options({ env }), ['board'])).rejects.toThrow(
    'claude-code-bridge is not on the PATH. Set claudeTerminalBridge.bridgeCommand to how you run it, such as ["node", ',
  );
});

test('what the editor sets for its own processes does not reach it', async () => {
  const path = program(home, 'bridge', 'env');
  const env = { PATH: '/usr/bin:/bin', ELECTRON_RUN_AS_NODE: '1', VSCODE_PID: '2', LANG: 'C' };
  const said = await runBridge(options({ configured: [path], env }), []);
  expect(said).toContain('LANG=C\n');
  expect(said).not.toMatch(/ELECTRON|VSCODE/);
});

test('a command that fails says what it said, and one that is not there how to get it', async () => {
  const path = program(home, 'bridge', 'echo "No such folder." >&2; exit 3');
  await expect(runBridge(options({ configured: [path] }), [])).rejects.toThrow(/^No such folder\.$/);
  const silent = program(home, 'silent', 'exit 4');
  await expect(runBridge(options({ configured: [silent] }), [])).rejects.toThrow('ended with 4.');
  await expect(runBridge(options({ configured: ['/none/such'] }), [])).rejects.toThrow(
    /could not be run: .*ENOENT.* Correct claudeTerminalBridge\.bridgeCommand\./,
  );
});

test('a command that does not end, and ignores that it is to, is not waited for', async () => {
  const path = program(home, 'bridge', 'trap "" TERM; echo $$ > "$HOME/pid"; exec sleep 60');
  const env = { PATH: '/usr/bin:/bin', HOME: home };
  onTestFinished(() => void process.kill(Number(readFileSync(join(home, 'pid'), 'utf8')), 'SIGKILL'));
  await expect(runBridge(options({ configured: [path], env, limitMs: 1_000 }), [])).rejects.toThrow(
    'did not end in time.',
  );
});
