import { execFileSync } from 'node:child_process';
import { it } from 'vitest';

it('what is assembled from WebAssembly texts is up to date (npm run assemble renews it)', () => {
  execFileSync(process.execPath, ['scripts/assemble.mjs', '--check'], { stdio: 'pipe' });
});
