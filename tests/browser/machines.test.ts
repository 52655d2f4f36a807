import { existsSync } from 'node:fs';
import { chmod, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { boardPage, sharedBrowser } from '../harness/board-page.js';
import { describeWith } from '../harness/needs.js';
import { realPid } from '../harness/real-pid.js';
import { asksEnv, scriptedAgent } from '../harness/scripted-agent.js';
import { serverEntry, startBridge, type TestBridge } from '../harness/start-bridge.js';
import { until } from '../harness/until.js';
import { rowOf, untilShown } from './own-tasks.js';

/** A bridge of its own as the machine `gpu` of another: a command that gives a shell there, until the line is cut. */
async function asMachine({ workplace, env }: TestBridge) {
  const [gate, pidFile, wire] = ['cut', 'wire.pid', 'wire'].map((name) => join(workplace.root, name));
  const words = Object.entries(env).map(([name, value]) => `'${name}=${value}'`);
  await writeFile(
    `${wire}`,
    `#!/bin/sh\n[ -e '${gate}' ] && exit 1\necho $$ > '${pidFile}'\nexec env -i ${words.join(' ')} "$@"\n`,
  );
  await chmod(`${wire}`, 0o755);
  return {
    machines: { gpu: { command: [wire], bridge: [process.execPath, serverEntry] } },
    cut: async () => {
      await writeFile(`${gate}`, '');
      process.kill(realPid(Number(await readFile(`${pidFile}`, 'utf8'))), 'SIGKILL');
    },
    mend: () => rm(`${gate}`),
  };
}

describeWith('browser', 'a task of another machine', () => {
  const browser = sharedBrowser();

  test('is started, watched and answered on the board here; a cut line is said, and ends nothing', async () => {
    const there = await startBridge({ claude: scriptedAgent, env: asksEnv });
    const { machines, cut, mend } = await asMachine(there);
    const here = await startBridge({
      claude: scriptedAgent,
      env: { MCP_MACHINES: JSON.stringify(machines) },
    });
    const page = await boardPage(here, await browser());
    await page.getByRole('button', { name: 'New task' }).click();
    await page.getByLabel('Machine').selectOption('gpu');
    await page.getByLabel('Project').fill(there.project);
    await page.getByLabel('Prompt').fill('AGENT: split-prompt');
    await page.getByRole('button', { name: 'Start task' }).click();
    await page.waitForURL(/#\/gpu\/task_/);
    const taskId = page.url().split('#/')[1] ?? '';
    const task = page.getByRole('main');
    const allow = task.getByRole('button', { name: 'Allow once' });
    await allow.waitFor();
    await rowOf(page, taskId).locator('.machine', { hasText: 'gpu' }).waitFor();
    await task.getByRole('tab', { name: 'Terminal' }).click();
    await untilShown(task, 'proceed');

    await cut();
    await page.locator('.list .cut', { hasText: 'unverifiable since' }).waitFor();
    await task.getByText('what you see is from before').waitFor();
    await allow.click();
    await task.getByRole('alert').getByText('Nothing was sent').waitFor();
    await mend();
    await page.locator('.list .cut').waitFor({ state: 'detached' });
    await untilShown(task, 'proceed');
    await allow.click();
    await allow.waitFor({ state: 'detached' });
    const id = taskId.slice('gpu/'.length);
    expect(await there.end(id)).toMatchObject({ status: 'completed' });
    const closed = { verdict: 'allow', answered_by: expect.stringMatching(/^board\/from-/) as string };
    expect(await there.events(id, 'decision-closed')).toMatchObject([closed]);
    await until('the row says so', async () =>
      expect(await rowOf(page, taskId).textContent()).toContain('completed'),
    );
    expect(existsSync(join(here.workplace.stateDir, 'tasks', id))).toBe(false);
  });
});
