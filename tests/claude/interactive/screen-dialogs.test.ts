import { beforeEach, describe, expect, it } from 'vitest';
import { ScreenDialogs } from '../../../src/claude/interactive/screen-dialogs.js';
import type { SessionEvent } from '../../../src/claude/session.js';
import { ManualClock } from '../../harness/manual-clock.js';
import { pass, settle } from '../pass-time.js';
import { runCommand, ScriptedMenu, trustFolder, type ScriptedDialog } from './scripted-menu.js';

const planReady: ScriptedDialog = {
  heading: ['Exit plan mode?', '', 'Claude wants to exit plan mode', ''],
  options: ['Yes', 'No'],
};
const unheardOf: ScriptedDialog = { heading: ['Choose a colour'], options: ['Red', 'Blue'] };

describe('the dialogs on the screen', () => {
  let clock: ManualClock;
  let terminal: ScriptedMenu;
  let dialogs: ScreenDialogs;
  let events: SessionEvent[];
  let isStart: boolean;
  let hookWaits: boolean;
  let opened: Promise<void>;
  let isLimitReported: boolean;
  let turnsSeen: number;
  let stopped: string[];

  beforeEach(() => {
    clock = new ManualClock();
    terminal = new ScriptedMenu();
    events = [];
    isStart = true;
    hookWaits = false;
    opened = Promise.resolve();
    isLimitReported = false;
    turnsSeen = 0;
    stopped = [];
    dialogs = new ScreenDialogs({
      clock,
      screen: terminal.screen,
      onFrame: terminal.onFrame,
      press: terminal.press,
      fire: (event) => events.push(event),
      isStart: () => isStart,
      hookWaits: () => hookWaits,
      whenOpen: () => opened,
      isLimitReported: () => isLimitReported,
      onTurnSeen: () => turnsSeen++,
      onTurnStopped: async (message) => void stopped.push(message),
    });
    terminal.onFrame(() => dialogs.check());
  });

  const requests = () => events.flatMap((event) => (event.type === 'request' ? [event.request] : []));
  const notices = () => events.flatMap((event) => (event.type === 'notice' ? [event.text] : []));

  it('a dialog is asked only after it was shown for a moment', () => {
    terminal.show(trustFolder);
    expect(requests()).toEqual([]);
    clock.advance(150);
    expect(requests()).toEqual([
      {
        requestId: 'screen-1',
        kind: 'trust',
        tool: 'trust-folder',
        input: { folder: '/home/anybody/proj' },
        summary: 'Trust the folder /home/anybody/proj',
        options: ['Yes, I trust this folder', 'No, exit'],
        source: 'observed',
      },
    ]);
  });

  it('a repaint asks nothing again', () => {
    terminal.show(trustFolder);
    clock.advance(150);
    for (let repaint = 0; repaint < 10; repaint++) terminal.repaint();
    clock.advance(1_000);
    expect(requests()).toHaveLength(1);
  });

  it('a moved selection asks nothing again', () => {
    terminal.show(trustFolder);
    clock.advance(150);
    terminal.press('\x1b[B', 'a test');
    clock.advance(1_000);
    expect(requests()).toHaveLength(1);
  });

  it('an answer is pressed, and nothing is reported as gone', async () => {
    terminal.show(trustFolder);
    clock.advance(150);
    expect(await dialogs.answer('screen-1', { verdict: 'allow' })).toBe('answered');
    expect(terminal.keys).toEqual(['enter']);
    expect([...terminal.whys]).toEqual(['allow: Trust the folder /home/anybody/proj']);
    expect(events.map((event) => event.type)).toEqual(['request']);
  });

  it('an answer is pressed later when keys are held back now', async () => {
    let open: () => void = () => undefined;
    opened = new Promise((resolve) => (open = resolve));
    terminal.show(trustFolder);
    clock.advance(150);
    terminal.isHeld = true;
    const answer = dialogs.answer('screen-1', { verdict: 'allow' });
    await settle();
    expect(terminal.keys).toEqual([]);
    terminal.isHeld = false;
    open();
    expect(await answer).toBe('answered');
    expect(terminal.keys).toEqual(['enter']);
  });

  it('a late frame of an answered dialog asks nothing', async () => {
    terminal.show(trustFolder);
    clock.advance(150);
    terminal.after = undefined;
    await dialogs.answer('screen-1', { verdict: 'allow' });
    terminal.show(trustFolder);
    clock.advance(1_000);
    terminal.show(undefined);
    clock.advance(5_000);
    expect(terminal.keys).toEqual(['enter']);
    expect(requests()).toHaveLength(1);
  });

  it('a dialog that stays after its answer is asked about again', async () => {
    terminal.show(trustFolder);
    clock.advance(150);
    terminal.after = undefined;
    await dialogs.answer('screen-1', { verdict: 'allow' });
    terminal.show(trustFolder);
    clock.advance(1_500);
    expect(requests().map(({ requestId }) => requestId)).toEqual(['screen-1', 'screen-2']);
  });

  it('a dialog that a person answers is reported as gone, and a later answer is too late', async () => {
    terminal.show(trustFolder);
    clock.advance(150);
    terminal.show(undefined);
    expect(events.at(-1)).toEqual({ type: 'request-gone', requestId: 'screen-1' });
    expect(await dialogs.answer('screen-1', { verdict: 'allow' })).toBe('gone');
    expect(terminal.keys).toEqual([]);
  });

  it('a second answer is too late', async () => {
    terminal.show(trustFolder);
    clock.advance(150);
    const first = dialogs.answer('screen-1', { verdict: 'deny', message: 'No.' });
    expect(await dialogs.answer('screen-1', { verdict: 'allow' })).toBe('gone');
    expect(await first).toBe('answered');
    expect(terminal.keys).toEqual(['down', 'enter']);
  });

  it('with live hooks no dialog is trusted, whatever it looks like', () => {
    isStart = false;
    for (const dialog of [trustFolder, runCommand, planReady]) {
      terminal.show(dialog);
      clock.advance(1_000);
    }
    expect(events).toEqual([]);
  });

  it('a dialog of a turn before any hook says that a turn has begun, and is not asked about', () => {
    terminal.show(runCommand);
    clock.advance(150);
    expect(requests()).toEqual([]);
    expect(turnsSeen).toBe(1);
  });

  it('a dialog that no hook reported does not wait unnoticed', () => {
    isStart = false;
    terminal.show(runCommand);
    clock.advance(20_000);
    expect(notices()).toEqual([
      'A dialog that no hook reported waits at the terminal: Bash command: touch a.txt',
    ]);
  });

  it('a dialog whose hook is still open is expected', () => {
    isStart = false;
    hookWaits = true;
    terminal.show(runCommand);
    clock.advance(20_000);
    expect(events).toEqual([]);
  });

  it.each([
    ['start', unheardOf, 2_000, 'An unknown dialog waits: Choose a colour [Red | Blue]'],
    ['turn', unheardOf, 10_000, 'An unknown dialog waits: Choose a colour [Red | Blue]'],
    [
      'turn',
      runCommand,
      10_000,
      'A dialog that no hook reported waits at the terminal: Bash command: touch a.txt',
    ],
  ] as const)('a dialog that nobody can answer waits (%s) until it is gone', (at, shown, ms, text) => {
    const waits = () => events.flatMap((event) => (event.type === 'dialog' ? [event.text] : []));
    isStart = at === 'start';
    terminal.show(shown);
    clock.advance(ms - 1);
    expect(waits()).toEqual([]);
    clock.advance(1);
    terminal.repaint();
    clock.advance(ms);
    expect(waits()).toEqual([text]);
    terminal.show(undefined);
    expect(waits()).toEqual([text, null]);
  });

  it('an unknown menu is reported once', () => {
    terminal.show(unheardOf);
    clock.advance(150);
    terminal.repaint();
    clock.advance(5_000);
    expect(notices()).toEqual(['An unknown dialog waits: Choose a colour [Red | Blue]']);
    expect(requests()).toEqual([]);
  });

  it('a dialog that takes no keys ends the session with its name', async () => {
    terminal.show(trustFolder);
    clock.advance(150);
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

  describe('the dialog of a plan that a hook has answered', () => {
    beforeEach(() => {
      isStart = false;
      terminal.show(planReady);
      clock.advance(300);
      dialogs.answerStaleDialog('plan-ready', { verdict: 'allow' });
    });

    it('gets the same answer by keys when it stays', async () => {
      await pass(clock, 1_100);
      expect(terminal.keys).toEqual(['enter']);
      expect(requests()).toEqual([]);
    });

    it('gets no key when it closes on its own', async () => {
      await pass(clock, 500);
      terminal.show(undefined);
      await pass(clock, 2_000);
      expect(terminal.keys).toEqual([]);
    });

    it('an answer does not count for the next plan, however soon or late that comes', async () => {
      await pass(clock, 500);
      terminal.show(undefined);
      dialogs.forgetStaleDialog('plan-ready');
      hookWaits = true;
      terminal.show(planReady);
      await pass(clock, 3_000);
      terminal.show(undefined);
      dialogs.answerStaleDialog('plan-ready', { verdict: 'allow' });
      await pass(clock, 11_000, 500);
      terminal.show(planReady);
      await pass(clock, 3_000);
      expect(terminal.keys).toEqual([]);
    });

    it('a plain yes is chosen when no option accepts edits', async () => {
      dialogs.answerStaleDialog('plan-ready', { verdict: 'allow', mode: 'acceptEdits' });
      await pass(clock, 1_100);
      expect(terminal.keys).toEqual(['enter']);
    });

    it('the option that accepts edits is chosen if there is one', async () => {
      terminal.show({ ...planReady, options: ['Yes', 'Yes, and switch to accept edits', 'No'] });
      dialogs.answerStaleDialog('plan-ready', { verdict: 'allow', mode: 'acceptEdits' });
      await pass(clock, 1_100);
      expect(terminal.keys).toEqual(['down', 'enter']);
    });
  });

  describe('the dialog of a command that a hook’s answer has changed', () => {
    const changed = (command: string): void =>
      dialogs.answerStaleDialog('tool-permission', {
        verdict: 'allow',
        input: { command, description: 'Make a file' },
      });

    beforeEach(() => {
      isStart = false;
      terminal.show(runCommand);
      clock.advance(300);
    });

    it('gets its answer by keys when it shows exactly that command', async () => {
      changed('touch  a.txt');
      await pass(clock, 1_100);
      expect(terminal.keys).toEqual(['enter']);
      expect(requests()).toEqual([]);
    });

    it.each(['touch', 'touch a.txt b.txt', 'touch a.txt Make'])(
      'is asked about when it shows another one than %s',
      async (command) => {
        changed(command);
        await pass(clock, 2_000);
        expect(requests()).toEqual([]);
        await pass(clock, 1_200);
        expect(requests().map((request) => request.summary)).toEqual(['Bash command: touch a.txt']);
        expect(terminal.keys).toEqual([]);
        expect(await dialogs.answer('screen-1', { verdict: 'allow' })).toBe('answered');
        expect(terminal.keys).toEqual(['enter']);
      },
    );

    it('is asked about and allowed for the session, or denied, which stops the turn: its message is passed on', async () => {
      changed('touch');
      await pass(clock, 3_200);
      expect(await dialogs.answer('screen-1', { verdict: 'allow_session' })).toBe('answered');
      expect(terminal.keys).toEqual(['enter']);
      changed('touch');
      terminal.show(runCommand);
      await pass(clock, 3_200);
      await dialogs.answer('screen-2', { verdict: 'deny', message: 'Not that file.' });
      expect(terminal.keys).toEqual(['enter', 'down', 'down', 'enter']);
      expect(stopped).toEqual(['Not that file.']);
    });

    it('gets no key while a request is open, however long, and its answer after it', async () => {
      changed('touch a.txt');
      hookWaits = true;
      terminal.repaint();
      await pass(clock, 30_000, 500);
      terminal.repaint();
      expect(terminal.keys).toEqual([]);
      hookWaits = false;
      dialogs.check();
      await pass(clock, 1_200);
      expect(terminal.keys).toEqual(['enter']);
    });

    it('is left to the hook that tells of it', async () => {
      changed('touch b.txt');
      hookWaits = true;
      await pass(clock, 12_000, 500);
      expect(terminal.keys).toEqual([]);
      expect(events).toEqual([]);
    });
  });

  describe('the menu of a usage limit', () => {
    const limitMenu: ScriptedDialog = {
      heading: ['What do you want to do?'],
      options: ['Upgrade your plan', 'Stop and wait for limit to reset'],
      footer: 'Enter to confirm · Esc to cancel',
    };

    beforeEach(() => {
      isStart = false;
      isLimitReported = true;
    });

    it('is dismissed by the one key that approves nothing, and nobody is asked', async () => {
      terminal.show(limitMenu);
      await pass(clock, 3_000);
      expect(terminal.keys).toEqual(['escape']);
      expect(events).toEqual([]);
    });

    it('is dismissed again when a key was lost, and each time it comes', async () => {
      terminal.lose = 4;
      terminal.show(limitMenu);
      await pass(clock, 20_000, 500);
      expect(terminal.shown).toBeUndefined();
      for (let limits = 0; limits < 6; limits++) {
        terminal.show(limitMenu);
        await pass(clock, 5_000, 500);
        expect(terminal.shown).toBeUndefined();
      }
    });

    it('is nothing but paint as long as no hook told of a limit', async () => {
      isLimitReported = false;
      terminal.show(limitMenu);
      await pass(clock, 5_000);
      expect(terminal.keys).toEqual([]);
    });

    it('gets no key while a request is open, and is dismissed after it', async () => {
      hookWaits = true;
      terminal.show(limitMenu);
      await pass(clock, 5_000);
      expect(terminal.keys).toEqual([]);
      hookWaits = false;
      dialogs.check();
      await pass(clock, 1_000);
      expect(terminal.keys).toEqual(['escape']);
    });
  });

  it('what is open is withdrawn at the end', () => {
    terminal.show(trustFolder);
    clock.advance(150);
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
