import { pidOf, type Pid } from '../../src/os/pid.js';

/** The pid of a process that a test started. Throws without one: 0 would be the group of the tests themselves. */
export function realPid(value: number | undefined): Pid {
  const pid = pidOf(value);
  if (pid === undefined) throw new Error(`${value} is not the pid of a process.`);
  return pid;
}
