// Pure: takes out of a recorded screen what differs from run to run.

/** Paths of recordings are as long as the ones that replace them, so that nothing moves on the screen. */
export const RECORDING_ROOT_TEMPLATE = '/tmp/s-XXXXXX';
export const SHOWN_ROOT = '/home/anybody';

/** `bytes` with the recording's temporary folder replaced by one that is the same each time. */
export function normaliseBytes(bytes: Buffer, root: string): Buffer {
  return Buffer.from(bytes.toString('latin1').replaceAll(root, SHOWN_ROOT), 'latin1');
}

/** Spinner frames, their words and seconds, and the time of day: different in each run, and the same for this. */
export function normaliseScreen(text: string): string {
  return text
    .replace(/^(\s*)[✻✽✶✳✢·*●] \p{Lu}[\p{L}'’-]+…/gmu, '$1✻ Working…')
    .replace(/^(\s*)[✻✽✶✳✢·*] \p{Lu}[\p{L}'’-]+ for \d+s( · done \d+:\d+ [AP]M)?/gmu, '$1✻ Worked for 1s$2')
    .replace(/done \d+:\d+ [AP]M/g, 'done 12:00 PM')
    .replace(/plans\/[a-z-]+\.md/g, 'plans/the-plan.md')
    .replace(/\((\d+)s( · [^)]*)?\)/g, '(1s$2)');
}
