// Pure: the forms of ids. The board's page reads them, too.

/** `task_` and 20 hexadecimal digits. Of a task these are its time and a random number, of a session of a person a hash. */
export const TASK_ID_PATTERN = /^task_[0-9a-f]{20}$/;
/** `dec_` and a number that counts up within its task. */
export const DECISION_ID_PATTERN = /^dec_[1-9][0-9]{0,8}$/;

/** `proc_` and 12 hexadecimal digits: 48 bits do not collide, and a model has little to copy with every call. */
export const PROCESS_ID_PATTERN = /^proc_[0-9a-f]{12}$/;
