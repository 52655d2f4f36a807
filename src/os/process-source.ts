import type { ProcessTable } from './process-table.js';
import { procSource } from './proc-source.js';
import { psSource } from './ps-source.js';

/**
 * `/proc` on Linux, `ps` elsewhere. CLAUDE_CODE_BRIDGE_PROCESS_TABLE=ps selects `ps` on Linux too, for a second run of the tests.
 * Keepers inherit the variable.
 */
export const processSource: ProcessTable =
  process.platform === 'linux' && process.env['CLAUDE_CODE_BRIDGE_PROCESS_TABLE'] !== 'ps'
    ? procSource
    : psSource;
