import { describe, expect, it } from 'vitest';
import { isSamePlatform, nodeOf } from '../../../src/cli/machines/far-facts.js';

const good = {
  ...{ node: '/usr/bin/node', version: '22.13.0', platform: 'linux', arch: 'x64', glibc: '2.36' },
  ...{ home: '/home/me', freeBytes: 10_000_000_000, npm: true, installed: false },
};

function printed(...all: Partial<typeof good>[]): string {
  return ['motd', '{"not":"ours"}', ...all.map((one) => JSON.stringify({ ...good, ...one }))].join('\n');
}

describe('the Node of another machine', () => {
  it('is that of PATH, which is printed first, where it is new enough', () => {
    expect(nodeOf('gpu', printed({}, { node: '/home/me/n', version: '24.0.0' })).node).toBe('/usr/bin/node');
  });

  it('is else the newest, by numbers', () => {
    const nine = { node: '/home/me/9', version: '20.9.0' };
    const old = { version: '18.20.0' };
    const all = printed(
      old,
      { node: '/home/me/20', version: '20.12.0' },
      { node: '/home/me/100', version: '100.0.0' },
      nine,
    );
    expect(nodeOf('gpu', all).node).toBe('/home/me/100');
  });

  it('is missing where none answers or none is new enough, and the error says which there are', () => {
    expect(() => nodeOf('gpu', 'motd\n')).toThrow('gpu has no Node');
    expect(() => nodeOf('gpu', printed({ version: '18.1.0' }, { version: '16.0.0' }))).toThrow(
      'Node on gpu is too old: 18.1.0, 16.0.0.',
    );
  });

  it('with a full disk is no place for a new version, and one for the version that is there', () => {
    expect(() => nodeOf('gpu', printed({ freeBytes: 1_000 }))).toThrow('has 0 MiB left');
    expect(nodeOf('gpu', printed({ freeBytes: 1_000, installed: true })).installed).toBe(true);
  });

  it.each([
    [{ ...good, glibc: '2.17' }, true],
    [{ ...good, glibc: null }, false],
    [{ ...good, arch: 'arm64' }, false],
    [{ ...good, platform: 'darwin', glibc: null }, false],
  ])('%o runs programs that were built here: %s', (facts, isSame) => {
    expect(isSamePlatform(facts, good)).toBe(isSame);
  });
});
