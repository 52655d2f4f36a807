import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { nextEvent } from '../../src/base/lifecycle.js';
import { isFinal, openDecisions, type TaskRecord } from '../../src/tasks/task.js';
import type { TaskHost, TaskLink } from '../../src/tasks/task-host.js';
import type { TaskSpec } from '../../src/tasks/task-spec.js';
import { asksAboutPrompts } from '../harness/scripted-agent.js';

export interface HostUnderTest {
  readonly host: TaskHost;
  /** Takes the project and hands it over, as a server does. */
  readonly launch: TaskHost['launch'];
  readonly project: string;
  readonly stateDir: string;
  /** Writes spec and prompt where a host finds them. */
  readonly prepare: (prompt: string, overrides?: Partial<TaskSpec>) => Promise<TaskSpec>;
  /** Pids of all that the host has started. */
  readonly processes: () => Promise<number[]>;
}

/** What every host promises; `open` makes one with a project and removes both when the test is over. */
export function describeTaskHost(name: string, open: () => Promise<HostUnderTest>): void {
  describe(`a task host: ${name}`, () => {
    async function linked(
      test: HostUnderTest,
      spec: TaskSpec,
    ): Promise<{ record: TaskRecord; link: TaskLink }> {
      const record = await test.launch(spec);
      const link = await test.host.connect(record);
      if (link === undefined) throw new Error('no link to a task that runs');
      return { record, link };
    }

    /** The record as a new link gives it, once it is as `accept` wants it. */
    async function recordWhere(
      test: HostUnderTest,
      task: TaskRecord,
      accept: (record: TaskRecord) => boolean,
    ): Promise<TaskRecord> {
      return vi.waitUntil(
        async () => {
          const link = await test.host.connect(task);
          if (link === undefined) return undefined;
          const record = await nextEvent(link.onRecord);
          link.dispose();
          return accept(record) ? record : undefined;
        },
        { timeout: 10_000 },
      );
    }

    it('launches a task that runs, and is told its final record when it ends', async () => {
      const test = await open();
      const { record, link } = await linked(test, await test.prepare('AGENT: sleeps 1'));
      expect(record).toMatchObject({ status: 'running', project_path: test.project, ended_at: null });
      expect(record.started_at).not.toBeNull();
      const [lease = ''] = await readdir(join(test.stateDir, 'locks'));
      expect(JSON.parse(await readFile(join(test.stateDir, 'locks', lease), 'utf8'))).toMatchObject({
        task_id: record.task_id,
        owner: record.keeper,
      });
      const final = await nextEvent(link.onRecord, ({ status }) => isFinal(status));
      expect(final).toMatchObject({ status: 'completed', exit_code: 0, last_output: 'sleeping\nawake' });
      await vi.waitUntil(async () => (await test.host.connect(record)) === undefined);
      link.dispose();
      expect(await readdir(join(test.stateDir, 'locks'))).toEqual([]);
    });

    it('ends a task when asked; every process is gone then', async () => {
      const test = await open();
      const { link } = await linked(test, await test.prepare('AGENT: never-exits'));
      expect(await link.kill('Enough.')).toMatchObject({ status: 'killed', reason: 'Enough.' });
      link.dispose();
      await expect.poll(() => test.processes(), { timeout: 5_000 }).toEqual([]);
    });

    it('passes an answer on, once', async () => {
      const test = await open();
      const { settings } = await test.prepare('AGENT: split-prompt');
      const { record, link } = await linked(
        test,
        await test.prepare('AGENT: split-prompt', {
          settings: { ...settings, rules: [...asksAboutPrompts] },
        }),
      );
      const asking = await recordWhere(test, record, (now) => openDecisions(now).length > 0);
      const decision_id = openDecisions(asking)[0]?.decision_id ?? '';
      expect(asking.status).toBe('waiting');
      await expect(
        link.respond({ decision_id: 'dec_9', verdict: 'allow', by: 'caller' }),
      ).rejects.toMatchObject({ code: 'DECISION_NOT_FOUND' });
      const ended = nextEvent(link.onRecord, ({ status }) => isFinal(status));
      // Both at once: the task ends soon after its answer.
      const [answered, late] = await Promise.allSettled([
        link.respond({ decision_id, verdict: 'deny', by: 'caller' }),
        link.respond({ decision_id, verdict: 'allow', by: 'caller' }),
      ]);
      expect(answered).toMatchObject({
        value: { decisions: [{ verdict: 'deny', answered_by: 'caller' }] },
      });
      expect(late).toMatchObject({ reason: { code: 'DECISION_CLOSED' } });
      expect((await ended).last_output).toContain('GOT:n');
      link.dispose();
    });

    it('shows the screen, and takes messages only while the task runs', async () => {
      const test = await open();
      const { link } = await linked(test, await test.prepare('AGENT: never-exits'));
      await expect.poll(async () => (await link.screen()).text, { timeout: 10_000 }).toContain('working');
      expect(await link.message({ text: 'hello' })).toMatchObject({ status: 'running' });
      const killed = link.kill('Enough.');
      await expect(link.message({ text: 'too late' })).rejects.toMatchObject({ code: 'TASK_NOT_RUNNING' });
      await killed;
      link.dispose();
    });

    it('a task that cannot start leaves its project free and empty', async () => {
      const test = await open();
      const spec = await test.prepare('AGENT: exit');
      const settings = { ...spec.settings, claude_command: ['/nowhere/agent'] };
      await expect(test.launch(await test.prepare('AGENT: exit', { settings }))).rejects.toMatchObject({
        code: 'CLAUDE_NOT_FOUND',
      });
      expect(await readdir(test.project)).toEqual([]);
      expect(await readdir(join(test.stateDir, 'locks'))).toEqual([]);
    });
  });
}
