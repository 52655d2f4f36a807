import { useContext } from 'preact/hooks';
import type { DecisionView } from '../../src/board/state.js';
import { HostContext, OpenBoard } from './open-board.js';

/** Where rules are written: what stands for all tasks is decided on a page that no chat client shows. */
export function Always({ decision }: { readonly decision: DecisionView }) {
  const host = useContext(HostContext);
  return (
    <p class="quiet">
      The board in a browser proposes a rule for requests like this one.{' '}
      {host !== undefined && <OpenBoard host={host} taskId={decision.task_id} label="Open the board" />}
    </p>
  );
}
