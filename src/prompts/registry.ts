// Pure.
import type { BridgePrompt } from './define-prompt.js';
import { continueWork } from './continue.js';
import { delegate } from './delegate.js';
import { investigate, review } from './review.js';

/** Every prompt there is, sorted by name. */
export const allPrompts: readonly BridgePrompt[] = [continueWork, delegate, investigate, review];
