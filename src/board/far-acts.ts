// What a page does to a task of another machine that only that machine can do.
import { hostname } from 'node:os';
import { z } from 'zod';
import { BridgeError } from '../base/errors.js';
import type { FarPlace } from '../machines/machine-tasks.js';
import { unanswered } from '../machines/unreachable.js';
import { thereActionSchema, type ActionAnswer, type ThereAction } from './protocol.js';

const MAX_CLIENT_CHARS = 30;

const text = z.string();
const place = z.int().nonnegative();
/** Foreign. Where a file is over there says nothing here. */
const answerSchema = z.object({
  file: z
    .object({
      text: text.nullable(),
      path: text.nullable().transform(() => null),
      why: z.enum(['missing', 'binary', 'too_large']).nullable(),
    })
    .exactOptional(),
  proposal: z
    .object({
      ...{ rules: z.array(text), rows: text, file: text, refusal: text.nullable(), notes: z.array(text) },
    })
    .exactOptional(),
  piece: z.object({ file: text, from: place, to: place, follows: z.boolean(), text }).exactOptional(),
});

/** Has the machine of a task do it, which has its files, its recording and its settings. Throws what it throws. */
export async function actThere(
  action: ThereAction,
  { far, id }: FarPlace,
  by: string,
): Promise<ActionAnswer> {
  const isRead = action.type !== 'rule.write';
  const answer = answerSchema.safeParse(await far.actOfPage(id, action, by, isRead)).data;
  if (answer !== undefined) return answer;
  throw unanswered(far.name, 'unknown', `has answered ${action.type} in a form that is not understood`);
}

/** What another machine sends that `actThere` has sent. Throws INVALID_ARGUMENTS for anything else. */
export function thereAction(sent: object): ThereAction {
  const action = thereActionSchema.safeParse(sent).data;
  if (action !== undefined) return action;
  throw new BridgeError(
    'INVALID_ARGUMENTS',
    'The bridge on this machine does not understand what the page asks for.',
    'Both bridges should be of the same version: `claude-code-bridge machines add` brings this one up to date.',
  );
}

/** How a journal over there names who acts from here: `board/from-laptop`. */
export function nameThere(): string {
  const words =
    hostname()
      .toLowerCase()
      .match(/[a-z0-9]+/g) ?? [];
  return `board/${['from', ...words].join('-').slice(0, MAX_CLIENT_CHARS).replace(/-$/, '')}`;
}
