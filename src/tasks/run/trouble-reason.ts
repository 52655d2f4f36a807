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

/** An `apiKeyHelper` or a variable, for example. */
const LOGIN_LEFT_OUT =
  'This task started without parts of the configuration, as its first answer says: if one of them holds the login, a person can trust the project, or log in with claude.';

/** The reason, for trouble of this machine with where to find out more. */
export function troubleReason(reason: string, kind: TroubleKind, { settings }: TaskSpec): string {
  const { own_command, leaves_out = false } = settings;
  const why = kind === 'not-logged-in' && leaves_out ? `${reason} ${LOGIN_LEFT_OUT}` : reason;
  if (own_command === undefined || !OF_THE_MACHINE.has(kind)) return why;
  return `${why} ${doctorSentence(own_command)}`;
}
