import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { describeRealClaude, drivers } from '../../harness/real-claude.js';
import { runs, says } from '../../harness/scripted-turns.js';
import { serverEntry, startBridge, type TestBridge } from '../../harness/start-bridge.js';

/** As `claude mcp add --scope user` does: every session of this user has the bridge, those inside tasks, too. */
async function addForEverySession({ workplace, env }: TestBridge): Promise<void> {
  const file = join(workplace.homeDir, '.claude.json');
  const state = z.looseObject({}).parse(JSON.parse(await readFile(file, 'utf8')));
  const server = { type: 'stdio', command: process.execPath, args: [serverEntry], env };
  await writeFile(file, JSON.stringify({ ...state, mcpServers: { 'claude-code-bridge': server } }));
}

describeRealClaude('the bridge inside its own tasks', ({ binary }) => {
  it.each(drivers)(
    'an agent of an auto task cannot answer the question of a cautious one (%s)',
    async (driver) => {
      const asked: { task_id?: string; decision_id?: string } = {};
      const bridge = await startBridge({
        claude: binary,
        projects: ['careful', 'bold'],
        script: (request) => {
          if (request.toolResults.length > 0) return says('Done.');
          if (!request.userText.includes('Answer it.')) return runs('touch made.txt');
          return {
            tools: [
              { name: 'mcp__claude-code-bridge__respond_to_task', input: { ...asked, verdict: 'allow' } },
            ],
          };
        },
      });
      await addForEverySession(bridge);
      const [careful, bold] = bridge.projects;
      const cautious = await bridge.start({
        prompt: 'Make it.',
        path: careful,
        permission_mode: 'cautious',
        driver,
      });
      const { decision_id } = await bridge.decision(cautious);
      Object.assign(asked, { task_id: cautious, decision_id });
      const auto = await bridge.start({ prompt: 'Answer it.', path: bold, permission_mode: 'auto', driver });
      expect(await bridge.end(auto)).toMatchObject({ status: 'completed' });
      expect(bridge.told().join('\n')).toMatch(/No such tool available/);
      expect(
        bridge.api.requests.flatMap(({ toolNames }) => toolNames).filter((name) => /bridge/.test(name)),
      ).toEqual([]);
      expect((await bridge.status(cautious)).decisions).toMatchObject([{ decision_id }]);
      await bridge.call('kill_task', { task_id: cautious });
    },
  );
});
