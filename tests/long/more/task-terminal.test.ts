import { Terminal } from '@xterm/headless';
import { expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../src/base/system-clock.js';
import { silentLogger } from '../../../src/base/logger.js';
import { BoardConnection } from '../../../vscode/src/board/board-connection.js';
import { linkToRunningBoard, openBoardSocket } from '../../../vscode/src/board/board-socket.js';
import { TaskTerminal } from '../../../vscode/src/tasks/terminals/task-terminal.js';
import { boardLink } from '../../harness/board-page.js';
import { writeProgram } from '../../harness/scripted-agent.js';
import { startBridge, type TestBridge } from '../../harness/start-bridge.js';
import { createWorkplace } from '../../harness/workplace.js';

interface Size {
  readonly columns: number;
  readonly rows: number;
}

/** A terminal of the editor: it has the smaller of its own size and the one that it is told to have. */
class EditorTerminal {
  readonly task: TaskTerminal;
  readonly #emulator: Terminal;
  #own: Size;
  #override: Size | undefined;

  constructor(board: BoardConnection, taskId: string, size: Size) {
    this.#own = size;
    this.#emulator = new Terminal({ cols: size.columns, rows: size.rows, allowProposedApi: true });
    this.task = new TaskTerminal({
      taskId,
      board,
      clock: systemClock,
      logger: silentLogger,
      askToType: async () => true,
      say: () => undefined,
    });
    this.task.onDidWrite((text) => this.#emulator.write(text));
    this.task.onDidOverrideSize((override) => {
      this.#override = override;
      this.#fit();
    });
    this.task.open(size);
    onTestFinished(() => {
      this.task.dispose();
      this.#emulator.dispose();
    });
  }

  resize(size: Size): void {
    this.#own = size;
    this.#fit();
  }

  get size(): string {
    return `${this.#emulator.cols}x${this.#emulator.rows}`;
  }

  /** The rows that it shows, without the empty ones at the end. */
  get rows(): string[] {
    const { active } = this.#emulator.buffer;
    const rows = Array.from({ length: this.#emulator.rows }, (_, row) =>
      (active.getLine(active.baseY + row)?.translateToString(true) ?? '').trimEnd(),
    );
    return rows.slice(0, rows.findLastIndex((row) => row !== '') + 1);
  }

  #fit(): void {
    const { columns, rows } = this.#own;
    const size = {
      columns: Math.min(columns, this.#override?.columns ?? columns),
      rows: Math.min(rows, this.#override?.rows ?? rows),
    };
    this.#emulator.resize(size.columns, size.rows);
    this.task.setSize(size);
  }
}

/** A running task whose agent runs `script`, and a window's connection to its board. */
async function running(
  script: string,
): Promise<{ readonly bridge: TestBridge; readonly taskId: string; readonly board: BoardConnection }> {
  const workplace = await createWorkplace();
  const claude = await writeProgram(workplace, 'agent', script);
  const bridge = await startBridge({ claude, workplace });
  const taskId = await bridge.start({ prompt: 'AGENT: shown', path: bridge.project });
  await boardLink(bridge);
  const board = new BoardConnection({
    open: async () => {
      const link = await linkToRunningBoard(workplace.stateDir);
      return link && openBoardSocket(link);
    },
    clock: systemClock,
    logger: silentLogger,
  });
  onTestFinished(() => board.dispose());
  board.start();
  await expect.poll(() => board.board.tasks[taskId]?.status).toBe('running');
  return { bridge, taskId, board };
}

const lines = 'i=1; while [ $i -le 30 ]; do echo "line $i"; i=$((i+1)); done';

it('a terminal that is smaller than the session shows the part that fits, and all of it once there is room', async () => {
  const { bridge, taskId, board } = await running(`${lines}; sleep 600`);
  const terminal = new EditorTerminal(board, taskId, { columns: 100, rows: 12 });
  await expect.poll(() => terminal.rows.join()).toContain('line 30');
  expect(terminal.rows.length).toBeLessThanOrEqual(12);
  expect(terminal.size).toBe('100x12');
  terminal.resize({ columns: 200, rows: 60 });
  await expect.poll(() => terminal.size).toBe('120x40');
  await expect.poll(() => terminal.rows.slice(0, 2)).toEqual(['line 1', 'line 2']);
  terminal.resize({ columns: 90, rows: 20 });
  await expect.poll(() => terminal.size).toBe('90x20');
  await expect.poll(() => terminal.rows.join()).toMatch(/line 1[0-9].*line 30$/);
  await bridge.call('kill_task', { task_id: taskId });
  await expect.poll(() => terminal.task.title).toContain('(ended)');
  await expect.poll(() => terminal.rows.join()).toContain('The task has ended, killed: ');
});

it('after the claim the session has the size of the terminal, and gets what is typed', async () => {
  const { bridge, taskId, board } = await running(
    'echo READY; while read -r line </dev/tty; do echo "GOT $line in $(stty size </dev/tty)"; done',
  );
  const terminal = new EditorTerminal(board, taskId, { columns: 100, rows: 30 });
  await expect.poll(() => terminal.rows.join()).toContain('READY');
  terminal.task.handleInput('early\r');
  await expect.poll(() => terminal.task.title).not.toContain('(');
  // The size is set while the first keys are typed.
  const typeUntil = (word: string, shown: string): Promise<void> =>
    expect
      .poll(() => {
        terminal.task.handleInput(`${word}\r`);
        return terminal.rows.join();
      })
      .toContain(shown);
  await typeUntil('hello', 'GOT hello in 30 100');
  terminal.resize({ columns: 90, rows: 25 });
  await typeUntil('again', 'GOT again in 25 90');
  expect(terminal.rows.join()).not.toContain('early');
  await bridge.call('kill_task', { task_id: taskId });
});
