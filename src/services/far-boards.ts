import { z } from 'zod';
import { createSecret } from '../base/ids.js';
import { systemClock } from '../base/system-clock.js';
import { FarBoards } from '../board/far/far-boards.js';
import { modeSettings } from '../config/permission-modes.js';
import { errorFrom, idHere } from '../machines/far-records.js';
import { startArgs } from '../machines/far-tools.js';
import type { Machines } from '../machines/machine.js';
import { taskIdSchema } from '../tasks/task.js';
import type { BridgeOptions } from './open-state.js';

const startedSchema = z.object({ task_id: taskIdSchema });

/** The boards of other machines. What is started there keeps to the modes and rows of the settings here, too. */
export function farBoards({ config, origins = {} }: BridgeOptions, machines: Machines): FarBoards {
  const limits = { modes: modeSettings(config, origins), rules: config.rules };
  const start = async (machine: Machines['all'][number], args: object): Promise<string> => {
    const sent = { ...args, request_id: createSecret(), ...startArgs(machine.name, { ...args }, limits) };
    try {
      const answer = await machine.callTool('start_task', sent, { repeats: true });
      return idHere(machine.name, startedSchema.parse(answer).task_id);
    } catch (error) {
      throw errorFrom(machine.name, error);
    }
  };
  return new FarBoards(machines, start, systemClock);
}
