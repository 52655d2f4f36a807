import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { attach } from '../../harness/attached-terminal.js';
import { killMarked, markedProcesses } from '../../harness/marked-processes.js';
import { describeNewestClaude } from '../../harness/real-claude.js';
import { runCommand } from '../../harness/run-command.js';

function demoEnvironment(temp: string): Record<string, string> {
  return {
    HOME: temp,
    TMPDIR: temp,
    PATH: `${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`,
    LANG: 'C.UTF-8',
  };
}

/** The folder of the sockets stays, empty, for the next server. */
async function leftIn(temp: string): Promise<string[]> {
  const left = await readdir(temp, { recursive: true });
  return left.filter((name) => !/^ccb-\d+$/.test(name));
}

describeNewestClaude('claude-code-bridge demo', ({ binary }) => {
  it('shows a file that Claude Code changed, and leaves nothing behind', async () => {
    const temp = await mkdtemp(join(tmpdir(), 'ccb-demo-test-'));
    onTestFinished(() => rm(temp, { recursive: true, force: true }));
    const options = { cwd: temp, env: demoEnvironment(temp) };
    const { out: stdout } = await runCommand(['demo', '--claude', binary], options);
    expect(stdout).toContain('respond_to_task');
    expect(stdout).toMatch(
      /^> get_task_result\n {2}files: average\.js \(\+1 -1\)\n {2}commands: .*node test\.js \(exit code 0\)$/m,
    );
    expect(stdout).toMatch(/^ {2}\+ {2}for \(let i = 0;/m);
    expect(stdout).toMatch(/Server stopped, .* removed\./);
    expect(await leftIn(temp)).toEqual([]);
  });

  it.each(['start_task', 'wait_for_task', 'respond_to_task'])(
    'leaves nothing behind after Ctrl-C in its terminal, which reaches its server too, at %s',
    async (word) => {
      const temp = await mkdtemp(join(tmpdir(), 'ccb-demo-test-'));
      onTestFinished(async () => {
        await killMarked(temp);
        await rm(temp, { recursive: true, force: true });
      });
      const place = { env: demoEnvironment(temp), workplace: { root: temp } };
      const demo = await attach(place, { command: 'demo', args: ['--claude', binary] });
      await demo.sees(word);
      demo.type('\x03');
      // Exit code 130, as a shell reports it.
      expect(await demo.exited).toEqual({ signal: 'SIGINT' });
      await expect.poll(() => markedProcesses(temp), { timeout: 3_000 }).toEqual([]);
      expect(await leftIn(temp)).toEqual([]);
    },
  );
});
