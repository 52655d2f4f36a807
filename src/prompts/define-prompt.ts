import { promptDefiner } from '../mcp/prompt.js';
import type { PromptServices } from './services.js';

/** Defines a prompt over this project's services. */
export const definePrompt = promptDefiner<PromptServices>();
