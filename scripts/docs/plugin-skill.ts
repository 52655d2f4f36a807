import { frontmatter } from '../../src/resources/skill.js';
import { skillText } from '../../src/resources/skill-text.js';

/** The skill of the plugin: the text of the resource, under the name of its folder. */
export function pluginSkill(): string {
  return `---\nname: delegate\ndescription: ${frontmatter.description}\n---\n\n${skillText}`;
}
