import { expect, test } from 'vitest';
import { z } from 'zod';
import { argumentErrors } from '../../src/mcp/schema.js';
import { wireSchema } from '../../src/mcp/schema.js';

const size = z.strictObject({ columns: z.int(), rows: z.int() });
const schema = z.strictObject({
  tty: z.union([z.boolean(), size]).optional(),
  resize: size.optional(),
  seconds: z.int().min(60).max(90).optional(),
  mode: z.enum(['auto', 'cautious']).default('auto'),
});

test.each([
  [{ seconds: 59 }, 'seconds must be an integer from 60 to 90 (got 59).'],
  [{ mode: 'yolo' }, 'mode must be one of "auto", "cautious" (got "yolo").'],
  [{ resize: { rows: 1 } }, 'resize.columns is required and must be an integer.'],
  [{ tty: { columns: 'x' } }, 'tty must be true or false, or an object with columns, rows (got an object).'],
  [{ tty: 'yes' }, 'tty must be true or false, or an object with columns, rows (got "yes").'],
  [{ resize: { columns: 1, rows: 2, cols: 3 } }, 'unknown argument "resize.cols" (known: columns, rows).'],
  [{ resize: { columns: 1, row: 2 } }, 'unknown argument "resize.row" (did you mean "rows"?).'],
])('%j is answered with what is expected', (args, words) => {
  const parsed = schema.safeParse(args);
  expect(parsed.error && argumentErrors(parsed.error, args, wireSchema(schema, 'input'))).toContain(words);
});
