/** The time of every file in every archive, which npm writes too: the same sources make the same archives. */
export const FIXED_TIME = new Date('1985-10-26T08:15:00.000Z');
