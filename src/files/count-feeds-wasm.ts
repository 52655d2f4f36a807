// Assembled from count-feeds.wat by `npm run assemble`.
export const module =
  'AGFzbQEAAAABBwFgAn9/AX8CCAEBbQFtAgAAAwIBAAcFAQFmAAAKKwEpAQF/A0AgAiAA/QAEAEEK/Q/9I/1kaWohAiAAQRBqIgAg' +
  'AUkNAAsgAgs=';
