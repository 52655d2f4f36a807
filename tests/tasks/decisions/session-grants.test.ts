import { describe, expect, it } from 'vitest';
import type { SessionRequest } from '../../../src/claude/session.js';
import { SessionGrants } from '../../../src/tasks/decisions/session-grants.js';

function request(
  tool: string,
  input: Readonly<Record<string, unknown>>,
  more: Partial<SessionRequest> = {},
): SessionRequest {
  return {
    requestId: 'r',
    kind: 'permission',
    tool,
    input,
    summary: tool,
    options: [],
    source: 'exact',
    ...more,
  };
}

function isGranted(allowed: SessionRequest, asked: SessionRequest): boolean {
  const grants = new SessionGrants();
  grants.add(allowed, 'dec_1');
  return grants.find(asked) === 'dec_1';
}

describe('what is allowed for the session', () => {
  it.each([
    [
      'Bash',
      { command: 'make', description: 'Build' },
      { command: 'make', description: 'Again', timeout: 9 },
    ],
    ['Write', { file_path: '/p/a', content: '1' }, { file_path: '/p/a', content: '2' }],
    ['NotebookEdit', { notebook_path: '/p/a', new_source: '1' }, { notebook_path: '/p/a', new_source: '2' }],
    ['WebFetch', { url: 'https://a.example/1', prompt: 'x' }, { url: 'https://a.example/2', prompt: 'y' }],
    ['WebSearch', { query: 'one' }, { query: 'other' }],
    ['mcp__db__query', { sql: 'select 1' }, { sql: 'select 1' }],
  ])('of %s holds for the like', (tool, allowed, asked) => {
    expect(isGranted(request(tool, allowed), request(tool, asked))).toBe(true);
  });

  it.each([
    ['Bash', { command: 'make' }, { command: 'make install' }],
    ['Bash', { command: 'make' }, { command: 'make', run_in_background: true }],
    ['Bash', { command: 'make' }, { command: 'make', dangerouslyDisableSandbox: true }],
    ['Write', { file_path: '/p/a' }, { file_path: '/p/b' }],
    ['WebFetch', { url: 'https://a.example/' }, { url: 'https://a.example.org/' }],
    ['WebFetch', { url: 'nowhere' }, { url: 'elsewhere' }],
    ['mcp__db__query', { sql: 'select 1' }, { sql: 'drop table t' }],
  ])('of %s holds for nothing else: %j, %j', (tool, allowed, asked) => {
    expect(isGranted(request(tool, allowed), request(tool, asked))).toBe(false);
  });

  it('holds for no other tool, and in no other folder', () => {
    const write = request('Write', { file_path: '/p/a' });
    expect(isGranted(write, request('Read', { file_path: '/p/a' }))).toBe(false);
    const make = request('Bash', { command: 'make' }, { folder: '/p' });
    expect(isGranted(make, make)).toBe(true);
    expect(isGranted(make, request('Bash', { command: 'make' }, { folder: '/p/inside' }))).toBe(false);
  });

  it('is not remembered of what a screen shows, of plans and of questions', () => {
    for (const more of [
      { source: 'observed' },
      { kind: 'plan' },
      { kind: 'question' },
      { kind: 'trust' },
    ] as const) {
      const asked = request('Bash', { command: 'make' }, more);
      expect(isGranted(asked, asked)).toBe(false);
    }
  });

  it('has a bound: the oldest is forgotten', () => {
    const grants = new SessionGrants();
    for (let n = 0; n <= 500; n++) grants.add(request('Bash', { command: `make ${n}` }), `dec_${n}`);
    expect(grants.find(request('Bash', { command: 'make 0' }))).toBeUndefined();
    expect(grants.find(request('Bash', { command: 'make 500' }))).toBe('dec_500');
  });
});
