import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { delegatingModel, expectDelegated, runClient, startClientBridge } from './client-bridge.js';
import { commandLineClients } from './command-lines.js';
import { startModelServer } from './models/model-server.js';
import { record } from './seen.js';
import { installClient, type InstalledClient } from './versions.js';

describe.each(commandLineClients)('a client in a terminal ($key)', (client) => {
  let installed: InstalledClient;
  beforeAll(async () => {
    installed = await installClient(client.key);
  });

  it('offers all tools to its model, delegates and waits long', async () => {
    const bridge = await startClientBridge();
    const model = delegatingModel(bridge, function* () {
      yield* client.reads ?? [];
    });
    const server = await startModelServer(client.apis, (request) => model.caller.next(request));
    onTestFinished(() => server.dispose());
    const { command, env } = await client.start({ bridge, installed, modelUrl: server.url });
    const printed = await runClient(bridge, command, env);
    await expectDelegated(bridge, model, printed);
    expect(model.caller.bridgeTools(bridge.tools)).toEqual(bridge.tools);
    if (client.reads !== undefined) {
      const [listed, read] = model.caller.calls;
      expect(listed?.answer).toContain('config://current');
      expect(read?.answer).toContain(bridge.workplace.projectsDir);
    }
    const works = {
      init: `\`init --${client.initId === 'codex' ? 'print' : 'client'} ${client.initId}\``,
      tools: `${bridge.tools.length}`,
      delegation: 'yes',
      ...(client.reads !== undefined && { resources: 'listed, read' }),
      ...client.check?.(model.caller),
    };
    record(client.key, installed, works, client.lacks);
  });
});
