import { existsSync } from 'node:fs';
import { Argument, type Command } from 'commander';
import { BridgeError } from '../base/errors.js';
import { farIdOf } from '../base/ids.js';
import { countedNoun, shownLine } from '../base/text.js';
import { isMet, unmetWords } from '../checks/result.js';
import { requireOutsideSession } from '../tasks/own-session.js';
import { isUndoable, treeOf, type Receipt } from '../tasks/receipt/receipt.js';
import { isFinal, openDecisions, type TaskRecord } from '../tasks/task.js';
import { finishActionSchema, finishWords, type FinishAction } from '../tasks/worktree-maker.js';
import { verificationText } from './checks-text.js';
import { wholeNumber, type CommandContext } from './command.js';
import { answerOf, answerOfWords, openDecision, requireTask } from './decisions.js';
import { exitCodes, type ExitCode } from './exit-codes.js';
import { shortId } from './find-task.js';
import { ID_WORDS, type Group, type Room } from './open-tasks.js';
import { terminalQuestions } from './questions.js';
import { changedFiles } from './receipt-text.js';
import { interruptedWords } from './tasks-text.js';
import { fittedLines, withCommand } from './terminal-text.js';

const MAX_KEPT = 99_999;
const TAKES_ALL_BACK =
  'An undo takes back all that changed in these files while the task ran, whoever changed it. New files stay.';
const DISCARDS =
  'A discard removes the worktree and its branch with these changes; the answer names where git still has them.';
const KILLED_BY_PERSON = 'Killed by claude-code-bridge tasks kill.';
const END = 'end or remove tasks';

interface FinishFlags {
  readonly reviewed?: string;
  readonly anyway?: boolean;
}

interface AnswerFlags {
  readonly option: readonly string[];
}

/** Adds the arguments of `answer`, and what it does. */
export function addAnswer(answer: Command, argument: string, { act, context, native }: Group): void {
  answer
    .argument(argument, ID_WORDS)
    .argument(
      '[words...]',
      'the id of the decision, if several are open; then y, allow_session, or n and why; or the answer to a question: the number of an option, or your own words',
    )
    .option(
      '--option <choice>',
      'of several questions: the number of an option, or your own words; once for each',
      (value: string, before: readonly string[]) => [...before, value],
      [],
    )
    .action(
      act('answer questions of tasks', async (room, task: string, words: string[], flags: AnswerFlags) => {
        const given = answerOfWords(words, flags.option);
        const { env, command } = context;
        const group = native ? 'native' : 'tasks';
        if (given.decision === undefined) requireTask(task, given, `${command} ${group} answer`);
        const record = await room.find(task);
        const reply = answerOf(openDecision(record, given.decision, command), given);
        await requireOutsideSession(record, env);
        const after = await room.tasks.respond(record.task_id, reply);
        const chosen = Object.values(reply.answers ?? {}).map((text) => shownLine(text));
        return room.print(after, `${reply.decision_id} answered: ${chosen.join('; ') || reply.verdict}\n`);
      }),
    );
}

/** Adds the commands that steer and end tasks. */
export function addActs(group: Group): void {
  addSteering(group);
  addFinish(group);
  addRemoval(group);
}

/** The commands for a task that runs. */
function addSteering({ add, act, context }: Group): void {
  const { env, look } = context;
  add(
    'message',
    'send a task a message, which its agent gets at the end of its turn',
    'd93a7d "Use pnpm instead of npm."',
  )
    .argument('<task>', ID_WORDS)
    .argument('<words...>', 'the message')
    .action(
      act('send messages to tasks', async ({ tasks, find, print }, task: string, words: string[]) => {
        const record = await find(task);
        const { task_id } = record;
        await requireOutsideSession(record, env);
        const after = await tasks.message(task_id, { text: words.join(' ') });
        const [open] = openDecisions(after);
        const waits = open === undefined ? '' : ` It waits until ${open.decision_id} is answered.`;
        const sent = `The message is on its way to ${task_id}.${waits} To see the answer:`;
        const next = `${context.command} tasks follow ${shortId(task_id)}`;
        return print(after, `${withCommand(sent, next, look)}\n`);
      }),
    );
  add('interrupt', 'stop the turn of a task; its session stays and takes messages', 'd93a7d')
    .argument('<task>', ID_WORDS)
    .action(
      act('interrupt tasks', async ({ tasks, find, print }, task: string) => {
        const before = await find(task);
        const after = await tasks.message(before.task_id, { interrupt: true, by: 'command line' });
        return print(after, interruptedWords(before, context));
      }),
    );
  add('kill', 'end a task and every process that it started', 'd93a7d', 'd93a7d --reason "The wrong branch."')
    .argument('<task>', ID_WORDS)
    .option('--reason <words>', 'reason, for the record of the task')
    .action(
      act(END, async ({ tasks, find, print }, task: string, { reason }: { reason?: string }) => {
        const { task_id } = await find(task);
        const final = await tasks.kill(task_id, reason ?? KILLED_BY_PERSON);
        return print(final, fittedLines(`${task_id} ${final.status}: ${shownLine(final.reason)}\n`, look));
      }),
    );
}

function addFinish({ add, act, context }: Group): void {
  const actions = finishActionSchema.options;
  add(
    'finish',
    'end the worktree of a task: merge its branch, apply it as uncommitted changes, or discard it; or undo what changed in a shared folder',
    'd93a7d merge',
    'd93a7d apply',
  )
    .argument('<task>', ID_WORDS)
    .addArgument(new Argument(`<${actions.join('|')}>`, 'what becomes of its work').choices(actions))
    .option('--reviewed <tree>', 'refuse another tree than this one; default: the one that the command shows')
    .option('--anyway', 'merge or apply also what does not meet its checks')
    .action(
      act('finish tasks', (room, task: string, action: FinishAction, flags: FinishFlags) =>
        finish(room, context, { task, action, given: flags.reviewed, anyway: flags.anyway === true }),
      ),
    );
}

/** Adds `verify`, which runs the checks of an ended task in a clean copy, until Ctrl-C. */
export function addVerify({ add, act, context: { say } }: Group): void {
  add('verify', 'run the checks of a task that has ended in a clean copy of its work', 'd93a7d')
    .argument('<task>', ID_WORDS)
    .action(
      act('verify tasks', async ({ find, verify, json, print }, task: string) => {
        const record = await find(task);
        const { task_id, status } = record;
        if (!isFinal(status))
          throw new BridgeError('TASK_ALREADY_RUNNING', `Task ${task_id} has not ended: it is ${status}.`, [
            { do: 'wait', task: task_id },
          ]);
        const found = await verify(record, async (question) => {
          const questions = json ? undefined : await terminalQuestions();
          if (questions !== undefined) say(question);
          return (await questions?.confirm('Do you want to run these checks?', false)) === true;
        });
        if (found === undefined) return exitCodes.failed;
        print(found, verificationText(found));
        return isMet(found) ? exitCodes.done : exitCodes.failed;
      }),
    );
}

/**
 * `given`: the tree that was reviewed; left out, the one that is shown here. Asks before an undo, which takes back what others did meanwhile,
 * before work is discarded, and before it comes to where another task works or its checks are not met. Without a terminal an undo needs
 * the tree that was reviewed, and `anyway` brings in what is not met.
 */
async function finish(
  { find, receiptOf, finisher, json, print }: Room,
  { say }: CommandContext,
  {
    task,
    action,
    given,
    anyway,
  }: { task: string; action: FinishAction; given: string | undefined; anyway: boolean },
): Promise<ExitCode> {
  const questions = json ? undefined : await terminalQuestions();
  const found = await find(task);
  const { task_id, status, worktree } = found;
  // What is brought home is what is shown; of a task that was finished nothing is left to show or to ask about.
  const isOver = worktree?.finished !== undefined;
  const receipt = isOver ? undefined : await receiptOf(found);
  const tree = receipt && treeOf(receipt);
  if (receipt !== undefined) for (const line of changedFiles(receipt)) say(line);
  if (tree !== undefined) say(`tree ${shownLine(tree)}`);
  const isReviewed = given !== undefined && action === 'undo';
  if (questions !== undefined && isFinal(status) && !isOver && !isReviewed) {
    const unmet = anyway ? undefined : unmetWords(await finisher.unmet(found, action, given ?? tree));
    const asked = await whyAsked(finisher, found, action, receipt);
    const why = [unmet && `${unmet}.`, asked].filter(Boolean).join('\n') || undefined;
    if (why !== undefined) say(why);
    if (why !== undefined && !(await questions.confirm(`Do you want to ${action} now?`, false))) {
      say('Nothing was changed.');
      return exitCodes.done;
    }
  }
  const reviewed = given ?? (action === 'undo' && questions === undefined ? undefined : tree);
  const { signal } = new AbortController();
  // Who was asked has said yes. Of a task elsewhere it was not asked whether its checks are met.
  const isAsked = questions !== undefined && farIdOf(task_id) === undefined;
  const { record, notes } = await finisher.finish({
    ...{ taskId: task_id, action, reviewed, signal },
    anyway: anyway || isAsked,
  });
  const isSaid = action === 'undo' || farIdOf(task_id) !== undefined;
  const done = isSaid ? '' : finishWords(action, record.worktree?.finished?.result ?? '');
  return print(
    record,
    [`${task_id} ${action}: ${shownLine(done)}`.trimEnd(), ...notes.map((note) => shownLine(note)), ''].join(
      '\n',
    ),
  );
}

/** The sentence before the question; undefined where nothing is asked. */
async function whyAsked(
  finisher: Room['finisher'],
  record: TaskRecord,
  action: FinishAction,
  receipt: Receipt | undefined,
): Promise<string | undefined> {
  if (action === 'undo') return isUndoable(record, receipt) ? TAKES_ALL_BACK : undefined;
  const beside = await finisher.worksBeside(record, action);
  const isWork = action === 'discard' && receipt !== undefined && changedFiles(receipt).length > 0;
  return beside ?? (isWork ? DISCARDS : undefined);
}

/** The commands for what ended tasks leave. */
function addRemoval({ add, act, context }: Group): void {
  add('prune', 'remove finished tasks from the state directory, never a running one', '', '--keep 50')
    .option(
      '--keep <count>',
      'how many of the newest to keep; default: the setting task_history_size',
      wholeNumber('--keep', 0, MAX_KEPT),
    )
    .action(
      act(END, async ({ local, print }, { keep }: { keep?: number }) => {
        const { removed, withWork } = await local.prune(keep);
        const lines = [
          ...removed.map(({ task_id, status }) => `${task_id} (${status})\n`),
          ...withWork.map(({ task_id }) => `${task_id} stays: its worktree holds work (tasks finish)\n`),
          `${removed.length === 0 ? 'No task was' : countedNoun(removed.length, 'task')} removed.\n`,
        ];
        const ids = removed.map(({ task_id }) => task_id);
        return print(ids, lines.join(''));
      }),
    );
  add('rm', 'remove one finished task: its record, receipt, prompt, log and recording', 'd93a7d')
    .argument('<task>', ID_WORDS)
    .option('--force', 'also a task whose worktree holds work; the worktree stays')
    .action(
      act(END, async ({ local, find, print }, task: string, { force = false }: { force?: boolean }) => {
        const { task_id, worktree } = await find(task);
        requireHere(task_id);
        await local.remove(task_id, force);
        const stays = force && worktree !== undefined && existsSync(worktree.path);
        const rest = stays ? ` Its worktree ${worktree.path} stays, with the branch ${worktree.branch}.` : '';
        const words = `${task_id} removed: record, receipt, prompt, log and recording.${rest}\n`;
        return print(task_id, fittedLines(words, context.look));
      }),
    );
}

/** Throws INVALID_ARGUMENTS for a task of another machine, whose bridge keeps its history. */
function requireHere(taskId: string): void {
  const far = farIdOf(taskId);
  if (far === undefined) return;
  throw new BridgeError(
    'INVALID_ARGUMENTS',
    `${taskId} is a task of ${far.machine}, and its history is kept there.`,
    `In a terminal there: claude-code-bridge tasks rm ${far.id}`,
  );
}
