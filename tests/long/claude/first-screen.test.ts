import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { onPath } from '../../harness/need-table.js';
import { drivers, describeNewestClaude } from '../../harness/real-claude.js';
import { program, quickAgent } from '../../harness/scripted-agent.js';
import { runs, says } from '../../harness/scripted-turns.js';
import { startBridge } from '../../harness/start-bridge.js';
import { createWorkplace, type Workplace } from '../../harness/workplace.js';

const run = promisify(execFile);

/** How a person runs the built server, which is not on PATH here. */
const DOCTOR = /`node \S+\/dist\/main\.js doctor` shows what is wrong\.$/;
/** Of programs that a desktop starts. */
const SHORT_PATH = '/usr/bin:/bin';
const isInstalledHere = ['/usr/local/bin', '/opt/homebrew/bin', '/usr/bin', '/bin'].some((folder) =>
  existsSync(join(folder, 'claude')),
);

describe('what a person reads in the chat at first', () => {
  it.skipIf(isInstalledHere)('without Claude Code: how to install it', async () => {
    const bridge = await startBridge({ claude: 'claude', env: { PATH: SHORT_PATH } });
    const words = await bridge.refusal('start_task', { prompt: 'Hello.', path: bridge.project });
    expect(words).toMatch(
      /^CLAUDE_NOT_FOUND: .* on PATH \(\/usr\/bin:\/bin\) .*Install Claude Code \(npm install -g /,
    );
    expect(words).toMatch(DOCTOR);
  });

  it('with a state directory that cannot be used: which one, and what to do', async () => {
    const workplace = await createWorkplace();
    const file = join(workplace.root, 'a-file');
    await writeFile(file, '');
    const bridge = await startBridge({
      claude: await quickAgent(workplace),
      workplace,
      env: { MCP_STATE_DIR: file },
    });
    const words = await bridge.refusal('start_task', { prompt: 'AGENT: exit 0', path: bridge.project });
    expect(words).toMatch(/^STATE_UNUSABLE: The folder \S+ is a file, not a folder\. /);
    expect(words).toMatch(DOCTOR);
  });

  it('without git: the task runs, and its receipt says why it has no changes', async () => {
    const workplace = await createWorkplace();
    const path = await pathWithoutGit(workplace);
    const bridge = await startBridge({ claude: await quickAgent(workplace), workplace, env: { PATH: path } });
    await run('git', ['init', '--quiet', bridge.project]);
    const id = await bridge.start({ prompt: 'AGENT: exit 0' });
    expect(await bridge.end(id)).toMatchObject({ status: 'completed' });
    const result = JSON.stringify(await bridge.call('get_task_result', { task_id: id }));
    expect(result).toMatch(/git could not be started: it is not on PATH.* Install git, and make sure/);
    const busy = await bridge.start({ prompt: 'AGENT: never-exits' });
    const worktree = { prompt: 'AGENT: exit 0', path: bridge.project, on_conflict: 'worktree' };
    expect(await bridge.refusal('start_task', worktree)).toMatch(/^GIT_NOT_FOUND: .* Install git/);
    await bridge.call('kill_task', { task_id: busy });
  });
});

describeNewestClaude('what a person reads in the chat of a task', ({ binary }) => {
  it('whose Claude Code is not logged in: how to log in', async () => {
    const projects = [...drivers];
    const bridge = await startBridge({ claude: binary, withKey: false, projects });
    const ids = await Promise.all(
      projects.map((driver, index) =>
        bridge.start({ prompt: 'Hello.', path: bridge.projects[index], driver }),
      ),
    );
    for (const id of ids) {
      const { status, reason } = await bridge.end(id);
      expect(status).toBe('failed');
      expect(reason).toMatch(/Not logged in.* Run `claude` once in a terminal and log in/);
      expect(reason).toMatch(DOCTOR);
    }
  });

  it('whose Claude Code drops its settings: that it was ended, and what may be the cause', async () => {
    // One invalid value in them has the same effect.
    const forgetful = program(
      'claude',
      `for word in "$@"; do shift; case "$last" in --settings) ;; *) [ "$word" = --settings ] || set -- "$@" "$word" ;; esac; last=$word; done\nexec '${binary}' "$@"`,
    );
    const script = [runs('touch made.txt'), says('Made.')];
    const bridge = await startBridge({ claude: forgetful, script });
    const id = await bridge.start({ prompt: 'Make it.' });
    const end = await bridge.end(id);
    expect(end).toMatchObject({ status: 'failed', trouble: { kind: 'settings-lost' } });
    expect(end.reason).toMatch(/Its settings for this session, hooks and rules, are not used/);
    expect(bridge.has('made.txt')).toBe(false);
  });
});

async function pathWithoutGit({ root }: Workplace): Promise<string> {
  const bin = join(root, 'bin');
  await mkdir(bin);
  for (const name of ['sh', 'sleep', 'ps']) {
    const found = onPath(name);
    if (found !== undefined) await symlink(found, join(bin, name));
  }
  return bin;
}
