import { messageOf } from '../base/errors.js';
import { lazily } from '../base/lazily.js';
import { systemClock } from '../base/system-clock.js';
import { findInstallation } from '../claude/installation.js';
import { claudeConfigDir } from '../claude/transcripts.js';
import { commandWords } from '../config/command-words.js';
import type { ClientInfo } from '../mcp/client.js';
import { AgentList } from '../native/agent-list.js';
import { inboxAddressIn, takesMessages } from '../native/inbox-address.js';
import { recordLook } from '../native/last-look.js';
import { ListedSessions } from '../native/listed-sessions.js';
import { NativeHost } from '../native/native-host.js';
import { openNativeSession } from '../native/native-session.js';
import { isNativeOn } from '../native/native-switch.js';
import { SessionInbox } from '../native/session-inbox.js';
import { processSource } from '../os/process-source.js';
import { runProgram } from '../os/run-program.js';
import type { AllowedRoots } from '../projects/allowed-roots.js';
import { childEnvironment } from '../pty/child-env.js';
import type { StateDir } from '../store/state-dir.js';
import type { OtherSessions } from '../tasks/other-sessions.js';
import { SESSION_VARIABLE } from '../tasks/own-session.js';
import type { BridgeOptions, OpenState } from './open-state.js';

/** The host of the session whose Claude Code started this server. */
export function createNativeHost(
  options: BridgeOptions,
  roots: AllowedRoots,
  around: {
    readonly tasks: () => Promise<Pick<OpenState, 'stateDir' | 'runtimeDir'>>;
    readonly client: () => ClientInfo | undefined;
  },
): NativeHost {
  const { config, env, homeDir, logger } = options;
  return new NativeHost({
    logger,
    isOn: async () => isNativeOn((await around.tasks()).stateDir.path),
    resolveProject: (folder) => roots.resolveDirectory(folder),
    open: async (session) => {
      const { stateDir, runtimeDir } = await around.tasks();
      return openNativeSession({
        ...session,
        stateDir,
        runtimeDir,
        logger,
        claudeFolder: claudeConfigDir({ HOME: homeDir, ...env }) ?? homeDir,
        homeDir,
        isOn: () => isNativeOn(stateDir.path),
        likelyPid: inboxAddressIn(env)?.pid,
        waitSeconds: config.native_wait_seconds,
        maxLogBytes: config.max_log_size_bytes,
        ...(config.native_messages && { messages: { inbox: inboxIn(env, around.client()) } }),
      });
    },
  });
}

/** Undefined where Claude Code names none, or is a version with which it was not tested. */
function inboxIn(env: BridgeOptions['env'], client: ClientInfo | undefined): SessionInbox | undefined {
  if (client === undefined || !takesMessages(client)) return undefined;
  const address = inboxAddressIn(env);
  return address === undefined ? undefined : new SessionInbox({ address });
}

/** Claude Code takes half a second on an idle machine, and twenty times as long on a busy one. */
const LIMIT_MS = 30_000;
const MAX_BYTES = 1024 * 1024;

/** The sessions that people started. */
export function otherSessions(
  options: BridgeOptions,
  roots: AllowedRoots,
  stateDir: StateDir,
): OtherSessions {
  return new ListedSessions({
    clock: systemClock,
    agents: new AgentList({
      clock: systemClock,
      print: printer(options),
      onError: (error) =>
        options.logger.warn('the sessions of Claude Code cannot be listed', { error: messageOf(error) }),
    }),
    resolveProject: (folder) => roots.resolveDirectory(folder),
    processes: () => processSource.markedTable(),
    // Claude Code lists what its servers have without being asked to.
    onLook: () =>
      options.env[SESSION_VARIABLE] === undefined ? recordLook(stateDir.path) : Promise.resolve(),
    isOn: () => isNativeOn(stateDir.path),
    onError: (error) =>
      options.logger.error('the sessions of Claude Code cannot be shown', { error: messageOf(error) }),
  });
}

/** Throws CLAUDE_NOT_FOUND, CLAUDE_NOT_EXECUTABLE, and an Error for anything but a list. */
function printer({ config, env, homeDir }: BridgeOptions): () => Promise<string> {
  const installed = lazily(() =>
    findInstallation(commandWords(config.claude_command), { path: env['PATH'] ?? '', homeDir }),
  );
  return async () => {
    const [program = '', ...args] = (await installed()).command;
    const chunks: Buffer[] = [];
    let bytes = 0;
    const end = await runProgram(
      {
        program,
        args: [...args, 'agents', '--json', '--all'],
        cwd: homeDir,
        env: childEnvironment(env, { mark: '', passEnvironment: config.pass_environment }),
        signal: new AbortController().signal,
        timeLimitMs: LIMIT_MS,
        atExit: 'SIGKILL',
      },
      (chunk) => {
        bytes += chunk.length;
        if (bytes > MAX_BYTES) throw new Error('The list of sessions is too long.');
        chunks.push(chunk);
      },
    );
    if (end.how === 'exited' && end.code === 0) return Buffer.concat(chunks).toString('utf8');
    const said = 'stderr' in end ? end.stderr.trim() : '';
    throw new Error(`claude agents --json ended (${end.how})${said === '' ? '' : `: ${said}`}`);
  };
}
