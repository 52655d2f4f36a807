import { randomBytes } from 'node:crypto';

/** `task_` and 20 hexadecimal digits: 80 bits, so ids neither collide nor can be guessed. */
export const TASK_ID_PATTERN = /^task_[0-9a-f]{20}$/;
/** `dec_` and a number that counts up within its task. */
export const DECISION_ID_PATTERN = /^dec_[1-9][0-9]{0,8}$/;

export function createTaskId(): string {
  return `task_${randomBytes(10).toString('hex')}`;
}

/** A value nobody can guess, as 32 hexadecimal digits: bearer tokens, end marks, process marks. */
export function createSecret(): string {
  return randomBytes(16).toString('hex');
}
