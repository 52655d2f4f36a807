import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { lazily } from '../base/lazily.js';
import { DisposableStore } from '../base/lifecycle.js';
import type { ClientInfo } from '../mcp/wire/client-name.js';
import { MARK_VARIABLE } from '../os/mark-variable.js';
import { ActiveProject, type ProjectDefaults } from '../projects/active-project.js';
import type { NativeHost } from '../native/native-host.js';
import type { AllowedRoots } from '../projects/allowed-roots.js';
import type { ResourceServices } from '../resources/services.js';
import { InsideTask } from '../tasks/inside-task.js';
import type { ToolServices } from '../tools/services.js';
import type { BridgeOptions } from './options.js';
import type { ProcessServices } from './process-services.js';
import type { TaskServices } from './task-services.js';

/** Every service of a server. Each is loaded and built at its first use. */
export interface ServerServices {
  /** For tools, resources and prompts. */
  readonly offered: ToolServices & ResourceServices;
  readonly taskServices: () => Promise<TaskServices>;
  readonly processServices: () => Promise<ProcessServices>;
  /** The marks of the tasks that this server runs inside, nearest first. */
  readonly marks: () => Promise<readonly string[]>;
  /** Ends every process that should not outlive the server; tasks go on. */
  readonly dispose: () => Promise<void>;
}

/** `client`: undefined until the client has said who it is. */
export function createServerServices(
  options: BridgeOptions,
  roots: AllowedRoots,
  defaults: ProjectDefaults,
  client: () => ClientInfo | undefined,
): ServerServices {
  const activeProject = new ActiveProject(roots, defaults);
  const marks = lazily(async () =>
    (await import('../os/enclosing-marks.js')).findEnclosingMarks(options.env),
  );
  const tasks = taskAccessors(options, roots, { activeProject, marks });
  const processes = processAccessors(options, roots, activeProject);
  const native = nativeAccessor(options, roots, { tasks: tasks.services, marks, client });
  return {
    offered: {
      ...tasks.offered,
      ...processes.offered,
      ...projectAccessors(options, roots, activeProject),
      native: native.host,
      board: lazily(async () => {
        const { createBoardOpener } = await import('./board-opener.js');
        return createBoardOpener(options, await tasks.services());
      }),
      appPage: (file) => readFile(join(dirname(options.keeperEntry), 'web', file), 'utf8'),
      activeProject,
      config: options.config,
    },
    taskServices: tasks.services,
    processServices: processes.services,
    marks,
    dispose: async () => {
      // Its record is written with what the tasks have open.
      await native.dispose();
      tasks.dispose();
      await processes.dispose();
    },
  };
}

function taskAccessors(
  options: BridgeOptions,
  roots: AllowedRoots,
  around: {
    readonly activeProject: ActiveProject;
    readonly marks: () => Promise<readonly string[]>;
  },
) {
  const owned = new DisposableStore();
  const services = lazily(async () => {
    const { createTaskServices } = await import('./task-services.js');
    return owned.add(await createTaskServices(options, roots));
  });
  const tasks = lazily(
    async () =>
      new InsideTask({
        tasks: (await services()).tasks,
        allows: options.config.inside_tasks,
        marks: around.marks,
        isMarked: isMarked(options.env),
        requireOutside: async (record) => {
          const { requireOutsideSession } = await import('../tasks/own-session.js');
          await requireOutsideSession(record, options.env);
        },
      }),
  );
  const receipts = lazily(async () => {
    const { createReceiptService } = await import('./receipt-service.js');
    return createReceiptService(options, roots, (await services()).stateDir);
  });
  const changes = lazily(async () => {
    const { createTaskChanges } = await import('./receipt-service.js');
    return createTaskChanges(options, roots, (await services()).stateDir, await receipts());
  });
  const talks = lazily(async () => {
    const { createConversationServices } = await import('./conversation-services.js');
    return createConversationServices(options.config, await tasks(), around.activeProject);
  });
  const finisher: ToolServices['finisher'] = async () => ({
    finish: async (query) => {
      await (await tasks()).requireOwn(query.taskId);
      return (await services()).finisher.finish(query);
    },
  });
  return {
    services,
    offered: {
      tasks,
      finisher,
      receipts,
      changes,
      conversations: async () => (await talks()).conversations,
      delegation: async () => (await talks()).delegation,
    },
    dispose: () => owned.dispose(),
  };
}

function processAccessors(options: BridgeOptions, roots: AllowedRoots, activeProject: ActiveProject) {
  let built: ProcessServices | undefined;
  const services = lazily(async () => {
    const { createProcessServices } = await import('./process-services.js');
    return (built = await createProcessServices(options, roots, activeProject));
  });
  return {
    services,
    offered: {
      processes: async () => (await services()).processes,
      copies: async () => (await services()).copies(),
    },
    dispose: async () => built?.dispose(),
  };
}

/** Sessions that are tasks already, those without a person (`claude -p`), and those of a server that cannot work are left alone. */
function nativeAccessor(
  options: BridgeOptions,
  roots: AllowedRoots,
  around: {
    readonly tasks: () => Promise<TaskServices>;
    readonly marks: () => Promise<readonly string[]>;
    readonly client: () => ClientInfo | undefined;
  },
) {
  let built: NativeHost | undefined;
  const host = lazily(async (): Promise<Pick<NativeHost, 'event'>> => {
    const isLeftAlone = options.unusable !== undefined || isProgramsSession(options.env);
    if (isLeftAlone || (await around.marks()).length > 0) return { event: () => Promise.resolve({}) };
    const { createNativeHost } = await import('./native-sessions.js');
    return (built = createNativeHost(options, roots, around));
  });
  return { host, dispose: async () => built?.dispose() };
}

function projectAccessors(options: BridgeOptions, roots: AllowedRoots, activeProject: ActiveProject) {
  return {
    files: lazily(async () => {
      const { createFileService } = await import('./file-service.js');
      return createFileService(options.config, roots, activeProject);
    }),
    terminals: lazily(async () => {
      const { createEditorTerminals } = await import('./editor-terminals.js');
      return createEditorTerminals(options, roots, activeProject);
    }),
    explorer: lazily(async () => {
      const { createExplorerService } = await import('./explorer-service.js');
      return createExplorerService(options, roots, activeProject);
    }),
    git: lazily(async () => {
      const { createGitService } = await import('./git-service.js');
      return createGitService(options, roots, activeProject);
    }),
  };
}

/** True in a session of a program, such as `claude -p`: no person sees a dialog there, and what may not be done is refused at once. */
function isProgramsSession(env: BridgeOptions['env']): boolean {
  return (env['CLAUDE_CODE_ENTRYPOINT'] ?? '').startsWith('sdk');
}

/** True when this process has the mark of a task in its own environment. */
export function isMarked(env: BridgeOptions['env']): boolean {
  return (env[MARK_VARIABLE] ?? '') !== '';
}
