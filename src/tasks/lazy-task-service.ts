import { DisposableStore, type Disposable } from '../base/lifecycle.js';
import type { TaskService } from './task-service.js';

/**
 * A task service that is built when the first call needs it: a server that is only asked for its tools loads nothing of
 * it. What `build` throws, each call throws; the next call tries again.
 */
export function lazyTaskService(build: () => Promise<TaskService>): TaskService {
  let building: Promise<TaskService> | undefined;
  const service = (): Promise<TaskService> => {
    building ??= build().catch((fault: unknown) => {
      building = undefined;
      throw fault;
    });
    return building;
  };
  /** Holds what `open` gives as soon as there is a service, unless disposed before. */
  const held = (open: (built: TaskService) => Disposable): Disposable => {
    const store = new DisposableStore();
    // Without a service nothing changes; the calls beside this one tell why there is none.
    service().then(
      (built) => store.add(open(built)),
      () => undefined,
    );
    return store;
  };
  return {
    start: async (input) => (await service()).start(input),
    get: async (taskId) => (await service()).get(taskId),
    list: async (query) => (await service()).list(query),
    wait: async (query) => (await service()).wait(query),
    kill: async (taskId, reason) => (await service()).kill(taskId, reason),
    respond: async (taskId, answer) => (await service()).respond(taskId, answer),
    message: async (taskId, message) => (await service()).message(taskId, message),
    output: async (query) => (await service()).output(query),
    taskIds: async (prefix) => (await service()).taskIds(prefix),
    onDidChange: (listener) => held((built) => built.onDidChange(listener)),
    watch: (taskId) => held((built) => built.watch(taskId)),
  };
}
