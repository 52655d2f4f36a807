import { join } from 'node:path';
import { systemClock } from '../base/system-clock.js';
import { BoardPages, type PageOptions } from '../board/pages.js';
import { Reviews } from '../board/reviews.js';
import { defaultSettingsPath } from '../config/places.js';
import { alwaysRulesOf } from './always-rules.js';
import type { BridgeOptions } from './open-state.js';
import type { TaskServices } from './task-services.js';

/** What the pages of a board show, and do for the person at them. */
export function pageServices(
  { settingsFile, origins = {}, homeDir, version, logger }: BridgeOptions,
  { stateDir, git, tasks, finisher }: TaskServices,
): PageOptions {
  const receipts = git.ofTasks(stateDir);
  const { readPatch, readSide } = git;
  return {
    ...{ tasks, finisher, receipts, readPatch, readSide, version, homeDir, logger, clock: systemClock },
    patchOf: (record) => receipts.patchOf(record),
    always: alwaysRulesOf({
      file: settingsFile ?? defaultSettingsPath(homeDir),
      rulesFrom: origins.rules ?? null,
      specFile: stateDir.specFile,
    }),
    reviews: new Reviews(join(stateDir.path, 'board', 'reviews')),
    recordingFile: (taskId) => stateDir.recordingFile(taskId),
    tasksDir: stateDir.tasksDir,
    promptFile: (taskId) => stateDir.promptFile(taskId),
  };
}

/** The pages of the board that another machine's board shows: the line that they come over is their authority. They show this machine alone. */
export function openBoardPages(options: BridgeOptions, services: TaskServices): BoardPages {
  return new BoardPages(pageServices(options, services), () => true);
}
