import { execFile } from 'node:child_process';
import { chown, mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import Docker from 'dockerode';
import { afterAll, beforeAll, expect, inject, it, onTestFinished } from 'vitest';
import { fillAppFolder } from '../../../scripts/release/app-folder.js';
import { makeImageContext } from '../../../scripts/release/make-image-context.js';
import { packNpm } from '../../../scripts/release/pack-npm.js';
import { readProject } from '../../../scripts/release/project.js';
import { scriptedClaudeEnvironment, writeClaudeHome } from '../../../src/cli/demo/claude-home.js';
import { startScriptedApi } from '../../../src/cli/demo/scripted-api.js';
import { describeDockerProgram } from '../../harness/docker-engine.js';
import { docker, dockerProgramEnv } from '../../harness/docker-program.js';
import { connect, type McpClient } from '../../harness/mcp-clients.js';
import { runs, says } from '../../harness/scripted-turns.js';
import { TaskClient } from '../../harness/task-client.js';

const LIMIT_MS = 120_000;
/** The user of the image. */
const USER = 1000;
/** What the release adds to the base image: the program and its terminal. */
const MAX_ADDED_BYTES = 16 * 1024 * 1024;
const project = readProject(resolve(import.meta.dirname, '..', '..', '..'));
/** The user in the container has to own what is mounted; only root can give it away. */
const isRoot = process.getuid?.() === 0;

describeDockerProgram('the image of the release', ({ nodeImage }) => {
  let folder: string;
  let image: string;

  beforeAll(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), 'image-test-')));
    image = `claude-code-bridge-test/release:${basename(folder).toLowerCase()}`;
    const { file } = await packNpm(project.root, folder);
    await fillAppFolder(project.root, file, join(folder, 'app'));
    const context = join(folder, 'context.tar.gz');
    await makeImageContext(project, join(folder, 'app'), context);
    const values = ['--build-arg', `BASE=${nodeImage}`, '--build-arg', 'PACKAGES='];
    await docker(['build', '--force-rm', '--tag', image, ...values, '-'], context);
  }, LIMIT_MS);

  afterAll(async () => {
    const left = await containers();
    if (left.length > 0) await docker(['rm', '--force', ...left]);
    await docker(['image', 'rm', image]);
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    expect(left).toEqual([]);
    expect(await docker(['images', '--quiet', image])).toBe('');
  }, LIMIT_MS);

  async function containers(): Promise<string[]> {
    return (await docker(['ps', '--all', '--quiet', '--filter', `ancestor=${image}`]))
      .split('\n')
      .filter((id) => id !== '');
  }

  /** A client that starts the server as clients do; when the test is over, the container is gone without being removed. */
  async function open(options: readonly string[]): Promise<McpClient> {
    const client = await connect('foreign', {
      command: 'docker',
      args: ['run', '-i', '--rm', '--init', ...options, image],
      cwd: folder,
      env: dockerProgramEnv(),
    });
    onTestFinished(async ({ task }) => {
      if (task.result?.state === 'fail') process.stderr.write(`${client.log()}\n`);
      await client.close();
      await expect.poll(containers).toEqual([]);
    });
    return client;
  }

  async function made(name: string): Promise<string> {
    const path = join(folder, name);
    await mkdir(path);
    return path;
  }

  it('says whose it is, runs as user 1000, and is small', async () => {
    const { Config, Size } = await new Docker().getImage(image).inspect();
    expect(Config.Labels).toMatchObject({
      'io.modelcontextprotocol.server.name': project.mcpName,
      'org.opencontainers.image.version': project.version,
      'org.opencontainers.image.source': project.address,
      'org.opencontainers.image.licenses': project.license,
    });
    expect(Config.User).toBe(String(USER));
    const base = await new Docker().getImage(nodeImage).inspect();
    expect(Size - base.Size).toBeLessThan(MAX_ADDED_BYTES);
    expect(await docker(['run', '--rm', '--network=none', '--entrypoint=id', image, '-u'])).toBe(
      String(USER),
    );
  });

  it.each([
    ['its own user', []],
    // Someone whose number is not 1000; nothing in the image knows it.
    ['a user that it does not know', ['--user', '4321:4321']],
  ])('serves without a network as %s', async (_, options) => {
    const client = await open(['--network=none', ...options]);
    expect(await client.listTools()).toContain('start_task');
    const choose = (path: string) => client.callTool('set_active_project', { path });
    expect((await choose('/projects')).isError).not.toBe(true);
    expect((await choose('/opt')).content[0]?.text).toContain('/projects');
  });

  it('delegates a task to the mounted Claude Code', async () => {
    const api = await startScriptedApi([runs('id -u > made.txt; pwd >> made.txt'), says('Delivered.')]);
    onTestFinished(() => api.dispose());
    const [projects, home] = [await made('projects'), await made('home')];
    await mkdir(join(projects, 'app'));
    await writeClaudeHome(home, { trustedProjects: ['/projects/app'] });
    if (isRoot)
      for (const path of [projects, join(projects, 'app'), home, join(home, '.claude.json')])
        await chown(path, USER, USER);
    const {
      HOME: _home,
      PATH: _path,
      ...env
    } = scriptedClaudeEnvironment({
      homeDir: home,
      apiUrl: api.url,
      path: '',
    });
    const variables = join(folder, 'variables');
    await writeFile(
      variables,
      Object.entries(env)
        .map(([name, value]) => `${name}=${value}\n`)
        .join(''),
    );
    const client = new TaskClient(
      await open([
        // The scripted API listens on this machine alone.
        '--network=host',
        `--env-file=${variables}`,
        ...(isRoot ? [] : [`--user=${process.getuid?.() ?? USER}`]),
        ...mounted(projects, '/projects'),
        ...mounted(home, '/home/agent'),
        ...(await mountedProgram(newestClaude())),
      ]),
    );
    const id = await client.start({
      prompt: 'Make it.',
      path: '/projects/app',
      permission_mode: 'cautious',
    });
    await client.answerNext(id, { verdict: 'allow' });
    expect(await client.end(id)).toMatchObject({ status: 'completed', last_output: 'Delivered.' });
    const user = isRoot ? USER : process.getuid?.();
    expect(await readFile(join(projects, 'app', 'made.txt'), 'utf8')).toBe(`${user}\n/projects/app\n`);
  });
});

function mounted(source: string, target: string, ...more: readonly string[]): string[] {
  return ['--mount', ['type=bind', `source=${source}`, `target=${target}`, ...more].join(',')];
}

/** Claude Code, and the libraries of it and of the terminal, which the base image of the tests may lack. */
async function mountedProgram(binary: string): Promise<string[]> {
  const system = `${process.platform}-${process.arch}`;
  const terminal = join(project.root, `node_modules/@lydell/node-pty-${system}/pty.node`);
  const { stdout } = await promisify(execFile)('ldd', [binary, terminal]);
  const libraries = new Set([...stdout.matchAll(/(?<=\s)\/\S+(?= \()/g)].map(([path]) => path));
  const mounts = [...libraries].map(async (path) => mounted(await realpath(path), path, 'readonly'));
  return [...mounted(binary, '/usr/local/bin/claude', 'readonly'), ...(await Promise.all(mounts)).flat()];
}

function newestClaude(): string {
  const binary = inject('claudeVersions').at(-1)?.binary;
  if (binary === undefined) throw new Error('the newest version of Claude Code could not be fetched');
  return binary;
}
