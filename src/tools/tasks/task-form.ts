// Pure: a decision as the flat form of a client that follows tasks, and what was filled in as an answer.
// How the form is shown was measured with Claude Code 2.1.330: three lines of the message, cut at the width; no words with "Decline".
import { BY_FORM, type DecisionAnswer } from '../../tasks/task-host.js';
import type { Decision, TaskRecord } from '../../tasks/task.js';
import { headline, wholeRequest } from '../../tasks/decisions/whole-request.js';
import { headAndTail } from '../../base/text/text.js';
import { shownLine } from '../../base/text/shown-line.js';
import type { Form, FormField } from '../../mcp/person.js';
import { decisionAnswerOf, questionFields } from './decision-form.js';

/** One column for each character, and no gap behind which something could stand. */
const PLAIN = /^(?!.* {3})[ -~]*$/;
/** What a person sees of a message without more keys. */
const LINES = 2;
/** A terminal of 80 columns shows so many of a line (2.1.332). */
const LINE_CHARS = 70;
/** More than a person writes. A line in the middle of a longer text says what is left out. */
const MAX_WHY_CHARS = 20_000;
const TOO_LONG = 'Too long to decide here: open the page (open_board), or say no.';

const WHY: FormField = { name: 'why', title: 'Why, or what to do instead', isRequired: false };
const NO = { value: 'deny', title: 'No' } as const;
const ONCE = { value: 'allow', title: 'Yes, this once' } as const;
const SESSION = { value: 'allow_session', title: 'For this session' } as const;

/** The form for one decision of the `count` that are open. A request that the form cannot show whole has no yes. */
export function taskForm(record: TaskRecord, decision: Decision, count: number): Form {
  const place = `Task in ${shownLine(record.project_path, LINE_CHARS)}${count > 1 ? `, ${count - 1} more after this` : ''}`;
  const questions = questionFields(decision, true);
  if (questions !== undefined) {
    const [first] = decision.questions ?? [];
    return { message: `${shownLine(first?.question ?? '', LINE_CHARS)}\n${place}`, fields: questions };
  }
  const lines = requestLines(decision);
  const isWhole = isShownWhole(lines);
  const shown = isWhole ? lines : [shownLine(lines[0] ?? '', LINE_CHARS), TOO_LONG];
  const yes = decision.kind === 'permission' ? [ONCE, SESSION] : [ONCE];
  return {
    message: [...shown, place].join('\n'),
    fields: [
      {
        name: 'verdict',
        title: 'Your decision',
        isRequired: true,
        choices: [...(isWhole ? yes : []), NO],
      },
      WHY,
    ],
  };
}

/** The answer of a form that was sent; undefined where it has none. */
export function taskAnswer(
  decision: Decision,
  values: Readonly<Record<string, string>>,
): DecisionAnswer | undefined {
  if (questionFields(decision, true) !== undefined) return decisionAnswerOf(decision, values);
  const { verdict, why } = values;
  // Its form had no yes.
  if (verdict !== 'deny' && !isShownWhole(requestLines(decision))) return undefined;
  const shared = { decision_id: decision.decision_id, by: BY_FORM };
  if (verdict === 'allow' || verdict === 'allow_session') return { ...shared, verdict };
  if (verdict !== 'deny') return undefined;
  return {
    ...shared,
    verdict,
    ...(why !== undefined && why !== '' && { message: headAndTail(why, MAX_WHY_CHARS) }),
  };
}

function isShownWhole(lines: readonly string[]): boolean {
  return lines.length <= LINES && lines.every((line) => line.length <= LINE_CHARS && PLAIN.test(line));
}

/** The whole request behind its tool, or one line more than the form shows. */
function requestLines(decision: Decision): readonly string[] {
  const asked = wholeRequest(decision);
  const head = shownLine(headline(decision));
  if (asked === undefined) return [head, TOO_LONG, ''];
  return asked === '' ? [head] : `${head}: ${asked}`.split('\n');
}
