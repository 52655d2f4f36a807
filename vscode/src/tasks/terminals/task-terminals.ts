import * as vscode from 'vscode';
import { withinMs } from '../../../../src/base/clock.js';
import { messageOf } from '../../../../src/base/errors.js';
import { nextEvent } from '../../../../src/base/event.js';
import { DisposableStore, type Disposable } from '../../../../src/base/lifecycle.js';
import { emptyBoard } from '../../../../src/board/state.js';
import { showError, showInformation } from '../../messages.js';
import { taskCommands, taskIdOf, type TaskContext } from '../task-part.js';
import { OpenTerminals } from './open-terminals.js';
import { runningTasks } from './running-tasks.js';
import { TaskTerminal } from './task-terminal.js';

const TYPE_HERE = 'Type Here';
/** A board may have to be started. */
const OVERVIEW_LIMIT_MS = 10_000;

interface Shown {
  readonly terminal: vscode.Terminal;
  readonly task: TaskTerminal;
}

/** The terminals of tasks in this window: opened by a command, and again after a reload. */
export function taskTerminals(context: TaskContext): Disposable {
  const owned = new DisposableStore();
  const terminals = owned.add(new TaskTerminals(context));
  owned.add(
    vscode.commands.registerCommand(taskCommands.openTerminal, async (taskId: unknown) => {
      try {
        await terminals.choose(taskIdOf(taskId));
      } catch (error) {
        void showError(messageOf(error));
      }
    }),
  );
  owned.add(vscode.window.onDidCloseTerminal((terminal) => terminals.closed(terminal)));
  let reopening: Disposable | undefined = owned.add(
    context.board.onChange(() => {
      if (context.board.board === emptyBoard) return;
      reopening?.dispose();
      reopening = undefined;
      void terminals.openThoseOfBefore();
    }),
  );
  return owned;
}

class TaskTerminals implements Disposable {
  readonly #context: TaskContext;
  readonly #open: OpenTerminals;
  readonly #shown = new Map<string, Shown>();

  constructor(context: TaskContext) {
    this.#context = context;
    this.#open = new OpenTerminals(context.extension.workspaceState);
  }

  /** Shows the terminal of a task; without an id the person chooses one that runs. */
  async choose(taskId: string | undefined): Promise<void> {
    this.#context.board.want();
    const chosen = taskId ?? (await this.#ask());
    if (chosen === undefined) return;
    (this.#shown.get(chosen)?.terminal ?? this.#create(chosen)).show();
    await this.#open.add(chosen);
  }

  async openThoseOfBefore(): Promise<void> {
    // The editor would ask for trust before it shows a terminal.
    if (!vscode.workspace.isTrusted) return;
    for (const taskId of await this.#open.ofBefore(this.#context.board.board))
      if (!this.#shown.has(taskId)) this.#create(taskId);
  }

  /** A terminal was closed; those that end with the window are opened again in the next one. */
  closed(terminal: vscode.Terminal): void {
    for (const [taskId, shown] of this.#shown) {
      if (shown.terminal !== terminal) continue;
      this.#shown.delete(taskId);
      const reason = terminal.exitStatus?.reason;
      if (reason === vscode.TerminalExitReason.Shutdown) shown.task.dispose();
      else shown.task.close();
      if (reason === vscode.TerminalExitReason.User) void this.#open.remove(taskId);
    }
  }

  dispose(): void {
    for (const { task } of this.#shown.values()) task.dispose();
    this.#shown.clear();
  }

  async #ask(): Promise<string | undefined> {
    await this.#overview();
    const items = runningTasks(this.#context.board.board);
    const chosen = await vscode.window.showQuickPick([...items], {
      title: 'Open Terminal of a Task',
      placeHolder: items.length === 0 ? 'No task runs' : 'Which task?',
      matchOnDescription: true,
      matchOnDetail: true,
    });
    return chosen?.taskId;
  }

  /** Waits until the overview is there, but not for ever. */
  async #overview(): Promise<void> {
    const { board, clock } = this.#context;
    if (board.board !== emptyBoard) return;
    await withinMs(
      clock,
      OVERVIEW_LIMIT_MS,
      nextEvent(board.onChange, () => board.board !== emptyBoard),
    );
  }

  #create(taskId: string): vscode.Terminal {
    const { board, clock, logger } = this.#context;
    const task = new TaskTerminal({
      taskId,
      board,
      clock,
      logger,
      askToType: async (question) => {
        const isWanted = (await showInformation(question, TYPE_HERE)) === TYPE_HERE;
        // The button has the focus.
        if (isWanted) this.#shown.get(taskId)?.terminal.show();
        return isWanted;
      },
      say: (words) => void showInformation(words),
    });
    const terminal = vscode.window.createTerminal({
      name: task.title,
      iconPath: new vscode.ThemeIcon('hubot'),
      pty: pseudoterminal(task),
    });
    this.#shown.set(taskId, { terminal, task });
    return terminal;
  }
}

function pseudoterminal(task: TaskTerminal): vscode.Pseudoterminal {
  const size = new vscode.EventEmitter<vscode.TerminalDimensions | undefined>();
  task.onDidOverrideSize((changed) => size.fire(changed));
  return {
    onDidWrite: (listener) => new vscode.Disposable(disposerOf(task.onDidWrite(listener))),
    onDidChangeName: (listener) => new vscode.Disposable(disposerOf(task.onDidChangeTitle(listener))),
    onDidOverrideDimensions: size.event,
    open: (dimensions) => task.open(dimensions),
    // Why it is closed is known only when it is.
    close: () => size.dispose(),
    handleInput: (text) => task.handleInput(text),
    setDimensions: (dimensions) => task.setSize(dimensions),
  };
}

function disposerOf(owned: Disposable): () => void {
  return () => owned.dispose();
}
