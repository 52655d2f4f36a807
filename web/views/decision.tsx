import { useState } from 'preact/hooks';
import type { ActionError, ClientAction } from '../../src/board/protocol.js';
import type { DecisionView } from '../../src/board/state.js';
import type { Store } from '../store.js';
import { span, visible } from '../text/words.js';
import { EditBox, editOf, type Edit } from './edit-box.js';
import { isBareKey } from './keys.js';
import { ErrorLine, useLater, useNow, Button } from './parts.js';
import { answerText, Questions, type Answers } from './questions.js';
import { RequestView } from './request.js';
import { useSurface } from './surface.js';

type Verdict = Extract<ClientAction, { type: 'decision.answer' }>['verdict'];

interface DecisionProps {
  readonly store: Store;
  readonly decision: DecisionView;
  /** The questions before it: when one of them goes, this card stands where another one did. */
  readonly place: string;
}

/** What a person has filled in. */
interface Filled {
  readonly answers: Answers;
  readonly isAlways: boolean;
  readonly edit: Edit | undefined;
  readonly words: string;
  readonly isSent: boolean;
  readonly error: ActionError | undefined;
}

/** How it is sent: one answer, and a yes only to what has stood for half a second. */
function useAnswer({ store, decision, place }: DecisionProps) {
  const isLive = useLater(`${decision.decision_id} ${decision.input_sha256} ${place}`);
  const [filled, setFilled] = useState<Filled>({
    ...{ answers: new Map(), isAlways: false, edit: undefined, words: '', isSent: false, error: undefined },
  });
  const change = (changes: Partial<Filled>): void => setFilled((before) => ({ ...before, ...changes }));
  const { answers, edit, isSent } = filled;
  const isAnswerable = decision.questions.every((one) => answerText(answers, one.question) !== '');
  const canAllow = isLive && !isSent && (decision.kind !== 'question' || isAnswerable);
  const answer = (verdict: Verdict): void => {
    const isOffered = decision.choices.some((one) => one.answer === verdict);
    // A no is never in the way of anything.
    if (isSent || !isOffered || (verdict !== 'deny' && !canAllow)) return;
    // What is edited is allowed once.
    if (verdict === 'allow_session' && edit !== undefined) return;
    change({ isSent: true, error: undefined });
    void store.act(actionOf(decision, verdict, filled)).then((outcome) => {
      if (!outcome.ok) change({ isSent: false, error: outcome.error });
    });
  };
  return { ...filled, change, canAllow, answer };
}

/** One open question of a task, and its answers. Its keys answer only while it has the focus, so a letter meant for something else does not. */
export function DecisionCard(props: DecisionProps) {
  const { store, decision } = props;
  const form = useAnswer(props);
  const { Always } = useSurface();
  const isQuestion = decision.kind === 'question';
  const pressed = (event: KeyboardEvent): void => {
    const choice = decision.choices.find(({ key }) => key === event.key);
    if (choice === undefined || !isBareKey(event)) return;
    event.preventDefault();
    if (!event.repeat) form.answer(choice.answer);
  };
  return (
    <article
      class="decision"
      tabIndex={-1}
      aria-label={`${decision.summary}, ${visible(decision.asks)}`}
      onKeyDown={pressed}
    >
      <header>
        <strong>{visible(headlineOf(decision))}</strong>
        <Deadline decision={decision} />
      </header>
      {isQuestion ? (
        <Questions
          questions={decision.questions}
          answers={form.answers}
          onChange={(answers) => form.change({ answers })}
        />
      ) : (
        <RequestView decision={decision} />
      )}
      {decision.cut !== null && <p class="error">{decision.cut}</p>}
      {decision.why !== null && !isQuestion && <p class="quiet">{visible(decision.why)}</p>}
      {form.edit !== undefined && <EditBox edit={form.edit} onChange={(edit) => form.change({ edit })} />}
      <AnswerRow decision={decision} form={form} />
      {form.isAlways && Always !== undefined && (
        <Always {...{ store, decision }} isSent={form.isSent} onSent={(isSent) => form.change({ isSent })} />
      )}
      <ErrorLine error={form.error} />
    </article>
  );
}

const headlines = {
  question: 'Claude asks you',
  plan: 'Approve this plan?',
  trust: 'Trust this folder?',
  prompt: 'A question in the terminal',
} as const;

/** What a yes would allow; the fields of the request below it are exact. */
function headlineOf({ kind, tool, input }: DecisionView): string {
  if (kind !== 'permission') return headlines[kind];
  if ('command' in input) return 'Run a command?';
  const isChange = ['old_string', 'content', 'new_source'].some((name) => name in input);
  return isChange ? 'Change a file?' : `Use ${tool}?`;
}

interface AnswerRowProps {
  readonly decision: DecisionView;
  readonly form: ReturnType<typeof useAnswer>;
}

function AnswerRow({ decision, form }: AnswerRowProps) {
  const { edit, words, isSent, isAlways, canAllow, answer, change } = form;
  const { Always } = useSurface();
  const editable = editOf(decision);
  const yes = decision.choices.filter((one) => one.answer !== 'deny');
  const hasAlways = Always !== undefined && decision.can_edit && !decision.is_left && yes.length > 0;
  return (
    <div class="answers">
      {yes
        .filter((one) => edit === undefined || one.answer === 'allow')
        .map((one, at) => (
          <Button
            key={one.key}
            look={at === 0 ? 'primary' : undefined}
            off={!canAllow}
            act={() => answer(one.answer)}
          >
            {edit === undefined ? one.label : 'Allow as edited'}
            <kbd aria-hidden="true">{one.key}</kbd>
          </Button>
        ))}
      {hasAlways && edit === undefined && (
        <Button
          look="plain"
          off={isSent}
          aria-expanded={isAlways}
          act={() => change({ isAlways: !isAlways })}
        >
          Always…
        </Button>
      )}
      {editable !== undefined && !isAlways && (
        <Button
          look="plain"
          off={isSent}
          act={() => change({ edit: edit === undefined ? editable : undefined })}
        >
          {edit === undefined ? 'Edit…' : 'Do not edit'}
        </Button>
      )}
      <Button look="deny" off={isSent} act={() => answer('deny')}>
        Deny
        <kbd aria-hidden="true">n</kbd>
      </Button>
      <input
        type="text"
        class="why"
        dir="auto"
        placeholder="Why, or what to do instead"
        aria-label="With Deny: why, or what to do instead"
        value={words}
        onInput={(event) => change({ words: event.currentTarget.value })}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && !event.repeat && words.trim() !== '') answer('deny');
        }}
      />
    </div>
  );
}

function Deadline({ decision: { expires_at, otherwise } }: { readonly decision: DecisionView }) {
  const nowMs = useNow(1_000);
  const left = span((Date.parse(expires_at) - nowMs) / 1000);
  return <span>{otherwise === 'denied' ? `auto-denies in ${left}` : `${otherwise} in ${left}`}</span>;
}

function actionOf(
  { task_id, decision_id, input_sha256, kind }: DecisionView,
  verdict: Verdict,
  { answers: given, edit, words }: Filled,
): ClientAction {
  const action = { type: 'decision.answer', task_id, decision_id, input_sha256, verdict } as const;
  if (verdict === 'deny') return words === '' ? action : { ...action, message: words };
  if (edit !== undefined) return { ...action, answers: { [edit.field]: edit.text } };
  if (kind !== 'question') return action;
  const answers = Object.fromEntries([...given.keys()].map((one) => [one, answerText(given, one)] as const));
  return { ...action, answers };
}
