import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Clock } from '../../src/base/clock.js';
import { silentLogger, type Logger } from '../../src/base/logger.js';
import { systemClock } from '../../src/base/system-clock.js';
import { EditorTerminals } from '../../src/editor/editor-terminals.js';
import { callTool, type ToolResult } from '../../src/mcp/serve-tools.js';
import type { JsonObject } from '../../src/mcp/answers.js';
import { ActiveProject } from '../../src/projects/active-project.js';
import { AllowedRoots } from '../../src/projects/allowed-roots.js';
import { enabledTools } from '../../src/tools/registry.js';
import { tempFolder } from '../harness/temp-folder.js';
import { ScriptedEditor, type ScriptedEditorOptions } from '../harness/scripted-editor.js';
import { unusedServices } from './unused-services.js';

/** The tools of the toolset `terminal`, over windows that a test scripts. */
export interface TerminalTools {
  readonly folder: string;
  /** In the allowed roots; the active project. */
  readonly project: string;
  readonly statePath: string;
  open(options?: Partial<ScriptedEditorOptions>): Promise<ScriptedEditor>;
  call(name: string, args?: JsonObject, signal?: AbortSignal): Promise<ToolResult>;
  /** The answer. Throws the text of an error. */
  answer(name: string, args?: JsonObject): Promise<JsonObject>;
  /** The text of the error. */
  fault(name: string, args?: JsonObject): Promise<string>;
}

export async function openTerminalTools(
  clock: Clock = systemClock,
  logger: Logger = silentLogger,
): Promise<TerminalTools> {
  const folder = await tempFolder();
  const root = join(folder, 'projects');
  const project = join(root, 'app');
  await mkdir(project, { recursive: true });
  const statePath = join(folder, 'state');
  await mkdir(statePath, { mode: 0o700 });
  const roots = new AllowedRoots([root], folder, [statePath]);
  const activeProject = new ActiveProject(roots);
  await activeProject.set(project);
  const terminals = new EditorTerminals({ statePath, clock, project: activeProject, roots });
  const host = {
    services: { ...unusedServices, activeProject, terminals: async () => terminals },
    logger,
  };
  const call = (name: string, args: JsonObject = {}, signal = new AbortController().signal) => {
    const tool = enabledTools(['terminal']).find((one) => one.name === name);
    if (tool === undefined) throw new Error(`no tool ${name}`);
    return callTool(tool, args, host, { signal, progress: () => undefined, clientName: 'Test client' });
  };
  return {
    folder,
    project,
    statePath,
    call,
    open: async (options = {}) => {
      const editor = await ScriptedEditor.start({ statePath, folders: [project], ...options });
      onTestFinished(() => editor.dispose());
      return editor;
    },
    answer: async (name, args) => {
      const { structuredContent, content } = await call(name, args);
      if (structuredContent === undefined) throw new Error(content[0].text);
      return structuredContent;
    },
    fault: async (name, args) => {
      const { isError, content } = await call(name, args);
      if (isError !== true) throw new Error(`no error: ${content[0].text}`);
      return content[0].text;
    },
  };
}
