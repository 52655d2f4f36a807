import type { AllowedPath } from '../projects/allowed-roots.js';
import type { ProcessMode } from './process-handle.js';
import type { TerminalSize } from '../pty/child.js';

/** What a caller wants to have started. */
export interface SpawnRequest {
  readonly mode: ProcessMode;
  /** Program and arguments; a shell is there only when it was asked for. */
  readonly command: readonly [string, ...string[]];
  /** The same as a person reads it. */
  readonly commandLine: string;
  /** Host: a real path inside the allowed roots. Docker: a path in the container. */
  readonly cwd: string;
  /** Over what the bridge passes on. */
  readonly env: Readonly<Record<string, string>>;
  readonly tty?: TerminalSize;
  /** It goes on without the server, under a keeper. */
  readonly keep: boolean;
  /** For a container alone, as in DockerSpec. */
  readonly image?: string;
  readonly network?: string;
  readonly volume?: string;
  readonly mountProject?: AllowedPath;
}
