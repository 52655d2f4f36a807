import { useEffect, useState } from 'preact/hooks';
import type { ActionError, RuleProposal } from '../../src/board/protocol.js';
import { visible } from '../text/words.js';
import { Block, ErrorLine, useLater, Button } from './parts.js';
import type { AlwaysProps } from './surface.js';

/** Rules that would answer the like of this from now on: shown whole, and written only on a yes. */
export function Always({ store, decision, isSent, onSent }: AlwaysProps) {
  const [proposal, setProposal] = useState<RuleProposal>();
  const [error, setError] = useState<ActionError>();
  const isLive = useLater(proposal?.rows ?? '');
  const { task_id, decision_id, input_sha256 } = decision;
  const shown = { task_id, decision_id, input_sha256 };
  useEffect(() => {
    void store.act({ type: 'rule.propose', ...shown }).then((outcome) => {
      if (outcome.ok) setProposal(outcome.proposal);
      else setError(outcome.error);
    });
  }, []);
  if (proposal === undefined)
    return (
      <section class="always" aria-label="Always">
        {error === undefined ? <p class="quiet">Looking for a rule…</p> : <ErrorLine error={error} />}
      </section>
    );
  const { file, rows, rules, refusal, notes } = proposal;
  const write = (): void => {
    onSent(true);
    void store.act({ type: 'rule.write', ...shown, rules: [...rules], file }).then((outcome) => {
      if (outcome.ok) return;
      onSent(false);
      setError(outcome.error);
    });
  };
  return (
    <section class="always" aria-label="Always">
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
      <ErrorLine error={error} />
      <div class="answers">
        <Button off={!isLive || isSent || refusal !== null} act={write}>
          Write the rule and allow once
        </Button>
      </div>
    </section>
  );
}
