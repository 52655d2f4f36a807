import { createHmac } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, it, onTestFinished } from 'vitest';
import { portOf } from '../../harness/listening.js';
import { describeNewestClaude } from '../../harness/real-claude.js';
import { scriptedAgent } from '../../harness/scripted-agent.js';
import { runs, says } from '../../harness/scripted-turns.js';
import { startBridge } from '../../harness/start-bridge.js';
import { createWorkplace } from '../../harness/workplace.js';

/** Listens for posts until the test ends, and answers each with a status; its address. */
async function webhook(answer: (body: string, headers: IncomingHttpHeaders) => number): Promise<string> {
  const server = createServer((request, response) => {
    void text(request).then((body) => response.writeHead(answer(body, request.headers)).end());
  });
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${await portOf(server)}/`;
}

describeNewestClaude('notices', ({ binary }) => {
  it('a question and an end reach the desktop and the webhook, and the keeper stays until they are sent', async () => {
    const received: { readonly signature: string; readonly signed: string; readonly body: string }[] = [];
    const url = await webhook((body, headers) => {
      received.push({
        signature: String(headers['webhook-signature']),
        signed: `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${body}`,
        body,
      });
      return received.length === 1 ? 503 : 204;
    });
    const workplace = await createWorkplace();
    const secret = join(workplace.homeDir, 'webhook-secret');
    const shown = join(workplace.homeDir, 'shown');
    await writeFile(secret, 'a long secret', { mode: 0o600 });
    const script = `#!/bin/sh\nprintf '%s|' "$@" >> "${shown}"\necho >> "${shown}"\n`;
    await writeFile(join(workplace.homeDir, 'notify-send'), script, { mode: 0o755 });
    const notify = { desktop: true, url, secret_file: '~/webhook-secret' };
    const bridge = await startBridge({
      claude: binary,
      workplace,
      script: [runs('echo the-words > made.txt'), says('Done.')],
      env: { MCP_NOTIFY: JSON.stringify(notify), PATH: `${workplace.homeDir}:${process.env['PATH'] ?? ''}` },
    });
    const id = await bridge.start({ prompt: 'Make it.', permission_mode: 'cautious' });
    await bridge.answerNext(id, { verdict: 'allow' });
    expect(await bridge.end(id)).toMatchObject({ status: 'completed' });
    const settings = await bridge.mcp.readResource('config://current');
    expect(settings).toContain(`${url}…`);
    expect(settings).not.toContain('a-token');
    await bridge.mcp.close();
    await workplace.settled();

    expect(received.map(({ body }): unknown => JSON.parse(body))).toMatchObject([
      { type: 'task.decision', data: { task_id: id, project: 'app', tool: 'Bash', status: 'waiting' } },
      { type: 'task.decision', data: { task_id: id } },
      { type: 'task.end', data: { task_id: id, status: 'completed', exit_code: 0 } },
    ]);
    for (const { signature, signed, body } of received) {
      expect(signature).toBe(`v1,${createHmac('sha256', 'a long secret').update(signed).digest('base64')}`);
      expect(body).not.toContain('the-words');
    }
    const lines = (await readFile(shown, 'utf8')).trim().split('\n');
    expect(lines).toHaveLength(2);
    expect(lines[0]).toMatch(/Claude Code asks in app\|.*the-words/);
    expect(lines[1]).toContain('Task completed in app|Make it.');
  });
});

it('the end of a task whose keeper was killed reaches the webhook once, though two servers find it', async () => {
  const ends: unknown[] = [];
  const url = await webhook((body) => {
    ends.push(JSON.parse(body));
    return 204;
  });
  const env = { MCP_NOTIFY: JSON.stringify({ url, on: ['end'] }) };
  const bridge = await startBridge({ claude: scriptedAgent, env });
  const other = await bridge.another('modern', { env });
  const id = await bridge.start({ prompt: 'AGENT: never-exits' });
  await bridge.killKeeper(id);
  const states = await Promise.all(
    [bridge.mcp, other.mcp].map((mcp) =>
      mcp.callTool('wait_for_task', { task_ids: [id], timeout_seconds: 20 }),
    ),
  );
  for (const { structuredContent } of states) expect(JSON.stringify(structuredContent)).toContain('"error"');
  await expect.poll(() => ends).toMatchObject([{ type: 'task.end', data: { task_id: id, status: 'error' } }]);
  await bridge.mcp.close();
  await other.mcp.close();
  await bridge.workplace.settled();
  expect(ends).toHaveLength(1);
});
