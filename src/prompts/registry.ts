// Pure.
import type { Prompt } from '../mcp/prompt.js';
import type { PromptServices } from './define-prompt.js';
import { continueWork } from './continue.js';
import { delegate } from './delegate.js';
import { investigate, review } from './review.js';

/** Every prompt there is, sorted by name. Their schemas are built when first needed. */
export const allPrompts: readonly Prompt<PromptServices>[] = [continueWork, delegate, investigate, review];
