import { beforeEach, describe, expect, it } from 'vitest';
import { DialogKeys } from '../../../src/claude/interactive/keys.js';
import type { Menu } from '../../../src/claude/interactive/menu.js';
import { ManualClock } from '../../harness/manual-clock.js';
import { pass, settle } from '../pass-time.js';
import { runCommand, ScriptedMenu, trustFolder } from './scripted-menu.js';

describe('keys on a dialog', () => {
  let clock: ManualClock;
  let terminal: ScriptedMenu;
  let keys: DialogKeys;

  beforeEach(() => {
    clock = new ManualClock();
    terminal = new ScriptedMenu(runCommand);
    keys = new DialogKeys(
      { ...terminal, clock },
      (menu: Menu) => menu.heading[0] === 'Bash command',
      'a test',
    );
  });

  it('the mark is moved to the wanted option and seen there before Enter', async () => {
    expect(await keys.choose((option) => option.label === 'No')).toBe('pressed');
    expect(terminal.keys).toEqual(['down', 'down', 'enter']);
  });

  it('an option that is selected already is entered at once', async () => {
    expect(await keys.choose((option) => option.label === 'Yes')).toBe('pressed');
    expect(terminal.keys).toEqual(['enter']);
  });

  it('the mark goes up as well as down', async () => {
    terminal.selected = 2;
    expect(await keys.choose((option) => option.label === 'Yes')).toBe('pressed');
    expect(terminal.keys).toEqual(['up', 'up', 'enter']);
  });

  it('without the wanted option nothing is pressed', async () => {
    expect(await keys.choose((option) => option.label === 'Perhaps')).toBe('no-such-option');
    expect(terminal.keys).toEqual([]);
  });

  it('on another menu nothing is pressed', async () => {
    terminal.show(trustFolder);
    expect(await keys.choose(() => true)).toBe('gone');
    expect(await keys.dismiss()).toBe('gone');
    expect(await keys.enter()).toBe('gone');
    expect(terminal.keys).toEqual([]);
  });

  it('a key that was lost is pressed again', async () => {
    terminal.lose = 1;
    const result = keys.choose((option) => option.label === 'No');
    await pass(clock, 2_000);
    expect(await result).toBe('pressed');
    expect(terminal.keys).toEqual(['down', 'down', 'down', 'enter']);
  });

  it('a menu that takes no keys is given up', async () => {
    terminal.lose = Infinity;
    const result = keys.choose((option) => option.label === 'No');
    await pass(clock, 10_000);
    expect(await result).toBe('stuck');
    expect(terminal.keys).toEqual(['down', 'down', 'down']);
  });

  it('a dialog that goes while the mark moves gets no Enter', async () => {
    terminal.lose = Infinity;
    const result = keys.choose((option) => option.label === 'No');
    await settle();
    terminal.show(undefined);
    expect(await result).toBe('gone');
    expect(terminal.keys).toEqual(['down']);
  });

  it('a dialog that is replaced while the mark moves gets no Enter, nor does the new one', async () => {
    terminal.lose = Infinity;
    const result = keys.choose((option) => option.label === 'No');
    await settle();
    terminal.lose = 0;
    terminal.show(trustFolder);
    expect(await result).toBe('gone');
    expect(terminal.keys).toEqual(['down']);
  });

  it('no key is pressed while a request is open, and none after one that opens between two keys', async () => {
    terminal.isHeld = true;
    expect(await keys.choose((option) => option.label === 'No')).toBe('held');
    expect(await keys.enter()).toBe('held');
    expect(await keys.dismiss()).toBe('held');
    expect(terminal.keys).toEqual([]);
    terminal.isHeld = false;
    terminal.onFrame(() => (terminal.isHeld = true));
    expect(await keys.choose((option) => option.label === 'No')).toBe('held');
    expect(terminal.keys).toEqual(['down']);
  });

  it('Esc counts when the menu has gone', async () => {
    terminal.lose = 1;
    const result = keys.dismiss();
    await pass(clock, 2_000);
    expect(await result).toBe('pressed');
    expect(terminal.keys).toEqual(['escape', 'escape']);
  });

  it('no timer is left', async () => {
    await keys.choose((option) => option.label === 'No');
    expect(clock.timerCount).toBe(0);
  });
});
