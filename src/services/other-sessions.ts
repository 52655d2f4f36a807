import { systemClock } from '../base/system-clock.js';
import { messageOf } from '../base/errors.js';
import { lazily } from '../base/lazily.js';
import { findInstallation } from '../claude/installation.js';
import { commandWords } from '../config/command-words.js';
import { AgentList } from '../native/agent-list.js';
import { ListedSessions } from '../native/listed-sessions.js';
import { recordLook } from '../native/last-look.js';
import { isNativeOn } from '../native/native-switch.js';
import { processSource } from '../os/process-source.js';
import { runProgram } from '../os/run-program.js';
import type { AllowedRoots } from '../projects/allowed-roots.js';
import { childEnvironment } from '../pty/child-env.js';
import type { StateDir } from '../store/state-dir.js';
import { SESSION_VARIABLE } from '../tasks/own-session.js';
import type { OtherSessions } from '../tasks/other-sessions.js';
import type { BridgeOptions } from './options.js';

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
