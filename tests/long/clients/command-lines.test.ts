import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { delegatingModel, expectDelegated, runClient, startClientBridge } from './client-bridge.js';
import { codex } from './command-lines/codex.js';
import { copilot } from './command-lines/copilot.js';
import { gemini } from './command-lines/gemini.js';
import { opencode } from './command-lines/opencode.js';
import { installClient, type InstalledClient } from './install.js';
import { startModelServer } from './models/model-server.js';
import { record } from './seen.js';

describe.each([codex, gemini, opencode, copilot])('a client in a terminal ($key)', (client) => {
  let installed: InstalledClient;
  beforeAll(async () => {
    installed = await installClient(client.key);
  });

  it('offers all tools to its model, delegates and waits long', async () => {
    const bridge = await startClientBridge();
    const model = delegatingModel(bridge, () => client.first?.(model.caller, bridge) ?? nothing());
    const server = await startModelServer(client.apis, (request) => model.caller.next(request));
    onTestFinished(() => server.dispose());
    const { command, env } = await client.start({ bridge, installed, modelUrl: server.url });
    const printed = await runClient(bridge, command, env);
    await expectDelegated(bridge, model, printed);
    expect(model.caller.bridgeTools(bridge.tools)).toEqual(bridge.tools);
    const works = client.check(model.caller, bridge);
    const tools = `${bridge.tools.length}`;
    const init = `\`init --${client.initId === 'codex' ? 'print' : 'client'} ${client.initId}\``;
    const all = { init, tools, delegation: 'yes', ...works };
    record(client.key, installed, all, client.lacks);
  });
});

function* nothing(): Generator<never, void, string> {}
