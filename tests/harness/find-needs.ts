import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { CLAUDE_VERSIONS, findBinary } from '../../src/cli/demo/fetch-claude.js';
import { findEngine, findNothingLeft, type FoundEngine } from './find-docker-engine.js';
import { installedVscodes, packExtension, type InstalledVscode } from './find-vscode.js';
import { isThere, needNames, needs, type NeedName } from './need-table.js';

export interface FoundClaude {
  readonly version: string;
  /** Undefined when this version has not been fetched. */
  readonly binary: string | undefined;
}

declare module 'vitest' {
  export interface ProvidedContext {
    claudeVersions: readonly FoundClaude[];
    dockerEngine: FoundEngine;
    vscodes: readonly InstalledVscode[];
    /** The extension, packed as it is installed; empty without an editor. */
    vsix: string;
  }
}

const CLAUDE_FOLDER = join(import.meta.dirname, '..', '..', '.cache', 'claude');

/**
 * Vitest's global set-up: looks for what the tests of a project need besides Node, npm, git and a compiler. Nothing is fetched. What
 * is missing is left out and named at the end of the run; what CHECK_NEEDS names must be there.
 */
export async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const withDocker = project.name.includes('docker') || wanted().includes('docker');
  const claudes = await findClaudes();
  const engine: FoundEngine = withDocker
    ? await findEngine()
    : { found: false, why: `The project ${project.name} uses none.` };
  const editors = project.name.includes('editors') ? packExtension(installedVscodes()) : undefined;
  const missing = needNames.filter((name) => {
    if (name === 'claude') return claudes.some(({ binary }) => binary === undefined);
    if (name === 'docker') return !engine.found;
    return !isThere[name]();
  });
  failWithout(missing.filter((name) => wanted().includes(name)));
  project.provide('missing', missing);
  project.provide('claudeVersions', claudes);
  project.provide('dockerEngine', engine);
  project.provide('vscodes', editors?.vscodes ?? []);
  project.provide('vsix', editors?.vsix ?? '');
  return async () => {
    editors?.dispose();
    if (engine.found && wanted().includes('docker')) await findNothingLeft();
  };
}

/** The newest pinned version; with CLAUDE_VERSIONS=all every pinned one, with CLAUDE_VERSIONS=newest that of the registry. */
async function findClaudes(): Promise<FoundClaude[]> {
  const asked = process.env['CLAUDE_VERSIONS'];
  const versions =
    asked === 'all'
      ? CLAUDE_VERSIONS
      : asked === 'newest'
        ? [await newestClaude()]
        : CLAUDE_VERSIONS.slice(-1);
  return Promise.all(
    versions.map(async (version) => ({
      version,
      binary: await findBinary(join(CLAUDE_FOLDER, version), version),
    })),
  );
}

/** The version that `npm run fetch-claude -- newest` fetched last. Rejects when there is none. */
async function newestClaude(): Promise<string> {
  const version = await readFile(join(CLAUDE_FOLDER, 'newest'), 'utf8').catch(() => undefined);
  if (version === undefined)
    throw new Error('The newest Claude Code has not been fetched: npm run fetch-claude -- newest');
  return version.trim();
}

/** What the run must not leave out. */
function wanted(): readonly string[] {
  return (process.env['CHECK_NEEDS'] ?? '').split(',').filter((name) => name !== '');
}

function failWithout(names: readonly NeedName[]): void {
  const unknown = wanted().filter((name) => !Object.hasOwn(needs, name));
  if (unknown.length > 0)
    throw new Error(`CHECK_NEEDS names ${unknown.join(', ')}; it may name ${needNames.join(', ')}.`);
  if (names.length === 0) return;
  const words = names.map((name) => `${needs[name].title} (${needs[name].add})`);
  throw new Error(`CHECK_NEEDS asks for what is missing here: ${words.join('; ')}.`);
}
