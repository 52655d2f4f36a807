import { messageOf } from '../base/errors.js';
import type { Logger } from '../base/logger.js';
import { parseHookEvent, type HookEvent, type KnownHookEvent } from '../claude/hooks/hook-event.js';
import { parseJsonLine } from '../claude/message-content.js';
import type { NativeSession, NativeSessionParts } from './native-session.js';
import { LEFT, type HookAnswer } from './native-requests.js';
import { SWITCHED_OFF } from './native-run.js';

const CLOSED =
  'Claude Code ended the server of the bridge in this session, as it does when the session ends.';
const REPLACED = 'The person went on with another session in the same Claude Code.';

export interface NativeHostOptions {
  readonly logger: Logger;
  /** False when the person has ended the view of own sessions. */
  readonly isOn: () => Promise<boolean>;
  /** The real path of a session's folder. Throws for one outside of the allowed roots. */
  readonly resolveProject: (folder: string) => Promise<string>;
  readonly open: (
    parts: Pick<NativeSessionParts, 'sessionId' | 'project' | 'prompt'>,
  ) => Promise<NativeSession>;
}

/** Answers the hooks of the one Claude Code that started this server: its session is a task as long as it lasts. */
export class NativeHost {
  readonly #options: NativeHostOptions;
  #session: NativeSession | undefined;
  /** One session is opened or ended at a time. */
  #order: Promise<unknown> = Promise.resolve();
  #isDisposed = false;
  /** Sessions that are not the bridge's to see, or that could not be recorded. */
  #leftAlone = new Set<string>();

  constructor(options: NativeHostOptions) {
    this.#options = options;
  }

  /** Resolves with what the hook answers. Never rejects: a hook that fails shows an error to the person. */
  async event(fields: Readonly<Record<string, string>>, signal: AbortSignal): Promise<HookAnswer> {
    const event = hookEventOf(fields);
    if (event === undefined || event.hook_event_name === 'other') return LEFT;
    try {
      const session = await this.#sessionOf(event);
      return (await session?.hook(event, signal)) ?? LEFT;
    } catch (error) {
      this.#options.logger.warn('an event of this session is left out', { error: messageOf(error) });
      return LEFT;
    }
  }

  /** Ends the record of the session. */
  async dispose(): Promise<void> {
    this.#isDisposed = true;
    await this.#order;
    await this.#end(CLOSED);
  }

  #sessionOf(event: KnownHookEvent): Promise<NativeSession | undefined> {
    const found = this.#order.then(() => this.#current(event));
    this.#order = found.catch(() => undefined);
    return found;
  }

  async #current(event: KnownHookEvent): Promise<NativeSession | undefined> {
    const { session_id: sessionId, cwd = '' } = event;
    const { isOn, open, resolveProject } = this.#options;
    if (!(await isOn())) return this.#end(SWITCHED_OFF);
    if (this.#isDisposed || this.#leftAlone.has(sessionId)) return undefined;
    if (this.#session?.sessionId === sessionId) return this.#session;
    await this.#end(REPLACED);
    const prompt = event.hook_event_name === 'UserPromptSubmit' ? event.prompt : '';
    try {
      this.#session = await open({ sessionId, project: await resolveProject(cwd), prompt });
    } catch (error) {
      this.#leftAlone.add(sessionId);
      throw error;
    }
    // It may have been ended while the session was opened.
    return (await isOn()) ? this.#session : this.#end(SWITCHED_OFF);
  }

  async #end(why: string): Promise<undefined> {
    const open = this.#session;
    this.#session = undefined;
    await open?.end(why);
  }
}

/**
 * The event of a hook whose fields came as texts: what is an object in the hook is JSON here, and what the event does not have is
 * empty. Undefined for anything but an event of a session.
 */
export function hookEventOf(fields: Readonly<Record<string, string>>): HookEvent | undefined {
  const input = parseJsonLine(fields['tool_input'] ?? '');
  // What cannot be read cannot be answered.
  if (input === undefined && (fields['tool_input'] ?? '') !== '') return undefined;
  const { event, session, cwd, tool, prompt, message, error, active } = fields;
  return parseHookEvent({
    hook_event_name: event,
    session_id: session,
    ...filled({ cwd, tool_name: tool, prompt, error, last_assistant_message: message }),
    ...filled({ tool_input: input, stop_hook_active: parseJsonLine(active ?? '') }),
  });
}

function filled(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined && value !== ''),
  );
}
