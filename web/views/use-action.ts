import { useState } from 'preact/hooks';
import type { ActionAnswer, ActionError, ClientAction } from '../../src/board/protocol.js';
import type { Store } from '../store.js';

/** Sends what a button stands for, and knows what was refused. */
export function useAction(store: Store) {
  const [error, setError] = useState<ActionError | undefined>();
  const [isBusy, setIsBusy] = useState(false);
  const send = (action: ClientAction, onDone: (answer: ActionAnswer) => void = () => undefined): void => {
    setError(undefined);
    setIsBusy(true);
    void store.act(action).then((outcome) => {
      setIsBusy(false);
      if (outcome.ok) onDone(outcome);
      else setError(outcome.error);
    });
  };
  return { send, error, isBusy };
}
