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

/** One open question of a task, and its answers. Its keys answer only while it has the focus, so a letter meant for something else does not. */
export function DecisionCard({ store, decision, place }: DecisionProps) {
  const isLive = useLater(`${decision.decision_id} ${decision.input_sha256} ${place}`);
  const [answers, setAnswers] = useState<Answers>(new Map());
  const [isAlways, setIsAlways] = useState(false);
  const { Always } = useSurface();
  const [edit, setEdit] = useState<Edit | undefined>();
  const [words, setWords] = useState('');
  const [error, setError] = useState<ActionError | undefined>();
  const [isSent, setIsSent] = useState(false);
  const isQuestion = decision.kind === 'question';
  const isAnswerable =
    !isQuestion || decision.questions.every((one) => answerText(answers, one.question) !== '');
  const answer = (verdict: Verdict): void => {
    // A no is never in the way of anything.
    if (isSent || (verdict !== 'deny' && (!isLive || !isAnswerable))) return;
    if (!decision.choices.some((choice) => choice.answer === verdict)) return;
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
  const pressed = (event: KeyboardEvent): void => {
    const verdict = isBareKey(event)
      ? decision.choices.find(({ key }) => key === event.key)?.answer
      : undefined;
    if (verdict === undefined) return;
    event.preventDefault();
    if (!event.repeat) answer(verdict);
  };
  return (
    <article
      class="decision"
      tabIndex={-1}
      aria-label={`${decision.summary}, ${visible(decision.asks)}`}
      onKeyDown={pressed}
    >
      <header>
        <strong>Claude Code {visible(decision.asks)}</strong>
        <Deadline decision={decision} />
      </header>
      {isQuestion ? (
        <Questions questions={decision.questions} answers={answers} onChange={setAnswers} />
      ) : (
        <RequestView decision={decision} />
      )}
      {decision.cut !== null && <p class="error">{decision.cut}</p>}
      {decision.why !== null && !isQuestion && <p class="quiet">Why it is asked: {visible(decision.why)}</p>}
      {edit !== undefined && <EditBox edit={edit} onChange={setEdit} />}
      <AnswerRow
        {...{ decision, edit, words, isSent, isAlways }}
        onAlways={setIsAlways}
        canAllow={isLive && !isSent && isAnswerable}
        onAnswer={answer}
        onEdit={setEdit}
        onWords={setWords}
      />
      {isAlways && Always !== undefined && <Always {...{ store, decision, isSent }} onSent={setIsSent} />}
      <ErrorLine error={error} />
    </article>
  );
}

interface AnswerRowProps {
  readonly decision: DecisionView;
  readonly edit: Edit | undefined;
  readonly words: string;
  readonly isSent: boolean;
  readonly canAllow: boolean;
  readonly onAnswer: (verdict: Verdict) => void;
  readonly isAlways: boolean;
  readonly onAlways: (isAlways: boolean) => void;
  readonly onEdit: (edit: Edit | undefined) => void;
  readonly onWords: (words: string) => void;
}

function AnswerRow(props: AnswerRowProps) {
  const { decision, edit, words, isSent, isAlways, canAllow } = props;
  const { onAnswer, onEdit, onAlways, onWords } = props;
  const { Always } = useSurface();
  const editable = editOf(decision);
  const [no, ...yes] = decision.choices.toReversed();
  const shownYes = yes.toReversed().filter(({ answer }) => edit === undefined || answer === 'allow');
  return (
    <div class="answers">
      {shownYes.map(({ answer, label, key }, at) => (
        <button
          key={key}
          type="button"
          class={at === 0 ? 'primary' : undefined}
          disabled={!canAllow}
          onClick={() => onAnswer(answer)}
        >
          {edit === undefined ? label : 'Allow as edited'} <Key name={key} />
        </button>
      ))}
      {Always !== undefined &&
        decision.can_edit &&
        !decision.is_left &&
        yes.length > 0 &&
        edit === undefined && (
          <button
            type="button"
            disabled={isSent}
            aria-expanded={isAlways}
            onClick={() => onAlways(!isAlways)}
          >
            Always…
          </button>
        )}
      {editable !== undefined && !isAlways && (
        <button
          type="button"
          disabled={isSent}
          onClick={() => onEdit(edit === undefined ? editable : undefined)}
        >
          {edit === undefined ? 'Edit…' : 'Do not edit'}
        </button>
      )}
      <button type="button" class="deny" disabled={isSent} onClick={() => onAnswer('deny')}>
        {no?.label} <Key name={no?.key ?? ''} />
      </button>
      <input
        type="text"
        class="why"
        dir="auto"
        placeholder="With Deny: why, or what to do instead"
        aria-label="With Deny: why, or what to do instead"
        value={words}
        onInput={(event) => onWords(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && !event.repeat && words.trim() !== '') onAnswer('deny');
        }}
      />
    </div>
  );
}

/** The key that presses a button. It is seen while the card has the focus. */
function Key({ name }: { readonly name: string }) {
  return <kbd aria-hidden="true">{name}</kbd>;
}

function Deadline({ decision }: { readonly decision: DecisionView }) {
  const nowMs = useNow(1_000);
  const left = (Date.parse(decision.expires_at) - nowMs) / 1000;
  return (
    <span class="quiet">
      {decision.otherwise} in {span(left)} without an answer
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
