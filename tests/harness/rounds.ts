/** In the part `rounds` of the long form, which runs tests of the gate at full length. */
export const atFullLength = process.env['ALL_ROUNDS'] === '1';

/** How often a test tries what chance may spoil: a fifth of `all` in the gate. */
export function rounds(all: number): number {
  return atFullLength ? all : Math.ceil(all / 5);
}
