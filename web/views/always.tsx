import { useEffect, useState } from 'preact/hooks';
import type { ActionError, ClientAction } from '../../src/board/protocol.js';
import type { RuleProposal } from '../../src/board/state.js';
import { visible } from '../text/visible.js';
import { Block } from './request.js';
import { ErrorLine } from './error-line.js';
import type { AlwaysProps } from './surface.js';
import { useFocus } from './use-focus.js';
import { useLater } from './use-later.js';

/** Rules that would answer the like of this from now on: shown whole, tested, and written only on a yes. */
export function Always({ store, decision, isSent, onSent }: AlwaysProps) {
  const [proposal, setProposal] = useState<RuleProposal | undefined>();
  const [text, setText] = useState('');
  const [error, setError] = useState<ActionError | undefined>();
  const isLive = useLater(proposal?.rows ?? '');
  const { task_id, decision_id, input_sha256 } = decision;
  const shown = { task_id, decision_id, input_sha256 };
  const propose = (rules?: string[]): void => {
    setError(undefined);
    const action: ClientAction = { type: 'rule.propose', ...shown, ...(rules && { rules }) };
    void store.act(action).then((outcome) => {
      setError(outcome.ok ? undefined : outcome.error);
      setProposal(outcome.ok ? outcome.proposal : undefined);
      if (outcome.ok && outcome.proposal !== undefined) setText(outcome.proposal.rules.join('\n'));
    });
  };
  const box = useFocus<HTMLTextAreaElement>();
  useEffect(() => propose(), []);
  const rules = linesOf(text);
  // Only what was shown and tested is written.
  const isShown = proposal !== undefined && rules.join('\n') === proposal.rules.join('\n');
  const write = (): void => {
    if (proposal === undefined || !isLive || !isShown || isSent) return;
    onSent(true);
    void store.act({ type: 'rule.write', ...shown, rules, file: proposal.file }).then((outcome) => {
      if (outcome.ok) return;
      onSent(false);
      setError(outcome.error);
    });
  };
  return (
    <section class="always" aria-label="Always">
      <label>
        Rules, one a line
        <textarea
          class="edit"
          rows={rules.length + 1}
          spellcheck={false}
          ref={box}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </label>
      {proposal !== undefined && isShown && <Proposal proposal={proposal} />}
      <ErrorLine error={error} />
      <div class="answers">
        <button type="button" disabled={isShown || rules.length === 0} onClick={() => propose(rules)}>
          Show these rules
        </button>
        <button
          type="button"
          disabled={!isShown || !isLive || isSent || proposal.refusal !== null}
          onClick={write}
        >
          Write the rule and allow once
        </button>
      </div>
    </section>
  );
}

function Proposal({ proposal }: { readonly proposal: RuleProposal }) {
  const { file, rows, refusal, notes } = proposal;
  return (
    <>
      <p>
        In <span class="path">{visible(file)}</span>:
      </p>
      <Block label="As it would stand in the settings" text={rows} />
      {refusal !== null && <p class="error">{visible(refusal)}</p>}
      {notes.map((note) => (
        <p key={note} class="quiet">
          {visible(note)}
        </p>
      ))}
    </>
  );
}

function linesOf(text: string): string[] {
  return text.split('\n').filter((line) => line !== '');
}
