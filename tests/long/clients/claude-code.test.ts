import { join } from 'node:path';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { scriptedClaudeEnvironment } from '../../../src/cli/demo/claude-home.js';
import type { ScriptedRequest, ScriptedTurn } from '../../../src/cli/demo/scripted-api.js';
import { startScriptedApi } from '../../../src/cli/demo/scripted-api.js';
import { delegatingModel, expectDelegated, runClient, startClientBridge } from './client-bridge.js';
import { runInitWithEnv } from './init-entry.js';
import type { ScriptedCaller } from './models/scripted-caller.js';
import { record } from './seen.js';

const SERVER = 'claude-code-bridge';
const PREFIX = `mcp__${SERVER}__`;
const RESOURCE_TOOLS = ['ListMcpResourcesTool', 'ReadMcpResourceTool'];

/** The next turn of the caller, in the words of the Messages API. */
function turnOf(caller: ScriptedCaller, { toolNames, toolResults, userText }: ScriptedRequest): ScriptedTurn {
  const turn = caller.next({
    tools: toolNames,
    results: toolResults.map(({ text }) => text),
    text: userText,
  });
  return 'say' in turn ? turn : { tools: [{ name: turn.call.name, input: turn.call.args }] };
}

describe.each(inject('claudeVersions'))('Claude Code $version as a client', ({ version, binary }) => {
  it('finds all tools, takes a prompt, reads resources, delegates and waits long', async () => {
    if (binary === undefined) throw new Error(`Claude Code ${version} could not be fetched`);
    const bridge = await startClientBridge();
    const seenTools: string[] = [];
    const model = delegatingModel(bridge, function* () {
      if (model.caller.offered.has('ToolSearch')) {
        const names = [...bridge.tools.map((tool) => `${PREFIX}${tool}`), ...RESOURCE_TOOLS];
        yield { name: 'ToolSearch', args: { query: `select:${names.join(',')}`, max_results: names.length } };
      }
      seenTools.push(yield { name: 'ListMcpResourcesTool', args: { server: SERVER } });
      seenTools.push(
        yield { name: 'ReadMcpResourceTool', args: { server: SERVER, uri: 'config://current' } },
      );
    });
    const api = await startScriptedApi((request) => turnOf(model.caller, request));
    onTestFinished(() => api.dispose());
    const { HOME = '', PATH = '' } = bridge.clientEnv;
    const env = scriptedClaudeEnvironment({ homeDir: HOME, apiUrl: api.url, path: PATH });
    await runInitWithEnv(bridge, 'claude-code', {
      file: join(HOME, '.claude.json'),
      serversKey: 'mcpServers',
    });
    const prompt = `/${PREFIX}delegate Fix the bug in average.js.`;
    const allowed = ['--allowedTools', PREFIX.slice(0, -2), ...RESOURCE_TOOLS];
    const printed = await runClient(bridge, [binary, '-p', prompt, ...allowed], env);
    await expectDelegated(bridge, model, printed);
    expect(model.caller.requests[0]?.text).toContain('Fix the bug in average.js.');
    expect(model.caller.bridgeTools(bridge.tools)).toEqual(bridge.tools);
    expect(seenTools[0]).toContain('config://current');
    expect(seenTools[1]).toContain(bridge.workplace.projectsDir);
    const isSearched = model.caller.offered.has('ToolSearch');
    const works = {
      init: '`init --client claude-code`',
      tools: `${bridge.tools.length}${isSearched ? ', behind ToolSearch' : ''}`,
      delegation: 'yes',
      // Seen in tests/long/claude/called-back.test.ts.
      calledBack: 'in a terminal, not with `-p`',
      resources: 'listed, read',
      prompts: 'as slash commands',
    };
    record(`claude-code ${version}`, { title: 'Claude Code', version }, works);
  });
});
