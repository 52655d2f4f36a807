// Pure: how a person names another machine, as the command that gives a shell there.
import { BridgeError } from '../../base/errors.js';
import { MACHINE_NAME_PATTERN } from '../../base/ids.js';
import { oneLine } from '../../base/text.js';

const SHOWN_CHARS = 80;
const SSH = /^ssh:/i;
/** What `ssh` would read as an option, and what no shell, no terminal and no settings file of ssh takes as one name. */
const NO_NAME = /^-|[\s\u0000-\u001f\u007f]/;

/** Throws INVALID_ARGUMENTS for a name that the setting `machines` does not take. */
export function requireMachineName(name: string): void {
  if (MACHINE_NAME_PATTERN.test(name)) return;
  throw new BridgeError(
    'INVALID_ARGUMENTS',
    `'${oneLine(name, SHOWN_CHARS)}' is no name of a machine.`,
    'Use a letter first, then letters, digits and dashes, all of them small and at most 31, such as gpu.',
  );
}

/** MACHINE_NOT_FOUND. `names`: those that there are. */
export function noMachine(name: string, names: readonly string[], command: string): BridgeError {
  const others = names.length === 0 ? '; none is set up' : `; there are: ${names.join(', ')}`;
  const add = `To add it: ${command} machines add ${name} ssh://user@host`;
  return new BridgeError('MACHINE_NOT_FOUND', `No machine is named ${name}${others}.`, add);
}

/**
 * The command of `ssh://user@host:port`, or the words as they are: `ssh://me@gpu:2222` is `ssh -p 2222 me@gpu`. Throws INVALID_ARGUMENTS for an
 * address with more in it: keys, jumps and host keys are a matter of the user's own settings of ssh.
 */
export function commandOfPlace(words: readonly string[]): readonly string[] {
  const [first = '', ...others] = words;
  if (first.trim() === '') throw refused('The place of the machine is empty.');
  if (!SSH.test(first)) return words;
  const shown = `'${oneLine(first, SHOWN_CHARS)}'`;
  if (others.length > 0) throw refused(`${shown} is followed by more words.`);
  const url = URL.canParse(first) ? new URL(first) : undefined;
  if (url === undefined || url.hostname === '') throw refused(`${shown} names no host.`);
  if (url.password !== '') throw refused(`${shown} has a password in it, which every user here could read.`);
  if (!['', '/'].includes(url.pathname) || url.search !== '' || url.hash !== '')
    throw refused(`${shown} has more than a user, a host and a port.`);
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  const user = decoded(url.username);
  if (user === undefined || [user, host].some((name) => NO_NAME.test(name)))
    throw refused(`${shown} has a user or a host that ssh would not read as a name.`);
  const target = user === '' ? host : `${user}@${host}`;
  return ['ssh', ...(url.port === '' ? [] : ['-p', url.port]), target];
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

function refused(message: string): BridgeError {
  return new BridgeError(
    'INVALID_ARGUMENTS',
    message,
    'Give ssh://user@host or ssh://user@host:port, or after -- a command that gives a shell there, such as: -- docker exec -i box',
  );
}
