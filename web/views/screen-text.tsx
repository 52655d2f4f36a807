import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
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
  useEffect(() => store.openScreen(taskId), [store, taskId]);
  const screen = store.screen.value;
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
