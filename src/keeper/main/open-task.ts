import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type Closers, toDisposable } from '../../base/lifecycle.js';
import { makeFolders } from '../../base/files/folders.js';
import { systemClock } from '../../base/system-clock.js';
import { releaseLease } from '../../store/project-lock.js';
import { createProjectFiles, logFolder } from '../../tasks/project-folder.js';
import { findAgent } from '../agent/find-agent.js';
import { TaskFiles } from './task-files.js';
import { readPlan, type KeepTaskOptions } from './task-plan.js';

/** A task that has all it needs to run. */
export type OpenTask = Awaited<ReturnType<typeof openTask>>;

/**
 * Opens what the task needs. `closers` closes it, releases the project, and removes the files in the project of a task for which
 * `hasStarted` was not called.
 */
export async function openTask(options: KeepTaskOptions, closers: Closers) {
  const { lease } = options.launch;
  const project = toDisposable(() => (lease === undefined ? undefined : releaseLease(lease)));
  closers.owns('the lease of the project', project);
  const plan = await readPlan(options);
  const { spec, socketPath, stateDir, logger, prompt } = plan;
  const { task_id: taskId, project_path: folder, worktree, settings } = spec;
  closers.add('the socket', () => rm(socketPath, { force: true }));
  const agent = await findAgent(plan, closers);
  // A task in a worktree has its log in the project of the worktree's repository, which stays when the worktree is removed.
  const home = worktree?.project_path ?? folder;
  const isQuestion = spec.purpose === 'ask';
  const ownFiles = { logFile: stateDir.logFile(taskId), promptFile: stateDir.promptFile(taskId) };
  const { logFile, promptFile, remove } = isQuestion
    ? { ...ownFiles, remove: () => undefined }
    : await createProjectFiles(home, taskId, prompt);
  let isStarted = false;
  closers.add('the files in the project', () => (isStarted ? undefined : remove()));
  const store = await TaskFiles.open({
    stateDir,
    taskId,
    logFile,
    project: isQuestion ? undefined : home,
    makeLogFolder: () => (isQuestion ? makeFolders(dirname(logFile), 0o700) : logFolder(home)),
    maxBytes: settings.max_log_size_bytes,
    clock: systemClock,
    logger,
  });
  // Only Claude Code speaks the protocol of the print driver: any other program gets a terminal, and its prompt on stdin.
  const driver = agent.installation.isClaude ? spec.driver : 'interactive';
  return {
    ...plan,
    spec: { ...spec, driver, settings: { ...settings, leaves_out: agent.leavesOut } },
    agent,
    /** The files in the project, for people. */
    projectFiles: { logFile, promptFile },
    store: closers.owns('the files of the task', store),
    releaseProject: () => project.dispose(),
    hasStarted: () => (isStarted = true),
  };
}
