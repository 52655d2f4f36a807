import { z } from 'zod';

// For its effect, imported before whatever makes a schema: compiling a check for each takes longer than the checks ever do in a
// process that somebody waits for, and a call is no quicker for it.
z.config({ jitless: true });
