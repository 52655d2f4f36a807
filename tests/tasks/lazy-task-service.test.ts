import { expect, test, vi } from 'vitest';
import { lazyTaskService } from '../../src/tasks/lazy-task-service.js';
import { FakeTaskService, TASK_ID, taskRecord } from '../tools/fake-task-service.js';

test('the service is built once, by the first call', async () => {
  const build = vi.fn(async () => new FakeTaskService(taskRecord()));
  const service = lazyTaskService(build);
  expect(build).not.toHaveBeenCalled();
  await Promise.all([service.get(TASK_ID), service.taskIds('')]);
  expect(build).toHaveBeenCalledTimes(1);
});

test('what building throws a call throws, and the next one tries again', async () => {
  let broken = true;
  const service = lazyTaskService(async () => {
    if (broken) throw new Error('the disk is full');
    return new FakeTaskService(taskRecord());
  });
  await expect(service.get(TASK_ID)).rejects.toThrow('the disk is full');
  broken = false;
  expect((await service.get(TASK_ID)).task_id).toBe(TASK_ID);
});

test('who watches before it is built hears of changes, and leaves no watch behind', async () => {
  const fake = new FakeTaskService(taskRecord());
  const service = lazyTaskService(async () => fake);
  const heard: string[] = [];
  const subscription = service.onDidChange((taskId) => heard.push(taskId));
  const watch = service.watch(TASK_ID);
  const early = service.watch('active');
  early.dispose();
  await vi.waitFor(() => expect(fake.watched.get(TASK_ID)).toBe(1));
  fake.change(TASK_ID);
  expect(heard).toEqual([TASK_ID]);
  subscription.dispose();
  watch.dispose();
  fake.change(TASK_ID);
  expect(heard).toEqual([TASK_ID]);
  expect([...fake.watched.values()].every((count) => count === 0)).toBe(true);
});
