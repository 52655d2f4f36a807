// Pure: the reason of a task that trouble with the account has ended.
import { doctorSentence } from '../../base/doctor-hint.js';
import type { TroubleKind } from '../../claude/session.js';
import type { TaskSpec } from '../task-spec.js';

/** Trouble that comes from this machine, and that a person ends here. */
const OF_THE_MACHINE: ReadonlySet<TroubleKind> = new Set([
  'not-logged-in',
  'onboarding',
  'network',
  'too-old',
]);

/** The reason, for trouble of this machine with where to find out more. */
export function troubleReason(reason: string, kind: TroubleKind, { settings }: TaskSpec): string {
  const { own_command } = settings;
  if (own_command === undefined || !OF_THE_MACHINE.has(kind)) return reason;
  return `${reason} ${doctorSentence(own_command)}`;
}
