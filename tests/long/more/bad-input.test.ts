import { chmod, readdir } from 'node:fs/promises';
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

describe('bad input', () => {
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
