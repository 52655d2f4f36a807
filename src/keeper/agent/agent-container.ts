import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { BridgeError, messageOf } from '../../base/errors.js';
import { systemClock } from '../../base/system-clock.js';
import { prepareContainerHome } from '../../claude/container-home.js';
import { HOOK_TOKEN_VARIABLE, HOOK_URL_VARIABLE } from '../../claude/hooks/hook-settings.js';
import { postHook } from '../../claude/hooks/posted-hooks.js';
import { parseVersion } from '../../claude/installation.js';
import { containerLabels, containerOwnerId, sweepContainers } from '../../processes/docker/leftovers.js';
import { DockerEngine } from '../../processes/docker/engine.js';
import { containerEnvironment } from '../../processes/docker/container-options.js';
import { startFailed, TaskContainer } from '../../processes/docker/task-container.js';
import { ownIdentity, processState } from '../../store/process-identity.js';
import type { TaskSpec } from '../../tasks/task-spec.js';
import type { TaskPlan } from '../main/task-plan.js';
import { containerLines } from './container-lines.js';

const ROOT = 0;
/** Enough of a hash to tell the projects of one person apart. */
const NAME_CHARS = 32;

/** The container that a task's agent runs in, instead of on this machine: makes the agent's home, and nothing else yet. Throws TASK_START_FAILED when the engine does not see this machine's files. */
export async function openAgentContainer(
  { spec, stateDir, childEnv, logger }: TaskPlan,
  container: NonNullable<TaskSpec['container']>,
) {
  const engine = new DockerEngine({ settings: container.engine, clock: systemClock });
  const place = await engine.place().catch((error: unknown) => {
    if (!(error instanceof BridgeError)) throw error;
    throw new BridgeError('TASK_START_FAILED', error.message, error.hint, { cause: error });
  });
  if (!place.isLocal) {
    throw startFailed(
      `the Docker engine at ${place.words} is on another machine: it does not see the project`,
      `Give no isolation, or ask the user ${place.remedy}.`,
    );
  }
  const keeper = { id: containerOwnerId(stateDir.path), keeper: await ownIdentity() };
  const sweep = { engine, owner: keeper, logger, keeperState: processState };
  // What keepers left that died, or lost their engine, needs no server to be removed.
  void sweepContainers(sweep).catch((error: unknown) =>
    logger.warn('containers of dead keepers could not be removed', { error: messageOf(error) }),
  );
  const owner = await ownerOf(spec.project_path);
  // Sessions are stored by project: a later task continues an earlier one.
  const name = createHash('sha256').update(spec.project_path).digest('hex').slice(0, NAME_CHARS);
  const home = container.home ?? join(stateDir.path, 'container-homes', name);
  if (container.home === null)
    await prepareContainerHome({ path: home, apiKey: childEnv['ANTHROPIC_API_KEY'], owner });
  const terminals = new TaskContainer({
    engine,
    onFault: (text) => logger.warn('the container reported an error', { task_id: spec.task_id, error: text }),
    plan: {
      image: container.image,
      network: container.network,
      memoryMb: container.memory_mb,
      taskId: spec.task_id,
      labels: containerLabels(keeper),
      ...owner,
      folders: [...projectFolders(spec), home],
    },
    redirectHooks: (options) => {
      // The relay posts from this machine: nothing in the container needs the token.
      const { [HOOK_TOKEN_VARIABLE]: token = '', [HOOK_URL_VARIABLE]: url = '', ...env } = options.env;
      return { options: { ...options, env }, answer: (body, gone) => postHook({ url, token, body, gone }) };
    },
  });
  // The program in the image has the same name; its folder on this machine does not matter.
  const [program = '', ...args] = spec.settings.claude_command;
  const command = [basename(program), ...args];
  const isClaude = /^claude([-.@].*)?$/i.test(basename(program));
  return {
    terminals,
    installation: { command, isClaude },
    env: containerEnvironment(childEnv, home),
    /** Variables that say where the CLI in it keeps its files, as this machine sees them. */
    seenHere: { CLAUDE_CONFIG_DIR: join(home, '.claude') },
    /** The version of the CLI in it, once it runs. */
    version: async () => parseVersion((await terminals.printed([...command, '--version'])) ?? ''),
    /** Runs the checks of the task in it. */
    linesOf: (mark: string, without: readonly string[]) =>
      containerLines((words) => terminals.exec(words), mark, without),
    dispose: () => terminals.dispose(),
  };
}

/** The repository of a worktree is elsewhere, and git needs both. */
function projectFolders({ project_path, worktree }: TaskSpec): string[] {
  return worktree === undefined ? [project_path] : [worktree.path, join(worktree.repository, '.git')];
}

/** The owner of what the task writes: the same as without a container, but the owner of the project when this process is root. */
async function ownerOf(project: string): Promise<{ readonly uid: number; readonly gid: number }> {
  const uid = process.getuid?.() ?? ROOT;
  if (uid !== ROOT) return { uid, gid: process.getgid?.() ?? uid };
  const facts = await stat(project);
  return { uid: facts.uid, gid: facts.gid };
}
