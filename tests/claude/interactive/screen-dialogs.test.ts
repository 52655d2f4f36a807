import { beforeEach, describe, expect, it } from 'vitest';
import { ScreenDialogs } from '../../../src/claude/interactive/screen-dialogs.js';
import type { SessionEvent } from '../../../src/claude/session.js';
import { ManualClock } from '../../harness/manual-clock.js';
import { pass, settle } from '../pass-time.js';
import { ScriptedMenu, trustFolder, type ScriptedDialog } from './scripted-menu.js';

const unheardOf: ScriptedDialog = { heading: ['Choose a colour'], options: ['Red', 'Blue'] };

describe('the dialogs on the screen', () => {
  let clock: ManualClock;
  let terminal: ScriptedMenu;
  let dialogs: ScreenDialogs;
  let events: SessionEvent[];
  let isStart: boolean;
  let hookWaits: boolean;
  let isLimitReported: boolean;

  beforeEach(() => {
    clock = new ManualClock();
    terminal = new ScriptedMenu();
    events = [];
    isStart = true;
    hookWaits = false;
    isLimitReported = false;
    dialogs = new ScreenDialogs({
      clock,
      screen: terminal.screen,
      onFrame: terminal.onFrame,
      press: terminal.press,
      fire: (event) => events.push(event),
      isStart: () => isStart,
      hookWaits: () => hookWaits,
      isLimitReported: () => isLimitReported,
    });
    terminal.onFrame(() => dialogs.check());
  });

  const requests = () => events.flatMap((event) => (event.type === 'request' ? [event.request] : []));
  const asked = (): void => {
    terminal.show(trustFolder);
    clock.advance(150);
  };

  it('a dialog is asked once, after it was shown for a moment, whatever is repainted or selected', () => {
    terminal.show(trustFolder);
    expect(requests()).toEqual([]);
    clock.advance(150);
    terminal.repaint();
    terminal.press('\x1b[B', 'a test');
    clock.advance(1_000);
    expect(requests()).toEqual([
      {
        requestId: 'screen-1',
        kind: 'trust',
        tool: 'trust-folder',
        input: { shows: 'Accessing workspace:\n/home/anybody/proj' },
        summary: 'Trust the folder /home/anybody/proj',
        options: ['Yes, I trust this folder', 'No, exit'],
        source: 'observed',
      },
    ]);
  });

  it.each([
    [{ verdict: 'allow' }, ['enter']],
    [{ verdict: 'deny', message: 'No.' }, ['down', 'enter']],
  ] as const)('an answer is pressed, and a second one is too late: %j', async (answer, keys) => {
    asked();
    const first = dialogs.answer('screen-1', answer);
    expect(await dialogs.answer('screen-1', { verdict: 'allow' })).toBe('gone');
    expect(await first).toBe('answered');
    expect(terminal.keys).toEqual(keys);
    expect([...terminal.whys]).toEqual([`${answer.verdict}: Trust the folder /home/anybody/proj`]);
    expect(events.map((event) => event.type)).toEqual(['request']);
  });

  it.each([
    ['a late frame of an answered dialog asks nothing', 1_000, ['screen-1']],
    ['a dialog that stays after its answer is asked about again', 1_500, ['screen-1', 'screen-2']],
  ])('%s', async (_what, ms, ids) => {
    asked();
    await dialogs.answer('screen-1', { verdict: 'allow' });
    terminal.show(trustFolder);
    clock.advance(ms);
    terminal.show(undefined);
    clock.advance(5_000);
    expect(requests().map(({ requestId }) => requestId)).toEqual(ids);
  });

  it('a dialog that a person answers is reported as gone, and a later answer is too late', async () => {
    asked();
    terminal.show(undefined);
    expect(events.at(-1)).toEqual({ type: 'request-gone', requestId: 'screen-1' });
    expect(await dialogs.answer('screen-1', { verdict: 'allow' })).toBe('gone');
    expect(terminal.keys).toEqual([]);
  });

  it('a dialog that takes no keys ends the session with its name', async () => {
    asked();
    terminal.lose = Infinity;
    const answer = dialogs.answer('screen-1', { verdict: 'allow' });
    await pass(clock, 6_000);
    expect(await answer).toBe('gone');
    expect(events.at(-1)).toEqual({
      type: 'trouble',
      kind: 'refused-to-start',
      text: 'The dialog "Trust the folder /home/anybody/proj" could not be answered (stuck).',
    });
  });

  it.each([
    ['at the start', unheardOf, 2_000, 'Choose a colour [Red | Blue]'],
    ['in a turn', unheardOf, 10_000, 'Choose a colour [Red | Blue]'],
    ['in a turn', trustFolder, 10_000, 'Trust the folder /home/anybody/proj'],
  ])('what is no request waits %s until it is gone, and gets no key', (at, shown, ms, what) => {
    const text = `A dialog that no hook reported waits at the terminal: ${what}`;
    isStart = at === 'at the start';
    terminal.show(shown);
    clock.advance(ms - 1);
    expect(events).toEqual([]);
    clock.advance(1);
    terminal.repaint();
    clock.advance(ms);
    expect(events).toEqual([
      { type: 'notice', text },
      { type: 'dialog', text },
    ]);
    terminal.show(undefined);
    expect(events.at(-1)).toEqual({ type: 'dialog', text: null });
    expect(terminal.keys).toEqual([]);
  });

  it('a dialog whose hook is still open is expected', () => {
    isStart = false;
    hookWaits = true;
    terminal.show(unheardOf);
    clock.advance(20_000);
    expect(events).toEqual([]);
  });

  it('the menu of a usage limit that a hook reported is dismissed by the one key that approves nothing', async () => {
    isStart = false;
    const menu = {
      heading: ['What do you want to do?'],
      options: ['Upgrade', 'Stop and wait for limit to reset'],
    };
    terminal.show(menu);
    await pass(clock, 5_000);
    expect(terminal.keys).toEqual([]);
    isLimitReported = true;
    hookWaits = true;
    terminal.repaint();
    await pass(clock, 5_000);
    expect(terminal.keys).toEqual([]);
    hookWaits = false;
    terminal.lose = 1;
    dialogs.check();
    await pass(clock, 5_000);
    expect(terminal.keys).toEqual(['escape', 'escape']);
    expect(events).toEqual([]);
  });

  it('what is open is withdrawn at the end', () => {
    asked();
    dialogs.withdraw('the session ended');
    expect(events.at(-1)).toEqual({ type: 'request-gone', requestId: 'screen-1', why: 'the session ended' });
    expect(clock.timerCount).toBe(0);
  });

  it('looks that only wait leave one timer at most', async () => {
    terminal.show(trustFolder);
    for (let repaint = 0; repaint < 100; repaint++) terminal.repaint();
    await settle();
    expect(clock.timerCount).toBe(1);
  });
});
