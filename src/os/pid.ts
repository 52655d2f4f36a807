// Pure.
declare const realPid: unique symbol;

/**
 * The number of one process: a positive integer. 0 and negative numbers are not pids: kill(2) takes them for process groups or for
 * all processes. A missing process is `undefined`.
 */
export type Pid = number & { readonly [realPid]: true };

/** `pid_t` has 32 bits: a larger number would be truncated to another pid. */
const MAX_PID = 0x7f_ff_ff_ff;

/** Undefined for anything that cannot be the number of a process. */
export function pidOf(value: number | string | undefined): Pid | undefined {
  const number = typeof value === 'string' && value.trim() === '' ? undefined : Number(value);
  return isPid(number) ? number : undefined;
}

function isPid(value: number | undefined): value is Pid {
  return value !== undefined && Number.isInteger(value) && value > 0 && value <= MAX_PID;
}
