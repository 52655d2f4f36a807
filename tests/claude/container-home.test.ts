import { mkdtemp, readFile, realpath, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { prepareContainerHome } from '../../src/claude/container-home.js';

const OWNER = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
const KEY = `sk-${'0'.repeat(30)}${'x'.repeat(20)}`;
const TAIL = 'x'.repeat(20);

describe('the home of a CLI in a container', () => {
  it('has the first start done, and is private to its owner', async () => {
    const home = await place();
    await prepareContainerHome({ path: home, apiKey: KEY, owner: OWNER });
    expect(await stateOf(home)).toEqual({
      theme: 'dark',
      hasCompletedOnboarding: true,
      customApiKeyResponses: { approved: [TAIL], rejected: [] },
    });
    expect((await stat(home)).mode & 0o777).toBe(0o700);
  });

  it('keeps what the CLI wrote, and adds a new key', async () => {
    const home = await place();
    await prepareContainerHome({ path: home, apiKey: undefined, owner: OWNER });
    const file = join(home, '.claude.json');
    await writeFile(file, JSON.stringify({ ...(await stateOf(home)), theme: 'light', numStartups: 3 }));
    await prepareContainerHome({ path: home, apiKey: KEY, owner: OWNER });
    expect(await stateOf(home)).toMatchObject({
      theme: 'light',
      numStartups: 3,
      customApiKeyResponses: { approved: [TAIL] },
    });
    const { mtimeMs } = await stat(file);
    await prepareContainerHome({ path: home, apiKey: KEY, owner: OWNER });
    expect((await stat(file)).mtimeMs).toBe(mtimeMs);
  });

  it('replaces a link that a container left, and neither reads nor writes its target', async () => {
    const home = await place();
    await prepareContainerHome({ path: home, apiKey: undefined, owner: OWNER });
    const elsewhere = join(home, '..', 'elsewhere.json');
    await writeFile(elsewhere, '{"secret":"of this machine"}');
    await rm(join(home, '.claude.json'));
    await symlink(elsewhere, join(home, '.claude.json'));
    await prepareContainerHome({ path: home, apiKey: undefined, owner: OWNER });
    expect(await stateOf(home)).not.toHaveProperty('secret');
    expect(await readFile(elsewhere, 'utf8')).toBe('{"secret":"of this machine"}');
  });
});

async function place(): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'container-home-')));
  onTestFinished(() => rm(folder, { recursive: true }));
  return join(folder, 'homes', 'one');
}

async function stateOf(home: string): Promise<object> {
  const state: unknown = JSON.parse(await readFile(join(home, '.claude.json'), 'utf8'));
  if (typeof state !== 'object' || state === null) throw new Error('the state is no object');
  return state;
}
