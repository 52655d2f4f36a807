const TIME_DIGITS = 11;
const RANDOM_DIGITS = 9;

/** `task_`, the milliseconds since the epoch in 11 hexadecimal digits, and 9 random ones: tasks sort by their ids as they were made. */
export function createTaskId(): string {
  const time = Date.now().toString(16).padStart(TIME_DIGITS, '0');
  const random = Buffer.from(crypto.getRandomValues(new Uint8Array(RANDOM_DIGITS))).toString('hex');
  return `task_${time}${random.slice(0, RANDOM_DIGITS)}`;
}
