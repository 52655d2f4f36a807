import { existsSync } from 'node:fs';
import { BridgeError } from '../base/errors.js';
import { systemClock } from '../base/system-clock.js';
import { countedNoun, oneLine, shownCharacters, shownLine } from '../base/text.js';
import { isMet, unmetWords } from '../checks/result.js';
import { isNativeOn } from '../native/native-switch.js';
import { requireOutsideSession } from '../tasks/own-session.js';
import { isUndoable, treeOf, type Receipt } from '../tasks/receipt/receipt.js';
import { isFinal, openDecisions, type TaskRecord } from '../tasks/task.js';
import { finishWords, type FinishAction } from '../tasks/worktree-maker.js';
import { followLog } from './attach/follow-log.js';
import { requireOutsideTasks, type CommandContext } from './command-context.js';
import {
  answerCommand,
  answerLines,
  answerOf,
  decisionLines,
  openDecision,
  requireTask,
  type GivenAnswer,
} from './decisions.js';
import { exitCodeOfEnd, exitCodes, type ExitCode } from './exit-codes.js';
import { shortId } from './find-task.js';
import { openTasks, type OpenTasks } from './open-tasks.js';
import { changedFiles } from './receipt-text.js';
import { verificationText } from './checks-text.js';
import { taskTable } from './tasks-table.js';
import { interruptedWords, taskDetails } from './tasks-text.js';
import { TerminalLog } from './terminal-log.js';
import { fittedLines, paintedDiff, withCommand } from './terminal-text.js';

/** Every task that a state directory can hold. */
const MAX_TASKS = 10_000;
const MAX_WHY_CHARS = 500;
const TAKES_ALL_BACK =
  'An undo takes back all that changed in these files while the task ran, whoever changed it. New files stay.';
const DISCARDS =
  'A discard removes the worktree and its branch with these changes; the answer names where git still has them.';
const KILLED_BY_PERSON = 'Killed by claude-code-bridge tasks kill.';

export interface TasksOptions extends CommandContext {
  /** Sessions that people started alone. */
  readonly native: boolean;
  /** For machines: one JSON value on stdout. */
  readonly json: boolean;
  /** Asks the person at the terminal; undefined without one. The answer is undefined after Ctrl-C. */
  readonly confirm?: ((question: string) => Promise<boolean | undefined>) | undefined;
}

/** A command of `claude-code-bridge tasks`. `task` is what `findTask` takes. */
export type TaskCommand = (commands: TaskCommands) => Promise<ExitCode>;

/**
 * Runs a command about tasks, with and without a running server. `act`: what it does, for those that change something; they are refused
 * inside a task.
 */
export async function runTasks(
  command: TaskCommand,
  act: string | undefined,
  options: TasksOptions,
): Promise<ExitCode> {
  if (act !== undefined) await requireOutsideTasks(options.env, act);
  const opened = await openTasks(options);
  try {
    return await command(new TaskCommands(opened, options));
  } finally {
    opened.dispose();
  }
}

/** The commands; each prints what it did, and resolves with the exit code. */
export class TaskCommands {
  readonly #opened: OpenTasks;
  readonly #options: TasksOptions;

  constructor(opened: OpenTasks, options: TasksOptions) {
    this.#opened = opened;
    this.#options = options;
  }

  async list(): Promise<ExitCode> {
    const { native, command, say, look } = this.#options;
    const { tasks, statePath } = this.#opened;
    if (native && !isNativeOn(statePath)) say(`This view is off. ${command} native on begins it again.`);
    const { tasks: records, unreadable = [], foreign } = await tasks.list({ native, limit: MAX_TASKS });
    for (const { task_id, why } of unreadable) say(`${task_id} ${oneLine(why, MAX_WHY_CHARS)}`);
    const adopt = withCommand('When no bridge runs there any more:', `${command} state adopt`, look);
    if (foreign !== undefined) say(`${foreign.message}\n${adopt}`);
    const history = native || foreign !== undefined ? undefined : await tasks.historyWords();
    if (history !== undefined) say(history);
    const isEmpty = native && records.length === 0;
    const table = taskTable(records, { ...this.#options, nowMs: systemClock.now() });
    return this.#print(records, isEmpty ? 'No sessions in the allowed folders.\n' : table);
  }

  async show(task?: string): Promise<ExitCode> {
    const record = await this.#opened.find(task);
    const receipt = await this.#opened.receiptOf(record);
    const isGone = !existsSync(record.worktree?.path ?? record.project_path);
    const text = taskDetails(record, { ...this.#options, receipt, isGone, nowMs: systemClock.now() });
    return this.#print({ ...record, ...(receipt !== undefined && { receipt }) }, text);
  }

  /** `follows`: until the task ends. */
  async log(task: string | undefined, follows: boolean): Promise<ExitCode> {
    const record = await this.#opened.find(task);
    const last = await showLog(this.#opened, record, this.#options, { follows });
    return follows && isFinal(last.status) ? exitCodeOfEnd(last) : exitCodes.done;
  }

  /**
   * Prints what a task changed, as `git diff` does; on a terminal in colours, and with control characters as escapes. Throws
   * NOT_A_REPOSITORY where git saw nothing of it, and the errors of git.
   */
  async diff(task?: string): Promise<ExitCode> {
    const { output, look, say } = this.#options;
    const patch = await this.#opened.changes.patchOf(await this.#opened.find(task));
    if (patch.state === 'nothing') {
      say(patch.why);
      return exitCodes.done;
    }
    const text = new TextDecoder();
    let rest = '';
    const take = (chunk: Uint8Array): Promise<void> => {
      if (look.columns === undefined) return output.write(chunk);
      const lines = `${rest}${shownCharacters(text.decode(chunk, { stream: true }))}`.split('\n');
      rest = lines.pop() ?? '';
      return output.write(lines.map((line) => `${paintedDiff(line, look)}\n`).join(''));
    };
    try {
      await this.#opened.patches(patch.query, take, output.lost);
    } catch (error) {
      // git was ended since nothing takes its output: the end says what that means.
      if (!output.lost.aborted) throw error;
    }
    if (rest !== '') await output.write(`${paintedDiff(rest, look)}\n`);
    for (const note of patch.notes) say(note);
    return exitCodes.done;
  }

  /** `decision`: its id, when several are open. */
  async answer(task: string, decision: string | undefined, given: GivenAnswer): Promise<ExitCode> {
    const { command, env, native } = this.#options;
    if (decision === undefined) requireTask(task, given, `${command} ${native ? 'native' : 'tasks'} answer`);
    const record = await this.#opened.find(task);
    const open = openDecision(record, decision, { command, nowMs: systemClock.now() });
    const answer = answerOf(open, given);
    await requireOutsideSession(record, env);
    const after = await this.#opened.tasks.respond(record.task_id, answer);
    const chosen = Object.values(answer.answers ?? {})
      .map((words) => shownLine(words))
      .join('; ');
    return this.#print(after, `${answer.decision_id} answered: ${chosen === '' ? answer.verdict : chosen}\n`);
  }

  async message(task: string, text: string): Promise<ExitCode> {
    const { command, env, look } = this.#options;
    const record = await this.#opened.find(task);
    const { task_id } = record;
    await requireOutsideSession(record, env);
    const after = await this.#opened.tasks.message(task_id, { text });
    const [open] = openDecisions(after);
    const waits = open === undefined ? '' : ` It waits until ${open.decision_id} is answered.`;
    const next = `${command} tasks follow ${shortId(task_id)}`;
    const sent = `The message is on its way to ${task_id}.${waits} To see the answer:`;
    return this.#print(after, `${withCommand(sent, next, look)}\n`);
  }

  async interrupt(task: string): Promise<ExitCode> {
    const before = await this.#opened.find(task);
    const request = { interrupt: true, by: 'command line' } as const;
    const after = await this.#opened.tasks.message(before.task_id, request);
    return this.#print(after, interruptedWords(before, this.#options));
  }

  async kill(task: string, reason: string = KILLED_BY_PERSON): Promise<ExitCode> {
    const { task_id } = await this.#opened.find(task);
    const final = await this.#opened.tasks.kill(task_id, reason);
    return this.#print(
      final,
      fittedLines(`${task_id} ${final.status}: ${final.reason}\n`, this.#options.look),
    );
  }

  /**
   * `given`: the tree that was reviewed; left out, the one that is shown here. Asks before an undo, which takes back what others did meanwhile,
   * before work is discarded, and before it comes to where another task works or its checks are not met. Without a terminal an undo needs
   * the tree that was reviewed, and `anyway` brings in what is not met.
   */
  async finish(
    task: string,
    action: FinishAction,
    { reviewed: given, anyway = false }: { readonly reviewed?: string; readonly anyway?: boolean } = {},
  ): Promise<ExitCode> {
    const { json, say, confirm: person } = this.#options;
    const confirm = json ? undefined : person;
    const found = await this.#opened.find(task);
    const { task_id, status, worktree } = found;
    // What is brought home is what is shown; of a task that was finished nothing is left to show or to ask about.
    const isOver = worktree?.finished !== undefined;
    const receipt = isOver ? undefined : await this.#opened.receiptOf(found);
    const tree = receipt && treeOf(receipt);
    if (receipt !== undefined) for (const line of changedFiles(receipt)) say(line);
    if (tree !== undefined) say(`tree ${tree}`);
    if (confirm !== undefined && isFinal(status) && !isOver && (given === undefined || action !== 'undo')) {
      const why = await this.#whyAsked(found, action, { receipt, anyway, reviewed: given ?? tree });
      if (why !== undefined) say(why);
      const isYes = why === undefined || (await confirm(`Do you want to ${action} now?`));
      if (isYes !== true) {
        say('Nothing was changed.');
        return isYes === undefined ? exitCodes.interrupted : exitCodes.done;
      }
    }
    const { signal } = new AbortController();
    const reviewed = given ?? (action === 'undo' && confirm === undefined ? undefined : tree);
    // Who was asked has said yes.
    const request = { taskId: task_id, action, reviewed, anyway: anyway || confirm !== undefined, signal };
    const { record, notes } = await this.#opened.finisher.finish(request);
    const done = action === 'undo' ? '' : finishWords(action, record.worktree?.finished?.result ?? '');
    return this.#print(record, [`${task_id} ${action}: ${done}`.trimEnd(), ...notes, ''].join('\n'));
  }

  /** The sentence before the question; undefined where nothing is asked. */
  async #whyAsked(
    record: TaskRecord,
    action: FinishAction,
    {
      receipt,
      anyway,
      reviewed,
    }: {
      readonly receipt: Receipt | undefined;
      readonly anyway: boolean;
      readonly reviewed: string | undefined;
    },
  ) {
    if (action === 'undo') return isUndoable(record, receipt) ? TAKES_ALL_BACK : undefined;
    const unmet = anyway
      ? undefined
      : unmetWords(await this.#opened.finisher.unmet(record, action, reviewed));
    const works = await this.#opened.finisher.worksBeside(record, action);
    const why = [unmet && `${unmet}.`, works].filter((words) => words !== undefined);
    const isWork = action === 'discard' && receipt !== undefined && changedFiles(receipt).length > 0;
    return why.length > 0 ? why.join('\n') : isWork ? DISCARDS : undefined;
  }

  /** Runs the checks of an ended task in a clean copy, until Ctrl-C. Throws TASK_ALREADY_RUNNING, and as `Verifications`. */
  async verify(task?: string): Promise<ExitCode> {
    const record = await this.#opened.find(task);
    const { task_id } = record;
    if (!isFinal(record.status))
      throw new BridgeError(
        'TASK_ALREADY_RUNNING',
        `Task ${task_id} has not ended: it is ${record.status}.`,
        [{ do: 'wait', task: task_id }],
      );
    const { json, say, confirm } = this.#options;
    const found = await this.#opened.verify(record, async (question) => {
      if (json || confirm === undefined) return false;
      say(question);
      return (await confirm('Do you want to run these checks?')) === true;
    });
    this.#print(found, verificationText(found));
    return isMet(found) ? exitCodes.done : exitCodes.failed;
  }

  /** `keep`: how many of the newest stay. */
  async prune(keep?: number): Promise<ExitCode> {
    const { removed, withWork } = await this.#opened.tasks.prune(keep);
    const lines = [
      ...removed.map(({ task_id, status }) => `${task_id} (${status})\n`),
      ...withWork.map(({ task_id }) => `${task_id} stays: its worktree holds work (tasks finish)\n`),
      removed.length === 0 ? 'No task was removed.\n' : `${countedNoun(removed.length, 'task')} removed.\n`,
    ];
    const ids = removed.map(({ task_id }) => task_id);
    return this.#print(ids, lines.join(''));
  }

  async rm(task: string, force: boolean): Promise<ExitCode> {
    const { task_id, worktree } = await this.#opened.find(task);
    await this.#opened.tasks.remove(task_id, force);
    const stays = force && worktree !== undefined && existsSync(worktree.path);
    const rest = stays ? ` Its worktree ${worktree.path} stays, with the branch ${worktree.branch}.` : '';
    const words = `${task_id} removed: record, receipt, prompt, log and recording.${rest}\n`;
    return this.#print(task_id, fittedLines(words, this.#options.look));
  }

  #print(value: unknown, text: string): ExitCode {
    const { json, output } = this.#options;
    void output.write(json ? `${JSON.stringify(value, null, 2)}\n` : text);
    return exitCodes.done;
  }
}

/**
 * Prints the log of a task: as it is now, or with `follows` as it grows, until the task ends, Ctrl-C, or nothing reads it. Resolves with the
 * last record.
 */
export async function showLog(
  { tasks }: Pick<OpenTasks, 'tasks'>,
  record: TaskRecord,
  { look, output, command, say }: Pick<CommandContext, 'look' | 'output' | 'command' | 'say'>,
  { follows }: { readonly follows: boolean },
): Promise<TaskRecord> {
  const stop = new AbortController();
  process.once('SIGINT', () => stop.abort());
  const shown = new Set<string>();
  const log = new TerminalLog(look, systemClock.now(), (text) => void output.write(text));
  // A question is not answered here: how it is, is said once.
  const showQuestions = async (now: TaskRecord): Promise<void> => {
    for (const decision of openDecisions(now)) {
      if (shown.has(decision.decision_id)) continue;
      shown.add(decision.decision_id);
      log.clear();
      const ways = answerLines(decision, answerCommand(now, command));
      for (const line of ['', ...decisionLines(decision, look), ...ways, '']) say(line);
    }
  };
  return followLog({
    get: () => tasks.get(record.task_id),
    follows,
    afterPages: showQuestions,
    log,
    signal: AbortSignal.any([stop.signal, output.lost]),
  });
}
