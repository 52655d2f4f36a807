import { z } from 'zod';
import { REPLY_BUDGET_BYTES } from '../mcp/answers.js';
import { toolDefiner } from '../mcp/tool.js';
import { requestIdSchema } from '../tasks/task-host.js';
import type { ToolServices } from './services.js';

/** Defines a tool over this project's services. */
export const defineTool = toolDefiner<ToolServices>();

/** Clients cut calls at 60 s, and progress does not extend that: every call of this server is answered before. */
export const MAX_WAIT_SECONDS = 45;

/** An integer, both bounds included. */
export const within = (min: number, max: number) => z.int().min(min).max(max);
/** A text that is not empty, of at most so many characters. */
export const someText = (maxChars: number) => z.string().min(1).max(maxChars);
/** A text whose bounds are not listed, since no model comes near them: each list is paid for in every conversation. */
export const textWithin = (minChars: number, maxChars: number) =>
  z.string().pipe(z.string().min(minChars).max(maxChars));
/** What the caller calls the request, so that it is done once: see `Once`. */
export const requestIdInput = z.string().pipe(requestIdSchema).optional();

export const keysInput = z.array(z.string().max(30)).max(200).optional();

/** An answer holds its text twice, and none may reach 1 MB. */
export const MAX_OUTPUT_BYTES = 150_000;
/** How much of an output an answer holds. */
export const outputBytesInput = within(100, MAX_OUTPUT_BYTES).default(REPLY_BUDGET_BYTES / 2);

/** Where reading goes on, as a number. Cursors of other tools are strings, so a caller may send this one as a string. */
export const offsetInput = z.preprocess(
  (cursor) => (typeof cursor === 'string' && /^\d+$/.test(cursor) ? Number(cursor) : cursor),
  z.int().min(0),
);
