import { expect, onTestFinished, test } from 'vitest';
import { silentLogger } from '../../src/base/logger.js';
import type { TaskCard } from '../../src/board/state.js';
import { TaskTerminal } from '../../vscode/src/tasks/terminals/task-terminal.js';
import { ManualClock } from '../harness/manual-clock.js';
import { FakeBoard, TASK, taskCard, TERMINAL } from './fake-board.js';

const QUIET_MS = 1_000;
/** A message that was not looked at is shown again. */
const LATER_MS = 3_000;
const SIZE = { columns: 150, rows: 45 };

/** A terminal in the editor, and what the person sees of it. */
class Seen {
  readonly board: FakeBoard;
  readonly clock = new ManualClock();
  readonly terminal: TaskTerminal;
  readonly questions: string[] = [];
  readonly said: string[] = [];
  readonly sizes: string[] = [];
  text = '';
  /** What the person answers when asked. */
  wantsToType = true;

  private constructor(board: FakeBoard) {
    this.board = board;
    this.terminal = new TaskTerminal({
      taskId: TASK,
      board: board.connection,
      clock: this.clock,
      logger: silentLogger,
      askToType: async (question) => {
        this.questions.push(question);
        return this.wantsToType;
      },
      say: (words) => void this.said.push(words),
    });
    this.terminal.onDidWrite((text) => (this.text += text));
    this.terminal.onDidOverrideSize(({ columns, rows }) => this.sizes.push(`${columns}x${rows}`));
    onTestFinished(() => this.terminal.dispose());
  }

  /** The terminal is open, and the board shows it. */
  static async open(card: TaskCard = taskCard()): Promise<Seen> {
    const board = await FakeBoard.start(card);
    await expect.poll(() => board.connection.board.tasks[TASK]).toBeDefined();
    const seen = new Seen(board);
    seen.terminal.open(SIZE);
    await seen.subscribed(1);
    return seen;
  }

  /** The same, with a screen. */
  static async watching(): Promise<Seen> {
    const seen = await Seen.open();
    seen.board.opens();
    seen.board.prints('state', 'READY');
    await seen.shows('READY');
    return seen;
  }

  async subscribed(times: number): Promise<void> {
    await expect
      .poll(() => this.board.got.filter((one) => one.type === 'subscribe' && one.channel === TERMINAL).length)
      .toBe(times);
  }

  /** What is paced comes meanwhile. */
  async shows(text: string): Promise<void> {
    await expect
      .poll(() => {
        this.clock.advance(QUIET_MS);
        return this.text;
      })
      .toContain(text);
  }

  async titled(title: string): Promise<void> {
    await expect.poll(() => this.terminal.title).toBe(title);
  }

  async claims(): Promise<void> {
    this.clock.advance(LATER_MS);
    this.terminal.handleInput('x');
    await this.acted('term.claim');
    this.board.changes({ writer: 'vscode-1' });
    await this.titled('Fix the tests');
  }

  async acted(type: string): Promise<void> {
    await expect.poll(() => this.board.actions.map((action) => action.type)).toContain(type);
  }

  get typed(): string {
    return this.board.actions
      .map((action) => (action.type === 'term.input' ? Buffer.from(action.keys, 'base64').toString() : ''))
      .join('');
  }
}

test('it shows the screen in the size of the session, and its title says that it only watches', async () => {
  const seen = await Seen.watching();
  expect(seen.sizes).toEqual(['120x40']);
  expect(seen.text.startsWith('\x1bc')).toBe(true);
  await seen.titled('Fix the tests (only watching)');
  expect(seen.board.actions).toEqual([{ type: 'term.view', task_id: TASK, ...SIZE }]);
});

test('a character that is split between frames is one', async () => {
  const seen = await Seen.watching();
  const bytes = Buffer.from('é€😀');
  for (const byte of bytes) seen.board.prints('output', Buffer.from([byte]));
  await seen.shows('é€😀');
  expect(seen.text).not.toContain('\ufffd');
});

test('a flood is written piece by piece, and only what was written is acknowledged', async () => {
  const seen = await Seen.watching();
  seen.clock.advance(QUIET_MS);
  const before = seen.text.length;
  const written = (): number => seen.text.length - before;
  for (let turn = 0; turn < 10; turn++) seen.board.prints('output', 'x'.repeat(50_000));
  seen.board.changes({ writer: 'chrome-2' });
  // All of it has arrived.
  await seen.titled('Fix the tests (chrome-2 types)');
  expect(written()).toBe(50_000);
  for (let tick = 1; written() < 500_000; tick++) {
    seen.clock.advance(20);
    expect(written()).toBe(Math.min(500_000, 50_000 + tick * 64 * 1024));
    await expect.poll(() => seen.board.acknowledged.at(-1)).toBe('READY'.length + written());
  }
});

test('typing asks first, and what was typed before the claim is never sent', async () => {
  const seen = await Seen.watching();
  seen.wantsToType = false;
  seen.terminal.handleInput('lost');
  await expect
    .poll(() => seen.questions)
    .toEqual(['Type into this terminal? What you type goes to Claude Code.']);
  seen.wantsToType = true;
  await seen.claims();
  expect(seen.board.actions).toContainEqual({ type: 'term.claim', task_id: TASK, ...SIZE });
  seen.terminal.handleInput('y');
  seen.terminal.handleInput('ès\r');
  await expect.poll(() => seen.typed).toBe('yès\r');
  expect(seen.sizes.at(-1)).toBe('500x300');
});

test('keys that follow at once ask no second time, later ones do; the question names who types now', async () => {
  const seen = await Seen.watching();
  seen.board.changes({ writer: 'chrome-2' });
  await seen.titled('Fix the tests (chrome-2 types)');
  seen.terminal.handleInput('a');
  seen.terminal.handleInput('b');
  await seen.acted('term.claim');
  expect(seen.questions).toEqual([
    'chrome-2 types into this terminal. Type here instead? What you type goes to Claude Code.',
  ]);
  seen.clock.advance(LATER_MS);
  seen.terminal.handleInput('c');
  expect(seen.questions).toHaveLength(2);
});

test('when another page takes over it says so, only watches, and sends nothing that waited', async () => {
  const seen = await Seen.watching();
  await seen.claims();
  seen.board.answers = false;
  seen.terminal.handleInput('one');
  seen.terminal.handleInput('two');
  await seen.acted('term.input');
  seen.board.changes({ writer: 'chrome-2' });
  await seen.titled('Fix the tests (chrome-2 types)');
  expect(seen.said).toEqual(['chrome-2 types into "Fix the tests" now; here it only watches again.']);
  const sent = seen.board.got.findLast((message) => message.type === 'dispatch');
  seen.board.send({ type: 'result', id: sent?.id ?? 0, ok: true });
  seen.clock.advance(LATER_MS);
  seen.terminal.handleInput('three');
  await expect.poll(() => seen.questions).toHaveLength(2);
  expect(seen.typed).toBe('one');
});

test('keys that the board refuses are reported, and the rest is not sent', async () => {
  const seen = await Seen.watching();
  await seen.claims();
  seen.board.answers = false;
  seen.terminal.handleInput('one');
  seen.terminal.handleInput('two');
  await seen.acted('term.input');
  const sent = seen.board.got.findLast((message) => message.type === 'dispatch');
  seen.board.refuses(sent?.id ?? 0, {
    code: 'TASK_NOT_RUNNING',
    message: 'It is over.',
    hint: 'See its log.',
  });
  await expect.poll(() => seen.said).toEqual(['It is over. See its log.']);
  expect(seen.typed).toBe('one');
});

test('its size goes to the session while it writes, and is only the room for it while it watches', async () => {
  const seen = await Seen.watching();
  // The editor reports the smaller of its own size and the session's.
  seen.terminal.setSize({ columns: 120, rows: 40 });
  seen.terminal.setSize({ columns: 120, rows: 20 });
  expect(seen.sizes.at(-1)).toBe('500x300');
  seen.terminal.setSize({ columns: 150, rows: 20 });
  seen.clock.advance(QUIET_MS);
  await expect
    .poll(() => seen.board.actions.at(-1))
    .toEqual({ type: 'term.view', task_id: TASK, columns: 150, rows: 20 });
  seen.board.changes({ columns: 120, rows: 20, is_part: true });
  await seen.claims();
  seen.terminal.setSize({ columns: 1, rows: 400 });
  seen.clock.advance(QUIET_MS);
  await expect
    .poll(() => seen.board.actions.at(-1))
    .toEqual({ type: 'term.resize', task_id: TASK, columns: 2, rows: 300 });
});

test('a task that has ended leaves its screen, with why it ended', async () => {
  const seen = await Seen.watching();
  seen.board.changes({ closed: 'The session has ended.' });
  await seen.shows('The session has ended.');
  seen.board.shows(taskCard({ status: 'completed', is_final: true, reason: 'Claude\u001b[2J is done.' }));
  await seen.shows('The task has ended, completed: Claude\\u001b[2J is done.');
  await seen.titled('Fix the tests (ended)');
  expect(seen.text).toContain('READY');
  seen.terminal.handleInput('x');
  expect(seen.questions).toEqual([]);
  expect(seen.said).toHaveLength(1);
  await expect.poll(() => seen.board.got.at(-1)).toEqual({ type: 'unsubscribe', channel: TERMINAL });
});

test('a task that has not started says so, and is shown once it has', async () => {
  const seen = await Seen.open(taskCard({ status: 'pending' }));
  seen.board.opens({ closed: 'The task has not started yet.' });
  await seen.shows('The task has not started yet.');
  await seen.titled('Fix the tests (no terminal)');
  seen.board.shows(taskCard({ status: 'running' }));
  await seen.subscribed(2);
  seen.board.opens({ stream: 2 });
  seen.board.prints('state', 'READY', 2);
  await seen.shows('READY');
  await seen.titled('Fix the tests (only watching)');
});

test('a task of the print driver says that it has no terminal', async () => {
  const seen = await Seen.open(taskCard({ driver: 'print' }));
  seen.board.opens({ closed: 'The task has no terminal to attach to.' });
  await seen.shows('The task runs with the print driver, which has no terminal.');
});

test('a task in the background says what opens it', async () => {
  const seen = await Seen.open(taskCard({ driver: 'background' }));
  seen.board.opens({ closed: 'The task has no terminal to attach to.' });
  await seen.shows('The task is a background session of Claude Code: its log names the command');
});

test('without the board it says so, and shows the screen again when the board is back', async () => {
  const seen = await Seen.watching();
  await seen.claims();
  seen.board.leaves();
  await seen.shows('The board is not connected.');
  await seen.titled('Fix the tests (not connected)');
  seen.clock.advance(LATER_MS);
  seen.terminal.handleInput('nowhere');
  expect(seen.said).toHaveLength(1);
  seen.board.connects();
  await seen.subscribed(2);
  seen.board.opens();
  seen.board.prints('state', 'AGAIN');
  await seen.shows('\x1bc\x1b[?2026hAGAIN');
  await seen.titled('Fix the tests (only watching)');
  await expect.poll(() => seen.board.acknowledged.at(-1)).toBe('AGAIN'.length);
  expect(seen.typed).toBe('');
});

test('closing it ends the watching and nothing else', async () => {
  const seen = await Seen.watching();
  seen.terminal.close();
  await expect.poll(() => seen.board.got.at(-1)).toEqual({ type: 'unsubscribe', channel: TERMINAL });
  expect(seen.board.actions.map(({ type }) => type)).toEqual(['term.view']);
});
