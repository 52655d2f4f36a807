import { readFileSync, statSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { describeRealClaude } from '../../harness/real-claude.js';
import { runs, says } from '../../harness/scripted-turns.js';
import { startBridge, type TestBridge } from '../../harness/start-bridge.js';

const POSTS = 3_000;
const POLL = { timeout: 60_000, interval: 100 };

/** Finds address and token in the session that it runs in, waits for the file `go`, posts, and keeps what is open open. */
const FLOOD = `
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';

let pid = process.ppid;
let url, token;
while (url === undefined && pid > 1) {
  const command = readFileSync(\`/proc/\${pid}/cmdline\`, 'utf8');
  url = /http:\\/\\/127\\.0\\.0\\.1:\\d+\\/hooks/.exec(command)?.[0];
  token = /CLAUDE_CODE_BRIDGE_HOOK_TOKEN=([^\\0]*)/.exec(readFileSync(\`/proc/\${pid}/environ\`, 'utf8'))?.[1];
  const stat = readFileSync(\`/proc/\${pid}/stat\`, 'latin1');
  pid = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
}
while (!existsSync('go')) await new Promise((done) => setTimeout(done, 50));
const tool_input = Object.fromEntries(Array.from({ length: 20 }, (_, i) => ['field' + i, 'x'.repeat(1900)]));
const counts = { denied: 0, other: 0, failed: 0 };
let sent = 0;
function post() {
  if (sent++ >= ${POSTS}) return;
  const body = JSON.stringify({
    session_id: '01234567-89ab-4cde-8f01-23456789abcd',
    hook_event_name: 'PermissionRequest',
    tool_name: sent % 2 === 0 ? 'Bash' : 'AskUserQuestion',
    tool_input: sent % 2 === 0 ? tool_input
      : { questions: [{ question: 'Forged ' + sent, header: 'h', options: [{ label: 'x'.repeat(1000) }] }], ...tool_input },
  });
  const asked = request(url, { method: 'POST', headers: { authorization: 'Bearer ' + token }, agent: false }, (answer) => {
    let text = '';
    answer.on('data', (more) => (text += more));
    answer.on('end', () => {
      if (text.includes('"behavior":"deny"')) counts.denied++;
      else counts.other++;
      writeFileSync('counts.json', JSON.stringify(counts));
      post();
    });
  });
  asked.on('error', () => { counts.failed++; writeFileSync('counts.json', JSON.stringify(counts)); post(); });
  asked.end(body);
}
for (let lane = 0; lane < 100; lane++) post();
setInterval(() => undefined, 1000);
`;

const countsSchema = z.object({ denied: z.number(), other: z.number(), failed: z.number() });

async function counts(bridge: TestBridge): Promise<z.infer<typeof countsSchema>> {
  return countsSchema.parse(JSON.parse(await bridge.read('counts.json')));
}

/** Highest resident memory of a process so far, in MB. */
function peakMemoryMb(pid: number): number {
  const [, kb] = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kb) / 1024;
}

describeRealClaude('a command of the agent that floods its session with requests', ({ binary }) => {
  it.skipIf(process.platform !== 'linux').each(['answered', 'killed'] as const)(
    'leaves the task seen, its record small, and the real request open until it is %s',
    async (end) => {
      const bridge = await startBridge({
        claude: binary,
        script: [
          runs('node flood.mjs >flood.log 2>&1 & sleep 1'),
          runs('touch really-asked.txt'),
          says('All done.'),
        ],
      });
      await writeFile(join(bridge.project, 'flood.mjs'), FLOOD);
      const id = await bridge.start({ prompt: 'Go.', permission_mode: 'cautious' });
      await bridge.answerNext(id, { verdict: 'allow' });
      const real = await bridge.decision(id);
      expect(real.summary).toBe('Bash(touch really-asked.txt)');
      await writeFile(join(bridge.project, 'go'), '');
      // Forty-nine of the forged ones stay open, the others have their answer.
      await expect
        .poll(async () => (await counts(bridge).catch(() => undefined))?.denied ?? 0, POLL)
        .toBeGreaterThanOrEqual(POSTS - 49);
      expect(await counts(bridge)).toMatchObject({ other: 0, failed: 0 });

      const seen = await bridge.status(id);
      expect(seen.status).toBe('waiting');
      expect(seen.decisions[0]?.decision_id).toBe(real.decision_id);
      expect(JSON.stringify(await bridge.call('list_tasks', {}))).toContain(id);
      const recordFile = join(bridge.workplace.stateDir, 'tasks', id, 'record.json');
      expect(statSync(recordFile).size).toBeLessThan(500_000);
      const { keeper } = await bridge.record(id);
      expect(peakMemoryMb(keeper?.pid ?? 0)).toBeLessThan(300);

      if (end === 'killed') {
        expect(await bridge.call('kill_task', { task_id: id })).toMatchObject({ status: 'killed' });
        return;
      }
      await bridge.respond(id, real, { verdict: 'allow' });
      await bridge.untilHas('really-asked.txt');
      expect(await bridge.call('kill_task', { task_id: id })).toMatchObject({ task_id: id });
    },
  );
});
