import { silentLogger } from '../../src/base/logger.js';
import { configSchema } from '../../src/config/schema.js';
import type { BridgeOptions } from '../../src/services/open-state.js';

/** What a server of tests is composed with: default settings, this machine's programs, and no keeper. */
export function bridgeOptions(homeDir: string, more: Partial<BridgeOptions> = {}): BridgeOptions {
  return {
    config: configSchema.parse({}),
    env: { PATH: process.env['PATH'] },
    homeDir,
    version: '0',
    logger: silentLogger,
    keeperEntry: '/nowhere/keeper.js',
    ...more,
  };
}
