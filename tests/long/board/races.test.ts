import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { boardPage, sharedBrowser } from '../../harness/board-page.js';
import { describeWith } from '../../harness/needs.js';
import { asksEnv, program } from '../../harness/scripted-agent.js';
import { startBridge } from '../../harness/start-bridge.js';

const browser = sharedBrowser();
const ROUNDS = process.env['SOAK'] === '1' ? 200 : 20;

describeWith('browser', 'races at the board', () => {
  it('two pages and a client that answer at once decide each question once', async () => {
    const claude = program(
      'asker',
      `exec </dev/tty; n=0; while [ $n -lt ${ROUNDS} ]; do n=$((n+1)); printf 'Do you want to proceed? [y/N] '; read -r line; echo "GOT $n $line"; done`,
    );
    const bridge = await startBridge({ claude, env: asksEnv });
    const pages = [await boardPage(bridge, await browser()), await boardPage(bridge, await browser())];
    const taskId = await bridge.start({ prompt: 'AGENT: ask' });
    for (const page of pages) {
      // Presses y whenever a card takes it, until the task has ended.
      await page.evaluate(
        "setInterval(() => { const b = [...document.querySelectorAll('.decision .primary')].find((one) => !one.disabled); b?.click(); }, 20)",
      );
    }
    let answered = 0;
    const seen = new Set<string>();
    for (;;) {
      const { status, decisions } = await bridge.status(taskId);
      if (status === 'completed') break;
      for (const { decision_id } of decisions) {
        seen.add(decision_id);
        const answer = await bridge.mcp.callTool('respond_to_task', {
          task_id: taskId,
          decision_id,
          verdict: 'allow',
        });
        if (answer.isError !== true) answered++;
      }
    }
    const journal = join(bridge.workplace.stateDir, 'tasks', taskId, 'journal.ndjson');
    const text = await readFile(journal, 'utf8');
    const closed = text
      .split('\n')
      .filter((line) => line.includes('"type":"decision-closed"'))
      .map((line) => /"decision_id":"(dec_\d+)".*"answered_by":"([^"]+)"/.exec(line)?.slice(1, 3) ?? []);
    expect(closed.map(([id]) => id)).toEqual(Array.from({ length: ROUNDS }, (_, at) => `dec_${at + 1}`));
    expect(closed.filter(([, by]) => by === 'caller')).toHaveLength(answered);
    expect(seen.size).toBeGreaterThan(0);
  });
});
