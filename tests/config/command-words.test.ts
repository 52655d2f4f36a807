import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { commandError, commandWords, expandCommand } from '../../src/config/command-words.js';
import { tempFolder } from './temp-folder.js';

test.each([
  ['claude', ['claude']],
  ['  claude   --debug ', ['claude', '--debug']],
  [`npx -y "my package" 'a "b"' c\\ d`, ['npx', '-y', 'my package', 'a "b"', 'c d']],
  ['claude "" x', ['claude', '', 'x']],
  ['claude "a\\"b" "c\\d"', ['claude', 'a"b', 'c\\d']],
  ['claude $(date) `id` ; rm | x', ['claude', '$(date)', '`id`', ';', 'rm', '|', 'x']],
  [
    ['claude', 'with space'],
    ['claude', 'with space'],
  ],
])('%j is the words %j', (command, words) => {
  expect(commandWords(command)).toEqual(words);
});

test('the path of an existing file is one word, whatever it holds', async () => {
  const folder = join(await tempFolder(), "it's my tools");
  await mkdir(folder);
  const program = join(folder, 'claude');
  await writeFile(program, '');
  expect(commandWords(program)).toEqual([program]);
  expect(commandError(program)).toBeUndefined();
});

test('the home folder may hold spaces', async () => {
  const home = join(await tempFolder(), 'a home');
  await mkdir(home);
  await writeFile(join(home, 'my claude'), '');
  expect(expandCommand('~/my claude', home)).toEqual([join(home, 'my claude')]);
  expect(expandCommand('~/bin/claude --debug', home)).toEqual([join(home, 'bin/claude'), '--debug']);
  expect(expandCommand('claude ~/x', home)).toBe('claude ~/x');
});

test.each([
  ['', 'a command that names a program'],
  ['   ', 'a command that names a program'],
  [[], 'a command that names a program'],
  ['claude "x', 'a closing "'],
  ["claude 'x", "a closing '"],
  ['claude \\', 'a character after the last \\'],
  ['claude \0', 'a command without NUL characters'],
  ['--debug claude', 'a program as the first word, not an option'],
  ['./claude', 'a program name to find on PATH, or an absolute path, or one that begins with ~/'],
  ['bin/claude', 'a program name to find on PATH, or an absolute path, or one that begins with ~/'],
  ['~other/claude', 'a program name to find on PATH, or an absolute path, or one that begins with ~/'],
])('%j is refused: expected %s', (command, expected) => {
  expect(commandError(command)).toBe(expected);
});
