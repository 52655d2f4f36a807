import { expect, it } from 'vitest';
import { z } from 'zod';
import { boardPage, sharedBrowser } from '../../harness/board-page.js';
import { describeWith } from '../../harness/needs.js';
import { scriptedAgent } from '../../harness/scripted-agent.js';
import { startBridge } from '../../harness/start-bridge.js';

const browser = sharedBrowser();
const spawnedSchema = z.looseObject({ pid: z.string() });

describeWith('browser', 'processes on the board', () => {
  it('the overview shows programs of the toolset process as they start and end, and the search finds them', async () => {
    const bridge = await startBridge({ claude: scriptedAgent, env: { MCP_TOOLSETS: 'all' } });
    const page = await boardPage(bridge, await browser());
    await page.getByText('No tasks yet.').waitFor();
    const { pid } = spawnedSchema.parse(
      await bridge.call('spawn', { command: 'sleep', args: ['600'], cwd: bridge.project, background: true }),
    );
    const section = page.getByRole('region', { name: 'Processes' });
    await section.getByText('sleep 600').waitFor();
    expect(await section.locator('.status').allTextContents()).toEqual(['running']);
    await page.getByRole('searchbox').fill('no such words');
    await section.waitFor({ state: 'detached' });
    await page.getByRole('searchbox').fill('sleep');
    await section.waitFor();
    await bridge.call('kill', { pid });
    await section.getByText('SIGTERM').waitFor();
  });
});
