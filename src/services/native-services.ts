import { claudeConfigDir } from '../claude/transcripts.js';
import type { ClientInfo } from '../mcp/client.js';
import { NativeHost } from '../native/native-host.js';
import { openNativeSession } from '../native/native-session.js';
import { isNativeOn } from '../native/native-switch.js';
import { inboxAddressIn, sessionInbox, takesMessages } from '../native/session-inbox.js';
import type { AllowedRoots } from '../projects/allowed-roots.js';
import type { BridgeOptions, OpenState } from './open-state.js';

/** The record of the session around this server. `openState` throws STATE_UNUSABLE; `client` is known once it has said who it is. */
export function nativeServices(
  { config, env, homeDir, logger }: BridgeOptions,
  roots: AllowedRoots,
  openState: () => Promise<OpenState>,
  client: () => ClientInfo | undefined,
): NativeHost {
  const address = inboxAddressIn(env);
  return new NativeHost({
    logger,
    isOn: async () => isNativeOn((await openState()).stateDir.path),
    resolveProject: (folder) => roots.resolveDirectory(folder),
    open: async (opened) => {
      const { stateDir, runtimeDir } = await openState();
      const known = client();
      // Undefined where Claude Code names none, or is a version with which it was not tested.
      const isTested = known !== undefined && takesMessages(known);
      const inbox = isTested && address !== undefined ? sessionInbox(address) : undefined;
      return openNativeSession({
        ...opened,
        stateDir,
        runtimeDir,
        logger,
        claudeFolder: claudeConfigDir({ HOME: homeDir, ...env }) ?? homeDir,
        isOn: () => isNativeOn(stateDir.path),
        likelyPid: address?.pid,
        waitSeconds: config.native_wait_seconds,
        maxLogBytes: config.max_log_size_bytes,
        ...(config.native_messages && { messages: { inbox } }),
      });
    },
  });
}
