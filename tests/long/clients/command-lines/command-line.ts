import type { ClientBridge } from '../client-bridge.js';
import type { InstalledClient } from '../install.js';
import type { ModelCall } from '../models/model-turns.js';
import type { ModelApi } from '../models/model-server.js';
import type { ScriptedCaller } from '../models/scripted-caller.js';
import type { Feature } from '../seen.js';
import type { ClientKey } from '../versions.js';

/** What a client is started for. */
export interface Job {
  readonly bridge: ClientBridge;
  readonly installed: InstalledClient;
  /** `http://127.0.0.1:PORT` of its scripted model. */
  readonly modelUrl: string;
}

/** A client without a screen: it takes one prompt, and ends with the last words of its model. */
export interface CommandLineClient {
  readonly key: ClientKey;
  /** Its name for `init`. */
  readonly initId: string;
  readonly apis: readonly ModelApi[];
  /** Writes the settings of the client into its home, and lets `init` add the server; how it is started. */
  readonly start: (job: Job) => Promise<{
    readonly command: readonly [string, ...string[]];
    readonly env?: Readonly<Record<string, string>>;
  }>;
  /** What its model calls before the delegation. */
  readonly first?: (caller: ScriptedCaller, bridge: ClientBridge) => Generator<ModelCall, void, string>;
  /** Checks what else the client showed to its model; what works of it, for the page. */
  readonly check: (
    caller: ScriptedCaller,
    bridge: ClientBridge,
  ) => Readonly<Partial<Record<Feature, string>>>;
  readonly lacks: readonly string[];
}

/** The request in the prompt of a client. */
export const REQUEST = 'Fix the bug in average.js.';
