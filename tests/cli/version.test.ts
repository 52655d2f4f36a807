import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { VERSION } from '../../src/base/version.js';
import { printVersion } from '../../src/cli/version.js';
import { tempFolder } from '../config/temp-folder.js';

/** A PATH on which npm is a script that answers so. */
async function npmThat(script: string): Promise<string> {
  const folder = await tempFolder();
  await writeFile(join(folder, 'npm'), `#!/bin/sh\n${script}\n`);
  await chmod(join(folder, 'npm'), 0o755);
  return `${folder}:/bin:/usr/bin`;
}

async function printed(script: string, check?: boolean): Promise<string[]> {
  const lines: string[] = [];
  await printVersion({ env: { PATH: await npmThat(script) }, write: (text) => lines.push(text), check });
  return lines;
}

test('the version alone asks npm nothing', async () => {
  expect(await printed('exit 9')).toEqual([VERSION]);
});

test('asked for, another version on npm is named, and how to get it', async () => {
  const [version, words] = await printed('[ "$*" = "view claude-code-bridge version" ] && echo 9.1.0', true);
  expect(version).toBe(VERSION);
  expect(words).toContain('The newest version on npm is 9.1.0: npx -y claude-code-bridge@latest.');
  expect(await printed(`echo ${VERSION}`, true)).toEqual([VERSION, 'This is the newest version on npm.']);
});

test('an npm that cannot tell is an error with its first line, and how to try again', async () => {
  await expect(printed('echo "npm error code E404" >&2; exit 1', true)).rejects.toThrow(
    'is not on npm. To try again',
  );
  await expect(printed('echo "npm error network" >&2; exit 1', true)).rejects.toThrow(
    'npm did not tell the newest version: npm error network',
  );
});
