import { expect, test } from 'vitest';
import { pluginSkill } from '../../scripts/docs/plugin-skill.js';

test('the skill of the plugin is that of the resource; renew it with: npm run docs', async () => {
  await expect(pluginSkill()).toMatchFileSnapshot('../../plugins/code-bridge/skills/delegate/SKILL.md');
});
