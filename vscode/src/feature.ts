import type { ExtensionContext } from 'vscode';
import type { Clock } from '../../src/base/clock.js';
import type { Logger } from '../../src/base/logger.js';
import type { Editor } from './editor.js';

/** What every part of the extension gets. */
export interface FeatureContext {
  readonly extension: ExtensionContext;
  readonly editor: Editor;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Of the extension. */
  readonly version: string;
  readonly env: NodeJS.ProcessEnv;
  readonly homeDir: string;
  readonly showLog: () => void;
}
