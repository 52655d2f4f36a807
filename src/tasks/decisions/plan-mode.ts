// Pure: the permission mode that a plan's approval sets for what follows.
import { BridgeError } from '../../base/errors.js';
import { oneLine } from '../../base/text/text.js';
import { ACCEPTS_EDITS } from '../../claude/interactive/dialogs.js';
import { sessionModes, type SessionMode, type SessionRequest } from '../../claude/session.js';

/** The name under which the answer to a plan says the mode. */
export const PLAN_MODE_FIELD = 'mode';

/** Of the bridge; a sandbox is there from the start or not at all. */
const ruleModes = ['auto', 'cautious'] as const;
/** Those of the bridge, by which its rules decide from then on, and those of the CLI. */
const planModes = [...ruleModes, ...sessionModes] as const;

export interface PlanMode {
  readonly session: SessionMode;
  /** Undefined: the rules decide as before. */
  readonly rules?: (typeof ruleModes)[number];
}

/**
 * Undefined when nothing is said of it. Throws INVALID_ARGUMENTS for any other mode, such as those in which the CLI would
 * ask nothing, and where the dialog on the screen does not offer it.
 */
export function planModeOf(
  request: SessionRequest,
  answers: Readonly<Record<string, string>> | undefined,
): PlanMode | undefined {
  const text = request.kind === 'plan' ? answers?.[PLAN_MODE_FIELD]?.trim() : undefined;
  if (text === undefined || text === '') return undefined;
  const rules = ruleModes.find((mode) => mode === text);
  if (rules !== undefined) return { session: 'default', rules };
  const session = sessionModes.find((mode) => mode === text);
  if (session === undefined)
    throw noMode(`'${oneLine(text, 60)}' is no permission mode for what follows a plan.`);
  const isOffered = request.source === 'exact' || request.options.some((label) => ACCEPTS_EDITS.test(label));
  if (session === 'acceptEdits' && !isOffered)
    throw noMode(`The dialog does not offer to accept edits: ${request.options.join(' | ')}.`);
  return { session };
}

function noMode(message: string): BridgeError {
  return new BridgeError(
    'INVALID_ARGUMENTS',
    message,
    `Call respond_to_task again with answers: { "${PLAN_MODE_FIELD}": one of ${planModes.map((mode) => `"${mode}"`).join(', ')} }, or without it to go on as before.`,
  );
}
