import type { Locator, Page } from 'playwright-core';
import { expect, onTestFinished } from 'vitest';
import type { TestBridge } from '../harness/start-bridge.js';
import { until } from '../harness/until.js';

let projects = 0;

/** A folder of this test's own, also when the test is tried again. */
export async function ownProject({ workplace }: TestBridge): Promise<string> {
  return workplace.project(`own-${++projects}`);
}

/** Starts a task that ends with the test, in a project of its own when none is given. Gives its id. */
export async function ownTask(bridge: TestBridge, prompt: string, path?: string): Promise<string> {
  const id = await bridge.start({ prompt, path: path ?? (await ownProject(bridge)) });
  // An error when it has ended already.
  onTestFinished(async () => void (await bridge.mcp.callTool('kill_task', { task_id: id })));
  return id;
}

/** The task's row in the list of all tasks. */
export function rowOf(page: Page, taskId: string): Locator {
  return page.locator(`a.row[href="#/${taskId}"]`);
}

/** Opens the task from the list; gives the part of the page that is about it alone. */
export async function openTask(page: Page, taskId: string): Promise<Locator> {
  await rowOf(page, taskId).click();
  // Until it is loaded another task, or the list, is what the page is about.
  const task = page.getByRole('main').filter({ has: page.getByText(taskId, { exact: true }) });
  await task.waitFor();
  return task;
}

/** What the terminal in this part of the page shows now. */
export async function screenOf(part: Locator | Page): Promise<string> {
  const rows = await part.locator('.xterm-rows > div').allTextContents();
  return rows.join('\n').replaceAll('\u00a0', ' ');
}

/** Opens the terminal of the task, which only watches at first. */
export async function openTerminal(page: Page, taskId: string): Promise<Locator> {
  const task = await openTask(page, taskId);
  await task.getByRole('tab', { name: 'Terminal' }).click();
  await task.getByText('only watch.').waitFor();
  return task;
}

/** Makes this page the one whose keys go to the session. */
export async function takeKeyboard(task: Locator): Promise<void> {
  await task.getByRole('button', { name: 'Take the keyboard' }).click();
  await task.getByText('Your keys go to the session.').waitFor();
}

/** Waits until the terminal in this part of the page shows the words. */
export async function untilShown(task: Locator, words: string): Promise<void> {
  await until(`the terminal shows ${words}`, async () => expect(await screenOf(task)).toContain(words));
}
