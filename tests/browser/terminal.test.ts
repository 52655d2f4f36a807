import { expect, test } from 'vitest';
import { boardPage, sharedBrowser } from '../harness/board-page.js';
import { describeWith } from '../harness/needs.js';
import { writeProgram } from '../harness/scripted-agent.js';
import { sharedBridge } from '../harness/start-bridge.js';
import { until } from '../harness/until.js';
import { createWorkplace } from '../harness/workplace.js';
import { openTerminal, ownTask, screenOf, takeKeyboard, untilShown } from './own-tasks.js';

/** Says what it read. */
const ECHOES = 'exec </dev/tty; echo READY; while read -r line; do echo "GOT $line"; done';

describeWith('browser', 'the terminal of a task', () => {
  const browser = sharedBrowser();
  const bridge = sharedBridge(async () => {
    const workplace = await createWorkplace();
    return { claude: await writeProgram(workplace, 'echoes', ECHOES), workplace };
  });

  test('is typed into by the page alone that took the keyboard; another one takes it over', async () => {
    const taskId = await ownTask(bridge(), 'AGENT: echoes');
    const one = await boardPage(bridge(), await browser());
    const first = await openTerminal(one, taskId);
    await untilShown(first, 'READY');
    await one.keyboard.type('too early');
    await first.locator('.terminal-place').click();
    await one.keyboard.type('unheard\n');
    await takeKeyboard(first);
    await one.keyboard.type('first');
    // A screen reader says what stands in the field that has the focus.
    const field = first.locator('.xterm-helper-textarea');
    await until('it can be read', async () => (await field.inputValue()).endsWith('first'));
    await one.keyboard.press('Enter');
    await untilShown(first, 'GOT first');
    await one.keyboard.press('Shift+Tab');
    expect(await one.evaluate(() => document.activeElement?.textContent)).toBe('Give the keyboard back');
    await first.locator('.terminal-place').click();
    await one.keyboard.type('unmixed\n');
    await untilShown(first, 'GOT unmixed');
    const two = await boardPage(bridge(), await browser());
    const second = await openTerminal(two, taskId);
    await second.getByText('chrome-1 has the keyboard; you only watch.').waitFor();
    await takeKeyboard(second);
    await first.getByText('chrome-2 has the keyboard; you only watch.').waitFor();
    await two.keyboard.type('second\n');
    await untilShown(second, 'GOT second');
    await untilShown(first, 'GOT second');
    expect(await screenOf(second)).not.toContain('GOT unheard');
  });
});
