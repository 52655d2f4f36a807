import { join } from 'node:path';
import { systemClock } from '../base/system-clock.js';
import type { PageOptions } from '../board/board.js';
import { Reviews } from '../board/reviews.js';
import { promptOf } from '../board/task-feed.js';
import { defaultSettingsPath } from '../config/places.js';
import type { MachineTasks } from '../machines/machine-tasks.js';
import { alwaysRulesOf } from './always-rules.js';
import type { BridgeOptions } from './open-state.js';
import type { TaskServices } from './task-services.js';

/** What the pages of a board show, and do for the person at them. */
export function pageServices(
  { settingsFile, origins = {}, homeDir, version, logger }: BridgeOptions,
  { stateDir, git, tasks, finisher }: TaskServices,
  far?: MachineTasks,
): PageOptions {
  const receipts = git.ofTasks(stateDir);
  const { readPatch, readSide } = git;
  return {
    ...{ readPatch, readSide, version, homeDir, logger, clock: systemClock, far },
    tasks: far ?? tasks,
    finisher: far === undefined ? finisher : { finish: (query) => far.finish(query, finisher) },
    receipts: far?.receiptsWith(receipts) ?? receipts,
    patchOf: (record) => receipts.patchOf(record),
    always: alwaysRulesOf({
      file: settingsFile ?? defaultSettingsPath(homeDir),
      rulesFrom: origins.rules ?? null,
      specFile: stateDir.specFile,
    }),
    reviews: new Reviews(join(stateDir.path, 'board', 'reviews')),
    recordingFile: (taskId) => stateDir.recordingFile(taskId),
    tasksDir: stateDir.tasksDir,
    promptOf: (record) => {
      const place = far?.placeOf(record.task_id);
      if (place !== undefined) return place.far.promptOf(place.id);
      return promptOf(stateDir.promptFile(record.task_id), record);
    },
  };
}
