import { expect, it } from 'vitest';
import { boardPage, sharedBrowser } from '../../harness/board-page.js';
import { describeWith } from '../../harness/needs.js';
import { program, scriptedAgent } from '../../harness/scripted-agent.js';
import { startBridge } from '../../harness/start-bridge.js';
import type { Page } from 'playwright-core';

const browser = sharedBrowser();
/** Of the short form a tenth. */
const FLOOD_MB = process.env['SOAK'] === '1' ? 200 : 20;

async function openTerminal(page: Page, prompt: string): Promise<void> {
  await page
    .getByRole('link', { name: new RegExp(prompt) })
    .first()
    .click();
  await page.getByRole('tab', { name: 'Terminal' }).click();
  await page.getByText('only watch.').waitFor();
}

/** What the emulator in the page shows now. */
async function shown(page: Page): Promise<string> {
  const rows = await page.locator('.xterm-rows > div').allTextContents();
  return rows.join('\n').replaceAll('\u00a0', ' ');
}

describeWith('browser', 'the terminal on the board', () => {
  it(`after ${FLOOD_MB} MB the page shows what is at their end, and Ctrl-C ends what follows`, async () => {
    const claude = program(
      'long-flood',
      `trap 'echo; echo STOPPED; sleep 600' INT; echo READY; read -r line </dev/tty; yes "a line of a long flood" | head -c ${FLOOD_MB}000000; echo; echo FLOOD-OVER; read -r line </dev/tty; yes "more"`,
    );
    const bridge = await startBridge({ claude });
    const taskId = await bridge.start({ prompt: 'AGENT: long-flood' });
    const page = await boardPage(bridge, await browser());
    await openTerminal(page, 'AGENT: long-flood');
    await page.getByRole('button', { name: 'Take the keyboard' }).click();
    await page.getByText('Your keys go to the session.').waitFor();
    await page.keyboard.press('Enter');
    await expect.poll(() => shown(page), { timeout: 80_000 }).toContain('FLOOD-OVER');
    await page.keyboard.press('Enter');
    await expect.poll(() => shown(page)).toContain('more');
    await page.keyboard.press('Control+c');
    await expect.poll(() => shown(page)).toContain('STOPPED');
    await bridge.call('kill_task', { task_id: taskId });
  });

  it('sequences that ask for the clipboard, set titles or link to files do nothing to the page', async () => {
    const claude = program(
      'attacker',
      String.raw`printf '\033]52;c;c3RvbGVu\007\033]0;FORGED\007\033]2;FORGED\007\033]8;;javascript:document.title=1\007click\033]8;;\007\033]8;;file:///etc/passwd\007here\033]8;;\007\nREADY\n'; sleep 600`,
    );
    const bridge = await startBridge({ claude });
    const taskId = await bridge.start({ prompt: 'AGENT: attack' });
    const page = await boardPage(bridge, await browser());
    const asked: string[] = [];
    page.on('dialog', (dialog) => {
      asked.push(dialog.message());
      void dialog.dismiss();
    });
    await openTerminal(page, 'AGENT: attack');
    await expect.poll(() => shown(page)).toContain('READY');
    expect(await page.title()).toBe('Claude Code Bridge');
    for (const word of ['click', 'here']) await page.getByText(word).first().click({ force: true });
    expect(asked).toEqual([]);
    expect(page.context().pages()).toHaveLength(1);
    expect(page.url()).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/#\/task_/);
    await bridge.call('kill_task', { task_id: taskId });
  });

  it('the terminal of a task that has ended says so', async () => {
    const bridge = await startBridge({ claude: scriptedAgent });
    await bridge.start({ prompt: 'AGENT: exit 0' });
    const page = await boardPage(bridge, await browser());
    await page
      .getByRole('link', { name: /AGENT: exit 0/ })
      .first()
      .click();
    await page.getByText('completed: The agent exited with code 0.').waitFor();
    await page.getByRole('tab', { name: 'Terminal' }).click();
    await page.getByText('The task has ended').waitFor();
  });
});
