import { expect, it } from 'vitest';
import { scriptedAgent } from '../../harness/scripted-agent.js';
import { startBridge } from '../../harness/start-bridge.js';

it.each(['legacy', 'foreign'] as const)(
  'slash commands lead from a request to its review (%s client)',
  async (era) => {
    const bridge = await startBridge({ claude: scriptedAgent, era });
    const { mcp, project } = bridge;
    expect(await mcp.listPrompts()).toEqual(['continue', 'delegate', 'investigate', 'review']);
    const request = 'Fix the "login".';
    const delegating = await mcp.getPrompt('delegate', { request, path: project });
    expect(delegating).toContain(request);
    expect(delegating).toContain('start_task');
    await expect(mcp.getPrompt('review', {})).rejects.toThrow('TASK_NOT_FOUND');
    const failed = await bridge.start({ prompt: 'AGENT: exit 3', path: project });
    await bridge.end(failed);
    expect(await mcp.getPrompt('investigate', {})).toContain(failed);
    const done = await bridge.start({ prompt: 'AGENT: exit', path: project });
    await bridge.end(done);
    expect(await mcp.getPrompt('review', { task_id: failed })).toContain(failed);
    expect(await mcp.getPrompt('continue', { request: 'And a test.' })).toContain(done);
  },
);
