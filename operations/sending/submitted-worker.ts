import { serveThread } from '../../actors/work/worker-threads.ts';
import { type ParsedMessage, parseMessage } from '../../core/mime/parse-message.ts';
import { publicSuffixes } from '../emails/public-suffixes.ts';

// The program of the thread of submit-message.ts: parses submitted messages.
serveThread(parse);

function parse(bytes: Uint8Array): Promise<ParsedMessage> {
  return parseMessage(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), publicSuffixes);
}
