import type { ComponentChildren } from 'preact';
import { useEffect, useMemo } from 'preact/hooks';
import { reduceScreen } from '../../src/board/state.js';
import type { Store } from '../store.js';
import { visible } from '../text/visible.js';

interface ScreenProps {
  readonly store: Store;
  readonly taskId: string;
  /** What opens the terminal itself. */
  readonly children: ComponentChildren;
}

/** What the terminal of a task shows, as text: for a page without an emulator. */
export function ScreenText({ store, taskId, children }: ScreenProps) {
  const followed = useMemo(() => store.follow(`screen:/${taskId}`, reduceScreen), [store, taskId]);
  useEffect(() => followed.close, [followed]);
  const screen = followed.state.value;
  return (
    <div class="terminal-view">
      <div class="terminal-bar">
        <span class="quiet" role="status">
          {screen === undefined ? 'Asking for the screen…' : visible(screen.why ?? 'You only watch.')}
        </span>
        {children}
      </div>
      <pre class="screen" tabIndex={0} aria-label="Terminal">
        {visible(screen?.text ?? '')}
      </pre>
    </div>
  );
}
