import { describe, expect, it } from 'vitest';
import type { SessionRequest } from '../../../src/claude/session.js';
import { SessionGrants } from '../../../src/tasks/decisions/decision-book.js';
import { sampleRequest } from '../sample-decision.js';

const request = (
  tool: string,
  input: Readonly<Record<string, unknown>>,
  more: Partial<SessionRequest> = {},
): SessionRequest => sampleRequest({ tool, input, ...more });

const asWritten = (path: string): Promise<string> => Promise.resolve(path);

async function grant(grants: SessionGrants, request: SessionRequest, decisionId: string): Promise<void> {
  await grants.find(request);
  await grants.add(request, decisionId);
}

async function isGranted(allowed: SessionRequest, asked: SessionRequest): Promise<boolean> {
  const grants = new SessionGrants(asWritten);
  await grant(grants, allowed, 'dec_1');
  return (await grants.find(asked)) === 'dec_1';
}

describe('what is allowed for the session', () => {
  it.each([
    [
      'Bash',
      { command: 'make', description: 'Build' },
      { command: 'make', description: 'Again', timeout: 9 },
    ],
    ['Write', { file_path: '/p/a', content: '1' }, { file_path: '/p/a', content: '2' }],
    ['WebFetch', { url: 'https://a.example/1', prompt: 'x' }, { url: 'https://a.example/2', prompt: 'y' }],
    ['WebSearch', { query: 'one' }, { query: 'other' }],
    ['mcp__db__query', { sql: 'select 1' }, { sql: 'select 1' }],
  ])('of %s holds for the like', async (tool, allowed, asked) => {
    expect(await isGranted(request(tool, allowed), request(tool, asked))).toBe(true);
  });

  it.each([
    ['Bash', { command: 'make' }, { command: 'make install' }],
    ['Bash', { command: 'make' }, { command: 'make', dangerouslyDisableSandbox: true }],
    ['Write', { file_path: '/p/a' }, { file_path: '/p/b' }],
    ['WebFetch', { url: 'https://a.example/' }, { url: 'https://a.example.org/' }],
    ['WebFetch', { url: 'a.example:80/a' }, { url: 'b.example:81/a' }],
    ['mcp__db__query', { sql: 'select 1' }, { sql: 'drop table t' }],
  ])('of %s holds for nothing else: %j, %j', async (tool, allowed, asked) => {
    expect(await isGranted(request(tool, allowed), request(tool, asked))).toBe(false);
  });

  it('holds for no other tool, and in no other folder', async () => {
    const write = request('Write', { file_path: '/p/a' });
    expect(await isGranted(write, request('Read', { file_path: '/p/a' }))).toBe(false);
    for (const [tool, input] of [
      ['Bash', { command: 'make' }],
      ['Glob', { pattern: '*' }],
    ] as const) {
      const here = request(tool, input, { folder: '/p' });
      expect(await isGranted(here, here)).toBe(true);
      expect(await isGranted(here, request(tool, input, { folder: '/p/inside' }))).toBe(false);
    }
    const unknown = request('Bash', { command: 'make' }, { folder: undefined });
    expect(await isGranted(unknown, unknown)).toBe(false);
  });

  it.each([{ source: 'observed' }, { kind: 'plan' }, { kind: 'question' }] as const)(
    'is not remembered of what a screen shows, of plans and of questions: %j',
    async (more) => {
      const asked = request('Bash', { command: 'make' }, more);
      expect(await isGranted(asked, asked)).toBe(false);
    },
  );

  it.each([
    ['Write', 'file_path'],
    ['Grep', 'path'],
    ['Workflow', 'scriptPath'],
  ])('of %s is a path by its real path: asked about, allowed, and later', async (tool, field) => {
    const links = new Map([['/p/new/a', '/p/new/a']]);
    const grants = new SessionGrants((path) => Promise.resolve(links.get(path) ?? path));
    const write = (): SessionRequest => request(tool, { [field]: 'new/a' }, { folder: '/p' });
    await grant(grants, write(), 'dec_1');
    expect(await grants.find(write())).toBe('dec_1');
    links.set('/p/new/a', '/home/me/a');
    expect(await grants.find(write())).toBeUndefined();
    const asked = write();
    await grants.find(asked);
    links.set('/p/new/a', '/etc/a');
    await grants.add(asked, 'dec_2');
    expect(await grants.find(write())).toBeUndefined();
  });
});
