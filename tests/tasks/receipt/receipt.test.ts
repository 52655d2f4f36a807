import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  receiptView,
  sensitiveFiles,
  type GitReport,
  type SeenFile,
} from '../../../src/tasks/receipt/receipt.js';
import { enabledTools } from '../../../src/tools/registry.js';
import { sampleGitReport, sampleReceipt } from '../sample-task.js';
import { FakeTaskService, TASK_ID, taskRecord } from '../../tools/fake-task-service.js';
import { unusedServices } from '../../tools/unused-services.js';

const LIMIT_BYTES = 15_000;

const answerSchema = z.object({
  receipt: z.object({ final_message: z.string() }),
  cursor: z.string().optional(),
  reviewed: z.string().optional(),
});

describe('what an answer shows of a receipt', () => {
  it('is cut with counts where it does not fit, the last commands first to stay', () => {
    const commands = Array.from({ length: 300 }, (_, index) => ({
      command: `echo ${index} ${'x'.repeat(500)}`,
      exit_code: 0,
    }));
    const large = sampleReceipt({ commands, commands_total: 1_000, final_message: 'ü'.repeat(8_000) });
    const view = receiptView(large, LIMIT_BYTES);
    expect(Buffer.byteLength(JSON.stringify(view))).toBeLessThanOrEqual(LIMIT_BYTES);
    expect(view.receipt.commands.length + (view.left_out['commands'] ?? 0)).toBe(1_000);
    expect(view.receipt.commands.at(-1)).toEqual(commands.at(-1));
    expect(view.left_out['final_message_bytes']).toBeGreaterThan(0);
  });

  it('shows the beginning and the end of what commands printed, more of those that failed', () => {
    const output = 'x'.repeat(1_000);
    const commands = [
      { command: 'good', exit_code: 0, output },
      { command: 'bad', exit_code: 2, output },
      { command: 'silent', exit_code: 0 },
    ];
    const [good, bad, silent] = receiptView(sampleReceipt({ commands }), LIMIT_BYTES).receipt.commands;
    expect(good?.output).toContain('… 800 characters left out …');
    expect(bad?.output).toContain('… 400 characters left out …');
    expect(silent).toEqual({ command: 'silent', exit_code: 0 });
  });

  it('has the rest of a long final message by its cursor, and the tree that finish_task takes', async () => {
    const final_message = Array.from({ length: 5_000 }, (_, n) => `line ${n} ü\n`).join('');
    const tree = 'a'.repeat(40);
    const files = [{ path: 'a', change: 'changed' as const }];
    const report = sampleGitReport({ start_tree: 'b'.repeat(40), tree, files, files_total: 1 });
    const made = sampleReceipt({ final_message, git: report });
    const tool = enabledTools(['tasks']).find(({ name }) => name === 'get_task_result');
    const services = {
      ...unusedServices,
      tasks: async () => new FakeTaskService(taskRecord({ status: 'completed' })),
      receipts: async () => ({ receiptOf: async () => made }),
    };
    const read = async (cursor?: unknown) =>
      answerSchema.parse(
        await tool?.run({ task_id: TASK_ID, ...(typeof cursor === 'string' && { cursor }) }, services, {
          signal: new AbortController().signal,
          progress: () => undefined,
          person: undefined,
        }),
      );
    let page = await read();
    expect(page.reviewed).toBe(tree);
    let whole = page.receipt.final_message;
    while (page.cursor !== undefined) {
      page = await read(page.cursor);
      whole += page.receipt.final_message;
    }
    expect(whole).toBe(final_message);
  });
});

const PROJECT = '/home/ann/app';

const git = (paths: readonly string[], ...ignored: string[]): GitReport =>
  sampleGitReport({ files: paths.map((path) => ({ path, change: 'created' })), ignored });

const seen = (...paths: string[]): SeenFile[] => paths.map((path) => ({ path, change: 'changed' }));

describe('files of a receipt that a person should look at', () => {
  it('are those that tools wrote and those that git saw, by both lists, each once', () => {
    const files = seen('src/a.ts', 'CLAUDE.md', '/home/ann/.ssh/config');
    expect(sensitiveFiles(PROJECT, files, git(['CLAUDE.md', 'config/credentials.json', 'src/b.ts']))).toEqual(
      [
        { path: 'CLAUDE.md', why: 'runs or instructs later' },
        { path: '/home/ann/.ssh/config', why: 'holds secrets by its name' },
        { path: 'config/credentials.json', why: 'holds secrets by its name' },
      ],
    );
  });

  it('are not the plans that Claude Code writes into its own folder', () => {
    const files = seen('/home/ann/.claude/plans/a-plan.md', '/home/ann/.claude/settings.json');
    const others = seen('.claude/plans/b.md', '/home/ann/.claude/plans/deeper/c.md');
    const none: GitReport = { state: 'none', why: 'no repository' };
    const named = sensitiveFiles(PROJECT, [...files, ...others], none, '/home/ann/.claude');
    expect(named.map(({ path }) => path)).toEqual([
      '/home/ann/.claude/settings.json',
      '.claude/plans/b.md',
      '/home/ann/.claude/plans/deeper/c.md',
    ]);
  });
});
