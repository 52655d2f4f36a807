import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { describeNewestClaude } from '../../harness/real-claude.js';
import { runs, says } from '../../harness/scripted-turns.js';
import { startBridge, type TestBridge } from '../../harness/start-bridge.js';

const eventSchema = z.looseObject({ seq: z.number(), type: z.string() });

describeNewestClaude('what is shown of a task', ({ binary }) => {
  it('log, screen and events are read in pages that join without a gap', async () => {
    const bridge = await startBridge({
      claude: binary,
      script: [runs('touch made.txt', 'Ich fange an: é☃😀.'), says('Fertig: é☃😀.')],
    });
    const id = await bridge.start({
      prompt: 'Mach es, é☃😀.',
      path: bridge.project,
      permission_mode: 'cautious',
    });
    await bridge.decision(id);
    // The hook asks a moment before the dialog is drawn.
    await expect
      .poll(async () => (await bridge.output(id, 'screen')).text)
      .toMatch(/Do you want to proceed\?/);
    expect((await bridge.output(id, 'screen')).text).not.toContain('\x1b');
    await bridge.answerNext(id, { verdict: 'allow' });
    await bridge.end(id);

    const log = await readFile(join(bridge.project, '.claude', 'mcp-logs', `${id}.log`), 'utf8');
    expect(await pages(bridge, id, 'log', '0:0')).toBe(log);
    expect(log).toMatch(/^\[.+\] Task started\n/);
    for (const words of [
      'Prompt: Mach es, é☃😀.',
      'Claude: Ich fange an: é☃😀.',
      'allowed: Bash(touch made.txt)',
      'Task completed',
    ])
      expect(log).toContain(words);
    expect(log).not.toContain('\x1b');
    expect((await bridge.output(id, 'log')).text).toBe(log);

    const lines = (await pages(bridge, id, 'events', '0')).trimEnd().split('\n');
    const events = lines.map((line) => eventSchema.parse(JSON.parse(line)));
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
    expect(events.at(-1)).toMatchObject({ type: 'ended', status: 'completed' });
    expect((await bridge.output(id, 'screen')).text).toContain('Fertig');
    expect(await bridge.refusal('get_task_output', { task_id: id, view: 'log', cursor: 'nonsense' })).toMatch(
      /^INVALID_ARGUMENTS/,
    );
    expect(await bridge.refusal('get_task_output', { task_id: id, view: 'events', cursor: '-1' })).toMatch(
      /^INVALID_ARGUMENTS/,
    );
  });

  it.each(['modern', 'legacy', 'foreign'] as const)(
    'a task is driven, and its resources are listed, completed, read and followed (%s client)',
    async (era) => {
      const bridge = await startBridge({
        claude: binary,
        era,
        script: [runs('echo hi > hello.txt', 'I will.'), says('Made.')],
      });
      const id = await bridge.start({
        prompt: 'Make it.',
        path: bridge.project,
        permission_mode: 'cautious',
      });
      const { mcp } = bridge;
      const updated: string[] = [];
      await mcp.follow(`tasks://${id}`, () => updated.push(id));
      expect(await bridge.answerNext(id, { verdict: 'allow' })).toMatchObject({
        kind: 'permission',
        tool: 'Bash',
      });
      expect(await bridge.end(id)).toMatchObject({
        status: 'completed',
        exit_code: 0,
        last_output: 'Made.',
      });
      expect(await readFile(join(bridge.project, 'hello.txt'), 'utf8')).toBe('hi\n');
      await expect.poll(() => updated.length).toBeGreaterThan(0);

      expect(await mcp.listResources()).toEqual(
        expect.arrayContaining(['config://current', 'tasks://active', `logs://${id}`]),
      );
      expect(await mcp.complete('logs://{task_id}', 'task_id', id.slice(0, 10))).toEqual([id]);
      expect(await mcp.readResource(`logs://${id}`)).toContain('Task completed');
      const record: unknown = JSON.parse(await mcp.readResource(`tasks://${id}`));
      expect(record).toMatchObject({ task_id: id, status: 'completed', final_message: 'Made.' });
      expect(record).not.toHaveProperty('process_mark');
      expect(JSON.parse(await mcp.readResource('tasks://active'))).toEqual({ tasks: [] });
      const config = await mcp.readResource('config://current');
      expect(JSON.parse(config)).toMatchObject({ allowed_roots: [bridge.workplace.projectsDir] });
      expect(config).not.toContain(bridge.env['ANTHROPIC_API_KEY']);
      await expect(mcp.readResource('tasks://task_00000000000000000000')).rejects.toThrow(
        /not found|TASK_NOT_FOUND/i,
      );
    },
  );
});

async function pages(bridge: TestBridge, id: string, view: 'log' | 'events', from: string): Promise<string> {
  let text = '';
  let cursor = from;
  for (;;) {
    const page = await bridge.output(id, view, { cursor, max_bytes: 256 });
    text += page.text;
    if (!page.more) return text;
    if (page.cursor === cursor) throw new Error(`the cursor ${cursor} does not move on`);
    cursor = page.cursor;
  }
}
