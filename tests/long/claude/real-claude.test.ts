import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { describeRealClaude } from '../../harness/real-claude.js';
import { runs, says } from '../../harness/scripted-turns.js';
import { startBridge, type TestBridge } from '../../harness/start-bridge.js';

describeRealClaude('a task for the real CLI', ({ binary }) => {
  it('trusts the folder and uses its servers by rule in mode auto', async () => {
    const bridge = await startBridge({ claude: binary, trusted: false, script: [says('Trusted.')] });
    await nameServer(bridge);
    const id = await bridge.start({ prompt: 'Hello.' });
    expect(await bridge.end(id)).toMatchObject({ status: 'completed', last_output: 'Trusted.' });
    expect(await bridge.events(id, 'decision-closed')).toMatchObject([
      { tool: 'trust-folder', verdict: 'allow', answered_by: 'rule' },
      { tool: 'project-mcp-server', verdict: 'allow', answered_by: 'rule' },
    ]);
  });

  it.each([
    { verdict: 'allow', status: 'completed', last: /^Trusted\.$/ },
    { verdict: 'deny', status: 'failed', last: /./ },
  ])(
    'asks in mode cautious whether the folder is trusted, and uses none of its servers: $verdict',
    async ({ verdict, status, last }) => {
      const bridge = await startBridge({ claude: binary, trusted: false, script: [says('Trusted.')] });
      await nameServer(bridge);
      const id = await bridge.start({ prompt: 'Hello.', permission_mode: 'cautious' });
      const decision = await bridge.answerNext(id, { verdict });
      expect(decision).toMatchObject({ kind: 'trust', tool: 'trust-folder' });
      expect(decision.summary).toContain(bridge.project);
      const end = await bridge.end(id);
      expect(end.status).toBe(status);
      expect(end.last_output).toMatch(last);
      if (verdict === 'deny') {
        expect(end.reason).toMatch(/trust/i);
        expect(bridge.api.turnsServed).toBe(0);
      }
    },
  );
});

describeRealClaude('a wrapper around the real CLI', ({ binary }) => {
  it('asks in mode cautious as the CLI by its own name does', async () => {
    const bridge = await startBridge({
      claude: `env ${binary}`,
      script: [runs('echo hi > hello.txt', 'I will.'), says('All written.')],
    });
    const id = await bridge.start({ prompt: 'Write.', permission_mode: 'cautious' });
    expect(await bridge.answerNext(id, { verdict: 'allow' })).toMatchObject({
      kind: 'permission',
      tool: 'Bash',
    });
    expect(await bridge.end(id)).toMatchObject({ status: 'completed', last_output: 'All written.' });
  });
});

/** An MCP server of the project, about which the CLI asks. */
async function nameServer({ project }: TestBridge): Promise<void> {
  const servers = { mcpServers: { foo: { command: '/nowhere/foo' } } };
  await writeFile(join(project, '.mcp.json'), JSON.stringify(servers));
}
