import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { checkSettings } from '../../../src/claude/sandbox/check-settings.js';

describe('settings that widen a sandbox', () => {
  let root: string;

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'settings-'));
    await mkdir(join(root, 'p', '.claude'), { recursive: true });
    await mkdir(join(root, 'u'));
  });
  afterEach(() => rm(root, { recursive: true, force: true }));

  const check = () => checkSettings({ projectPath: join(root, 'p'), userFolder: join(root, 'u') });
  const project = (text: string) => writeFile(join(root, 'p', '.claude', 'settings.json'), text);

  test.each([
    '',
    '{}',
    '{"permissions":{"allow":["Bash(npm test)","Edit(src/**)"]},"sandbox":{"enabled":true}}',
    '{"hooks":{},"sandbox":{"filesystem":{"denyWrite":["a"],"allowWrite":[]}}}',
  ])('a project with %s is let through', async (text) => {
    await project(text);
    await expect(check()).resolves.toBeUndefined();
  });

  test.each([
    ['{"sandbox":{"filesystem":{"allowWrite":["/tmp"]}}}', 'sandbox.filesystem.allowWrite'],
    ['{"sandbox":{"filesystem":{"allowRead":[".env"]}}}', 'sandbox.filesystem.allowRead'],
    ['{"permissions":{"allow":["Edit(//tmp/**)"]}}', 'permissions.allow Edit(//tmp/**)'],
    ['{"permissions":{"allow":["Write(~/x)"]}}', 'permissions.allow Write(~/x)'],
    ['{"permissions":{"allow":["Edit(src/../../x)"]}}', 'permissions.allow Edit(src/../../x)'],
    ['{"permissions":{"allow":["Edit(//tmp/**)", 5]}}', 'it cannot be read as settings'],
    ['{"sandbox":null}', 'it cannot be read as settings'],
    ['// no JSON', 'it cannot be read as settings'],
  ])('a project with %s is refused', async (text, why) => {
    await project(text);
    await expect(check()).rejects.toMatchObject({ code: 'SANDBOX_UNAVAILABLE' });
    await expect(check()).rejects.toThrow(why);
  });

  test('refuses commands that the user excludes from the sandbox, but not what the user allows in it', async () => {
    const file = join(root, 'u', 'settings.json');
    await writeFile(file, '{"sandbox":{"filesystem":{"allowWrite":["/tmp"]},"excludedCommands":[]}}');
    await expect(check()).resolves.toBeUndefined();
    await writeFile(file, '{"sandbox":{"excludedCommands":["docker *"]}}');
    await expect(check()).rejects.toThrow('sandbox.excludedCommands');
  });
});
