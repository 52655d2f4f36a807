import { describe, expect, test } from 'vitest';
import { bytesOfKeys } from '../../src/processes/keys.js';

function sent(names: readonly string[], isApplicationMode = false): string {
  return bytesOfKeys(names, isApplicationMode).toString('latin1');
}

describe('keys', () => {
  test.each([
    ['ctrl-c', '\x03'],
    ['esc', '\x1b'],
    ['shift-tab', '\x1b[Z'],
    ['delete', '\x1b[3~'],
    ['up', '\x1b[A'],
    ['f12', '\x1b[24~'],
    ['alt-x', '\x1bx'],
    ['Ctrl-C', '\x03'],
    ['arrow-left', '\x1b[D'],
    ['page_down', '\x1b[6~'],
  ])('%s', (name, bytes) => {
    expect(sent([name])).toBe(bytes);
  });

  test('follow one another', () => {
    expect(sent(['esc', 'ctrl-w', 'right'])).toBe('\x1b\x17\x1b[C');
  });

  test('of the cursor have another form where the program asked for it', () => {
    expect(sent(['up', 'down', 'left', 'right', 'home', 'end', 'f1', 'delete'], true)).toBe(
      '\x1bOA\x1bOB\x1bOD\x1bOC\x1bOH\x1bOF\x1bOP\x1b[3~',
    );
  });

  test.each(['f0', 'f13', 'ctrl-1', 'hyper-x', '', 'constructor', 'x'])('there is none called %s', (name) => {
    expect(() => bytesOfKeys([name], false)).toThrow(/There is no key/);
  });
});
