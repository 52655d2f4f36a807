import { z } from 'zod';

// Imported for its side effect, before any schema is made: compiling a check for each schema would take longer than all checks do
// in a short-lived process, and calls would not be faster.
z.config({ jitless: true });
