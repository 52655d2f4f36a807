import { beforeEach, describe, expect, it } from 'vitest';
import { Emitter } from '../../../src/base/event.js';
import { DialogKeys, type KeyTarget } from '../../../src/claude/interactive/dialog-keys.js';
import { answerQuestion } from '../../../src/claude/interactive/question-keys.js';
import { ManualClock } from '../../harness/manual-clock.js';
import { pass } from '../pass-time.js';
import { KEY_NAMES } from './scripted-menu.js';

const COLUMNS = 120;
const FREE_TEXT = 'Type something';

/** A question as the CLI draws it, and what its keys do there. */
class ScriptedQuestion implements KeyTarget {
  readonly #frames = new Emitter<void>();
  readonly onFrame = this.#frames.event;
  readonly keys: string[] = [];
  readonly ticked = new Set<number>();
  readonly #options: readonly string[];
  readonly #isMulti: boolean;
  #selected = 0;
  #typed = '';
  isOver = false;
  /** What Enter took. */
  entered = '';

  constructor(options: readonly string[], isMulti: boolean) {
    this.#options = options;
    this.#isMulti = isMulti;
  }

  get typed(): string {
    return this.#typed;
  }

  get #rows(): string[] {
    const free = this.#typed === '' ? FREE_TEXT : this.#typed;
    return [...this.#options, free, ...(this.#isMulti ? ['Submit'] : []), 'Chat about this'];
  }

  lines = () => ({ columns: COLUMNS, lines: this.isOver ? ['● Done.'] : this.#draw() });

  press = (keys: string): boolean => {
    this.keys.push(KEY_NAMES[keys] ?? keys);
    const pasted = /^\x1b\[200~(.*)\x1b\[201~$/.exec(keys)?.[1];
    const free = this.#options.length;
    if (keys === '\x1b[B') this.#selected++;
    else if (keys === '\x1b[A') this.#selected--;
    else if (keys === ' ' && this.#selected < free) {
      if (!this.ticked.delete(this.#selected)) this.ticked.add(this.#selected);
    } else if (pasted !== undefined && this.#selected === free) {
      this.#typed = pasted;
      this.ticked.add(free);
    } else if (keys === '\r') {
      this.entered = this.#rows[this.#selected] ?? '';
      this.isOver = true;
    } else if (keys === '\x1b') this.isOver = true;
    this.#frames.fire();
    return true;
  };

  #draw(): string[] {
    let number = 0;
    const drawn = this.#rows.flatMap((row, index) => {
      const cursor = index === this.#selected ? '❯' : ' ';
      if (row === 'Submit') return [`${cursor}    Submit`];
      number++;
      const box =
        this.#isMulti && row !== 'Chat about this' ? (this.ticked.has(index) ? '[✔] ' : '[ ] ') : '';
      const line = `${cursor} ${number}. ${box}${row}`;
      return row === 'Chat about this' ? ['─'.repeat(COLUMNS), line] : [line];
    });
    return [
      '─'.repeat(COLUMNS),
      ' ☐ Kind',
      '',
      'Which?',
      '',
      ...drawn,
      '',
      'Enter to select · Esc to cancel',
    ];
  }
}

describe('a question on the screen', () => {
  let clock: ManualClock;
  let terminal: ScriptedQuestion;

  beforeEach(() => {
    clock = new ManualClock();
  });
  async function answer(
    text: string,
    isMulti: boolean,
    options = ['Search', 'Export', 'History, all of it'],
  ) {
    terminal = new ScriptedQuestion(options, isMulti);
    const result = answerQuestion(new DialogKeys(terminal, clock, () => true, 'a test'), text);
    await pass(clock, 200);
    return result;
  }

  it('is answered by an option’s label', async () => {
    expect(await answer('Export', false)).toBe('pressed');
    expect(terminal.entered).toBe('Export');
    expect(terminal.keys).toEqual(['down', 'enter']);
  });

  it('takes another answer as free text, on one line, without keys in it', async () => {
    expect(await answer(' Neither,\r\nplease\x1b[A ', false)).toBe('pressed');
    expect(terminal.entered).toBe('Neither, please [A');
  });

  it('with several answers ticks the wanted options and submits', async () => {
    expect(await answer('Export, History, all of it', true)).toBe('pressed');
    expect(terminal.entered).toBe('Submit');
    expect([...terminal.ticked]).toEqual([1, 2]);
    expect(terminal.typed).toBe('');
  });

  it('with several answers adds what is not an option as free text', async () => {
    expect(await answer('Search, Undo, Redo', true)).toBe('pressed');
    expect([...terminal.ticked]).toEqual([0, 3]);
    expect(terminal.typed).toBe('Undo, Redo');
    expect(terminal.entered).toBe('Submit');
  });

  it('with several answers unticks what a person ticked and the answer does not name', async () => {
    terminal = new ScriptedQuestion(['Search', 'Export'], true);
    terminal.ticked.add(0);
    const result = answerQuestion(new DialogKeys(terminal, clock, () => true, 'a test'), 'Export');
    await pass(clock, 200);
    expect(await result).toBe('pressed');
    expect([...terminal.ticked]).toEqual([1]);
  });

  it('that has gone gets no key', async () => {
    terminal = new ScriptedQuestion(['A'], false);
    terminal.isOver = true;
    expect(await answerQuestion(new DialogKeys(terminal, clock, () => true, 'a test'), 'A')).toBe('gone');
    expect(terminal.keys).toEqual([]);
  });
});
