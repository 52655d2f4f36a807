import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { readAssets } from '../../src/board/assets.js';
import { createWorkplace } from '../harness/workplace.js';

it('the page is told how a person runs this program, and nothing in that is markup', async () => {
  const workplace = await createWorkplace();
  onTestFinished(() => workplace.remove());
  await writeFile(join(workplace.root, 'index.html'), '<meta name="command" content="__COMMAND__" />');
  const assets = await readAssets(workplace.root, `node '/a"><script>$&/main.js'`);
  expect(assets.get('/')?.body.toString()).toBe(
    `<meta name="command" content="node '/a&#34;&#62;&#60;script&#62;$&#38;/main.js'" />`,
  );
});
