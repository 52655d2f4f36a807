import { existsSync } from 'node:fs';
import { chmod, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { describeRealClaude } from '../../harness/real-claude.js';
import { scriptedAgent } from '../../harness/scripted-agent.js';
import { runs, says } from '../../harness/scripted-turns.js';
import { startBridge } from '../../harness/start-bridge.js';

const oddNames = [
  `it's "quoted"`,
  '$(touch pwned) `touch pwned`; touch pwned & ${HOME}',
  'two\nlines',
  ' spaces  and\ttab ',
  'é☃ 日本語 😀',
  '--dangerously-skip-permissions',
];
const unknownTask = 'task_00000000000000000000';

describe('bad input', () => {
  it('of prompts is refused with what to do, and leaves nothing', async () => {
    const bridge = await startBridge({ claude: scriptedAgent });
    const prompts = [
      { prompt: '', says: /empty/ },
      { prompt: ' \n\t ', says: /empty/ },
      { prompt: 'a\0b', says: /U\+0000 at position 1/ },
      { prompt: 'red \x1b[31m', says: /U\+001B/ },
      { prompt: '\x7fELF\x01\x02', says: /U\+007F/ },
      { prompt: 'x'.repeat(3 * 1024 * 1024), says: /3145728 bytes.*file/ },
    ];
    for (const { prompt, says: words } of prompts) {
      const refusal = await bridge.refusal('start_task', { prompt, path: bridge.project });
      expect(refusal).toMatch(/^INVALID_PROMPT: /);
      expect(refusal).toMatch(words);
    }
    expect(await readdir(bridge.project)).toEqual([]);
    expect(await readdir(join(bridge.workplace.stateDir, 'tasks')).catch(() => [])).toEqual([]);
  });

  it('of paths is refused with what is wrong, and leaves nothing', async () => {
    // What lies outside of the roots is in tests/journeys/files.test.ts.
    const bridge = await startBridge({ claude: scriptedAgent });
    const { projectsDir } = bridge.workplace;
    await writeFile(join(projectsDir, 'file'), '');
    for (const [path, code] of [
      [`${projectsDir}-evil`, 'PATH_NOT_ALLOWED'],
      [join(projectsDir, 'file'), 'NOT_A_DIRECTORY'],
      [join(projectsDir, 'file', 'below'), 'NOT_A_DIRECTORY|PATH_NOT_FOUND'],
      [join(projectsDir, 'missing'), 'PATH_NOT_FOUND'],
      ['', '[A-Z_]+'],
      ['\0', '[A-Z_]+'],
    ] as const)
      for (const [tool, more] of [
        ['start_task', { prompt: 'AGENT: exit' }],
        ['set_active_project', {}],
      ] as const)
        expect(await bridge.refusal(tool, { ...more, path }), path).toMatch(new RegExp(`^(${code}): .+`));
    expect(existsSync(join(projectsDir, 'missing'))).toBe(false);
    expect(await bridge.call('list_tasks')).toMatchObject({ tasks: [] });
  });

  it('of types and bounds is refused by the field', async () => {
    const bridge = await startBridge({ claude: scriptedAgent });
    const start = { prompt: 'AGENT: exit', path: bridge.project };
    const calls: { tool: string; args: Record<string, unknown>; says: RegExp }[] = [
      { tool: 'start_task', args: { ...start, prompt: 7 }, says: /prompt/ },
      { tool: 'start_task', args: { ...start, timeout_seconds: '60s' }, says: /timeout_seconds/ },
      { tool: 'start_task', args: { ...start, driver: 'magic' }, says: /driver.*interactive.*print/s },
      { tool: 'start_task', args: { ...start, promt: 'typo' }, says: /promt/ },
      { tool: 'get_task_status', args: { task_id: ['x'] }, says: /task_id/ },
      { tool: 'wait_for_task', args: { task_ids: [] }, says: /task_ids/ },
      {
        tool: 'wait_for_task',
        args: { task_ids: [unknownTask], timeout_seconds: 46 },
        says: /timeout_seconds.*45/s,
      },
      { tool: 'get_task_output', args: { task_id: unknownTask, view: 'movie' }, says: /view.*log/s },
    ];
    for (const { tool, args, says: words } of calls) {
      const refusal = await bridge.refusal(tool, args);
      expect(refusal).toMatch(/^INVALID_ARGUMENTS: /);
      expect(refusal).toMatch(words);
    }
    expect(await readdir(bridge.project)).toEqual([]);
  });

  it('of ids is refused by every tool that takes one', async () => {
    const bridge = await startBridge({ claude: scriptedAgent });
    for (const task_id of [
      unknownTask,
      '',
      'task_x',
      '../../etc/passwd',
      `${unknownTask}/..`,
      'x'.repeat(10_000),
    ]) {
      for (const [tool, more] of [
        ['get_task_status', {}],
        ['kill_task', {}],
        ['get_task_output', { view: 'log' }],
        ['respond_to_task', { decision_id: 'dec_1', verdict: 'allow' }],
        ['message_task', { text: 'Hello.' }],
      ] as const) {
        const refusal = await bridge.refusal(tool, { task_id, ...more });
        expect(refusal, `${tool} ${task_id.slice(0, 40)}`).toMatch(/^TASK_NOT_FOUND: .*list_tasks/s);
        expect(refusal.length).toBeLessThan(1_000);
      }
      expect(await bridge.refusal('wait_for_task', { task_ids: [task_id] })).toMatch(/^TASK_NOT_FOUND: /);
    }
    const id = await bridge.start({ prompt: 'AGENT: never-exits' });
    expect(
      await bridge.refusal('respond_to_task', { task_id: id, decision_id: 'dec_9', verdict: 'allow' }),
    ).toMatch(/^DECISION_NOT_FOUND: .*Open decisions: none/);
    expect(await bridge.refusal('message_task', { task_id: id })).toMatch(/^INVALID_ARGUMENTS: .*interrupt/);
    await bridge.call('kill_task', { task_id: id });
  });

  it('a project that cannot be written to is refused by name, and stays free', async () => {
    const isRoot = process.getuid?.() === 0;
    // For root only a file system that knows no folders of ours refuses.
    const sealed = '/sys/kernel';
    const bridge = await startBridge({
      claude: scriptedAgent,
      ...(isRoot && { env: { MCP_ALLOWED_ROOTS: sealed } }),
    });
    const path = isRoot ? sealed : bridge.project;
    if (!isRoot) await chmod(path, 0o500);
    for (let time = 0; time < 2; time++) {
      expect(await bridge.refusal('start_task', { prompt: 'AGENT: exit', path })).toMatch(
        /^NOT_WRITABLE: .*\.claude\/mcp-logs/s,
      );
    }
    if (!isRoot) await chmod(path, 0o700);
    expect(await bridge.call('list_tasks')).toMatchObject({ tasks: [] });
  });

  it('a project may have any name', async () => {
    const bridge = await startBridge({ claude: scriptedAgent, projects: oddNames });
    for (const path of bridge.projects) {
      const id = await bridge.start({ prompt: 'AGENT: echo', path });
      expect(await bridge.end(id)).toMatchObject({ status: 'completed', project_path: path });
      expect(await readdir(path)).toEqual(['.claude']);
      expect(await readdir(join(path, '.claude', 'mcp-logs'))).toContain(`${id}.log`);
    }
    expect((await readdir(bridge.workplace.projectsDir)).sort()).toEqual([...oddNames].sort());
  });
});

describeRealClaude('the real CLI in a project of an odd name', ({ binary }) => {
  it('asks for trust by that name and works there', async () => {
    const bridge = await startBridge({
      claude: binary,
      projects: [`it's "a" $(touch pwned) é☃`],
      trusted: false,
      script: [runs('pwd > here.txt'), says('Here.')],
    });
    const id = await bridge.start({ prompt: 'Where?' });
    expect(await bridge.end(id)).toMatchObject({ status: 'completed', last_output: 'Here.' });
    expect((await readdir(bridge.project)).sort()).toEqual(['.claude', 'here.txt']);
  });
});
