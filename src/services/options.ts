import type { Logger } from '../base/logger.js';
import type { BridgeError } from '../base/errors.js';
import type { Origins } from '../config/permission-modes.js';
import type { Config } from '../config/schema.js';

/** What a server is started with. */
export interface BridgeOptions {
  readonly config: Config;
  /** Why the user's settings cannot be used: `config` has the defaults then, and every call is refused with this. */
  readonly unusable?: BridgeError | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly homeDir: string;
  /** The working directory of the server. */
  readonly cwd?: string | undefined;
  /** The settings file that was read. */
  readonly settingsFile?: string | null;
  readonly origins?: Origins | undefined;
  /** How a person runs this program, for words about what to do. */
  readonly command?: string;
  readonly version: string;
  /** Sessions that people started are listed beside the tasks, with any toolsets. */
  readonly listsSessions?: boolean;
  readonly logger: Logger;
  /** The program that keeps one task. That of the board lies beside it. */
  readonly keeperEntry: string;
  /** Arguments for Node when it runs the keeper or the board. */
  readonly nodeArguments?: readonly string[];
}
