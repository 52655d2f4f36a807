// Limits of one page of a listing.

/** A modest page, since a model pays for each byte. */
export const DEFAULT_LIST_BYTES = 16_384;
/** An answer contains everything twice, as text and as data, and must stay below 1 MB. */
export const MAX_LIST_BYTES = 400_000;
/** For `maxResultChars`: such an answer with what stands around its list. */
export const MAX_LIST_CHARS = 450_000;
export const MAX_LIST_DEPTH = 5;
