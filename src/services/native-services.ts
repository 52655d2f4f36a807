import { claudeConfigDir } from '../claude/transcripts.js';
import type { ClientInfo } from '../mcp/client.js';
import { NativeHost } from '../native/native-host.js';
import { openNativeSession } from '../native/native-session.js';
import { isNativeOn } from '../native/native-switch.js';
import { inboxAddressIn, SessionInbox, takesMessages } from '../native/session-inbox.js';
import type { AllowedRoots } from '../projects/allowed-roots.js';
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
