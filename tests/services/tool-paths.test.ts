import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { BridgeError } from '../../src/base/errors.js';
import { configSchema } from '../../src/config/schema.js';
import type { JsonObject } from '../../src/mcp/answers.js';
import { AllowedRoots } from '../../src/projects/allowed-roots.js';
import { ServerServices } from '../../src/services/server-services.js';
import { tempFolder } from '../harness/temp-folder.js';
import { allTools } from '../tools/all-tools.js';
import { bridgeOptions } from './bridge-options.js';

/** The other arguments that a call with a path needs, by the name of the path. */
const others: Readonly<Record<string, JsonObject>> = {
  'DelegateTask.path': { prompt: 'Do it.' },
  'ask.workingDirectory': { prompt: 'Why?' },
  'ask_async.workingDirectory': { prompt: 'Why?' },
  'copy_from.destination': { pid: 'proc_1', source: 'out.txt' },
  'copy_to.source': { pid: 'proc_1' },
  'execute.path': { command: 'true' },
  'git_show.path': { revision: 'HEAD' },
  'read_file_range.path': { start_line: 1, end_line: 1 },
  'search_files.path': { query: 'x' },
  'spawn.cwd': { command: 'true' },
  'spawn.mount_project': { command: 'true', mode: 'docker' },
  'start_task.path': { prompt: 'Do it.' },
  'write_file.path': { content: '' },
};
const inContainer = ['copy_from.source', 'copy_to.destination'];
const PATH_NAMES = /path|cwd|directory|source|destination|project/i;
/** Every argument that is a path of this machine. A hook gets no error: a session in another folder is left alone (tests/native/native-host.test.ts). */
const pathArguments = allTools
  .filter((tool) => tool.caller !== 'hooks')
  .flatMap(({ name, listing }) =>
    Object.keys(listing.inputSchema.properties ?? {}).map((argument) => `${name}.${argument}`),
  )
  .filter((argument) => PATH_NAMES.test(argument.slice(argument.indexOf('.'))))
  .filter((argument) => !inContainer.includes(argument));

test('what a call needs besides is said of arguments that there are', () => {
  expect(pathArguments).toEqual(expect.arrayContaining(Object.keys(others)));
});

describe.each(pathArguments)('%s', (argument) => {
  const [toolName, name = ''] = argument.split('.');
  let folder: string;
  let services: ServerServices['offered'];

  beforeEach(async () => {
    folder = await tempFolder();
    const root = join(folder, 'projects');
    await mkdir(root);
    const config = configSchema.parse({ allowed_roots: [root], state_dir: join(folder, 'state') });
    const env = { XDG_RUNTIME_DIR: folder, DOCKER_HOST: `unix://${join(folder, 'no-engine.sock')}` };
    const made = new ServerServices(
      bridgeOptions(folder, { config, env }),
      new AllowedRoots(config.allowed_roots, folder),
      {},
      () => undefined,
    );
    onTestFinished(() => made.dispose());
    services = made.offered;
  });

  async function refusal(path: string): Promise<string> {
    const tool = allTools.find((one) => one.name === toolName);
    const call = { signal: new AbortController().signal, progress: () => undefined };
    const error: unknown = await tool
      ?.run({ ...others[argument], [name]: path }, services, call)
      .catch((thrown: unknown) => thrown);
    return error instanceof BridgeError
      ? `${error.code}: ${error.message}`
      : `no refusal: ${JSON.stringify(error)}`;
  }

  test('takes an absolute path, one with ~ and one relative to the active project alike', async () => {
    await services.activeProject.set('~/projects');
    // Outside the allowed roots, so that each call ends at its path.
    const outside = join(folder, 'outside');
    for (const path of [outside, '~/outside', '../outside'])
      expect(await refusal(path), path).toContain(`PATH_NOT_ALLOWED: Path '${outside}'`);
  });

  test('asks for the active project when a relative path has none', async () => {
    expect(await refusal('file/below')).toMatch(/^NO_ACTIVE_PROJECT: /);
  });
});
