import type { GitContext } from '../git/run/git-environment.js';
import type { BridgeOptions } from './options.js';

/** What git gets of the server's own environment. */
export function gitContext({ env, homeDir }: Pick<BridgeOptions, 'env' | 'homeDir'>): GitContext {
  return { path: env['PATH'], homeDir, xdgConfigHome: env['XDG_CONFIG_HOME'] };
}
