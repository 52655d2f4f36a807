import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { scriptedClaudeEnvironment, writeClaudeHome } from '../../../src/cli/demo/claude-home.js';
import { FORWARDED_API, openApiSocket } from '../../harness/api-socket.js';
import { claudeImage, newestClaude } from '../../harness/claude-image.js';
import { describeDocker, dockerEnv } from '../../harness/docker-engine.js';
import { runs, says } from '../../harness/scripted-turns.js';
import { startBridge, type TestBridge } from '../../harness/start-bridge.js';
import { tempFolder } from '../../harness/temp-folder.js';
import { until } from '../../harness/until.js';

const run = promisify(execFile);
const checkout = join(import.meta.dirname, '..', '..', '..');
/** It is 400 MB, which a machine that is busy with other tests writes three times. */
const IMAGE_LIMIT_MS = 120_000;
const HOME = '/home/agent';
const ENV = scriptedClaudeEnvironment({
  homeDir: HOME,
  apiUrl: FORWARDED_API,
  path: '/usr/local/bin:/usr/bin:/bin',
});

describeDocker('a container as a machine', (engine) => {
  let image = '';
  beforeAll(async () => {
    image = await claudeImage(engine, newestClaude());
  }, IMAGE_LIMIT_MS);

  it('runs a task by docker exec, whose decision is open when the command is killed and answered on a new line', async () => {
    const box = `box-${process.pid}`;
    const bridge = await startBridge({
      claude: newestClaude().binary,
      script: [runs('hostname > where.txt'), says('All written.')],
      env: { ...dockerEnv(), MCP_MACHINES: machineSetting(box) },
    });
    await startBox(image, box, bridge);
    const start = { machine: 'box', path: `${HOME}/app`, prompt: 'Go.', permission_mode: 'cautious' };
    const id = await bridge.start(start);
    expect(id).toMatch(/^box\/task_/);
    const asked = await bridge.decision(id);

    await endCommand(bridge, box);
    const open = await until('it is reached', () => bridge.decision(id));
    expect(open.decision_id).toBe(asked.decision_id);
    await bridge.respond(id, open, { verdict: 'allow' });
    expect(await bridge.end(id)).toMatchObject({ status: 'completed', last_output: 'All written.' });
    const read = await bridge.call('read_file', { machine: 'box', path: `${HOME}/app/where.txt` });
    expect(read['content']).toBe(`${box}\n`);
  });

  it('is unverifiable while it is paused, and there again', async () => {
    const box = `paused-${process.pid}`;
    const env = { ...dockerEnv(), MCP_MACHINES: machineSetting(box) };
    const bridge = await startBridge({ claude: newestClaude().binary, script: [says('Done.')], env });
    await startBox(image, box, bridge);
    const id = await bridge.start({ machine: 'box', path: `${HOME}/app`, prompt: 'Go.' });
    await bridge.end(id);
    await run('docker', ['pause', box]);
    await until('it is said', async () =>
      JSON.stringify(await bridge.call('list_tasks')).includes('unverifiable'),
    );
    expect(
      await bridge.refusal('start_task', { machine: 'box', path: `${HOME}/app`, prompt: 'Go.' }),
    ).toMatch(/^MACHINE_UNREACHABLE: /);
    await run('docker', ['unpause', box]);
    await until('it is reached', () => bridge.status(id));
  });
});

/** The setting `machines` with the container of this name as `box`. */
function machineSetting(box: string): string {
  const command = ['docker', 'exec', '-i', '-u', 'agent', box];
  return JSON.stringify({ box: { command, bridge: ['node', '/opt/app/dist/main.js'] } });
}

/** A container with the built bridge and no network, in which the API is within reach. It ends with its standard input, so with this process. */
async function startBox(image: string, name: string, { api }: TestBridge): Promise<void> {
  const shared = await tempFolder();
  const socket = await openApiSocket(join(shared, 'api.sock'), api.url);
  onTestFinished(() => void socket.close());
  const home = join(shared, 'home');
  await mkdir(join(home, 'app'), { recursive: true });
  await writeClaudeHome(home, { trustedProjects: [HOME] });
  await run('chown', ['-R', '1000:1000', home]);
  const env = { ...ENV, MCP_CLAUDE_COMMAND: 'claude', MCP_ALLOWED_ROOTS: HOME };
  const words = [
    ...['run', '--rm', '-i', '--init', '--name', name, '--hostname', name, '--network', 'none'],
    ...Object.entries(env).flatMap(([key, value]) => ['-e', `${key}=${value}`]),
    ...(await terminalLibraries()).flatMap((library) => ['-v', `${library}:${library}:ro`]),
    ...['-v', `${checkout}:/opt/app:ro`, '-v', `${shared}:/opt/machine`, '-v', `${home}:${HOME}`],
    ...[
      image,
      'sh',
      '-c',
      'node /opt/app/tests/fixtures/programs/api-forwarder.mjs /opt/machine/api.sock & cat',
    ],
  ];
  const holder = spawn('docker', words, { stdio: ['pipe', 'ignore', 'inherit'] });
  const exited = once(holder, 'exit');
  onTestFinished(async () => {
    holder.stdin.end();
    await run('docker', ['rm', '-f', name]).catch(() => undefined);
    await exited;
  });
  await until(`${name} runs`, () => run('docker', ['exec', name, 'true']));
}

/** Ends the command that holds the line, as an engine that is started again does. */
async function endCommand({ mcp }: TestBridge, box: string): Promise<void> {
  const { stdout } = await run('ps', ['-o', 'pid=,args=', '--ppid', `${mcp.pid}`]);
  const line = stdout.split('\n').find((one) => one.includes(`docker exec -i -u agent ${box}`));
  process.kill(Number.parseInt(line ?? '', 10), 'SIGKILL');
}

/** What the module that makes terminals loads; the image has what its programs load. */
async function terminalLibraries(): Promise<string[]> {
  const folder = join(checkout, 'node_modules', '@lydell');
  const modules = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('pty.node'));
  const { stdout } = await run(
    'ldd',
    modules.map((name) => join(folder, name)),
  );
  return [...new Set(stdout.match(/\/\S+\.so[\d.]*/g))];
}
