import { chmod, mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { findOrFetchClaude } from '../../../src/cli/demo/fetch-claude.js';
import { tempFolder } from '../../harness/temp-folder.js';

/** Stands in for npm: makes the platform packages that `$FAKE_PACKAGES` names, or fails as npm does. */
const FAKE_NPM = `#!/bin/sh
if [ -n "$FAKE_NPM_ERROR" ]; then echo "npm error $FAKE_NPM_ERROR" >&2; exit 1; fi
while [ "$1" != "--prefix" ]; do shift; done
echo run >> "$FAKE_NPM_LOG"
for name in $FAKE_PACKAGES; do
  home="$2/node_modules/@anthropic-ai/$name"
  mkdir -p "$home"
  case "$name" in
    *broken) printf '#!/nowhere/loader\\n' > "$home/claude" ;;
    *) printf '#!/bin/sh\\necho "9.9.9 (Claude Code)"\\n' > "$home/claude" ;;
  esac
  chmod +x "$home/claude"
done
`;
const PLATFORM = `claude-code-${process.platform}-${process.arch}`;

describe('findOrFetchClaude', () => {
  let folder: string;
  let cacheDir: string;
  let lines: string[];

  beforeEach(async () => {
    folder = await tempFolder();
    cacheDir = join(folder, 'cache');
    lines = [];
    await mkdir(join(folder, 'bin'));
    await writeFile(join(folder, 'bin', 'npm'), FAKE_NPM);
    await chmod(join(folder, 'bin', 'npm'), 0o755);
  });

  function fetchIt(env: Record<string, string> = {}): Promise<string> {
    return findOrFetchClaude({
      version: '9.9.9',
      cacheDir,
      env: {
        PATH: `${join(folder, 'bin')}:/usr/bin:/bin`,
        FAKE_PACKAGES: PLATFORM,
        FAKE_NPM_LOG: join(folder, 'npm.log'),
        ...env,
      },
      log: (line) => lines.push(line),
    });
  }

  const binaryIn = (name: string) => join(cacheDir, '9.9.9', 'node_modules', '@anthropic-ai', name, 'claude');

  it('installs once, says so, and finds it again without npm', async () => {
    expect(await fetchIt()).toBe(binaryIn(PLATFORM));
    expect(lines).toEqual([`Fetching Claude Code 9.9.9 from npm into ${cacheDir} (235 MB, once) …`]);
    expect(await fetchIt({ PATH: '/nowhere' })).toBe(binaryIn(PLATFORM));
    expect(lines).toHaveLength(1);
    expect(await readdir(cacheDir)).toEqual(['9.9.9']);
  });

  it('takes the platform package that starts on this machine', async () => {
    const found = await fetchIt({ FAKE_PACKAGES: `${PLATFORM}-broken ${PLATFORM}-musl` });
    expect(found).toBe(binaryIn(`${PLATFORM}-musl`));
  });

  it('does not use an install that was cut off', async () => {
    await mkdir(join(cacheDir, '9.9.9'), { recursive: true });
    expect(await fetchIt()).toBe(binaryIn(PLATFORM));
    expect(await readdir(cacheDir)).toEqual(['9.9.9']);
  });

  it('names npm when it is missing, and what to do', async () => {
    await expect(fetchIt({ PATH: '/nowhere' })).rejects.toMatchObject({
      code: 'CLAUDE_NOT_FOUND',
      message: `Claude Code 9.9.9 is not in ${cacheDir} and could not be fetched: npm was not found on PATH.`,
      hint: 'Check the network and npm (npm ping), or pass an installed program with --claude <path>.',
    });
    expect(await readdir(cacheDir)).toEqual([]);
  });
});
