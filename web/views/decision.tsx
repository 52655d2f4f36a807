import { useState } from 'preact/hooks';
import type { ActionError, ClientAction } from '../../src/board/protocol.js';
import type { DecisionView } from '../../src/board/state.js';
import type { Store } from '../store.js';
import { span, visible } from '../text/words.js';
import { EditBox, editOf, type Edit } from './edit-box.js';
import { isBareKey } from './keys.js';
import { answerText, Questions, type Answers } from './questions.js';
import { RequestView } from './request.js';
import { ErrorLine, useLater, useNow } from './parts.js';
import { useSurface } from './surface.js';

type Verdict = Extract<ClientAction, { type: 'decision.answer' }>['verdict'];

interface DecisionProps {
  readonly store: Store;
  readonly decision: DecisionView;
  /** The questions before it: when one of them goes, this card stands where another one did. */
  readonly place: string;
}

/** What a person has filled in, and how it is sent: one answer, and a yes only to what has stood for half a second. */
function useAnswer({ store, decision, place }: DecisionProps) {
  const isLive = useLater(`${decision.decision_id} ${decision.input_sha256} ${place}`);
  const [answers, setAnswers] = useState<Answers>(new Map());
  const [isAlways, setIsAlways] = useState(false);
  const [edit, setEdit] = useState<Edit>();
  const [words, setWords] = useState('');
  const [error, setError] = useState<ActionError>();
  const [isSent, setIsSent] = useState(false);
  const isAnswerable = decision.questions.every((one) => answerText(answers, one.question) !== '');
  const canAllow = isLive && !isSent && (decision.kind !== 'question' || isAnswerable);
  const offered = decision.choices.map(({ answer }) => answer);
  const answer = (verdict: Verdict): void => {
    // A no is never in the way of anything.
    if (isSent || !offered.includes(verdict) || (verdict !== 'deny' && !canAllow)) return;
    // What is edited is allowed once.
    if (verdict === 'allow_session' && edit !== undefined) return;
    setIsSent(true);
    setError(undefined);
    void store.act(actionOf(decision, verdict, { answers, edit, words })).then((outcome) => {
      if (outcome.ok) return;
      setIsSent(false);
      setError(outcome.error);
    });
  };
  const fields = { answers, setAnswers, isAlways, setIsAlways, edit, setEdit, words, setWords };
  return { ...fields, error, isSent, setIsSent, canAllow, answer };
}

type Form = ReturnType<typeof useAnswer>;

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
        <Questions questions={decision.questions} answers={form.answers} onChange={form.setAnswers} />
      ) : (
        <RequestView decision={decision} />
      )}
      {decision.cut !== null && <p class="error">{decision.cut}</p>}
      {decision.why !== null && !isQuestion && <p class="quiet">{visible(decision.why)}</p>}
      {form.edit !== undefined && <EditBox edit={form.edit} onChange={form.setEdit} />}
      <AnswerRow decision={decision} form={form} />
      {form.isAlways && Always !== undefined && (
        <Always {...{ store, decision }} isSent={form.isSent} onSent={form.setIsSent} />
      )}
      <ErrorLine error={form.error} />
    </article>
  );
}

const headlines = {
  question: 'Claude asks you',
  plan: 'Go on with this plan?',
  trust: 'Trust this folder?',
  prompt: 'A question in the terminal',
} as const;

/** What a yes would allow; the fields of the request below it are exact. */
function headlineOf({ kind, tool, input }: DecisionView): string {
  if (kind !== 'permission') return headlines[kind];
  if ('command' in input) return 'Run a command?';
  return ['old_string', 'content', 'new_source'].some((name) => name in input)
    ? 'Change a file?'
    : `Use ${tool}?`;
}

interface AnswerRowProps {
  readonly decision: DecisionView;
  readonly form: Form;
}

function AnswerRow({ decision, form }: AnswerRowProps) {
  const { edit, words, isSent, isAlways, canAllow, answer } = form;
  const { Always } = useSurface();
  const editable = editOf(decision);
  const yes = decision.choices.filter((one) => one.answer !== 'deny');
  const shownYes = yes.filter((one) => edit === undefined || one.answer === 'allow');
  const hasAlways = Always !== undefined && decision.can_edit && !decision.is_left && yes.length > 0;
  return (
    <div class="answers">
      {shownYes.map((one, at) => (
        <button
          key={one.key}
          type="button"
          class={at === 0 ? 'primary' : undefined}
          disabled={!canAllow}
          onClick={() => answer(one.answer)}
        >
          {edit === undefined ? one.label : 'Allow as edited'}
          <Key name={one.key} />
        </button>
      ))}
      {hasAlways && edit === undefined && (
        <button
          type="button"
          class="plain"
          disabled={isSent}
          aria-expanded={isAlways}
          onClick={() => form.setIsAlways(!isAlways)}
        >
          Always…
        </button>
      )}
      {editable !== undefined && !isAlways && (
        <button
          type="button"
          class="plain"
          disabled={isSent}
          onClick={() => form.setEdit(edit === undefined ? editable : undefined)}
        >
          {edit === undefined ? 'Edit…' : 'Do not edit'}
        </button>
      )}
      <button type="button" class="deny" disabled={isSent} onClick={() => answer('deny')}>
        Deny
        <Key name="n" />
      </button>
      <input
        type="text"
        class="why"
        dir="auto"
        placeholder="Why, or what to do instead"
        aria-label="With Deny: why, or what to do instead"
        value={words}
        onInput={(event) => form.setWords(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && !event.repeat && words.trim() !== '') answer('deny');
        }}
      />
    </div>
  );
}

/** The key that presses a button while the card has the focus. */
function Key({ name }: { readonly name: string }) {
  return <kbd aria-hidden="true">{name}</kbd>;
}

function Deadline({ decision }: { readonly decision: DecisionView }) {
  const nowMs = useNow(1_000);
  const left = (Date.parse(decision.expires_at) - nowMs) / 1000;
  return (
    <span>
      {decision.otherwise === 'denied' ? 'auto-denies' : decision.otherwise} in {span(left)}
    </span>
  );
}

function actionOf(
  { task_id, decision_id, input_sha256, kind }: DecisionView,
  verdict: Verdict,
  given: { readonly answers: Answers; readonly edit: Edit | undefined; readonly words: string },
): ClientAction {
  const edited = given.edit === undefined ? undefined : { [given.edit.field]: given.edit.text };
  const said = kind === 'question' ? [...given.answers.keys()] : [];
  const answers = Object.fromEntries(said.map((one) => [one, answerText(given.answers, one)] as const));
  return {
    type: 'decision.answer',
    ...{ task_id, decision_id, input_sha256, verdict },
    ...(verdict === 'deny' && given.words !== '' && { message: given.words }),
    ...(verdict !== 'deny' && kind === 'question' && { answers }),
    ...(verdict !== 'deny' && edited !== undefined && { answers: edited }),
  };
}
