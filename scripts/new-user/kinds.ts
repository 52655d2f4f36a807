import type { Kind } from './kind.js';
import { bundle } from './kinds/bundle.js';
import { npm } from './kinds/npm.js';
import { npx } from './kinds/npx.js';

export const kinds: readonly Kind[] = [npx, npm, bundle];
