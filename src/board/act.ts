import { BridgeError, messageOf, nextWords } from '../base/errors.js';
import { farIdOf } from '../base/ids.js';
import type { FarPlace, MachineTasks } from '../machines/machine-tasks.js';
import type { TaskFinisher } from '../tasks/task-finisher.js';
import type { TaskService } from '../tasks/task-service.js';
import type { Logger } from '../base/logger.js';
import { isFinal } from '../tasks/task.js';
import type { AlwaysRules } from './always-rules.js';
import { changedText, type TextSources } from './changed-texts.js';
import { continueTask } from './continue-task.js';
import { actThere, nameThere } from './far-acts.js';
import { thereActionSchema, type ActionAnswer, type ActionError, type ClientAction } from './protocol.js';
import { readRecording } from './recording.js';
import { reviewMessage, type Reviews } from './reviews.js';
import { decisionViewOf, inputHash } from './task-views.js';
import type { TerminalClientAction } from './terminal-stream.js';

/** What a person does to a task, other than in its terminal. */
export type TaskClientAction = Exclude<ClientAction, TerminalClientAction>;

export interface ActServices extends TextSources {
  readonly tasks: TaskService;
  readonly reviews: Reviews;
  readonly recordingFile: (taskId: string) => string;
  readonly always: AlwaysRules;
  readonly finisher: Pick<TaskFinisher, 'finish'>;
  /** The same as `tasks`; left out where no machine is set. */
  readonly far?: MachineTasks | undefined;
}

const LOG_PAGE_BYTES = 128 * 1024;
const noAbort = new AbortController().signal;

/** Does what a person asked for at a page; `client` stands in the task's journal. Throws as the task service, git and the rules do. */
export async function act(
  action: TaskClientAction,
  client: string,
  services: ActServices,
): Promise<ActionAnswer> {
  const { tasks, reviews, finisher, always, far } = services;
  const place = action.type === 'task.start' ? undefined : placeOf(action.task_id, far);
  const by = place === undefined ? client : nameThere();
  const there = place && thereActionSchema.safeParse(action).data;
  if (place && there) return actThere(there, place, by);
  switch (action.type) {
    case 'decision.answer':
      await answerDecision(action, by, tasks);
      return {};
    case 'task.message':
      await tasks.message(action.task_id, { text: action.text });
      return {};
    case 'task.start': {
      const { path, prompt, model, permission_mode, on_conflict, max_cost_usd, machine } = action;
      if (machine !== undefined && far === undefined) throw noMachine(machine);
      const { task_id } = await tasks.start({
        ...{ path, prompt, model, machine },
        permissionMode: permission_mode,
        onConflict: on_conflict,
        maxCostUsd: max_cost_usd,
      });
      return { task_id };
    }
    case 'task.continue':
      return { task_id: await continueTask(action.task_id, action.text, tasks) };
    case 'task.interrupt':
      await tasks.message(action.task_id, { interrupt: true, by });
      return {};
    case 'task.kill':
      await tasks.kill(action.task_id, action.reason === '' ? `Killed from the ${by}.` : action.reason);
      return {};
    case 'task.finish': {
      const { task_id: taskId, action: how, reviewed, anyway } = action;
      const finished = finisher.finish({ taskId, action: how, reviewed, anyway, signal: noAbort });
      await finished.finally(() => reviews.outdated(taskId));
      return {};
    }
    case 'log.read': {
      const { task_id: taskId, cursor } = action;
      const page = await tasks.output({ taskId, view: 'log', cursor, maxBytes: LOG_PAGE_BYTES });
      return { log: { text: page.text, cursor: page.cursor, more: page.more } };
    }
    case 'file.read':
      return { file: await changedText(services, await tasks.get(action.task_id), action) };
    case 'review.add': {
      const { type: _type, task_id: taskId, ...comment } = action;
      await tasks.get(taskId);
      await reviews.add(taskId, comment);
      return {};
    }
    case 'review.remove':
      await reviews.remove(action.task_id, action.comment_id);
      return {};
    case 'review.submit':
      return reviews.submit(action.task_id, (drafts) =>
        sendComments(action.task_id, reviewMessage(drafts), tasks),
      );
    case 'replay.read':
      return { piece: await readRecording(services.recordingFile(action.task_id), action) };
    case 'rule.propose': {
      const { record, decision } = await ruledDecision(action, tasks);
      return { proposal: await always.propose(record, decision, action.rules) };
    }
    case 'rule.write':
      await writeRules(action, by, { tasks, always });
      return {};
  }
}

/** Undefined for a task of this machine. Throws MACHINE_NOT_FOUND. */
function placeOf(taskId: string, far: MachineTasks | undefined): FarPlace | undefined {
  const { machine } = farIdOf(taskId) ?? {};
  if (machine !== undefined && far === undefined) throw noMachine(machine);
  return far?.placeOf(taskId);
}

function noMachine(machine: string): BridgeError {
  return new BridgeError(
    'MACHINE_NOT_FOUND',
    `No machine is called ${machine}: the setting \`machines\` is empty.`,
    'Add it with `claude-code-bridge machines add`, then open the board again.',
  );
}

/** As one message, or as the prompt of a task that goes on from one that has ended. */
async function sendComments(taskId: string, text: string, tasks: TaskService): Promise<ActionAnswer> {
  const { status } = await tasks.get(taskId);
  if (isFinal(status)) return { task_id: await continueTask(taskId, text, tasks) };
  await tasks.message(taskId, { text });
  return {};
}

/** Answers the request that was shown, and no other. Throws DECISION_CLOSED, and as the task service. */
export async function answerDecision(
  action: Extract<ClientAction, { type: 'decision.answer' }>,
  by: string,
  tasks: TaskService,
): Promise<void> {
  const { task_id, decision_id, verdict, message, answers } = action;
  // Of one that is not open the task itself says who answered it.
  const { decision } = await openDecision(action, tasks);
  if (verdict !== 'deny' && decision !== undefined && decisionViewOf(task_id, decision).cut !== null)
    throw new BridgeError(
      'INVALID_ARGUMENTS',
      `${decision_id} was not shown whole, so it cannot be allowed here.`,
      'Deny it, with a message that asks for less at once.',
    );
  await tasks.respond(task_id, {
    decision_id,
    verdict,
    ...(message !== undefined && { message }),
    ...(answers !== undefined && { answers }),
    by,
  });
}

type ShownDecision = Pick<
  Extract<ClientAction, { type: 'decision.answer' }>,
  'task_id' | 'decision_id' | 'input_sha256'
>;

/** The decision that a page shows; undefined for one that is not open. Throws DECISION_CLOSED for one that has changed. */
async function openDecision({ task_id, decision_id, input_sha256 }: ShownDecision, tasks: TaskService) {
  const record = await tasks.get(task_id);
  const decision = record.decisions.find((one) => one.decision_id === decision_id && one.closed_at === null);
  if (decision === undefined || inputHash(decision) === input_sha256) return { record, decision };
  const message = `What ${decision_id} asks for has changed since it was shown.`;
  throw new BridgeError('DECISION_CLOSED', message, 'Read it again and answer what it asks now.');
}

/** The same for rules. Throws DECISION_CLOSED also for one that is not open. */
async function ruledDecision(shown: ShownDecision, tasks: TaskService) {
  const { record, decision } = await openDecision(shown, tasks);
  if (decision !== undefined) return { record, decision };
  const message = `${shown.decision_id} waits for no answer any more.`;
  throw new BridgeError('DECISION_CLOSED', message, 'Nothing was written.');
}

/** First the answer: who is late writes no rule. */
async function writeRules(
  action: Extract<ClientAction, { readonly type: 'rule.write' }>,
  by: string,
  { tasks, always }: Pick<ActServices, 'tasks' | 'always'>,
): Promise<void> {
  const { task_id, decision_id, rules, file } = action;
  const { decision } = await ruledDecision(action, tasks);
  always.check(decision, rules, file);
  const message = `allowed once, with the rule ${rules.join(', ')} asked for in ${file}`;
  await tasks.respond(task_id, { decision_id, verdict: 'allow', message, by });
  await always.write(decision, rules, file).catch((error: unknown) => {
    const [code, hint] =
      error instanceof BridgeError ? [error.code, error.hint] : ['INTERNAL_ERROR' as const, ''];
    const said = `The request was allowed once, but no rule was written: ${messageOf(error)}`;
    throw new BridgeError(code, said, hint);
  });
}

/** What a page gets of an error; one of the board itself goes to the log. */
export function actionErrorOf(error: unknown, logger: Logger): ActionError {
  if (error instanceof BridgeError)
    return { code: error.code, message: error.message, hint: nextWords(error.next) };
  logger.error('What a page asked for failed', {
    error: error instanceof Error ? (error.stack ?? error.message) : String(error),
  });
  return {
    code: 'INTERNAL_ERROR',
    message: 'An error in the board itself.',
    hint: 'Its log has the details.',
  };
}
