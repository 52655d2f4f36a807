import { expect, test } from 'vitest';
import { gateFault } from '../../src/caller/caller-gate.js';

test.each(['2.1.330', '2.1.331', '2.2.0', '3.0.0', '2.1.330-beta.1'])(
  'a Claude Code %s may be told of its tasks',
  (version) => expect(gateFault({ name: 'claude-code', version })).toBeUndefined(),
);

test.each(['2.1.329', '2.0.999', '1.9.999', '', 'new', '2.1', '2.1.330.1'])(
  'a Claude Code "%s" may not',
  (version) => expect(gateFault({ name: 'claude-code', version })).toContain('older than 2.1.330'),
);

test.each(['cursor', 'Claude-Code', 'claude-code-fork', ''])('the client "%s" may not', (name) =>
  expect(gateFault({ name, version: '2.1.330' })).toBe('the client is not Claude Code'),
);
