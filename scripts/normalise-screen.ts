// Pure: takes out of a recorded screen what differs from run to run.

/** Spinner frames, their words and seconds, and the time of day: different in each run, and the same for this. */
export function normaliseScreen(text: string): string {
  return text
    .replace(/^(\s*)[✻✽✶✳✢·*●] \p{Lu}[\p{L}'’-]+…/gmu, '$1✻ Working…')
    .replace(/^(\s*)[✻✽✶✳✢·*] \p{Lu}[\p{L}'’-]+ for \d+s( · done \d+:\d+ [AP]M)?/gmu, '$1✻ Worked for 1s$2')
    .replace(/done \d+:\d+ [AP]M/g, 'done 12:00 PM')
    .replace(/plans\/[a-z-]+\.md/g, 'plans/the-plan.md')
    .replace(/\((\d+)s( · [^)]*)?\)/g, '(1s$2)');
}
