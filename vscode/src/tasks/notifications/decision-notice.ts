// Pure.
import { basename } from 'node:path';
import { farIdOf } from '../../../../src/base/ids.js';
import { oneLine, hasUnseen } from '../../../../src/base/text.js';
import type { ClientAction } from '../../../../src/board/protocol.js';
import type { DecisionView, TaskCard } from '../../../../src/board/state.js';
import { messageText } from '../../shown-text.js';

type Answer = Omit<
  Extract<ClientAction, { readonly type: 'decision.answer' }>,
  'type' | 'task_id' | 'decision_id' | 'input_sha256'
>;

/** A button of a notification. */
export interface NoticeButton {
  readonly label: string;
  /** What it answers; undefined for the one that shows the request in the view. */
  readonly answer: Answer | undefined;
}

/** What a notification of the editor says of a question, and how it can be answered there. */
export interface DecisionNotice {
  readonly message: string;
  readonly buttons: readonly NoticeButton[];
}

/** Longer ones are shown in the view: a person allows only what can be seen as a whole. */
const MAX_WHOLE_CHARS = 160;
const MAX_CHARS = 300;
/** So that there is room for the longest command. */
const MAX_FOLDER_CHARS = 60;
/** Tells the tasks of one folder apart. */
const MAX_PROMPT_CHARS = 40;
const MAX_LABEL_CHARS = 30;
const MAX_OPTIONS = 3;
/** Of a shell command; any other field may change what an answer allows. */
const SHOWN_FIELDS: ReadonlySet<string> = new Set(['command', 'description']);

const SHOW: NoticeButton = { label: 'Show', answer: undefined };
const DENY: NoticeButton = { label: 'Deny', answer: { verdict: 'deny' } };

/** The notification for an open decision. */
export function decisionNotice(decision: DecisionView, task: TaskCard | undefined): DecisionNotice {
  const machine = farIdOf(decision.task_id)?.machine;
  const folder = oneLine(messageText(basename(task?.project_path ?? '')), MAX_FOLDER_CHARS);
  const where = machine === undefined ? folder : `${folder} on ${machine}`;
  const prompt = oneLine(messageText(task?.prompt_summary ?? ''), MAX_PROMPT_CHARS);
  const says = (words: string): string => plain(`Claude Code in ${where} (${prompt}): ${words}`);
  switch (decision.kind) {
    case 'permission': {
      const command = wholeCommand(decision);
      if (command === undefined)
        return { message: says(`asks for ${toolWords(decision)}`), buttons: [SHOW, DENY] };
      const buttons: NoticeButton[] = [
        { label: 'Allow Once', answer: { verdict: 'allow' } },
        { label: 'Allow for This Session', answer: { verdict: 'allow_session' } },
        DENY,
        SHOW,
      ];
      return { message: says(`asks to run ${command}`), buttons };
    }
    case 'question':
      return {
        message: says(decision.questions[0]?.question ?? decision.summary),
        buttons: [...options(decision), SHOW],
      };
    case 'plan':
      return { message: says('has a plan.'), buttons: [SHOW] };
    case 'trust':
    case 'prompt':
      return { message: says(decision.summary), buttons: [SHOW] };
  }
}

/** The summary of most requests begins with the tool. */
function toolWords({ tool, summary }: DecisionView): string {
  return summary.startsWith(`${tool}(`) ? summary : `${tool}: ${summary}`;
}

/** A shell command that a notification shows as it is, and that is all of the request. */
function wholeCommand({ tool, input, input_is_cut }: DecisionView): string | undefined {
  const { command } = input;
  if (tool !== 'Bash' || input_is_cut || typeof command !== 'string') return undefined;
  if (Object.keys(input).some((name) => !SHOWN_FIELDS.has(name))) return undefined;
  const isShown = command.length <= MAX_WHOLE_CHARS && !hasUnseen(command) && plain(command) === command;
  return isShown ? command : undefined;
}

/** The options of a single question, as buttons; none where there is more to choose or to read. */
function options({ questions }: DecisionView): NoticeButton[] {
  const [only, ...others] = questions;
  if (only === undefined || others.length > 0 || only.multi_select) return [];
  const labels = only.options.map(({ label }) => label);
  const areShown =
    labels.length <= MAX_OPTIONS &&
    new Set([...labels, SHOW.label]).size === labels.length + 1 &&
    only.question.length <= MAX_WHOLE_CHARS &&
    labels.every((label) => label.length <= MAX_LABEL_CHARS && plain(label) === label);
  if (!areShown) return [];
  return labels.map((label) => ({
    label,
    answer: { verdict: 'allow', answers: { [only.question]: label } },
  }));
}

/** As a message of the editor shows it, on one line. */
function plain(text: string): string {
  return oneLine(messageText(text), MAX_CHARS);
}
