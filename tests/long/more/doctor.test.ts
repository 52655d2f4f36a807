import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { reportSchema, type Report } from '../../../src/doctor/report.js';
import { describeNewestClaude } from '../../harness/real-claude.js';
import { runCommand } from '../../harness/run-command.js';
import { writeProgram } from '../../harness/scripted-agent.js';
import { startBridge } from '../../harness/start-bridge.js';
import { createWorkplace, type Workplace } from '../../harness/workplace.js';

async function reportOf(
  place: Workplace,
  words: readonly string[] = [],
  more: Readonly<Record<string, string>> = {},
): Promise<Report> {
  const { root: cwd, env } = place;
  const { out } = await runCommand(['doctor', '--json', '--quick', ...words], {
    cwd,
    env: { ...env, ...more },
  });
  return reportSchema.parse(JSON.parse(out));
}

function entryOf(report: Report, id: string): Report['checks'][number] | undefined {
  return report.checks.find((entry) => entry.id === id);
}

async function place(): Promise<Workplace> {
  const workplace = await createWorkplace();
  onTestFinished(() => workplace.remove());
  return workplace;
}

describe('the command doctor', () => {
  it('names what a person’s own settings run in each task', async () => {
    const workplace = await place();
    const hooks = { PostToolUse: [{ hooks: [{ type: 'command', command: 'prettier --write' }] }] };
    await mkdir(join(workplace.homeDir, '.claude'), { recursive: true });
    await writeFile(
      join(workplace.homeDir, '.claude', 'settings.json'),
      JSON.stringify({ hooks, enabledPlugins: { 'a@b': true, 'c@d': false } }),
    );
    const details = entryOf(await reportOf(workplace), 'hooks')?.details.join('; ');
    expect(details).toContain(
      'mode: PostToolUse: prettier --write; yours, in tasks of every mode: plugin: a@b; ',
    );
    expect(details).not.toContain('c@d');
  });

  it('names a Claude Code that is too old, and so does the start of a task', async () => {
    const workplace = await createWorkplace();
    const claude = await writeProgram(workplace, 'claude', 'echo "2.1.329 (Claude Code)"');
    const bridge = await startBridge({ claude, workplace });
    const started = await bridge.refusal('start_task', { prompt: 'Work.', path: bridge.project });
    expect(started).toMatch(/^CLAUDE_TOO_OLD: Claude Code 2\.1\.329 is too old: .*claude update/);
    const report = await reportOf(workplace, [], { MCP_CLAUDE_COMMAND: claude });
    expect(entryOf(report, 'claude-version')).toMatchObject({ status: 'error' });
  });

  describeNewestClaude('with Claude Code', ({ binary }) => {
    it('runs a whole task with a scripted model', async () => {
      const { workplace, env } = await startBridge({ claude: binary });
      const { code, out: stdout } = await runCommand(['doctor'], { cwd: workplace.root, env });
      expect(stdout).toMatch(/✓ Claude Code 2\.1\.\d+, which is (?:newer than all that are )?tested/);
      expect(stdout).toMatch(/✓ Claude Code is logged in \(api_key\)/);
      expect(stdout).toMatch(/✓ A task with a scripted model was done in [\d.]+ s/);
      expect(code).toBeLessThan(2);
    });
  });
});
