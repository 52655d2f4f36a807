import { beforeEach, describe, expect, it } from 'vitest';
import { chooseOption, type PressResult } from '../../../src/claude/interactive/keys.js';
import { ManualClock } from '../../harness/manual-clock.js';
import { pass, settle } from '../pass-time.js';
import { ScriptedMenu, trustFolder } from './scripted-menu.js';

describe('keys on a dialog', () => {
  let clock: ManualClock;
  let terminal: ScriptedMenu;

  beforeEach(() => {
    clock = new ManualClock();
    terminal = new ScriptedMenu({ heading: ['Bash command'], options: ['Yes', 'Yes, always', 'No'] });
  });

  const choose = (label: RegExp | undefined): Promise<PressResult> =>
    chooseOption(
      { ...terminal, clock },
      { isSame: ({ heading }) => heading[0] === 'Bash command', label, why: 'a test' },
    );

  it.each([
    [0, /^No$/, ['down', 'down', 'enter']],
    [0, /^Yes$/, ['enter']],
    [2, /^Yes$/, ['up', 'up', 'enter']],
    [1, undefined, ['escape']],
  ])('the mark is moved from %i to %s and seen there before Enter', async (selected, label, keys) => {
    terminal.selected = selected;
    expect(await choose(label)).toBe('pressed');
    expect(terminal.keys).toEqual(keys);
    expect(clock.timerCount).toBe(0);
  });

  it('without the wanted option, or on another menu, nothing is pressed', async () => {
    expect(await choose(/^Perhaps$/)).toBe('no-such-option');
    terminal.show(trustFolder);
    expect(await choose(/./)).toBe('gone');
    expect(await choose(undefined)).toBe('gone');
    expect(terminal.keys).toEqual([]);
  });

  it.each([
    [1, 'pressed', ['down', 'down', 'down', 'enter']],
    [Infinity, 'stuck', ['down', 'down', 'down']],
  ])('a key that was lost is pressed again, %i times lost: %s', async (lost, result, keys) => {
    terminal.lose = lost;
    const chosen = choose(/^No$/);
    await pass(clock, 10_000);
    expect(await chosen).toBe(result);
    expect(terminal.keys).toEqual(keys);
  });

  it.each([undefined, trustFolder])('a dialog that goes while the mark moves gets no Enter', async (next) => {
    terminal.lose = Infinity;
    const result = choose(/^No$/);
    await settle();
    terminal.lose = 0;
    terminal.show(next);
    expect(await result).toBe('gone');
    expect(terminal.keys).toEqual(['down']);
  });

  it('no key is pressed while a request is open, and none after one that opens between two keys', async () => {
    terminal.isHeld = true;
    expect(await choose(/^No$/)).toBe('held');
    expect(terminal.keys).toEqual([]);
    terminal.isHeld = false;
    terminal.onFrame(() => (terminal.isHeld = true));
    expect(await choose(/^No$/)).toBe('held');
    expect(terminal.keys).toEqual(['down']);
  });
});
