import { Component, type ComponentChildren } from 'preact';
import { visible } from '../text/visible.js';

interface GuardProps {
  /** What is shown, to begin a sentence with. */
  readonly what: string;
  readonly hint: string;
  readonly children: ComponentChildren;
}

interface GuardState {
  readonly why: string | undefined;
}

/** What cannot be shown takes nothing else of the page with it. */
export class Guard extends Component<GuardProps, GuardState> {
  static override getDerivedStateFromError(error: unknown): GuardState {
    return { why: error instanceof Error ? error.message : 'for a reason that is not known' };
  }

  override render({ what, hint, children }: GuardProps, { why }: GuardState): ComponentChildren {
    if (why === undefined) return children;
    return (
      <p class="error" role="alert">
        {what} cannot be shown ({visible(why)}). {hint}
      </p>
    );
  }
}
