import { Duplex } from 'node:stream';
import type { Channel } from './machine.js';

/** The bytes of a channel as a stream, such as of the socket of a keeper there. It closes when the channel does; destroyed, it closes the channel. */
export function channelStream(channel: Channel): Duplex {
  /** What was read ahead: the far side sends no more until it is taken. */
  let ahead = 0;
  const stream = new Duplex({
    allowHalfOpen: false,
    read: () => {
      if (ahead > 0) channel.taken(ahead);
      ahead = 0;
    },
    write: (chunk: Buffer, _encoding, done) => {
      channel.send(chunk);
      done();
    },
    destroy: (error, done) => {
      channel.dispose();
      done(error);
    },
  });
  channel.onData((data) => {
    const bytes = Buffer.from(data);
    if (stream.push(bytes)) channel.taken(bytes.length);
    else ahead += bytes.length;
  });
  channel.onClose(() => {
    if (!stream.destroyed) stream.push(null);
  });
  return stream;
}
