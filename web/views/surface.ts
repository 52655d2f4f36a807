import { createContext, type ComponentType } from 'preact';
import { useContext } from 'preact/hooks';
import type { DecisionView, DiffFile } from '../../src/board/state.js';
import type { Store } from '../store.js';

export interface AlwaysProps {
  readonly store: Store;
  readonly decision: DecisionView;
  /** Of the answers too: only one is sent. */
  readonly isSent: boolean;
  readonly onSent: (isSent: boolean) => void;
}

const nothing = (): null => null;

/** What is another thing in a browser, in a chat and in an editor. */
export interface Surface {
  /** Beside the search. */
  readonly HeadActions: ComponentType;
  /** How a person starts a task without a chat client. */
  readonly StartHint: ComponentType;
  readonly Plan: ComponentType<{ readonly text: string }>;
  readonly Always: ComponentType<AlwaysProps>;
  /** What more can be done to a changed file. */
  readonly FileActions: ComponentType<{ readonly taskId: string; readonly file: DiffFile }>;
  readonly TerminalView: ComponentType<{ readonly store: Store; readonly taskId: string }>;
}

export const SurfaceContext = createContext<Surface>({
  HeadActions: nothing,
  StartHint: nothing,
  Plan: nothing,
  Always: nothing,
  FileActions: nothing,
  TerminalView: nothing,
});

export function useSurface(): Surface {
  return useContext(SurfaceContext);
}
