import { existsSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Closers } from '../../base/lifecycle.js';
import { inTempFolder } from '../../base/files/folders.js';
import { OWN_SOURCES_ENVIRONMENT, WITHOUT_MENTIONS } from '../../claude/launch.js';
import { sharedTemporaryFolder } from '../../claude/sandbox/check-sandbox.js';
import { commandShell } from './command-shell.js';
import { carefulGit } from './configured-paths.js';
import { ownHooksNote } from '../../claude/own-settings.js';
import {
  checkLeftOutSettings,
  leftOutNote,
  projectSleeps,
  sleepingSettings,
  trustIn,
  usesOwnSettings,
} from './project-settings.js';
import type { TaskPlan } from '../main/task-plan.js';
import { LOG_FOLDER } from '../../tasks/project-folder.js';
import { taskSandbox } from './task-sandbox.js';

/** The program of a task, and where it runs. */
export type TaskAgent = Awaited<ReturnType<typeof findAgent>>;

const OWN_COMMAND = 'claude-code-bridge';
const OWN_LEFT_OUT =
  'The user’s own settings of Claude Code are left out, as the setting projects says: no hook, skill or memory of theirs.';

/** Said once, by the first task in a project. */
const FIRST_HERE = `The bridge itself writes one folder into this project, ${LOG_FOLDER} (log and prompt of each task), which git ignores.`;

/** Throws PROJECT_SETTINGS_UNREADABLE, SANDBOX_UNAVAILABLE, TASK_START_FAILED. `closers` closes container and sandbox. */
export async function findAgent(plan: TaskPlan, closers: Closers) {
  const { spec, stateDir, childEnv, homeDir, program } = plan;
  const isFirst =
    spec.purpose !== 'ask' && spec.worktree === undefined && !existsSync(join(spec.project_path, LOG_FOLDER));
  const container = await openContainer(plan, closers);
  const installation = container?.installation ?? program;
  if (installation === undefined) throw new Error('The keeper was handed no program.');
  // In a container it is known only once that runs.
  const version = async () => (container === undefined ? program?.version : container.version());
  const isHere = container === undefined && installation.isClaude;
  const project = installation.isClaude ? await sleepingProject(plan, isHere) : undefined;
  // Not in the state directory, since commands in a sandbox cannot write there.
  const tempName = `claude-code-bridge-${spec.task_id}`;
  const tempDir = join(tmpdir(), tempName);
  if (isHere) {
    // What Claude Code keeps in the folder for temporary files of this user, any other session and its commands may write.
    await inTempFolder((place) => mkdir(join(place, tempName), { mode: 0o700 }));
    closers.add('the temporary folder', () => rm(tempDir, { recursive: true, force: true }));
  }
  const trusted = project?.trusted ?? [];
  const rules = [...(spec.settings.rules ?? []), ...(project?.rules ?? [])];
  const sandboxed = await taskSandbox({ plan, trusted, rules, installation, version, tempDir });
  if (sandboxed !== undefined) closers.add('the sandbox', () => sandboxed.end());
  const shellFolder = join(stateDir.taskDir(spec.task_id), 'shell');
  const shellEnv = isHere
    ? await commandShell(shellFolder, childEnv, spec.settings.pass_environment, sandboxed?.gitMasks)
    : {};
  const env: Record<string, string> = {
    ...(container?.env ?? childEnv),
    ...(project?.parts === undefined ? {} : OWN_SOURCES_ENVIRONMENT),
    ...(projectSleeps(spec) ? WITHOUT_MENTIONS : {}),
    ...(isHere ? { CLAUDE_CODE_TMPDIR: tempDir } : {}),
    ...(isHere && spec.permission_mode !== 'auto' ? carefulGit(childEnv) : {}),
    ...shellEnv,
  };
  const notes = [
    isFirst ? FIRST_HERE : undefined,
    project?.note,
    isHere ? await ownSettingsNote(spec, env['CLAUDE_CONFIG_DIR'] ?? join(homeDir, '.claude')) : undefined,
    sandboxed === undefined || sandboxed.notHeld.length === 0
      ? undefined
      : `The sandbox holds exact paths alone. What these rules match elsewhere in the project, programs of this task can write: ${sandboxed.notHeld.join(', ')}.`,
    sandboxed === undefined || sandboxed.before !== undefined
      ? undefined
      : `Commands of this task can write ${sharedTemporaryFolder(childEnv)}, where your other sessions of Claude Code keep outputs and skills: this system allows no mount over it.`,
  ].filter((note) => note !== undefined);
  const leavesOut = project?.note !== undefined || !usesOwnSettings(spec);
  return {
    installation,
    /** Undefined for a program on this machine. */
    container,
    sandboxed,
    env,
    version,
    /** The project's own settings, where Claude Code does not read them. */
    sleeping: project?.parts?.sleeping,
    /** The folder of a plugin with the project's skills, commands and agents as text. */
    projectTexts: project?.parts?.projectTexts,
    /** Where the project's own configuration lies that a person trusts; none while it sleeps. */
    trusted,
    /** Parts of the configuration, which may hold the login, are left out. */
    leavesOut,
    /** What the answer says when the task starts. */
    notes,
  };
}

/** Undefined in a task that uses the project's own configuration unasked; without `parts` where a person trusts it. */
async function sleepingProject({ spec, stateDir }: TaskPlan, isHere: boolean) {
  if (!projectSleeps(spec)) return undefined;
  const sleeping = await sleepingSettings(spec.project_path, spec.worktree?.project_path);
  // A worktree is trusted as its repository's project is, while it has the same files.
  const trust = trustIn(sleeping, spec.settings.trusted?.[spec.worktree?.project_path ?? spec.project_path]);
  const { rules } = sleeping;
  if (trust === 'trusted') return { trusted: sleeping.places, rules };
  const plugin = join(stateDir.taskDir(spec.task_id), 'project-texts');
  const { writeProjectTexts } = await import('./project-texts.js');
  const texts = isHere ? await writeProjectTexts(spec.project_path, plugin) : { folders: [], leftOut: [] };
  const note = leftOutNote(sleeping, texts, trust, spec.settings.own_command ?? OWN_COMMAND);
  return { parts: { sleeping, projectTexts: texts.folders.length === 0 ? undefined : plugin }, note, rules };
}

/** The note about the person's own settings in the answer that starts a careful task. Throws TASK_START_FAILED where they are left out and must not be. */
async function ownSettingsNote(spec: TaskPlan['spec'], configDir: string): Promise<string | undefined> {
  if (spec.permission_mode === 'auto') return undefined;
  if (usesOwnSettings(spec)) return ownHooksNote(configDir);
  await checkLeftOutSettings(configDir);
  return OWN_LEFT_OUT;
}

/** Undefined for a task without a container, which loads no code for one. */
async function openContainer(plan: TaskPlan, closers: Closers) {
  const { container } = plan.spec;
  if (container === undefined) return undefined;
  const { openAgentContainer } = await import('./agent-container.js');
  return closers.owns('the container', await openAgentContainer(plan, container));
}
