import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { journalLine } from '../../../src/store/journal-line.js';
import { boardPage, sharedBrowser } from '../../harness/board-page.js';
import { describeWith } from '../../harness/needs.js';
import { scriptedAgent } from '../../harness/scripted-agent.js';
import { startBridge, type TestBridge } from '../../harness/start-bridge.js';
import { sampleRecord } from '../../tasks/sample-task.js';

const TASKS = 100;
const EVENTS = 5_000;
const browser = sharedBrowser();
const idOf = (number: number): string => `task_${String(number).padStart(20, '0')}`;

/** A task that has ended, with so many events in its journal. */
async function writeTask(bridge: TestBridge, number: number, events: number): Promise<void> {
  const at = new Date(Date.UTC(2026, 0, 1, 0, number)).toISOString();
  const folder = join(bridge.workplace.stateDir, 'tasks', idOf(number));
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const record = sampleRecord({
    task_id: idOf(number),
    status: 'completed',
    reason: 'All done.',
    project_path: bridge.project,
    prompt_summary: `Task number ${number}`,
    created_at: at,
    ended_at: at,
    keeper: null,
  });
  const lines = Array.from({ length: events }, (_, seq) =>
    journalLine(seq + 1, at, 'said', { text: `Said as number ${seq + 1}.` }),
  );
  await writeFile(join(folder, 'journal.ndjson'), lines.join(''));
  await writeFile(join(folder, 'record.json'), JSON.stringify(record));
}

describeWith('browser', 'many tasks on the board', () => {
  it('shows a hundred tasks, finds one of them, and opens a timeline of 5,000 events', async () => {
    const bridge = await startBridge({
      claude: scriptedAgent,
      env: { MCP_TASK_HISTORY_SIZE: String(2 * TASKS) },
    });
    for (let number = 1; number <= TASKS; number++)
      await writeTask(bridge, number, number === 7 ? EVENTS : 2);
    const page = await boardPage(bridge, await browser());
    await page.getByRole('button', { name: `Show all ${TASKS}` }).click();
    await expect.poll(() => page.locator('.row').count()).toBe(TASKS);
    // By its id: a folder of the test could have the number of the task in its name.
    await page.getByRole('searchbox').fill(idOf(7));
    await expect.poll(() => page.locator('.row').count()).toBe(1);
    await page.getByRole('link', { name: /Task number 7 / }).click();
    await page.getByText(`Said as number ${EVENTS}.`).waitFor();
    // The newest first; all that the page has on demand, and of the rest it says how many there are.
    const more = page.getByRole('button', { name: /earlier entries/ });
    while (await more.isVisible()) await more.click();
    const entries = await page.locator('.entry').count();
    const [words = ''] = await page.locator('.timeline > .quiet').allTextContents();
    const left = Number(/^(\d+) earlier events/.exec(words)?.[1] ?? 0);
    expect(entries + left).toBe(EVENTS);
  });
});
