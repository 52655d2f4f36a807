import { expect, it } from 'vitest';
import { serveOptions } from '../../src/cli/serve-options.js';

it.each([
  [[], []],
  [['serve'], []],
  [
    ['--config', 'tasks', '--toolsets=all'],
    ['--config', 'tasks', '--toolsets=all'],
  ],
  [
    ['--config', 'x', 'serve', '--toolsets', 'files'],
    ['--config', 'x', '--toolsets', 'files'],
  ],
  [
    ['serve', '/a', '/b c'],
    ['/a', '/b c'],
  ],
  // A mistake that serve reports.
  [['--unknown'], ['--unknown']],
])('%j serves with %j', (words, options) => {
  expect(serveOptions(words)).toEqual(options);
});

it.each([
  [['--config', 'x', 'tasks', 'list']],
  [['tasks', '--config', 'x']],
  [['serve', '--help']],
  [['-h']],
  [['--version']],
  [['attach', 'serve']],
  [['no-such-command']],
])('%j is for the other commands', (words) => {
  expect(serveOptions(words)).toBeUndefined();
});
