import { createContext, type ComponentType } from 'preact';
import { useContext } from 'preact/hooks';
import type { DecisionView, TaskCard, TaskState } from '../../src/board/state.js';
import type { Store } from '../store.js';
import type { Editor } from '../transport/editor.js';

/** What most views of a task are of. */
export interface TaskProps {
  readonly store: Store;
  readonly task: TaskCard;
  readonly state: TaskState;
}

export interface AlwaysProps {
  readonly store: Store;
  readonly decision: DecisionView;
  /** Of the answers too: only one is sent. */
  readonly isSent: boolean;
  readonly onSent: (isSent: boolean) => void;
}

/** What is another thing in a browser, in a chat and in an editor. */
export interface Surface {
  /** Beside the search. */
  readonly HeadActions?: ComponentType;
  /** A plan as Markdown; a chat has no room for the parser, and shows it as it is written. */
  readonly Plan?: ComponentType<{ readonly text: string }>;
  /** Writes rules; what stands for all tasks is not decided in a chat. */
  readonly Always?: ComponentType<AlwaysProps>;
  /** The editor around the page: terminals and changed files are opened there, and tasks are started. */
  readonly editor?: Editor;
}

export const SurfaceContext = createContext<Surface>({});

export function useSurface(): Surface {
  return useContext(SurfaceContext);
}
